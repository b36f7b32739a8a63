/* in_flight.c - see in_flight.h.
 * "Early" is how many times in a row a change of the pod may cut short the wait after that outcome: once
 * refused, a pod that changes is judged again at once, but one that changes every second is not nominated
 * every second. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/guards/in_flight.h"

#include <stdlib.h>

#include "base/backoff.h"
#include "base/fnv.h"
#include "base/xalloc.h"
#include "watcher/cache/hash.h"
#include "watcher/cache/intern.h"

#define WAIT_BASE_MS 30000u
#define WAIT_CAP_MS  600000u
#define DROPPED_MS   600000u
#define OBSERVED_MS  86400000u
#define LOST_MS      600000u /* ask the supervisor again; it ignores what it has open */
#define SETTLED_MS   2000u   /* controllers have seen an annotation that we have just written */
#define FORGET_MS    3600000u
#define RETRIES_MAX  5u
#define PROBE_MS     30000u /* of those that were given up alike, one is tried again so soon */
#define WAKE_MS      5000u  /* no sooner after its failure does the success of another wake it */
#define WAKES_MS     1000u  /* between two looks for somebody to wake */

/* What the server's weather stopped: never given up. With the jitter the last wait is a minute. */
static const struct backoff_policy patience = { .base_ms = 200, .cap_ms = 50000, .jitter = 0.2 };

static const uint8_t early[OUTCOME__MAX] = { [OUTCOME_REFUSED] = 1, [OUTCOME_CONFLICT] = 3 };

struct nomination {
	uint64_t zero_since,
		zero_heard; /* it wants no pods: since when, and when that was heard last; 0 = not */
	uint64_t seen;      /* when what made it due was */
	uint64_t until;     /* of the wait, or when an open one is asked for again */
	uint64_t tried;     /* when the last one ended */
	uint64_t like;      /* hash of its duty and namespace: one right, one webhook */
	uint32_t h, group, rv_hash;
	uint8_t rounds;                     /* nominations that ended without an end to the state */
	uint8_t fails;                      /* failures in a row of this version of the pod */
	uint8_t early;                      /* a change of the pod ends the wait */
	bool used, open, dropped, reported; /* reported: it wants no pods and still has some */
	bool written;    /* the last one was, or may have been: the cache may not show it yet */
	bool anew;       /* open, and nominated by settings that hold no more */
	bool stepped;    /* open, and nominated by a clock that was set since */
	bool refused;    /* the last one was */
	uint8_t outcome; /* of the last one; OUTCOME__MAX = none */
	uint16_t reason;
};

struct in_flight {
	struct intern *keys;
	struct nomination *v;
	uint32_t cap, count, open;
	uint64_t wakes_at; /* not looked for somebody to wake before */
	bool failed;       /* some may wait after a failure */
};

struct in_flight *in_flight_new(void)
{
	struct in_flight *b = xcalloc(1, sizeof(*b));

	b->keys = intern_new();
	b->v = xgrow(b->v, &b->cap, 0, sizeof(*b->v)); /* 0 is the nomination of no key */
	return b;
}

void in_flight_free(struct in_flight **b)
{
	if (!*b)
		return;
	intern_free(&(*b)->keys);
	free((*b)->v);
	free(*b);
	*b = NULL;
}

static uint32_t find_id(const struct in_flight *b, struct str action_key)
{
	return b->count ? intern_find(b->keys, action_key) : 0;
}

static void forget(struct in_flight *b, uint32_t id)
{
	b->v[id] = (struct nomination){ 0 };
	b->count--;
	intern_unref(b->keys, id);
}

enum in_flight_answer in_flight_ask(const struct in_flight *b, struct str action_key, struct str rv,
				    uint64_t now, uint64_t *ret_at)
{
	uint32_t id = find_id(b, action_key);
	const struct nomination *e = id ? &b->v[id] : NULL;

	if (!e || now >= e->until || (!e->open && e->early && e->rv_hash != hash_quick(rv.p, rv.n)))
		return IN_FLIGHT_GO;
	*ret_at = e->until;
	return e->open ? IN_FLIGHT_OPEN : IN_FLIGHT_WAIT;
}

void in_flight_nominated(struct in_flight *b, struct str action_key, struct str rv, uint32_t h,
			 uint32_t group, uint64_t seen, uint64_t now)
{
	const uint32_t id = intern_once(b->keys, action_key);

	b->v = xgrow(b->v, &b->cap, id, sizeof(*b->v));
	struct nomination *e = &b->v[id];

	b->count += !e->used;
	if (!e->used)
		e->outcome = OUTCOME__MAX;
	e->used = true;
	b->open += !e->open;
	e->open = true;
	e->dropped = false;
	e->h = h;
	e->group = group;
	e->seen = seen;
	if (e->rv_hash != hash_quick(rv.p, rv.n))
		e->fails = 0;
	e->rv_hash = hash_quick(rv.p, rv.n);
	e->until = now + LOST_MS;
}

enum outcome in_flight_before(const struct in_flight *b, struct str action_key, enum reason *ret_reason)
{
	const uint32_t id = find_id(b, action_key);

	if (!id)
		return OUTCOME__MAX;
	*ret_reason = (enum reason)b->v[id].reason;
	return (enum outcome)b->v[id].outcome;
}

bool in_flight_is_failure(uint64_t outcome)
{
	return outcome == OUTCOME_FORBIDDEN || outcome == OUTCOME_FAILED;
}

/* For as long as ms in the first round, twice as long in each after it. */
static uint64_t slow_wait(const struct nomination *e, uint64_t ms)
{
	uint64_t d = ms;

	for (unsigned i = 1; i < e->rounds && d < WAIT_CAP_MS; i++)
		d *= 2;
	return d < WAIT_CAP_MS ? d : WAIT_CAP_MS;
}

/* Until somebody gives a right, or mends a webhook, nothing changes: such a failure is given up after some
 * tries. A server that fails, or the way to it, heals by itself. */
static bool is_for_an_operator(enum reason reason)
{
	return reason_desc(reason)->attention == ATTENTION_OBJECT;
}

static uint64_t failure_wait(struct nomination *e, enum reason reason, uint64_t delay_ms, uint64_t retry_ms)
{
	uint64_t wait;

	e->fails = (uint8_t)(e->fails < 255 ? e->fails + 1 : 255);
	e->dropped = is_for_an_operator(reason) && e->fails > RETRIES_MAX;
	e->early = e->dropped;
	if (e->dropped)
		return DROPPED_MS;
	wait = backoff_delay_ms(&patience, e->fails, (double)e->rv_hash / (UINT32_MAX + 1.0));
	delay_ms = delay_ms < patience.cap_ms ? delay_ms : patience.cap_ms;
	wait = wait > delay_ms ? wait : delay_ms;
	return wait > retry_ms ? wait : retry_ms;
}

/* After e was given up: of all that were given up alike, the one that was tried longest ago goes again soon,
 * unless one does already. Its pod; 0: none, or e itself. */
static uint32_t choose_probe(struct in_flight *b, struct nomination *e, uint64_t now)
{
	struct nomination *probe = e;

	for (uint32_t id = 1; id < b->cap; id++) {
		struct nomination *other = &b->v[id];

		if (!other->used || other->open || !other->dropped || other->like != e->like || !other->h)
			continue;
		if (other->until <= now + PROBE_MS)
			return 0;
		if (other->tried < probe->tried)
			probe = other;
	}
	probe->until = now + PROBE_MS;
	return probe == e ? 0 : probe->h;
}

/* Not of what was written: to judge that anew is to ask for what is done. */
static void end_wait(struct nomination *e, uint64_t now)
{
	if (e->written)
		return;
	e->until = now;
	e->rounds = 0;
	e->dropped = false;
	e->outcome = OUTCOME__MAX;
}

static uint64_t hash_like(const struct msg_nomination_result *m)
{
	return fnv_text(fnv_text(FNV_START, duty_name((enum duty)m->duty)), m->ns);
}

static void count_round(struct nomination *e)
{
	e->rounds = (uint8_t)(e->rounds < 255 ? e->rounds + 1 : 255);
}

bool in_flight_on_result(struct in_flight *b, const struct msg_nomination_result *m, uint64_t delay_ms,
			 bool observe, uint64_t now, struct in_flight_end *ret)
{
	uint32_t id = find_id(b, STR_C(m->action_key)), probe = 0;
	struct nomination *e = id ? &b->v[id] : NULL;

	if (!e || !e->open)
		return false;
	e->open = false;
	b->open--;
	e->early = 0;
	e->written = OUTCOMES_WRITTEN >> m->outcome & 1;
	e->reason = (uint16_t)reason_parse(m->reason);
	e->tried = now;
	e->like = hash_like(m);
	if (in_flight_is_failure(m->outcome)) {
		b->failed = true;
		e->until = now + failure_wait(e, (enum reason)e->reason, delay_ms, m->retry_ms);
		probe = e->dropped ? choose_probe(b, e, now) : 0;
	} else if (e->reason == REASON_NOT_OBSERVED && m->retry_ms) {
		count_round(e);
		e->until = now + slow_wait(e, m->retry_ms); /* its controller may not be at work */
	} else if (m->outcome != OUTCOME_DONE && m->retry_ms) {
		e->until = now + m->retry_ms; /* nobody judged it, or its time is known: no round */
	} else if ((OUTCOMES_KNOWN_WRITTEN >> m->outcome & 1) && m->action == ACTION_FRESH_ATTEMPT) {
		e->until = now; /* escalation knows how long to wait */
	} else {
		count_round(e);
		e->early = e->rounds <= early[m->outcome];
		e->until = now + (m->outcome == OUTCOME_WOULD ? OBSERVED_MS : slow_wait(e, WAIT_BASE_MS));
	}
	if (!in_flight_is_failure(m->outcome))
		e->fails = 0;
	e->refused = m->outcome == OUTCOME_REFUSED;
	e->outcome = (uint8_t)m->outcome;
	if (e->anew && m->outcome == OUTCOME_ANNOUNCED)
		e->until = e->until < now + SETTLED_MS ? e->until : now + SETTLED_MS;
	else if (e->anew || (e->stepped && e->refused) || (m->outcome == OUTCOME_WOULD && !observe))
		end_wait(e, now);
	e->anew = e->stepped = false;
	*ret = (struct in_flight_end){ e->h,   e->group,   e->until,
				       probe,  e->dropped, e->dropped && e->fails == RETRIES_MAX + 1,
				       e->seen };
	if (e->h == 0 && !e->group)
		forget(b, id);
	return true;
}

uint32_t in_flight_pod(const struct in_flight *b, struct str action_key)
{
	uint32_t id = find_id(b, action_key);

	return id && b->v[id].open ? b->v[id].h : 0;
}

void in_flight_not_due(struct in_flight *b, struct str action_key, uint32_t h)
{
	uint32_t id = find_id(b, action_key);

	if (id && !b->v[id].open && b->v[id].h == h)
		forget(b, id);
}

void in_flight_gone(struct in_flight *b, struct str action_key, uint32_t h)
{
	uint32_t id = find_id(b, action_key);

	if (!id || b->v[id].h != h)
		return;
	b->v[id].h = 0;
	if (!b->v[id].open && !b->v[id].group)
		forget(b, id);
}

void in_flight_scaled_down(struct in_flight *b, struct str action_key, uint64_t now)
{
	struct nomination *e = &b->v[find_id(b, action_key)];

	if (!e->used)
		return;
	e->zero_since = e->zero_heard = now;
	e->reported = false;
}

bool in_flight_pods_stay(struct in_flight *b, struct str action_key, uint64_t now)
{
	struct nomination *e = &b->v[find_id(b, action_key)];

	if (!e->zero_since || now - e->zero_heard > FORGET_MS) {
		in_flight_scaled_down(b, action_key, now);
		return false;
	}
	e->zero_heard = now;
	if (e->reported || now - e->zero_since <= SCALED_DOWN_MS)
		return false;
	e->reported = true;
	return true;
}

void in_flight_retry_failed(struct in_flight *b, uint64_t now, void (*fn)(void *ctx, uint32_t h), void *ctx)
{
	for (uint32_t id = 1; id < b->cap && b->count; id++) {
		struct nomination *e = &b->v[id];

		if (!e->used || e->open || !e->fails)
			continue;
		e->until = now;
		e->fails = 0;
		e->dropped = false;
		if (e->h)
			fn(ctx, e->h);
	}
	b->failed = false;
}

/* Did the API server answer as it should? A refusal may be the supervisor's. */
static bool is_good_answer(uint64_t outcome)
{
	return !in_flight_is_failure(outcome) && outcome != OUTCOME_REFUSED && outcome != OUTCOME_UNCONFIRMED;
}

void in_flight_answered(struct in_flight *b, const struct msg_nomination_result *m, uint64_t now,
			void (*fn)(void *ctx, uint32_t h), void *ctx)
{
	const uint64_t like = hash_like(m);

	if (!b->failed || !is_good_answer(m->outcome) || now < b->wakes_at)
		return;
	b->wakes_at = now + WAKES_MS;
	b->failed = false;
	for (uint32_t id = 1; id < b->cap && b->count; id++) {
		struct nomination *e = &b->v[id];
		const uint64_t at = e->tried + WAKE_MS > now ? e->tried + WAKE_MS : now;

		if (!e->used || e->open || !e->fails)
			continue;
		b->failed = true;
		if ((e->dropped && e->like != like) || at >= e->until)
			continue;
		e->until = at;
		if (e->h)
			fn(ctx, e->h);
	}
}

void in_flight_judge_anew(struct in_flight *b, uint64_t now)
{
	for (uint32_t id = 1; id < b->cap && b->count; id++) {
		struct nomination *e = &b->v[id];

		if (e->used && e->open)
			e->anew = true;
		else if (e->used)
			end_wait(e, now);
	}
}

void in_flight_clock_stepped(struct in_flight *b, uint64_t now)
{
	for (uint32_t id = 1; id < b->cap && b->count; id++) {
		struct nomination *e = &b->v[id];

		if (e->used && e->open)
			e->stepped = true;
		else if (e->used && e->refused)
			end_wait(e, now);
	}
}

void in_flight_expire(struct in_flight *b, uint64_t now)
{
	for (uint32_t id = 1; id < b->cap && b->count; id++)
		if (b->v[id].used && !b->v[id].open && now >= b->v[id].until + FORGET_MS)
			forget(b, id);
}

uint32_t in_flight_open_count(const struct in_flight *b)
{
	return b->open;
}

uint32_t in_flight_count(const struct in_flight *b)
{
	return b->count;
}
