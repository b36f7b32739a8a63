/* restart_rows.c - see restart_rows.h.  Handles are walked in order; pods that come or go meanwhile are seen
 * or not. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/restart_rows.h"

#include <string.h>

#define PODS_PER_STEP 512

static int send_digest_end(struct restart_rows *d, const struct cluster_state *c, bool synced,
			   const struct outbox *out)
{
	const struct msg m = { .type = MSG_DIGEST_END,
			       .u.digest_end = {
				       .cluster = c->number, .digest = d->digest, .synced = synced } };
	int r = outbox_send(out, &m);

	if (r == 0)
		d->digest = 0;
	return r;
}

void restart_rows_start(struct restart_rows *d, uint64_t digest, const struct cluster_state *c,
			const struct outbox *out)
{
	if (d->digest && d->digest != digest)
		(void)send_digest_end(d, c, false, out);
	*d = (struct restart_rows){ .digest = digest };
}

struct str restart_rows_workload(const struct pod_facts *p)
{
	struct str name = p->owner.name, end = p->revision;

	if (str_empty(name))
		return p->name;
	if (str_is(p->owner.kind, "ReplicaSet") && end.n && name.n > end.n + 1 &&
	    name.p[name.n - end.n - 1] == '-' && memcmp(name.p + name.n - end.n, end.p, end.n) == 0)
		name.n -= end.n + 1;
	return name;
}

/* The state that is reported, as rules/restarts.c names it. */
static struct str state_of(const struct container_facts *c)
{
	if (c->state != CONTAINER_RUNNING && c->reason.n)
		return c->reason;
	return c->last_reason.n ? c->last_reason : STR_LIT("Error");
}

static void fill_row(const struct pod_facts *p, const struct container_facts *c, struct msg *m)
{
	struct str workload = restart_rows_workload(p), state = state_of(c);
	struct str kind = p->owner.kind.n ? p->owner.kind : STR_LIT("Pod");
	struct str container = c->name.n ? c->name : STR_LIT("-");
	bool ended = c->state == CONTAINER_TERMINATED;

	m->u.digest_row.restarts = (uint64_t)(c->restarts > 0 ? c->restarts : 0);
	m->u.digest_row.exit_code = ended ? c->exit_code : c->last_exit_code;
	m->u.digest_row.created = p->created > 0 ? p->created : 0;
	msg_set(m, digest_row.ns, p->ns.p, p->ns.n);
	msg_set(m, digest_row.kind, kind.p, kind.n);
	msg_set(m, digest_row.workload, workload.p, workload.n);
	msg_set(m, digest_row.pod, p->name.p, p->name.n);
	msg_set(m, digest_row.container, container.p, container.n);
	msg_set(m, digest_row.reason, state.p, state.n);
}

/* The row of one pod, when it has one: 0, or what the outbox said. */
static int send_digest_row(const struct restart_rows *d, const struct cluster_state *c, uint32_t h,
			   const struct outbox *out)
{
	const struct pod_context context = { .stage = STAGE_CACHE };
	struct pod_facts p;
	struct verdict v;
	struct msg m = { .type = MSG_DIGEST_ROW,
			 .u.digest_row = { .cluster = c->number, .digest = d->digest } };

	if (!cluster_has(c, h))
		return 0;
	store_get(c->store, h, &p);
	judge_duty(DUTY_RESTARTS, &p, c->policy, &context, cluster_clocks(c).server, &v);
	if (v.kind != VERDICT_ACT)
		return 0;
	fill_row(&p, &p.containers[v.container], &m);
	return outbox_send(out, &m);
}

int restart_rows_step(struct restart_rows *d, const struct cluster_state *c, const struct outbox *out)
{
	for (int i = 0; i < PODS_PER_STEP && !d->all_seen; i++) {
		uint32_t h = store_next(c->store, d->last);
		int r = h ? send_digest_row(d, c, h, out) : 0;

		if (r < 0)
			return r;
		d->last = h;
		d->all_seen = h == 0;
	}
	if (!d->all_seen)
		return 0;
	return send_digest_end(d, c, cluster_in_step(c), out);
}
