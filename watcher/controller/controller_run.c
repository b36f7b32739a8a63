/* controller_turn.c - from a marked key to a deadline, NOMINATE, REFUSAL or nothing.  See judging.h. */
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "rules/select.h"
#include "watcher/controller/decision.h"
#include "watcher/controller/controller_state.h"

#define TURN_MS       2u
#define READ_MANY     32u     /* events between two turns that say: there is more to read */
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
	struct controller *j = ctx;
	struct msg m = { .type = MSG_FAILING_SINCE,
			 .u.failing_since = { .cluster = j->cluster, .at = at_ms, .attempted = tried_ms } };

	msg_set(&m, failing_since.owner, owner.p, owner.n);
	msg_set(&m, failing_since.revision, revision.p, revision.n);
	return j->send(j->ctx, &m);
}

static int send_memo(void *ctx, const struct msg *m)
{
	struct controller *j = ctx;

	return j->send(j->ctx, m);
}

/* What a next life has to know. */
static int flush(struct controller *j)
{
	struct clock_snapshot now;
	int r = failing_since_flush(j->since, send_since, j);

	if (r < 0)
		return r;
	controller_clock(j, &now);
	return guards_flush(j->guards, &now, send_memo, j);
}

/* -- one key
 * -------------------------------------------------------------------------------------------------- */

/* Due, but held: it waits in the bin of all that wait for the same. What a person should see is told once. */
static int hold(struct controller *j, uint32_t h, const struct decision *d, const struct pod_context *s)
{
	static const bool told[GUARD__MAX] = { [GUARD_BREAKER] = true,
					       [GUARD_REVERTED] = true,
					       [GUARD_EVICT_LOOP] = true,
					       [GUARD_BUDGET] = true };
	struct msg m = { .type = MSG_REFUSAL };
	char key[512];
	struct str bin = { key, guards_bin_key(&d->ask, &d->hold, key, sizeof(key)) };

	if (told[d->hold.guard] && !blocked_has_bin(j->held, bin)) {
		decision_fill(j, &j->facts, s, d, &m);
		int r = j->send(j->ctx, &m);

		if (r < 0)
			return r;
	}
	blocked_put(j->held, h, bin, &d->hold);
	deadlines_cancel(&j->deadlines, h);
	return 0;
}

/* Its subject was nominated lately: it waits for the end of that. */
static int wait_for_book(struct controller *j, uint32_t h, uint64_t at)
{
	blocked_remove(j->held, h);
	deadlines_set(&j->deadlines, h, at);
	return 0;
}

static int act(struct controller *j, uint32_t h, const struct decision *d, const struct pod_context *s,
	       uint64_t now)
{
	struct msg m = { .type = MSG_NOMINATE };
	bool by_owner = d->v.duty == DUTY_IMAGE_PULL && j->facts.owner.uid.n;
	struct clock_snapshot moment;
	uint64_t at = 0;
	enum in_flight_answer book = in_flight_ask(j->book, d->ask.subject, j->facts.rv, now, &at);

	controller_clock(j, &moment);
	/* What was done a moment ago may still be in the cache; only a return is told before that is over. */
	if (book == IN_FLIGHT_OPEN ||
	    (book == IN_FLIGHT_HELD && !(d->held && d->hold.guard == GUARD_REVERTED)))
		return wait_for_book(j, h, at);
	bool newest = guards_note_due(j->guards, &d->ask, &moment);

	if (d->held) {
		int held = hold(j, h, d, s);

		if (newest)
			blocked_wake(j->held, GUARD_EVICT_LOOP, now);
		return held;
	}
	blocked_remove(j->held, h);
	if (in_flight_open_count(j->book) >= OPEN_MAX) {
		queue_add(j->waiting, h);
		return 0;
	}
	decision_fill(j, &j->facts, s, d, &m);
	guards_charge(j->guards, NULL, &d->ask, &moment);
	int r = flush(j); /* what it spends is written down before it is done */

	if (r == 0)
		r = j->send(j->ctx, &m);
	if (r < 0) {
		guards_give_back(j->guards, d->ask.subject, &moment);
		return r;
	}
	j->nominated++;
	in_flight_nominated(j->book, d->ask.subject, j->facts.rv, h, by_owner ? store_group(j->store, h) : 0,
			    now);
	return 0;
}

static uint16_t *refused_of(struct controller *j, uint32_t h)
{
	if (h >= j->cap_refused) {
		uint32_t cap = h + h / 2 + 64;

		j->refused = xreallocarray(j->refused, cap, sizeof(*j->refused));
		memset(j->refused + j->cap_refused, 0, (cap - j->cap_refused) * sizeof(*j->refused));
		j->cap_refused = cap;
	}
	return &j->refused[h];
}

/* Told once; what needs a person again in every hour in which it lasts, so that the history knows how long.
 */
static int refuse(struct controller *j, uint32_t h, const struct decision *d, const struct pod_context *s,
		  uint64_t now)
{
	const struct verdict *v = &d->v;
	const uint64_t hour = reason_needs_person(v->reason) ? now / TELL_AGAIN_MS % 64 : 0;
	uint16_t told = (uint16_t)((1u + v->reason * DUTY__MAX + v->duty) | hour << REASON_BITS);
	uint16_t *last = refused_of(j, h);
	struct msg m = { .type = MSG_REFUSAL };

	deadlines_set(&j->deadlines, h, now + SLOW_LOOK_MS);
	if (*last == told)
		return 0;
	decision_fill(j, &j->facts, s, d, &m);
	int r = j->send(j->ctx, &m);

	if (r == 0)
		*last = told;
	return r;
}

/* Boot time at which the API server's clock shows at_ms. */
static uint64_t boot_at(const struct controller *j, int64_t at_ms, uint64_t now)
{
	int64_t left = at_ms - controller_now(j);

	return left > 0 ? now + (uint64_t)left : now;
}

/* The state is not "due": what was remembered of its being due goes. */
static void not_due(struct controller *j, uint32_t h, enum verdict_kind kind)
{
	if (in_flight_count(j->book)) {
		in_flight_not_due(j->book, j->facts.uid, h);
		in_flight_not_due(j->book, j->facts.owner.uid, h);
	}
	if (kind != VERDICT_REFUSE && h < j->cap_refused)
		j->refused[h] = 0;
}

void controller_enrol(struct controller *j, uint32_t h, const struct pod_facts *p, struct pod_context *ret)
{
	struct str owner = controller_clock_owner(p);
	uint8_t mark = controller_mark(j, p);
	enum reason ignored;

	if (mark != store_mark(j->store, h)) /* another policy than when it was put */
		store_set_mark(j->store, h, mark);
	controller_context(j, h, p, ret);
	if (!controller_clock_may_run(j, h)) {
		failing_since_clear(j->since, owner, p->revision);
		guards_recovered(j->guards, owner, p->revision);
	} else if (mark & MARK_FAILING && policy_of(j->policy, p)[DUTY_IMAGE_PULL].enable) {
		ret->failing_since =
			failing_since_failing(j->since, owner, p->revision,
					      clock_skew_latest(&j->skew, clock_wall_ms(), clock_boot_ms()));
		if (judge_namespace(j->policy, DUTY_IMAGE_PULL, p->ns, &ignored))
			guards_failing(j->guards, owner, p->revision, ret->failing_since, p);
	} else if (!p->owner.uid.n && mark & MARK_PULLED) {
		failing_since_clear(j->since, p->uid, p->revision);
		guards_recovered(j->guards, p->uid, p->revision);
	}
}

static int wait(struct controller *j, uint32_t h, const struct decision *d, const struct pod_context *s,
		uint64_t now)
{
	if (d->held)
		return act(j, h, d, s, now);
	deadlines_set(&j->deadlines, h, d->v.at_ms ? boot_at(j, d->v.at_ms, now) : now + SLOW_LOOK_MS);
	return 0;
}

static int nothing(struct controller *j, uint32_t h, const struct decision *d, const struct pod_context *s,
		   uint64_t now)
{
	(void)d;
	(void)s;
	(void)now;
	deadlines_cancel(&j->deadlines, h);
	return 0;
}

/* 0, or a negative errno of send: the key has to come again. */
static int judge_key(struct controller *j, uint32_t h, uint64_t now)
{
	static int (*const then[])(struct controller * j, uint32_t h, const struct decision *d,
				   const struct pod_context *s, uint64_t now) = { [VERDICT_NONE] = nothing,
										  [VERDICT_WAIT] = wait,
										  [VERDICT_ACT] = act,
										  [VERDICT_REFUSE] = refuse };
	struct pod_context s;
	struct decision d;
	uint64_t nominate_at;

	if (!store_has(j->store, h) ||
	    !sync_state_namespace(j->gate, store_namespace(j->store, h), &nominate_at)) {
		blocked_remove(j->held, h);
		return 0;
	}
	j->judged++;
	store_get(j->store, h, &j->facts);
	controller_enrol(j, h, &j->facts, &s);
	controller_tick_guards(j, now, true);
	decision_make(j, &j->facts, &s, NULL, &d);
	if (!d.due) {
		not_due(j, h, d.v.kind);
		blocked_remove(j->held, h);
	}
	if (d.v.kind == VERDICT_ACT)
		deadlines_cancel(&j->deadlines, h);
	return then[d.v.kind](j, h, &d, &s, now);
}

/* -- a turn
 * --------------------------------------------------------------------------------------------------- */

/* The pods whose verdict hangs on the tally of this group: those that fail, in every revision. */
static void mark_group(struct controller *j, uint32_t group)
{
	struct group_tally t;

	if (!store_has_group(j->store, group))
		return;
	store_tally(j->store, group, &t);
	if (t.failing_all == 0)
		return;
	for (uint32_t g = store_chain_first(j->store, group); g; g = store_chain_next(j->store, g))
		for (uint32_t h = store_group_first(j->store, g); h; h = store_group_next(j->store, h))
			if (store_mark(j->store, h) & MARK_FAILING)
				queue_add(j->keys, h);
}

static void queue_held(void *ctx, uint32_t h)
{
	struct controller *j = ctx;

	queue_add(j->keys, h);
}

/* Before the first of them is judged, all that fail are known: an outage must be seen as one. */
static void enrol_all(struct controller *j)
{
	struct pod_context s;

	for (uint32_t h = 0; (h = store_next(j->store, h));) {
		if (!(store_mark(j->store, h) & MARK_FAILING))
			continue;
		store_get(j->store, h, &j->facts);
		controller_enrol(j, h, &j->facts, &s);
	}
	j->enrolled = true;
}

void controller_tick_guards(struct controller *j, uint64_t now, bool asked)
{
	const struct breaker_policy *p = &j->policy->breaker;
	struct clock_snapshot moment;
	uint64_t at;

	if (!guards_check_due(j->guards, now, &at))
		return;
	/* Open, it is in no hurry to close; closed, it must be known before anything goes. */
	if ((!asked || *guards_breaker_text(j->guards)) && now < j->breaker_at + BREAKER_LOOK_MS)
		return;
	j->breaker_at = now;
	if (p->percent > 0)
		pod_counts_take(j->census, j->store, now);
	controller_clock(j, &moment);
	if (guards_check(j->guards, p, pod_counts_workloads(j->census),
			 p->same_node > 0 && pod_counts_many_nodes(j->store) ? 2 : 1, &moment))
		blocked_wake(j->held, GUARD_BREAKER, now);
}

static void collect_held(struct controller *j, uint64_t now)
{
	if (!j->enrolled)
		enrol_all(j);
	controller_tick_guards(j, now, false);
	if (j->budget_at && now >= j->budget_at) {
		j->budget_at = 0;
		blocked_wake(j->held, GUARD_BUDGET, now);
	}
	blocked_take(j->held, now, queue_held, j);
}

static void collect(struct controller *j, uint64_t now)
{
	struct clock_snapshot moment;
	uint32_t key;

	queue_tick(j->keys, now);
	while (deadlines_pop(&j->deadlines, now, &key))
		queue_add(j->keys, key);
	for (uint32_t open = in_flight_open_count(j->book);
	     open < OPEN_MAX && queue_get(j->waiting, &key) == 0; open++) {
		queue_done(j->waiting, key);
		queue_add(j->keys, key);
	}
	if (now >= j->housekeeping_at) {
		j->housekeeping_at = now + HOUSEKEEPING_MS;
		failing_since_expire(j->since, now);
		in_flight_expire(j->book, now);
		controller_clock(j, &moment);
		guards_housekeeping(j->guards, &moment);
	}
}

static int judge_some(struct controller *j, uint64_t now)
{
	uint32_t key;
	int r = 0;

	while (queue_get(j->groups, &key) == 0) {
		queue_done(j->groups, key);
		mark_group(j, key);
	}
	for (uint32_t i = 0; i < KEYS_PER_LOOK && r == 0 && queue_get(j->keys, &key) == 0; i++) {
		r = judge_key(j, key, now);
		queue_done(j->keys, key);
		if (r < 0)
			queue_add(j->keys, key);
	}
	return r;
}

/* Is the socket still full? What is read first collapses: keys are judged once for many events, and a server
 * cuts off who does not read. */
static bool reads_first(struct controller *j, uint64_t now)
{
	bool many = j->unread >= READ_MANY && now < j->turn_ended + READ_MS;

	j->unread = 0;
	return many;
}

uint64_t controller_run(struct controller *j)
{
	uint64_t begin = clock_boot_ms();
	int r;

	if (begin < j->blocked_until)
		return j->blocked_until;
	if (reads_first(j, begin))
		return controller_next(j);
	r = flush(j);
	collect(j, begin);
	if (r == 0 && sync_state_open(j->gate, begin)) {
		collect_held(j, begin);
		do
			r = judge_some(j, clock_boot_ms());
		while (r == 0 && queue_len(j->keys) && clock_boot_ms() < begin + TURN_MS);
	}
	if (r == 0)
		r = flush(j);
	j->turn_ended = clock_boot_ms();
	if (r < 0)
		j->blocked_until = j->turn_ended + BLOCKED_MS;
	return controller_next(j);
}

uint64_t controller_next(const struct controller *j)
{
	uint64_t now = clock_boot_ms(), next = UINT64_MAX, at;

	if (now < j->blocked_until)
		return j->blocked_until;
	if (!sync_state_open(j->gate, now))
		return UINT64_MAX; /* an event opens it */
	if (queue_len(j->keys) || queue_len(j->groups) ||
	    (queue_len(j->waiting) && in_flight_open_count(j->book) < OPEN_MAX))
		return now;
	if (deadlines_next(&j->deadlines, &at))
		next = at;
	if (queue_next(j->keys, &at) && at < next)
		next = at;
	if (blocked_next(j->held, &at) && at < next)
		next = at;
	if (j->budget_at && blocked_count_of(j->held, GUARD_BUDGET) && j->budget_at < next)
		next = j->budget_at;
	if (guards_check_due(j->guards, now, &at))
		at = j->breaker_at + BREAKER_LOOK_MS;
	if (at < next)
		next = at;
	if ((failing_since_count(j->since) || in_flight_count(j->book)) && j->housekeeping_at < next)
		next = j->housekeeping_at;
	return next;
}
