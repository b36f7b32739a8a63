/* controller_run.c - from a marked key to a deadline, NOMINATE, REFUSAL or nothing.  See controller.h. */
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "rules/select.h"
#include "watcher/controller/decision.h"
#include "watcher/controller/controller_state.h"

#define RUN_MS        2u
#define READ_MANY     32u     /* events between two runs that say: there is more to read */
#define READ_MS       4u      /* reading goes before judging for so long at a time */
#define KEYS_PER_LOOK 32u     /* keys between two looks at the clock */
#define BLOCKED_MS    100u    /* try again when nobody says that there is room */
#define SLOW_LOOK_MS  600000u /* what is refused or waits without a time is looked at again */
#define TELL_AGAIN_MS 3600000u
#define REASON_BITS   10
_Static_assert((REASON__MAX + 1) * DUTY__MAX < 1 << REASON_BITS, "reason and duty leave room for the hour");
#define HOUSEKEEPING_MS 60000u
#define BREAKER_LOOK_MS 1000u

static int send_since(void *ctx, struct str owner, struct str revision, int64_t at_ms, int64_t tried_ms)
{
	struct controller *c = ctx;
	struct msg m = { .type = MSG_FAILING_SINCE,
			 .u.failing_since = { .cluster = c->cluster, .at = at_ms, .attempted = tried_ms } };

	msg_set(&m, failing_since.owner, owner.p, owner.n);
	msg_set(&m, failing_since.revision, revision.p, revision.n);
	return c->send(c->ctx, &m);
}

static int send_saved(void *ctx, const struct msg *m)
{
	struct controller *c = ctx;

	return c->send(c->ctx, m);
}

/* What a next life has to know. */
static int flush(struct controller *c)
{
	struct clock_snapshot now;
	int r = failing_since_flush(c->since, send_since, c);

	if (r < 0)
		return r;
	controller_clocks(c, &now);
	return guards_flush(c->guards, &now, send_saved, c);
}

/* -- one key
 * -------------------------------------------------------------------------------------------------- */

/* Due, but blocked: it waits in the bin of all that wait for the same. What a person should see is told once.
 */
static int block_pod(struct controller *c, uint32_t h, const struct decision *d, const struct pod_context *s)
{
	struct msg m = { .type = MSG_REFUSAL };
	char key[512];
	struct str bin = { key, guards_bin_key(&d->ask, &d->block, key, sizeof(key)) };

	if (guard_desc(d->block.guard)->reported && !blocked_has_bin(c->blocked, bin)) {
		decision_fill(c, &c->facts, s, d, &m);
		int r = c->send(c->ctx, &m);

		if (r < 0)
			return r;
	}
	blocked_put(c->blocked, h, bin, &d->block);
	deadlines_cancel(&c->deadlines, h);
	return 0;
}

/* Its subject was nominated lately: it waits for the end of that. */
static int wait_for_result(struct controller *c, uint32_t h, uint64_t at)
{
	blocked_remove(c->blocked, h);
	deadlines_set(&c->deadlines, h, at);
	return 0;
}

static int act(struct controller *c, uint32_t h, const struct decision *d, const struct pod_context *s,
	       uint64_t now)
{
	struct msg m = { .type = MSG_NOMINATE };
	bool by_owner = duty_desc(d->v.duty)->key == KEY_WORKLOAD && c->facts.owner.uid.n;
	struct clock_snapshot clocks;
	uint64_t at = 0;
	enum in_flight_answer before = in_flight_ask(c->in_flight, d->ask.subject, c->facts.rv, now, &at);

	controller_clocks(c, &clocks);
	/* What was done a moment ago may still be in the cache; only a return is told before that is over. */
	if (before == IN_FLIGHT_OPEN ||
	    (before == IN_FLIGHT_WAIT && !(d->blocked && d->block.guard == GUARD_REVERTED)))
		return wait_for_result(c, h, at);
	bool newest = guards_note_due(c->guards, &d->ask, &clocks);
	int r;

	if (d->blocked) {
		r = block_pod(c, h, d, s);

		if (newest)
			blocked_wake(c->blocked, GUARD_EVICT_LOOP, now);
		return r;
	}
	blocked_remove(c->blocked, h);
	if (in_flight_open_count(c->in_flight) >= OPEN_MAX) {
		queue_add(c->waiting, h);
		return 0;
	}
	decision_fill(c, &c->facts, s, d, &m);
	guards_charge(c->guards, NULL, &d->ask, &clocks);
	r = flush(c); /* what it spends is written down before it is done */

	if (r == 0)
		r = c->send(c->ctx, &m);
	if (r < 0) {
		guards_give_back(c->guards, d->ask.subject, &clocks);
		return r;
	}
	c->nominated++;
	in_flight_nominated(c->in_flight, d->ask.subject, c->facts.rv, h,
			    by_owner ? store_group(c->store, h) : 0, now);
	return 0;
}

static uint16_t *refused_of(struct controller *c, uint32_t h)
{
	if (h >= c->cap_refused) {
		uint32_t cap = h + h / 2 + 64;

		c->refused = xreallocarray(c->refused, cap, sizeof(*c->refused));
		memset(c->refused + c->cap_refused, 0, (cap - c->cap_refused) * sizeof(*c->refused));
		c->cap_refused = cap;
	}
	return &c->refused[h];
}

/* Told once; what needs a person again in every hour in which it lasts, so that the history knows how long.
 */
static int refuse(struct controller *c, uint32_t h, const struct decision *d, const struct pod_context *s,
		  uint64_t now)
{
	const struct verdict *v = &d->v;
	const uint64_t hour =
		reason_desc(v->reason)->attention == ATTENTION_OBJECT ? now / TELL_AGAIN_MS % 64 : 0;
	uint16_t told = (uint16_t)((1u + v->reason * DUTY__MAX + v->duty) | hour << REASON_BITS);
	uint16_t *last = refused_of(c, h);
	struct msg m = { .type = MSG_REFUSAL };

	deadlines_set(&c->deadlines, h, now + SLOW_LOOK_MS);
	if (*last == told)
		return 0;
	decision_fill(c, &c->facts, s, d, &m);
	int r = c->send(c->ctx, &m);

	if (r == 0)
		*last = told;
	return r;
}

/* Boot time at which the API server's clock shows at_ms. */
static uint64_t boot_at(const struct controller *c, int64_t at_ms, uint64_t now)
{
	int64_t left = at_ms - controller_now(c);

	return left > 0 ? now + (uint64_t)left : now;
}

/* The state is not "due": what was remembered of its being due goes. */
static void not_due(struct controller *c, uint32_t h, enum verdict_kind kind)
{
	if (in_flight_count(c->in_flight)) {
		in_flight_not_due(c->in_flight, c->facts.uid, h);
		in_flight_not_due(c->in_flight, c->facts.owner.uid, h);
	}
	if (kind != VERDICT_REFUSE && h < c->cap_refused)
		c->refused[h] = 0;
}

void controller_enrol(struct controller *c, uint32_t h, const struct pod_facts *p, struct pod_context *ret)
{
	struct str owner = controller_clock_owner(p);
	uint8_t mark = controller_mark(c, p);
	enum reason ignored;

	if (mark != store_mark(c->store, h)) /* another policy than when it was put */
		store_set_mark(c->store, h, mark);
	controller_context(c, h, p, ret);
	if (!controller_clock_may_run(c, h)) {
		failing_since_clear(c->since, owner, p->revision);
		guards_recovered(c->guards, owner, p->revision);
	} else if (mark & MARK_FAILING && policy_of(c->policy, p)[DUTY_IMAGE_PULL].enable) {
		ret->failing_since = failing_since_failing(
			c->since, owner, p->revision,
			server_clock_latest(&c->skew, clock_wall_ms(), clock_boot_ms()));
		if (judge_namespace(c->policy, DUTY_IMAGE_PULL, p->ns, &ignored))
			guards_failing(c->guards, owner, p->revision, ret->failing_since, p);
	} else if (!p->owner.uid.n && mark & MARK_PULLED) {
		failing_since_clear(c->since, p->uid, p->revision);
		guards_recovered(c->guards, p->uid, p->revision);
	}
}

static int wait(struct controller *c, uint32_t h, const struct decision *d, const struct pod_context *s,
		uint64_t now)
{
	if (d->blocked)
		return act(c, h, d, s, now);
	deadlines_set(&c->deadlines, h, d->v.at_ms ? boot_at(c, d->v.at_ms, now) : now + SLOW_LOOK_MS);
	return 0;
}

static int nothing(struct controller *c, uint32_t h, const struct decision *d, const struct pod_context *s,
		   uint64_t now)
{
	(void)d;
	(void)s;
	(void)now;
	deadlines_cancel(&c->deadlines, h);
	return 0;
}

/* 0, or a negative errno of send: the key has to come again. */
static int judge_key(struct controller *c, uint32_t h, uint64_t now)
{
	static int (*const then[])(struct controller * c, uint32_t h, const struct decision *d,
				   const struct pod_context *s, uint64_t now) = { [VERDICT_NONE] = nothing,
										  [VERDICT_WAIT] = wait,
										  [VERDICT_ACT] = act,
										  [VERDICT_REFUSE] = refuse };
	struct pod_context s;
	struct decision d;
	uint64_t nominate_at;

	if (!store_has(c->store, h) ||
	    !sync_state_namespace(c->sync, store_namespace(c->store, h), &nominate_at)) {
		blocked_remove(c->blocked, h);
		return 0;
	}
	c->judged++;
	store_get(c->store, h, &c->facts);
	controller_enrol(c, h, &c->facts, &s);
	controller_tick_guards(c, now, true);
	decision_make(c, &c->facts, &s, NULL, &d);
	if (!d.due) {
		not_due(c, h, d.v.kind);
		blocked_remove(c->blocked, h);
	}
	if (d.v.kind == VERDICT_ACT)
		deadlines_cancel(&c->deadlines, h);
	return then[d.v.kind](c, h, &d, &s, now);
}

/* -- a run
 * --------------------------------------------------------------------------------------------------- */

/* The pods whose verdict hangs on the tally of this group: those that fail, in every revision. */
static void mark_group(struct controller *c, uint32_t group)
{
	struct group_tally t;

	if (!store_has_group(c->store, group))
		return;
	store_tally(c->store, group, &t);
	if (t.failing_all == 0)
		return;
	for (uint32_t g = store_chain_first(c->store, group); g; g = store_chain_next(c->store, g))
		for (uint32_t h = store_group_first(c->store, g); h; h = store_group_next(c->store, h))
			if (store_mark(c->store, h) & MARK_FAILING)
				queue_add(c->keys, h);
}

static void queue_blocked(void *ctx, uint32_t h)
{
	struct controller *c = ctx;

	queue_add(c->keys, h);
}

/* Before the first of them is judged, all that fail are known: an outage must be seen as one. */
static void enrol_all(struct controller *c)
{
	struct pod_context s;

	for (uint32_t h = 0; (h = store_next(c->store, h));) {
		if (!(store_mark(c->store, h) & MARK_FAILING))
			continue;
		store_get(c->store, h, &c->facts);
		controller_enrol(c, h, &c->facts, &s);
	}
	c->enrolled = true;
}

void controller_tick_guards(struct controller *c, uint64_t now, bool asked)
{
	const struct breaker_policy *p = &c->policy->breaker;
	struct clock_snapshot clocks;
	uint64_t at;

	if (!guards_check_due(c->guards, now, &at))
		return;
	/* Open, it is in no hurry to close; closed, it must be known before anything goes. */
	if ((!asked || *guards_breaker_text(c->guards)) && now < c->breaker_at + BREAKER_LOOK_MS)
		return;
	c->breaker_at = now;
	if (p->percent > 0)
		pod_counts_take(c->census, c->store, now);
	controller_clocks(c, &clocks);
	if (guards_check(c->guards, p, pod_counts_workloads(c->census),
			 p->same_node > 0 && pod_counts_many_nodes(c->store) ? 2 : 1, &clocks))
		blocked_wake(c->blocked, GUARD_BREAKER, now);
}

static void collect_blocked(struct controller *c, uint64_t now)
{
	if (!c->enrolled)
		enrol_all(c);
	controller_tick_guards(c, now, false);
	if (c->budget_at && now >= c->budget_at) {
		c->budget_at = 0;
		blocked_wake(c->blocked, GUARD_BUDGET, now);
	}
	blocked_take(c->blocked, now, queue_blocked, c);
}

static void collect(struct controller *c, uint64_t now)
{
	struct clock_snapshot clocks;
	uint32_t key;

	queue_tick(c->keys, now);
	while (deadlines_pop(&c->deadlines, now, &key))
		queue_add(c->keys, key);
	for (uint32_t open = in_flight_open_count(c->in_flight);
	     open < OPEN_MAX && queue_get(c->waiting, &key) == 0; open++) {
		queue_done(c->waiting, key);
		queue_add(c->keys, key);
	}
	if (now >= c->housekeeping_at) {
		c->housekeeping_at = now + HOUSEKEEPING_MS;
		failing_since_expire(c->since, now);
		in_flight_expire(c->in_flight, now);
		controller_clocks(c, &clocks);
		guards_housekeeping(c->guards, &clocks);
	}
}

static int judge_some(struct controller *c, uint64_t now)
{
	uint32_t key;
	int r = 0;

	while (queue_get(c->groups, &key) == 0) {
		queue_done(c->groups, key);
		mark_group(c, key);
	}
	for (uint32_t i = 0; i < KEYS_PER_LOOK && r == 0 && queue_get(c->keys, &key) == 0; i++) {
		r = judge_key(c, key, now);
		queue_done(c->keys, key);
		if (r < 0)
			queue_add(c->keys, key);
	}
	return r;
}

/* Is the socket still full? What is read first collapses: keys are judged once for many events, and a server
 * cuts off who does not read. */
static bool reads_first(struct controller *c, uint64_t now)
{
	bool many = c->unread >= READ_MANY && now < c->run_ended + READ_MS;

	c->unread = 0;
	return many;
}

uint64_t controller_run(struct controller *c)
{
	uint64_t begin = clock_boot_ms();
	int r;

	if (begin < c->blocked_until)
		return c->blocked_until;
	if (reads_first(c, begin))
		return controller_next(c);
	r = flush(c);
	collect(c, begin);
	if (r == 0 && sync_state_open(c->sync, begin)) {
		collect_blocked(c, begin);
		do
			r = judge_some(c, clock_boot_ms());
		while (r == 0 && queue_len(c->keys) && clock_boot_ms() < begin + RUN_MS);
	}
	if (r == 0)
		r = flush(c);
	c->run_ended = clock_boot_ms();
	if (r < 0)
		c->blocked_until = c->run_ended + BLOCKED_MS;
	return controller_next(c);
}

uint64_t controller_next(const struct controller *c)
{
	uint64_t now = clock_boot_ms(), next = UINT64_MAX, at;

	if (now < c->blocked_until)
		return c->blocked_until;
	if (!sync_state_open(c->sync, now))
		return UINT64_MAX; /* an event opens it */
	if (queue_len(c->keys) || queue_len(c->groups) ||
	    (queue_len(c->waiting) && in_flight_open_count(c->in_flight) < OPEN_MAX))
		return now;
	if (deadlines_next(&c->deadlines, &at))
		next = at;
	if (queue_next(c->keys, &at) && at < next)
		next = at;
	if (blocked_next(c->blocked, &at) && at < next)
		next = at;
	if (c->budget_at && blocked_count_of(c->blocked, GUARD_BUDGET) && c->budget_at < next)
		next = c->budget_at;
	if (guards_check_due(c->guards, now, &at))
		at = c->breaker_at + BREAKER_LOOK_MS;
	if (at < next)
		next = at;
	if ((failing_since_count(c->since) || in_flight_count(c->in_flight)) && c->housekeeping_at < next)
		next = c->housekeeping_at;
	return next;
}
