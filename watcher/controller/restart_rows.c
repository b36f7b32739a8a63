/* restart_rows.c - see restart_rows.h.  Handles are walked in order; pods that come or go meanwhile are seen
 * or not. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/restart_rows.h"

#include <string.h>

#include "base/clock.h"

#define PODS_PER_STEP 512

void restart_rows_init(struct restart_rows *d, uint64_t cluster)
{
	*d = (struct restart_rows){ .cluster = cluster };
}

static int send_end(struct restart_rows *d, bool synced, controller_send_fn *send, void *ctx)
{
	struct msg m = { .type = MSG_DIGEST_END,
			 .u.digest_end = { .cluster = d->cluster, .digest = d->number, .synced = synced } };
	int r = send(ctx, &m);

	if (r == 0)
		d->number = 0;
	return r;
}

int restart_rows_start(struct restart_rows *d, uint64_t number, controller_send_fn *send, void *ctx)
{
	if (d->number && d->number != number)
		(void)send_end(d, false, send, ctx);
	d->number = number;
	d->next = 0;
	d->all_seen = false;
	return 0;
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

static void fill_row(const struct restart_rows *d, const struct pod_facts *p, const struct container_facts *c,
		     struct msg *m)
{
	struct str workload = restart_rows_workload(p), state = state_of(c);
	struct str kind = p->owner.kind.n ? p->owner.kind : STR_LIT("Pod");
	bool ended = c->state == CONTAINER_TERMINATED;

	m->u.digest_row.cluster = d->cluster;
	m->u.digest_row.digest = d->number;
	m->u.digest_row.restarts = (uint64_t)(c->restarts > 0 ? c->restarts : 0);
	m->u.digest_row.exit_code = ended ? c->exit_code : c->last_exit_code;
	m->u.digest_row.created = p->created > 0 ? p->created : 0;
	msg_set(m, digest_row.ns, p->ns.p, p->ns.n);
	msg_set(m, digest_row.kind, kind.p, kind.n);
	msg_set(m, digest_row.workload, workload.p, workload.n);
	msg_set(m, digest_row.pod, p->name.p, p->name.n);
	msg_set(m, digest_row.container, c->name.n ? c->name.p : "-", c->name.n ? c->name.n : 1);
	msg_set(m, digest_row.reason, state.p, state.n);
}

/* One pod: 0, or what send said. */
static int look(struct restart_rows *d, struct controller *c, uint32_t h, controller_send_fn *send, void *ctx)
{
	struct store *s = controller_store(c);
	struct pod_facts p;
	struct verdict v;
	struct msg m = { .type = MSG_DIGEST_ROW };
	uint32_t container = 0;
	uint64_t at;

	if (!sync_state_namespace(controller_sync_state(c), store_namespace(s, h), &at))
		return 0;
	store_get(s, h, &p);
	judge_restarts(&p, controller_policy(c), controller_now(c), &v, &container);
	if (v.kind != VERDICT_ACT)
		return 0;
	fill_row(d, &p, &p.containers[container], &m);
	return send(ctx, &m);
}

int restart_rows_step(struct restart_rows *d, struct controller *c, controller_send_fn *send, void *ctx)
{
	const struct sync_state *g = controller_sync_state(c);

	for (int i = 0; i < PODS_PER_STEP && !d->all_seen; i++) {
		uint32_t h = store_next(controller_store(c), d->next);
		int r = h ? look(d, c, h, send, ctx) : 0;

		if (r < 0)
			return r;
		d->next = h;
		d->all_seen = h == 0;
	}
	if (!d->all_seen)
		return 0;
	return send_end(d, sync_state_synced(g) && sync_state_fresh(g, clock_boot_ms()), send, ctx);
}
