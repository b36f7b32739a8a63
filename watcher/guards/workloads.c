/* workloads.c - see workloads.h.  Keys are "owner/revision", of an evict loop "owner//node". What nothing is
 * known of any more is forgotten, once the reporter was told. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/guards/workloads.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "watcher/cache/intern.h"

#define KEY_MAX   768
#define PART_MAX  253u  /* longer parts are cut, Kubernetes has none */
#define LOOPS_MAX 4096u /* evict loops that are watched for at once */

/* Since when it fails by one duty. */
struct failing_clock {
	struct failing v;
	struct readiness readiness;
	int64_t idle_from; /* boot time; 0 = some pod fails */
	bool dirty;
	bool remembered; /* by a row of the history alone: no pod was seen to fail yet */
};

struct workload {
	struct failing_clock clocks[WORKLOAD_DUTIES];
	struct reverted reverted;
	struct evict_loop loop;
	bool used, acted_on, looping, failing;
	bool dirty, loop_dirty; /* what came back; the loop */
	uint32_t open;          /* actions on it whose end is not known yet: it keeps its number */
};

struct workloads {
	struct intern *keys;
	struct workload *v;                  /* by id */
	uint32_t cap, dirty, loops, running; /* running: clocks */
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

static size_t append(char buf[static KEY_MAX], size_t at, struct str part)
{
	const size_t n = part.n < PART_MAX ? part.n : PART_MAX;

	if (n)
		memcpy(buf + at, part.p, n);
	return at + n;
}

static struct str key_of(struct str owner, struct str revision, struct str node, char buf[static KEY_MAX])
{
	size_t n = append(buf, 0, owner);

	buf[n++] = '/';
	n = append(buf, n, revision);
	if (node.n) {
		buf[n++] = '/';
		n = append(buf, n, node);
	}
	return (struct str){ buf, n };
}

static uint32_t make_key(struct workloads *w, struct str key)
{
	const uint32_t id = intern_once(w->keys, key);

	w->v = xgrow(w->v, &w->cap, id, sizeof(*w->v));
	w->v[id].used = true;
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

static void split_key(const struct workloads *w, uint32_t id, struct str *ret_owner, struct str *ret_revision)
{
	*ret_revision = intern_str(w->keys, id);
	*ret_owner = str_cut(ret_revision, '/');
}

/* Forgotten when nothing is known of it any more. */
static void done(struct workloads *w, uint32_t id)
{
	struct workload *v = &w->v[id];

	if (!v->used || v->open > 0 || v->acted_on || v->looping || v->failing || v->dirty || v->loop_dirty)
		return;
	for (size_t i = 0; i < WORKLOAD_DUTIES; i++)
		if (v->clocks[i].v.since || v->clocks[i].dirty)
			return;
	*v = (struct workload){ 0 };
	intern_unref(w->keys, id);
}

static void mark_dirty(struct workloads *w, bool *dirty)
{
	w->dirty += !*dirty;
	*dirty = true;
}

/* -- clocks -- */

static struct failing_clock *clock_of(const struct workloads *w, struct clock_key k)
{
	const uint32_t id = w->running ? workloads_find(w, k.owner, k.revision) : 0;

	return id ? &w->v[id].clocks[k.i] : NULL;
}

static void start(struct workloads *w, struct failing_clock *c, int64_t at)
{
	c->v.since = at;
	w->running++;
}

static void end(struct workloads *w, struct failing_clock *c)
{
	if (c->v.since == 0)
		return;
	c->v = (struct failing){ 0 };
	c->readiness = (struct readiness){ 0 };
	c->remembered = false;
	w->running--;
	mark_dirty(w, &c->dirty);
}

void workloads_on_failing_since_row(struct workloads *w, const struct msg_failing_since_row *r, int64_t boot)
{
	const int i = duty_workload((enum duty)r->duty);

	if (i < 0 || r->at <= 0)
		return;
	const uint32_t id = make(w, STR_C(r->owner), STR_C(r->revision));
	struct failing_clock *c = &w->v[id].clocks[i];

	if (c->v.since == 0 && !c->dirty) {
		start(w, c, r->at);
		c->idle_from = boot;
		c->remembered = true;
	} else if (c->v.since > r->at) {
		c->v.since = r->at;
	}
	if (!c->v.since)
		return;
	c->v.attempted = r->attempted;
	c->v.restarts = (int32_t)r->restarts;
	c->v.pulled = c->v.pulled || r->pulled;
	/* Its window is known when a pod of it is seen to fail. */
	if (r->ready_at)
		readiness_begin(&c->readiness, 0, r->ready_ms, r->ready_at);
}

int64_t workloads_fails(struct workloads *w, struct clock_key k, int64_t now)
{
	const uint32_t id = make(w, k.owner, k.revision);
	struct failing_clock *c = &w->v[id].clocks[k.i];

	c->idle_from = 0;
	if (c->v.since == 0)
		start(w, c, now);
	else if (!c->remembered)
		return c->v.since;
	c->remembered = false;
	mark_dirty(w, &c->dirty);
	return c->v.since;
}

int64_t workloads_failed_before(struct workloads *w, struct clock_key k, int64_t at)
{
	struct failing_clock *c = clock_of(w, k);

	if (c && c->v.since > at)
		c->v.since = at;
	return c ? c->v.since : 0;
}

bool workloads_pulled(struct workloads *w, struct clock_key k, bool pulled)
{
	struct failing_clock *c = clock_of(w, k);

	if (!c || c->v.since == 0)
		return pulled;
	if (pulled && !c->v.pulled) {
		c->v.pulled = true;
		mark_dirty(w, &c->dirty);
	}
	return c->v.pulled;
}

struct failing workloads_clock(const struct workloads *w, struct clock_key k)
{
	const struct failing_clock *c = clock_of(w, k);

	return c ? c->v : (struct failing){ 0 };
}

void workloads_measure(struct workloads *w, struct clock_key k, int64_t window, int32_t restarts, int64_t now)
{
	struct failing_clock *c = clock_of(w, k);
	const bool kept = c && c->readiness.from > 0;

	if (!c || c->v.since == 0 || c->v.measured)
		return;
	c->v.measured = true;
	if (!kept)
		c->v.restarts = restarts;
	readiness_begin(&c->readiness, window, c->readiness.before, kept ? c->readiness.from : now);
	if (!kept)
		mark_dirty(w, &c->dirty);
}

void workloads_ready(struct workloads *w, struct clock_key k, bool ready, int64_t now)
{
	struct failing_clock *c = clock_of(w, k);

	if (!c || !c->v.measured)
		return;
	readiness_set(&c->readiness, ready, now);
	if (!ready && readiness_tell(&c->readiness))
		mark_dirty(w, &c->dirty);
}

int64_t workloads_ready_ms(const struct workloads *w, struct clock_key k, int64_t now)
{
	const struct failing_clock *c = clock_of(w, k);

	return c ? readiness_within(&c->readiness, now) : 0;
}

void workloads_attempted(struct workloads *w, uint32_t id, enum duty d, int64_t at)
{
	const int i = duty_workload(d);
	struct failing_clock *c = id && i >= 0 ? &w->v[id].clocks[i] : NULL;

	if (!c || c->v.since == 0)
		return;
	c->v.attempted = at;
	mark_dirty(w, &c->dirty);
}

void workloads_idle(struct workloads *w, struct clock_key k, int64_t boot)
{
	struct failing_clock *c = clock_of(w, k);

	if (c && c->idle_from == 0)
		c->idle_from = boot;
}

void workloads_works(struct workloads *w, struct clock_key k)
{
	struct failing_clock *c = clock_of(w, k);

	if (c)
		end(w, c);
}

uint32_t workloads_clocks(const struct workloads *w)
{
	return w->running;
}

/* What send said of one thing that is dirty; it is no longer where that was 0. */
static int note_sent(struct workloads *w, bool *dirty, int r)
{
	w->dirty -= r == 0;
	*dirty = r < 0;
	return r;
}

static int flush_clock(struct workloads *w, uint32_t id, size_t i, uint64_t cluster, const struct outlet *out)
{
	struct failing_clock *c = &w->v[id].clocks[i];
	struct msg m = { .type = MSG_FAILING_SINCE,
			 .u.failing_since = { .cluster = cluster,
					      .duty = duty_of_workload(i),
					      .at = c->v.since,
					      .attempted = c->v.attempted,
					      .restarts = c->v.restarts,
					      .pulled = c->v.pulled } };
	struct str owner, revision;

	if (!c->dirty)
		return 0;
	if (c->v.measured) {
		m.u.failing_since.ready_at = c->readiness.counted;
		m.u.failing_since.ready_ms = readiness_within(&c->readiness, c->readiness.counted);
	}
	split_key(w, id, &owner, &revision);
	msg_set(&m, failing_since.owner, owner.p, owner.n);
	msg_set(&m, failing_since.revision, revision.p, revision.n);
	return note_sent(w, &c->dirty, outlet_send(out, &m));
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
		mark_dirty(w, &w->v[id].dirty);
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
		mark_dirty(w, &w->v[id].dirty);
	} else if (v->reverted.acted == 0 && v->reverted.count == 0) {
		forget_acts(w, id);
		done(w, id);
	}
}

void workloads_forgive(struct workloads *w, struct str owner)
{
	struct str of, revision;

	for (uint32_t id = 1; id < w->cap; id++) {
		if (!w->v[id].used)
			continue;
		split_key(w, id, &of, &revision);
		if (!str_eq(of, owner))
			continue;
		for (size_t i = 0; i < WORKLOAD_DUTIES; i++)
			end(w, &w->v[id].clocks[i]);
		if (!w->v[id].acted_on)
			continue;
		forget_acts(w, id);
		mark_dirty(w, &w->v[id].dirty);
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

const struct evict_loop *workloads_evict_loop(const struct workloads *w, uint32_t id)
{
	return &w->v[id].loop;
}

void workloads_loop_deleted(struct workloads *w, uint32_t id, int64_t created, int64_t now)
{
	evict_loop_deleted(&w->v[id].loop, created, now);
	mark_dirty(w, &w->v[id].loop_dirty);
}

void workloads_open(struct workloads *w, uint32_t id, bool open)
{
	w->v[id].open += open ? 1u : -1u;
}

bool workloads_loop_seen(struct workloads *w, uint32_t id, int64_t created)
{
	return evict_loop_seen(&w->v[id].loop, created);
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

/* Its newest pod is there after a restart, too, and tells of itself. */
void workloads_on_saved_loop(struct workloads *w, const struct msg_saved_row *m)
{
	const char *slashes = strstr(m->key, "//");
	const uint32_t id =
		slashes ? workloads_make_loop(w, (struct str){ m->key, (size_t)(slashes - m->key) },
					      STR_C(slashes + 2))
			: 0;
	const int64_t last = m->until - LOOP_KEEP_MS;

	if (id && last > w->v[id].loop.last)
		w->v[id].loop =
			(struct evict_loop){ .last = last, .counted = m->at, .count = (uint32_t)m->count };
}

static int flush_loop(struct workloads *w, uint32_t id, uint64_t cluster, const struct outlet *out)
{
	struct workload *v = &w->v[id];

	if (!v->loop_dirty)
		return 0;
	return note_sent(w, &v->loop_dirty,
			 outlet_send_saved(out, cluster, GUARD_EVICT_LOOP, intern_str(w->keys, id),
					   v->looping ? v->loop.counted : 0, v->loop.last + LOOP_KEEP_MS,
					   v->loop.count, NULL));
}

static int flush_reverted(struct workloads *w, uint32_t id, uint64_t cluster, const struct outlet *out)
{
	struct workload *v = &w->v[id];
	/* 0 would mean "forget it": a return that was counted keeps only the block. */
	const int64_t at = !v->acted_on ? 0 : v->reverted.acted ? v->reverted.acted : 1;

	if (!v->dirty)
		return 0;
	return note_sent(w, &v->dirty,
			 outlet_send_saved(out, cluster, GUARD_REVERTED, intern_str(w->keys, id), at,
					   v->reverted.until, v->reverted.count, NULL));
}

bool workloads_are_unsaved(const struct workloads *w)
{
	return w->dirty > 0;
}

int workloads_flush(struct workloads *w, uint64_t cluster, const struct outlet *out)
{
	for (uint32_t id = 1; id < w->cap && w->dirty; id++) {
		int r = 0;

		for (size_t i = 0; r == 0 && i < WORKLOAD_DUTIES; i++)
			r = flush_clock(w, id, i, cluster, out);
		if (r == 0)
			r = flush_reverted(w, id, cluster, out);
		if (r == 0)
			r = flush_loop(w, id, cluster, out);
		if (r < 0)
			return r;
		done(w, id);
	}
	return 0;
}

void workloads_expire(struct workloads *w, const struct clock_snapshot *now)
{
	for (uint32_t id = 1; id < w->cap; id++) {
		struct workload *v = &w->v[id];

		for (size_t i = 0; i < WORKLOAD_DUTIES; i++)
			if ((v->clocks[i].idle_from &&
			     now->boot >= v->clocks[i].idle_from + WORKLOADS_IDLE_MS) ||
			    readiness_steady(&v->clocks[i].readiness, now->server))
				end(w, &v->clocks[i]);
		if (v->acted_on && v->open == 0 && (v->reverted.acted || v->reverted.until) &&
		    reverted_over(&v->reverted, now->server)) {
			forget_acts(w, id);
			mark_dirty(w, &v->dirty);
		}
		if (v->looping && v->open == 0 && now->server > v->loop.last + LOOP_KEEP_MS) {
			v->looping = false;
			w->loops--;
			if (v->loop.last)
				mark_dirty(w, &v->loop_dirty);
			done(w, id);
		}
	}
}
