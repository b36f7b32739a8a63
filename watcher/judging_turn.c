/* judging_turn.c - from a marked key to a deadline, NOMINATE, REFUSAL or nothing.  See judging.h. */
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "watcher/judging_state.h"

#define TURN_MS         2u
#define READ_MANY       32u     /* events between two turns that say: there is more to read */
#define READ_MS         4u      /* reading goes before judging for so long at a time */
#define KEYS_PER_LOOK   32u     /* keys between two looks at the clock */
#define BLOCKED_MS      100u    /* try again when nobody says that there is room */
#define SLOW_LOOK_MS    600000u /* what is refused or waits without a time is looked at again */
#define HOUSEKEEPING_MS 60000u

static int send_since(void *ctx, struct str owner, struct str revision, int64_t at_ms)
{
	struct judging *j = ctx;
	struct msg m = { .type = MSG_SINCE, .u.since = { .cluster = j->cluster, .at = at_ms } };

	msg_set(&m, since.owner, owner.p, owner.n);
	msg_set(&m, since.revision, revision.p, revision.n);
	return j->send(j->ctx, &m);
}

/* -- one key
 * -------------------------------------------------------------------------------------------------- */

static void fill_object(const struct judging *j, const struct pod_facts *p, const struct verdict *v,
			const struct surroundings *s, struct msg *m)
{
	bool owner = v->duty == DUTY_IMAGE_PULL && p->owner.uid.n;
	struct str subject = owner ? p->owner.uid : p->uid;
	int64_t since = v->duty == DUTY_IMAGE_PULL    ? s->failing_since
			: v->duty == DUTY_TERMINATING ? p->deletion
						      : p->disruption_at;

	m->u.nominate.cluster = j->cluster;
	m->u.nominate.duty = v->duty;
	m->u.nominate.since = since > 0 ? since : 0;
	msg_set(m, nominate.ns, p->ns.p, p->ns.n);
	msg_set(m, nominate.name, p->name.p, p->name.n);
	msg_set(m, nominate.uid, p->uid.p, p->uid.n);
	msg_set(m, nominate.rv, p->rv.p, p->rv.n);
	msg_set(m, nominate.subject, subject.p, subject.n);
	msg_set(m, nominate.reason, reason_code(v->reason), strlen(reason_code(v->reason)));
	msg_set(m, nominate.evidence, v->evidence, strlen(v->evidence));
}

static int act(struct judging *j, uint32_t h, const struct verdict *v, const struct surroundings *s,
	       uint64_t now, uint64_t quiet_until)
{
	const struct pod_facts *p = &j->facts;
	struct msg m = { .type = MSG_NOMINATE };
	uint64_t at = quiet_until;
	bool by_owner = v->duty == DUTY_IMAGE_PULL && p->owner.uid.n;

	fill_object(j, p, v, s, &m);
	struct str subject = STR_C(m.u.nominate.subject);

	if (now < quiet_until || book_ask(j->book, subject, p->rv, now, &at) != BOOK_GO) {
		deadlines_set(&j->deadlines, h, at);
		return 0;
	}
	if (j->standby || book_open_count(j->book) >= OPEN_MAX) {
		queue_add(j->waiting, h);
		return 0;
	}
	int r = j->send(j->ctx, &m);

	if (r < 0)
		return r;
	j->nominated++;
	book_nominated(j->book, subject, p->rv, h, by_owner ? store_group(j->store, h) : 0, now);
	return 0;
}

static uint16_t *refused_of(struct judging *j, uint32_t h)
{
	if (h >= j->cap_refused) {
		uint32_t cap = h + h / 2 + 64;

		j->refused = xreallocarray(j->refused, cap, sizeof(*j->refused));
		memset(j->refused + j->cap_refused, 0, (cap - j->cap_refused) * sizeof(*j->refused));
		j->cap_refused = cap;
	}
	return &j->refused[h];
}

static int refuse(struct judging *j, uint32_t h, const struct verdict *v, const struct surroundings *s,
		  uint64_t now)
{
	uint16_t told = (uint16_t)(1u + v->reason * DUTY__MAX + v->duty), *last = refused_of(j, h);
	struct msg m = { .type = MSG_REFUSAL };

	deadlines_set(&j->deadlines, h, now + SLOW_LOOK_MS);
	if (*last == told)
		return 0;
	fill_object(j, &j->facts, v, s, &m);
	int r = j->send(j->ctx, &m);

	if (r == 0)
		*last = told;
	return r;
}

/* Boot time at which the API server's clock shows at_ms. */
static uint64_t boot_at(const struct judging *j, int64_t at_ms, uint64_t now)
{
	int64_t left = at_ms - judging_now(j);

	return left > 0 ? now + (uint64_t)left : now;
}

/* The state is not "due": what was remembered of its being due goes. */
static void not_due(struct judging *j, uint32_t h, enum verdict_kind kind)
{
	if (book_count(j->book)) {
		book_not_due(j->book, j->facts.uid, h);
		book_not_due(j->book, j->facts.owner.uid, h);
	}
	if (kind != VERDICT_REFUSE && h < j->cap_refused)
		j->refused[h] = 0;
}

static void look(struct judging *j, uint32_t h, struct surroundings *s)
{
	const struct pod_facts *p = &j->facts;
	uint8_t mark;

	store_get(j->store, h, &j->facts);
	mark = judging_mark(j, p);
	if (mark != store_mark(j->store, h)) /* another policy than when it was put */
		store_set_mark(j->store, h, mark);
	judging_surroundings(j, h, p, s);
	if (!judging_clock_may_run(j, h))
		since_clear(j->since, judging_clock_owner(p), p->revision);
	else if (mark & MARK_FAILING && j->policy->duty[DUTY_IMAGE_PULL].enable)
		s->failing_since = since_failing(j->since, judging_clock_owner(p), p->revision,
						 skew_latest(&j->skew, clock_wall_ms(), clock_boot_ms()));
	else if (!p->owner.uid.n && mark & MARK_PULLED)
		since_clear(j->since, p->uid, p->revision);
}

/* 0, or a negative errno of send: the key has to come again. */
static int judge_key(struct judging *j, uint32_t h, uint64_t now)
{
	struct surroundings s;
	struct verdict v;
	uint64_t nominate_at;

	if (!store_has(j->store, h) || !gate_namespace(j->gate, store_namespace(j->store, h), &nominate_at))
		return 0;
	j->judged++;
	look(j, h, &s);
	judge_pod(&j->facts, j->policy, &s, judging_now(j), &v);
	if (v.kind != VERDICT_ACT)
		not_due(j, h, v.kind);
	switch (v.kind) {
	case VERDICT_ACT:
		deadlines_cancel(&j->deadlines, h);
		return act(j, h, &v, &s, now, nominate_at);
	case VERDICT_WAIT:
		deadlines_set(&j->deadlines, h, v.at_ms ? boot_at(j, v.at_ms, now) : now + SLOW_LOOK_MS);
		return 0;
	case VERDICT_REFUSE:
		return refuse(j, h, &v, &s, now);
	case VERDICT_NONE:
	default:
		deadlines_cancel(&j->deadlines, h);
		return 0;
	}
}

/* -- a turn
 * --------------------------------------------------------------------------------------------------- */

/* The pods whose verdict hangs on the tally of this group: those that fail, in every revision. */
static void mark_group(struct judging *j, uint32_t group)
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

static void collect(struct judging *j, uint64_t now)
{
	uint32_t key;

	queue_tick(j->keys, now);
	while (deadlines_pop(&j->deadlines, now, &key))
		queue_add(j->keys, key);
	for (uint32_t open = book_open_count(j->book);
	     !j->standby && open < OPEN_MAX && queue_get(j->waiting, &key) == 0; open++) {
		queue_done(j->waiting, key);
		queue_add(j->keys, key);
	}
	if (now >= j->housekeeping_at) {
		j->housekeeping_at = now + HOUSEKEEPING_MS;
		since_expire(j->since, now);
		book_expire(j->book, now);
	}
}

static int judge_some(struct judging *j, uint64_t now)
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
static bool reads_first(struct judging *j, uint64_t now)
{
	bool many = j->unread >= READ_MANY && now < j->turn_ended + READ_MS;

	j->unread = 0;
	return many;
}

uint64_t judging_turn(struct judging *j)
{
	uint64_t begin = clock_boot_ms();
	int r;

	if (begin < j->blocked_until)
		return j->blocked_until;
	if (reads_first(j, begin))
		return judging_next(j);
	r = since_flush(j->since, send_since, j);
	collect(j, begin);
	if (r == 0 && gate_open(j->gate, begin)) {
		do
			r = judge_some(j, clock_boot_ms());
		while (r == 0 && queue_len(j->keys) && clock_boot_ms() < begin + TURN_MS);
	}
	if (r == 0)
		r = since_flush(j->since, send_since, j);
	j->turn_ended = clock_boot_ms();
	if (r < 0)
		j->blocked_until = j->turn_ended + BLOCKED_MS;
	return judging_next(j);
}

uint64_t judging_next(const struct judging *j)
{
	uint64_t now = clock_boot_ms(), next = UINT64_MAX, at;

	if (now < j->blocked_until)
		return j->blocked_until;
	if (!gate_open(j->gate, now))
		return UINT64_MAX; /* an event opens it */
	if (queue_len(j->keys) || queue_len(j->groups) ||
	    (!j->standby && queue_len(j->waiting) && book_open_count(j->book) < OPEN_MAX))
		return now;
	if (deadlines_next(&j->deadlines, &at))
		next = at;
	if (queue_next(j->keys, &at) && at < next)
		next = at;
	if ((since_count(j->since) || book_count(j->book)) && j->housekeeping_at < next)
		next = j->housekeeping_at;
	return next;
}
