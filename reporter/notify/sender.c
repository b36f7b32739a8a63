/* sender.c - see sender.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/notify/sender.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "reporter/sinks/delivery.h"

static const struct backoff_policy retry_policy = { .base_ms = 1000, .cap_ms = 300000, .jitter = 0.5 };
/* What a person has to correct first: seldom, as a reload is an answer at once. */
static const struct backoff_policy shut_policy = { .base_ms = 1000, .cap_ms = 600000, .jitter = 0.5 };

/* Whatever a server or a clock says: it is tried again within this. */
#define PAUSE_MAX_MS UINT64_C(3600000)
#define TROUBLE_MS   5000u
/* A message in doubt is repeated so often; a chat that never answers would be filled with it. */
#define DOUBTS_MAX 3u
/* Failures in a row from which on a sink is down, where it does not refuse. */
#define DOWN_AFTER 3u
/* After that a drain begins no message: what is in flight when the process ends is in doubt. */
#define DRAIN_SEND_MS 2000u
/* Of the particulars of a trouble: which sinks are down, and behind that how many have no room. */
#define DOWN_SIZE (FACTS_MAX - 64u)
/* While nothing else is to be done. */
#define LOOK_MS 3600000u

struct sink_queue {
	struct sender *sender;
	char *name, *problem; /* why nothing can be sent by the settings; NULL = nothing is wrong */
	struct delivery *delivery;
	struct outbox_row row; /* on its way: id is not 0 */
	struct db *db;         /* it is in the outbox of this one */
	struct {
		int64_t id; /* 0 = none */
		enum outbox_state state;
		struct facts error;
	} unwritten;         /* an end that the history did not take */
	bool is_empty;       /* nothing waits, until sender_wake() */
	bool is_outdated;    /* what is on its way is sent by settings that were replaced */
	uint64_t not_before; /* boot ms */
	unsigned failures;   /* in a row */
	int64_t down_at;     /* Unix ms; 0 = it is not */
	struct facts why;
};

struct sender {
	struct event_base *base;
	struct db *db;
	struct db *memory; /* whose outbox is sent while that of db cannot be written; else NULL */
	const struct sender_ops *ops;
	void *ctx;
	struct sink_queue **queues;
	size_t n;
	uint64_t give_up_ms;
	bool draining;
	uint64_t drain_until; /* boot ms */
	struct facts said;
};

/* -- queues -- */

static void sink_queue_free(struct sink_queue *l)
{
	delivery_free(&l->delivery);
	outbox_row_done(&l->row);
	free(l->name);
	free(l->problem);
	free(l);
}

struct sender *sender_new(struct event_base *base, struct db *db, const struct sender_ops *ops, void *ctx)
{
	struct sender *r = xcalloc(1, sizeof(*r));

	*r = (struct sender){ .base = base, .db = db, .ops = ops, .ctx = ctx };
	return r;
}

void sender_free(struct sender **r)
{
	if (!*r)
		return;
	for (size_t i = 0; i < (*r)->n; i++)
		sink_queue_free((*r)->queues[i]);
	free((*r)->queues);
	free(*r);
	*r = NULL;
}

const char *sender_sink(const struct sender *r, size_t i, int64_t *ret_down_at, const struct facts **ret_why)
{
	if (i >= r->n)
		return NULL;
	*ret_down_at = r->queues[i]->down_at;
	*ret_why = &r->queues[i]->why;
	return r->queues[i]->name;
}

/* -- what is said -- */

/* The sinks that are down, each with its reason; those that have no room are counted. */
static void say_down(struct sender *r)
{
	struct facts down = { 0 }, rest = facts_of(TEXT_MORE_SINKS);
	int64_t more = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct sink_queue *l = r->queues[i];
		struct facts one = facts_of(TEXT_OF_SINK);

		if (!l->down_at)
			continue;
		facts_name(&one, FACT_SINK, STR_C(l->name));
		facts_facts(&one, FACT_BECAUSE, &l->why);
		if (down.n + one.n < DOWN_SIZE)
			facts_facts(&down, FACT_EACH, &one);
		else
			more++;
	}
	facts_count(&rest, FACT_MORE, more);
	if (more > 0)
		facts_facts(&down, FACT_EACH, &rest);
	if (facts_equal(&down, &r->said))
		return;
	facts_set(&r->said, &down);
	r->ops->say_down(r->ctx, &r->said);
}

/* why NULL: it is not. */
static void set_down(struct sink_queue *l, const struct facts *why)
{
	facts_clear(&l->why);
	if (!why)
		l->down_at = 0;
	else if (!l->down_at)
		l->down_at = clock_wall_ms();
	if (why)
		facts_set(&l->why, why);
}

static void say_ended(struct sink_queue *l, const struct outbox_row *row, enum outbox_state state,
		      const struct facts *error)
{
	const struct sender_news n = {
		.sink = l->name, .news = row->news, .state = state, .tries = row->tries, .error = error
	};

	l->sender->ops->ended(l->sender->ctx, &n);
}

static void say_trouble(struct sink_queue *l, int err, const char *what)
{
	l->sender->ops->trouble(l->sender->ctx, err, what);
	l->not_before = clock_boot_ms() + TROUBLE_MS;
}

static struct db *db_in_use(const struct sender *r)
{
	return r->memory ? r->memory : r->db;
}

/* -- one message -- */

static bool is_too_old(const struct sink_queue *l, const struct outbox_row *row)
{
	return clock_wall_ms() - row->made_at >= (int64_t)l->sender->give_up_ms;
}

/* Of the database that fails at times, and is in use again. */
static int write_end(struct sink_queue *l)
{
	const int err = outbox_end(l->sender->db, l->unwritten.id, l->unwritten.state, &l->unwritten.error);

	if (err < 0)
		say_trouble(l, err, "how a message ended could not be written down");
	else
		l->unwritten.id = 0;
	return err;
}

/* An end that cannot be written stays "sending" on disk: the next start reads it in the safe way. Until it is
 * written nothing else is sent from there: it would be this one again. */
static void end_row(struct sink_queue *l, const struct outbox_row *row, enum outbox_state state,
		    const struct facts *error)
{
	if (l->db == l->sender->memory) {
		(void)outbox_end(l->db, row->id, state, error);
	} else {
		l->unwritten.id = row->id;
		l->unwritten.state = state;
		facts_set(&l->unwritten.error, error);
		(void)write_end(l);
	}
	say_ended(l, row, state, error);
}

static uint64_t pause_of(const struct sink_queue *l, const struct sink_answer *a)
{
	const struct backoff_policy *policy = a->verdict == SINK_BLOCKED ? &shut_policy : &retry_policy;
	uint64_t ms = backoff_delay_ms(policy, l->failures, backoff_random());

	if (a->verdict == SINK_BLOCKED && l->is_outdated)
		return 0; /* it was said of the settings before */
	if (a->retry_after_ms > 0 && (uint64_t)a->retry_after_ms > ms)
		ms = (uint64_t)a->retry_after_ms;
	return ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS;
}

static void try_again(struct sink_queue *l, const struct sink_answer *a, const struct facts *error)
{
	const uint64_t ms = pause_of(l, a);
	/* The next process may have another address, or its network back: only what the server said is kept.
	 */
	const bool is_kept = a->retry_after_ms > 0;
	const int err = outbox_again(l->db, l->row.id, clock_wall_ms() + (int64_t)(is_kept ? ms : 0),
				     a->verdict == SINK_UNKNOWN, error);

	l->not_before = clock_boot_ms() + ms;
	if (err < 0)
		say_trouble(l, err, "how a try ended could not be written down");
	say_ended(l, &l->row, OUTBOX_WAITING, error);
}

/* Is it sent again, although nobody knows whether it arrived? */
static bool may_repeat(const struct sink_queue *l)
{
	return delivery_knows_ids(l->delivery) ||
	       (news_in_doubt(l->row.news) == IN_DOUBT_REPEAT && l->row.doubts < DOUBTS_MAX);
}

/* What becomes of the message. */
static enum outbox_state state_after(const struct sink_queue *l, enum sink_verdict verdict)
{
	const bool is_old = is_too_old(l, &l->row);

	switch (verdict) {
	case SINK_ACCEPTED:
		return OUTBOX_DONE;
	case SINK_REFUSED:
		return OUTBOX_GIVEN_UP;
	case SINK_UNKNOWN:
		return is_old || !may_repeat(l) ? OUTBOX_UNCONFIRMED : OUTBOX_WAITING;
	default:
		return is_old ? OUTBOX_GIVEN_UP : OUTBOX_WAITING;
	}
}

static void on_answer(void *ctx, const struct sink_answer *a)
{
	struct sink_queue *l = ctx;
	struct sender *r = l->sender;
	struct facts error = { 0 };

	l->row.tries++;
	l->failures = a->verdict == SINK_ACCEPTED ? 0 : l->failures + 1;
	const enum outbox_state state = state_after(l, a->verdict);

	if (a->verdict != SINK_ACCEPTED && a->code >= 0) {
		facts_finding(&error, TEXT_SINK_CODE);
		facts_count(&error, FACT_CODE, a->code);
	}
	if (a->verdict != SINK_ACCEPTED || a->not_all)
		facts_add(&error, &a->why);
	if (state == OUTBOX_WAITING)
		try_again(l, a, &error);
	else
		end_row(l, &l->row, state, &error);
	/* What is tried again at once says little of the sink. */
	if ((a->verdict != SINK_AGAIN && a->verdict != SINK_UNKNOWN) || l->failures >= DOWN_AFTER)
		set_down(l, a->verdict == SINK_ACCEPTED ? NULL : &error);
	l->is_outdated = false;
	outbox_row_done(&l->row);
	say_down(r);
	sender_tick(r);
	if (r->draining && sender_is_idle(r))
		r->ops->drained(r->ctx);
}

static void send_row(struct sink_queue *l, struct outbox_row *row)
{
	const int err = outbox_begin(l->db, row->id);

	if (err < 0) {
		say_trouble(l, err, "a message is not sent before that can be written down");
		outbox_row_done(row);
		return;
	}
	l->row = *row;
	l->row.document.is_repeat = row->doubts > 0 && !delivery_knows_ids(l->delivery);
	delivery_send(l->delivery, &l->row.document);
}

/* One step of a queue whose time has come. */
static void step(struct sink_queue *l)
{
	const struct facts waited = facts_of(TEXT_WAITED_LONG);
	const uint64_t wait = delivery_wait(l->delivery);
	struct outbox_row row;

	if (l->unwritten.id && !l->sender->memory && write_end(l) < 0)
		return;
	l->db = db_in_use(l->sender);
	const int r = outbox_next(l->db, l->name, &row);

	l->is_empty = r == 0;
	if (r < 0) {
		say_trouble(l, r, "what waits to be sent cannot be read");
	} else if (r > 0 && is_too_old(l, &row) && (l->failures > 0 || l->problem)) {
		/* What waits behind one that was given up had its chance with it. */
		end_row(l, &row, OUTBOX_GIVEN_UP, facts_empty(&l->why) ? &waited : &l->why);
		outbox_row_done(&row);
	} else if (r > 0 && (l->problem || wait > 0)) {
		l->not_before = clock_boot_ms() + (l->problem ? LOOK_MS : wait);
		outbox_row_done(&row);
	} else if (r > 0) {
		send_row(l, &row);
	}
}

/* At most one message is composed in a round of the loop: a report of a thousand workloads for each of ten
 * sinks would keep the process from its heartbeat. */
void sender_tick(struct sender *r)
{
	uint64_t next = LOOK_MS;
	bool has_begun = false;

	if (r->draining && clock_boot_ms() >= r->drain_until)
		return;
	for (size_t i = 0; i < r->n; i++) {
		struct sink_queue *l = r->queues[i];

		while (!has_begun && !l->row.id && !l->is_empty && clock_boot_ms() >= l->not_before) {
			step(l);
			has_begun = l->row.id != 0;
		}
		const uint64_t now = clock_boot_ms(), left = l->not_before > now ? l->not_before - now : 0;

		if (!l->row.id && !l->is_empty && left < next)
			next = left;
	}
	r->ops->wake(r->ctx, next);
}

void sender_wake(struct sender *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct sink_queue *l = r->queues[i];
		uint64_t lost = 0;
		const int err = outbox_give_up_excess(db_in_use(r), l->name, OUTBOX_WAITING_MAX, &lost);

		l->is_empty = false;
		if (err < 0)
			say_trouble(l, err, "what waits too long cannot be given up");
		if (lost > 0)
			r->ops->lost(r->ctx, l->name, lost, TEXT_MANY_WAIT);
	}
	sender_tick(r);
}

/* -- settings -- */

/* What a queue finds at its begin: a message in doubt, and how long the last one is to wait. */
static void sink_queue_open(struct sender *r, struct sink_queue *l)
{
	struct outbox_row row;
	uint64_t lost = 0;
	int err = outbox_recover(db_in_use(r), l->name, delivery_knows_ids(l->delivery), &lost);

	if (lost > 0)
		r->ops->lost(r->ctx, l->name, lost, TEXT_MAY_HAVE_ARRIVED);
	if (err == 0)
		err = outbox_next(db_in_use(r), l->name, &row);
	if (err < 0) {
		say_trouble(l, err, "what was left before the start cannot be read");
		return;
	}
	const int64_t pause = err > 0 ? row.next_at - clock_wall_ms() : 0;

	if (pause > 0)
		l->not_before =
			clock_boot_ms() + ((uint64_t)pause < PAUSE_MAX_MS ? (uint64_t)pause : PAUSE_MAX_MS);
	outbox_row_done(&row);
}

static struct sink_queue *sink_queue_find(struct sink_queue **queues, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (queues[i] && strcmp(queues[i]->name, name) == 0)
			return queues[i];
	return NULL;
}

static struct sink_queue *sink_queue_of(struct sender *r, const struct sink_settings *s)
{
	struct sink_queue *l = sink_queue_find(r->queues, r->n, s->name);
	const bool had_problem = l && l->problem;

	if (l && delivery_set(l->delivery, s)) {
		l->failures = 0;
		l->not_before = 0;
		l->is_outdated = l->row.id != 0;
	} else if (!l) {
		l = xcalloc(1, sizeof(*l));
		l->sender = r;
		l->name = xstrdup(s->name);
		l->delivery = delivery_new(r->base, s, on_answer, l);
		sink_queue_open(r, l);
	}
	delivery_set_patience(l->delivery, r->give_up_ms);
	free(l->problem);
	l->problem = s->problem ? xstrdup(s->problem) : NULL;
	/* Whoever changes the settings waits to see whether it works now. */
	l->not_before = l->failures > 0 || l->down_at ? 0 : l->not_before;
	l->is_empty = false;
	/* That it was refused stands until it is not. */
	if (l->problem || had_problem) {
		struct facts why = { 0 };

		facts_sentence(&why, FACT_SENTENCE, l->problem ? l->problem : "");
		set_down(l, l->problem ? &why : NULL);
	}
	return l;
}

static void on_removed_sink(void *ctx, const char *sink, uint64_t n)
{
	const struct sender *r = ctx;

	r->ops->lost(r->ctx, sink, n, TEXT_SINK_GONE);
}

static void drop_removed_sinks(struct sender *r, const struct settings *s)
{
	struct str_list names = { 0 };

	for (size_t i = 0; i < s->n_sinks; i++)
		str_list_add(&names, s->sinks[i].name, strlen(s->sinks[i].name));
	const int err = outbox_drop_removed_sinks(db_in_use(r), &names, on_removed_sink, r);

	str_list_done(&names);
	if (err < 0)
		r->ops->trouble(r->ctx, err, "what waits for sinks that are gone cannot be given up");
}

void sender_set(struct sender *r, const struct settings *s)
{
	struct sink_queue **queues = xcalloc(s->n_sinks + 1, sizeof(struct sink_queue *));

	r->give_up_ms = s->give_up_ms;
	for (size_t i = 0; i < s->n_sinks; i++)
		queues[i] = sink_queue_of(r, &s->sinks[i]);
	for (size_t i = 0; i < r->n; i++)
		if (!sink_queue_find(queues, s->n_sinks, r->queues[i]->name))
			sink_queue_free(r->queues[i]);
	free(r->queues);
	r->queues = queues;
	r->n = s->n_sinks;
	drop_removed_sinks(r, s);
	say_down(r);
	sender_wake(r);
}

bool sender_is_idle(const struct sender *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->queues[i]->row.id)
			return false;
	return true;
}

void sender_set_memory(struct sender *r, struct db *memory)
{
	r->memory = memory;
}

void sender_recover(struct sender *r, const struct settings *s)
{
	for (size_t i = 0; i < r->n; i++)
		sink_queue_open(r, r->queues[i]);
	drop_removed_sinks(r, s);
}

bool sender_drain(struct sender *r)
{
	r->draining = true;
	r->drain_until = clock_boot_ms() + DRAIN_SEND_MS;
	return sender_is_idle(r);
}
