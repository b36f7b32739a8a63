/* unsettled.c - see unsettled.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/unsettled.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "model/reasons.h"
#include "text/texts.h"
#include "watcher/cache/intern.h"

#define LOOK_MS  500u   /* many that go together are looked for once */
#define AGAIN_MS 60000u /* told, but not written down */
#define DONE_MS  60000u /* by then a deletion that was done must show */

struct followed {
	char *place; /* "namespace/name"; NULL = not in use */
	uint64_t told;
	uint64_t done_until; /* a worker said that it is done: when the watch must show it; 0 = not known */
	uint64_t duty;
};

struct unsettled {
	const struct cluster_state *cluster;
	const struct outlet *out;
	struct intern *uids;
	struct followed *v; /* by id of the uid */
	uint32_t cap, count;
	uint64_t look_at;
};

struct unsettled *unsettled_new(const struct cluster_state *cluster, const struct outlet *out)
{
	struct unsettled *u = xcalloc(1, sizeof(*u));

	u->cluster = cluster;
	u->out = out;
	u->uids = intern_new();
	u->look_at = UINT64_MAX;
	return u;
}

void unsettled_free(struct unsettled **u)
{
	if (!*u)
		return;
	for (uint32_t id = 0; id < (*u)->cap; id++)
		free((*u)->v[id].place);
	free((*u)->v);
	intern_free(&(*u)->uids);
	free(*u);
	*u = NULL;
}

void unsettled_touch(struct unsettled *u, uint64_t now)
{
	if (u->count > 0 && u->look_at > now + LOOK_MS)
		u->look_at = now + LOOK_MS;
}

static struct followed *follow(struct unsettled *u, struct str ns, struct str name, struct str uid)
{
	const uint32_t id = intern_once(u->uids, uid);

	u->v = xgrow(u->v, &u->cap, id, sizeof(*u->v));
	if (!u->v[id].place) {
		u->v[id] = (struct followed){ .place = xasprintf("%.*s/%.*s", STR_ARG(ns), STR_ARG(name)) };
		u->count++;
	}
	return &u->v[id];
}

void unsettled_add(struct unsettled *u, struct str ns, struct str name, struct str uid, uint64_t now)
{
	if (uid.n)
		follow(u, ns, name, uid)->done_until = 0;
	unsettled_touch(u, now);
}

/* The history writes down no end while an action on the pod is open: what was told then is told again at
 * once. */
static void tell_anew(struct unsettled *u, struct str uid, uint64_t now)
{
	const uint32_t id = intern_find(u->uids, uid);

	if (!id || u->v[id].told == 0)
		return;
	u->v[id].told = 0;
	unsettled_touch(u, now);
}

void unsettled_on_result(struct unsettled *u, const struct msg_nomination_result *m, uint64_t now)
{
	const struct str ns = STR_C(m->ns), name = STR_C(m->name), uid = STR_C(m->uid);

	if (!m->on_pod)
		return;
	tell_anew(u, uid, now);
	if (OUTCOMES_FOLLOWED >> m->outcome & 1) {
		unsettled_add(u, ns, name, uid, now);
	} else if (m->outcome == OUTCOME_DONE && uid.n && !intern_find(u->uids, uid)) {
		struct followed *f = follow(u, ns, name, uid);

		f->done_until = now + DONE_MS;
		f->duty = m->duty;
		unsettled_touch(u, now);
	}
}

void unsettled_forget(struct unsettled *u, struct str uid)
{
	const uint32_t id = intern_find(u->uids, uid);

	if (!id)
		return;
	free(u->v[id].place);
	u->v[id] = (struct followed){ 0 };
	u->count--;
	intern_unref(u->uids, id);
}

enum presence { GONE, LEAVING, THERE, UNKNOWN };

/* A cache that is not in step says nothing about what it does not hold. */
static enum presence look(const struct unsettled *u, uint32_t id)
{
	const struct cluster_state *c = u->cluster;
	struct str name = STR_C(u->v[id].place);
	const struct str ns = str_cut(&name, '/');
	struct pod_facts p;
	uint64_t at;

	if (!sync_state_namespace(&c->sync, ns, &at))
		return UNKNOWN;
	const uint32_t h = store_find(c->store, ns, name);

	if (!h)
		return GONE;
	store_get(c->store, h, &p);
	if (!str_eq(p.uid, intern_str(u->uids, id)))
		return GONE;
	return p.deletion > 0 ? LEAVING : THERE;
}

/* A refusal row of the history, which wants an operator's attention. */
static int tell_contradiction(struct unsettled *u, uint32_t id)
{
	const struct followed *f = &u->v[id];
	struct str name = STR_C(f->place);
	const struct str ns = str_cut(&name, '/');
	struct msg m = { .type = MSG_REFUSAL,
			 .u.refusal = { .cluster = u->cluster->number, .duty = f->duty } };
	const struct str uid = intern_str(u->uids, id);

	msg_set(&m, refusal.ns, ns.p, ns.n);
	msg_set(&m, refusal.name, name.p, name.n);
	msg_set(&m, refusal.uid, uid.p, uid.n);
	msg_set(&m, refusal.action_key, uid.p, uid.n);
	msg_text(&m, refusal.reason, reason_code(REASON_RESULT_CONTRADICTED));
	facts_text(&m.u.refusal.evidence, FACT_FINDING, TEXT_CONTRADICTED);
	const int r = outlet_send(u->out, &m);

	if (r == 0)
		(void)log_warn(0, "the watch contradicts a worker's result", kv_s("pod", f->place),
			       kv_s("detail", text_in(TEXT_CONTRADICTED, LANGUAGE_EN)));
	return r;
}

static int tell(struct unsettled *u, uint32_t id, uint64_t now)
{
	struct msg m = { .type = MSG_SETTLED, .u.settled.cluster = u->cluster->number };
	const struct str uid = intern_str(u->uids, id);

	msg_set(&m, settled.uid, uid.p, uid.n);
	const int r = outlet_send(u->out, &m);

	if (r == 0)
		u->v[id].told = now;
	return r;
}

static void look_again(struct unsettled *u, uint64_t at)
{
	if (at < u->look_at)
		u->look_at = at;
}

/* Of one that a worker said is done. */
static int flush_done(struct unsettled *u, uint32_t id, uint64_t now)
{
	const uint64_t until = u->v[id].done_until;
	const enum presence p = look(u, id);
	int r = 0;

	if (now < until && p != GONE) {
		look_again(u, until);
		return 0;
	}
	if (p == UNKNOWN) {
		look_again(u, now + DONE_MS);
		return 0;
	}
	if (p == THERE)
		r = tell_contradiction(u, id);
	if (r == 0)
		unsettled_forget(u, intern_str(u->uids, id));
	return r;
}

static int flush_one(struct unsettled *u, uint32_t id, uint64_t now)
{
	const struct followed *f = &u->v[id];
	int r = 0;

	if (f->done_until)
		return flush_done(u, id, now);
	if ((f->told == 0 || now >= f->told + AGAIN_MS) && look(u, id) == GONE)
		r = tell(u, id, now);
	if (f->told)
		look_again(u, f->told + AGAIN_MS);
	return r;
}

int unsettled_flush(struct unsettled *u, uint64_t now)
{
	int r = 0;

	if (now < u->look_at)
		return 0;
	u->look_at = UINT64_MAX;
	for (uint32_t id = 0; r == 0 && id < u->cap; id++)
		if (u->v[id].place)
			r = flush_one(u, id, now);
	if (r < 0)
		u->look_at = now;
	return r;
}

uint64_t unsettled_next(const struct unsettled *u)
{
	return u->look_at;
}
