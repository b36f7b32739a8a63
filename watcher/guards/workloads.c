/* workloads.c - see workloads.h.  Keys are "owner/revision", of an evict loop "owner//node". */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/guards/workloads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "watcher/cache/intern.h"

#define KEY_MAX   320
#define LOOPS_MAX 4096u /* evict loops that are watched for at once */

struct workload {
	struct reverted reverted;
	struct evict_loop loop;
	bool used, acted_on, looping, failing, dirty;
};

struct workloads {
	struct intern *keys;
	struct workload *v; /* by id */
	uint32_t cap, dirty, loops;
};

struct workloads *workloads_new(void)
{
	struct workloads *w = xcalloc(1, sizeof(*w));

	w->keys = intern_new();
	return w;
}

void workloads_free(struct workloads **w)
{
	if (!*w)
		return;
	intern_free(&(*w)->keys);
	free((*w)->v);
	free(*w);
	*w = NULL;
}

/* -- keys -- */

static struct str key_of(struct str owner, struct str revision, struct str node, char buf[static KEY_MAX])
{
	int n = snprintf(buf, KEY_MAX, "%.*s/%.*s%s%.*s", STR_ARG(owner), STR_ARG(revision),
			 node.n ? "/" : "", STR_ARG(node));

	return (struct str){ buf, n < KEY_MAX ? (size_t)n : KEY_MAX - 1 };
}

static uint32_t make_key(struct workloads *w, struct str key)
{
	uint32_t id = intern_find(w->keys, key);

	if (id)
		return id;
	id = intern_ref(w->keys, key);
	w->v = xgrow(w->v, &w->cap, id, sizeof(*w->v));
	w->v[id] = (struct workload){ .used = true };
	return id;
}

static uint32_t make(struct workloads *w, struct str owner, struct str revision)
{
	char buf[KEY_MAX];

	return make_key(w, key_of(owner, revision, STR_LIT(""), buf));
}

uint32_t workloads_find(const struct workloads *w, struct str owner, struct str revision)
{
	char buf[KEY_MAX];

	return intern_find(w->keys, key_of(owner, revision, STR_LIT(""), buf));
}

void workloads_key(const struct workloads *w, uint32_t id, struct str *ret_owner, struct str *ret_revision)
{
	const struct str key = intern_str(w->keys, id);
	const char *slash = memchr(key.p, '/', key.n);

	*ret_owner = (struct str){ key.p, (size_t)(slash - key.p) };
	*ret_revision = (struct str){ slash + 1, key.n - ret_owner->n - 1 };
}

/* Forgotten when nothing is known of it any more. */
static void done(struct workloads *w, uint32_t id)
{
	struct workload *v = &w->v[id];

	if (!v->used || v->acted_on || v->looping || v->failing || v->dirty)
		return;
	v->used = false;
	intern_unref(w->keys, id);
}

static void mark_dirty(struct workloads *w, uint32_t id)
{
	w->dirty += !w->v[id].dirty;
	w->v[id].dirty = true;
}

/* -- failing -- */

uint32_t workloads_failing(struct workloads *w, struct str owner, struct str revision)
{
	const uint32_t id = make(w, owner, revision);

	w->v[id].failing = true;
	return id;
}

bool workloads_recovered(struct workloads *w, uint32_t id)
{
	if (!id || !w->v[id].failing)
		return false;
	w->v[id].failing = false;
	done(w, id);
	return true;
}

/* -- reverted -- */

uint32_t workloads_act(struct workloads *w, struct str owner, struct str revision)
{
	const uint32_t id = make(w, owner, revision);

	w->v[id].acted_on = true;
	return id;
}

struct reverted workloads_reverted(const struct workloads *w, uint32_t id, int64_t created, int64_t now)
{
	struct reverted after = { 0 };

	if (id && w->v[id].acted_on)
		(void)reverted_would(&w->v[id].reverted, created, now, &after);
	return after;
}

void workloads_note_due(struct workloads *w, uint32_t id, int64_t created, int64_t now)
{
	if (id && w->v[id].acted_on && reverted_seen(&w->v[id].reverted, created, now))
		mark_dirty(w, id);
}

static void forget_acts(struct workloads *w, uint32_t id)
{
	w->v[id].reverted = (struct reverted){ 0 };
	w->v[id].acted_on = false;
}

void workloads_acted(struct workloads *w, uint32_t id, bool written, int64_t asked)
{
	struct workload *v = &w->v[id];

	if (written) {
		reverted_acted(&v->reverted, asked);
		mark_dirty(w, id);
	} else if (v->reverted.acted == 0 && v->reverted.count == 0) {
		forget_acts(w, id);
		done(w, id);
	}
}

void workloads_forgive(struct workloads *w, struct str owner)
{
	struct str of, revision;

	for (uint32_t id = 1; id < w->cap; id++) {
		if (!w->v[id].used || !w->v[id].acted_on)
			continue;
		workloads_key(w, id, &of, &revision);
		if (!str_eq(of, owner))
			continue;
		forget_acts(w, id);
		mark_dirty(w, id);
	}
}

uint32_t workloads_reverts(const struct workloads *w)
{
	uint32_t n = 0;

	for (uint32_t id = 1; id < w->cap; id++)
		n += w->v[id].used && w->v[id].reverted.count > 0;
	return n;
}

/* -- evict loops -- */

uint32_t workloads_loop(const struct workloads *w, struct str owner, struct str node)
{
	char buf[KEY_MAX];

	return intern_find(w->keys, key_of(owner, STR_LIT(""), node, buf));
}

uint32_t workloads_make_loop(struct workloads *w, struct str owner, struct str node)
{
	uint32_t id = workloads_loop(w, owner, node);
	char buf[KEY_MAX];

	if (!id && w->loops >= LOOPS_MAX)
		return 0;
	id = make_key(w, key_of(owner, STR_LIT(""), node, buf));
	w->loops += !w->v[id].looping;
	w->v[id].looping = true;
	return id;
}

struct evict_loop *workloads_evict_loop(const struct workloads *w, uint32_t id)
{
	return &w->v[id].loop;
}

/* -- saved state, time -- */

void workloads_on_saved(struct workloads *w, const struct msg_saved_row *m)
{
	const char *slash = strchr(m->key, '/');

	if (!slash)
		return;
	const uint32_t id =
		workloads_act(w, (struct str){ m->key, (size_t)(slash - m->key) }, STR_C(slash + 1));

	w->v[id].reverted = (struct reverted){ m->at > 1 ? m->at : 0, m->until, (uint32_t)m->count };
}

int workloads_flush(struct workloads *w, uint64_t cluster, const struct outbox *out)
{
	for (uint32_t id = 1; id < w->cap && w->dirty; id++) {
		struct workload *v = &w->v[id];

		if (!v->used || !v->dirty)
			continue;
		/* 0 would mean "forget it": a return that was counted keeps only the block. */
		const int64_t at = !v->acted_on ? 0 : v->reverted.acted ? v->reverted.acted : 1;
		const int r = outbox_send_saved(out, cluster, GUARD_REVERTED, intern_str(w->keys, id), at,
						v->reverted.until, v->reverted.count, "");

		if (r < 0)
			return r;
		v->dirty = false;
		w->dirty--;
		done(w, id);
	}
	return 0;
}

void workloads_expire(struct workloads *w, int64_t now)
{
	for (uint32_t id = 1; id < w->cap; id++) {
		struct workload *v = &w->v[id];

		if (v->used && v->looping && now > v->loop.last + LOOP_KEEP_MS) {
			v->looping = false;
			w->loops--;
			done(w, id);
		}
		if (!v->used || !v->acted_on || (v->reverted.acted == 0 && v->reverted.until == 0) ||
		    !reverted_over(&v->reverted, now))
			continue;
		forget_acts(w, id);
		mark_dirty(w, id);
	}
}
