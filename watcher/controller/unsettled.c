/* unsettled.c - see unsettled.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/unsettled.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "watcher/cache/intern.h"

#define LOOK_MS  500u   /* many that go together are looked for once */
#define AGAIN_MS 60000u /* told, but not written down */

struct followed {
	char *place; /* "namespace/name"; NULL = not in use */
	uint64_t told;
};

struct unsettled {
	const struct cluster_state *cluster;
	const struct outbox *out;
	struct intern *uids;
	struct followed *v; /* by id of the uid */
	uint32_t cap, count;
	uint64_t look_at;
};

struct unsettled *unsettled_new(const struct cluster_state *cluster, const struct outbox *out)
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

void unsettled_add(struct unsettled *u, struct str ns, struct str name, struct str uid, uint64_t now)
{
	if (uid.n && !intern_find(u->uids, uid)) {
		const uint32_t id = intern_ref(u->uids, uid);

		u->v = xgrow(u->v, &u->cap, id, sizeof(*u->v));
		u->v[id] = (struct followed){ .place = xasprintf("%.*s/%.*s", STR_ARG(ns), STR_ARG(name)) };
		u->count++;
	}
	unsettled_touch(u, now);
}

void unsettled_on_result(struct unsettled *u, const struct msg_nomination_result *m, uint64_t now)
{
	if (OUTCOMES_FOLLOWED >> m->outcome & 1 && ACTIONS_ON_PODS >> m->action & 1)
		unsettled_add(u, STR_C(m->ns), STR_C(m->name), STR_C(m->uid), now);
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

/* A cache that is not in step says nothing about what it does not hold. */
static bool is_gone(const struct unsettled *u, uint32_t id)
{
	const struct cluster_state *c = u->cluster;
	const char *place = u->v[id].place, *slash = strchr(place, '/');
	const struct str ns = { place, (size_t)(slash - place) }, name = STR_C(slash + 1);
	struct pod_facts p;
	uint64_t at;

	if (!sync_state_namespace(c->sync, ns, &at))
		return false;
	const uint32_t h = store_find(c->store, ns, name);

	if (!h)
		return true;
	store_get(c->store, h, &p);
	return !str_eq(p.uid, intern_str(u->uids, id));
}

static int tell(struct unsettled *u, uint32_t id, uint64_t now)
{
	struct msg m = { .type = MSG_SETTLED, .u.settled.cluster = u->cluster->number };
	const struct str uid = intern_str(u->uids, id);

	msg_set(&m, settled.uid, uid.p, uid.n);
	const int r = outbox_send(u->out, &m);

	if (r == 0)
		u->v[id].told = now;
	return r;
}

int unsettled_flush(struct unsettled *u, uint64_t now)
{
	int r = 0;

	if (now < u->look_at)
		return 0;
	u->look_at = UINT64_MAX;
	for (uint32_t id = 0; r == 0 && id < u->cap; id++) {
		const struct followed *f = &u->v[id];

		if (!f->place)
			continue;
		if ((f->told == 0 || now >= f->told + AGAIN_MS) && is_gone(u, id))
			r = tell(u, id, now);
		if (f->told && f->told + AGAIN_MS < u->look_at)
			u->look_at = f->told + AGAIN_MS;
	}
	if (r < 0)
		u->look_at = now;
	return r;
}

uint64_t unsettled_next(const struct unsettled *u)
{
	return u->look_at;
}
