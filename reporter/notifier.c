/* notifier.c - see notifier.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/notifier.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "ipc/timer.h"
#include "reporter/notify/action_messages.h"
#include "reporter/notify/alarm_messages.h"
#include "reporter/notify/fallback.h"
#include "reporter/notify/sender.h"
#include "text/facts_text.h"

/* A history that refuses so soon after the start may have refused the process before, too, whose messages are
 * kept nowhere. */
#define MAYBE_REPEAT_MS 60000

struct notifier {
	struct process *process;
	const struct settings *settings;
	const struct report_schedule *schedule;
	const struct state *state;
	struct db *db;
	struct stats *stats;
	void (*drained)(void *ctx);
	void *ctx;
	struct sender *sender;
	struct timer *wake;
	/* Both make messages when nothing else is due: an action waits for its commit. */
	struct timer *gather; /* runs while actions have ended that are not told */
	struct timer *look;   /* for what needs an operator */
	struct db *memory;    /* while the history cannot be written (fallback.h); NULL = it can */
	bool is_repeat;       /* its first messages may have been sent before */
	bool is_recovered;    /* what the last end of the process left in the history was looked at */
	bool is_refused;      /* since the last look the history took something not */
	uint64_t started_ms;  /* boot clock */
};

/* -- what waits, for the metrics -- */

static void count_waiting(struct notifier *t, const char *sink)
{
	struct outbox_stats s;

	if (outbox_stats(t->db, sink, &s) == 0)
		stats_outbox(t->stats, sink, s.waiting, s.oldest_at);
}

static void count_all(struct notifier *t)
{
	for (size_t i = 0; i < t->settings->n_sinks; i++)
		count_waiting(t, t->settings->sinks[i].name);
}

void notifier_answer(const struct notifier *t, uint64_t conn, void (*send)(void *ctx, const struct msg *m),
		     void *ctx)
{
	const struct msg end = { .type = MSG_CTL_END, .u.ctl_end.conn = conn };
	const struct facts *why;
	const char *name;
	int64_t down;

	for (size_t i = 0; (name = sender_sink(t->sender, i, &down, &why)); i++) {
		struct msg m = { .type = MSG_CTL_SINK_ROW };
		struct outbox_stats s = { 0 };

		(void)outbox_stats(t->db, name, &s);
		m.u.ctl_sink_row = (struct msg_ctl_sink_row){ .conn = conn,
							      .waiting = s.waiting,
							      .oldest = s.oldest_at,
							      .delivered = s.delivered_at,
							      .down = down };
		msg_text(&m, ctl_sink_row.name, name);
		facts_set(&m.u.ctl_sink_row.error, facts_empty(why) ? &s.error : why);
		send(ctx, &m);
	}
	send(ctx, &end);
}

/* -- what the sender says -- */

static void wake_sender(void *ctx, uint64_t ms)
{
	timer_set(((struct notifier *)ctx)->wake, ms);
}

static void on_wake(void *ctx)
{
	sender_tick(((struct notifier *)ctx)->sender);
}

static void count_report(struct notifier *t, const struct sender_news *n)
{
	if (n->news != NEWS_REPORT || n->state == OUTBOX_WAITING)
		return;
	metrics_add(t->stats->metrics, METRIC_DIGEST_SENDS, 1, METRIC_LABELS(outbox_state_name(n->state)));
	if (n->state == OUTBOX_DONE)
		metrics_set(t->stats->metrics, METRIC_DIGEST_SUCCESS, (double)clock_wall_ms() / 1000.0,
			    METRIC_NO_LABELS);
}

static void on_ended(void *ctx, const struct sender_news *n)
{
	static const enum log_level levels[OUTBOX_STATE__MAX] = {
		[OUTBOX_WAITING] = LOG_LEVEL_WARN,
		[OUTBOX_DONE] = LOG_LEVEL_INFO,
		[OUTBOX_GIVEN_UP] = LOG_LEVEL_ERROR,
		[OUTBOX_UNCONFIRMED] = LOG_LEVEL_ERROR,
	};
	/* Done, but not for every reader. */
	const bool lacks = n->state == OUTBOX_DONE && !facts_empty(n->error);
	const char *result = n->state == OUTBOX_WAITING ? "again" : outbox_state_name(n->state);
	_cleanup_free_ char *detail = facts_render(n->error, NULL);
	struct notifier *t = ctx;

	stats_sink_message(t->stats, n->sink, result);
	count_report(t, n);
	count_waiting(t, n->sink);
	(void)LOG_(lacks ? LOG_LEVEL_WARN : levels[n->state], 0, "a message was sent", kv_s("sink", n->sink),
		   kv_s("news", news_name(n->news)), kv_s("result", result), kv_u("tries", n->tries),
		   kv_s("detail", detail));
}

static bool has_sink(const struct settings *s, const char *name)
{
	for (size_t i = 0; i < s->n_sinks; i++)
		if (strcmp(s->sinks[i].name, name) == 0)
			return true;
	return false;
}

/* Series of a sink that is gone are gone, too: the log alone says what was lost with it. */
static void on_lost(void *ctx, const char *sink, uint64_t n, enum text why)
{
	struct notifier *t = ctx;
	const uint64_t counted = has_sink(t->settings, sink) ? n : 0;

	for (uint64_t i = 0; i < counted; i++)
		stats_sink_message(t->stats, sink, "lost");
	(void)log_error(0, "messages were given up", kv_s("sink", sink), kv_u("messages", n),
			kv_s("detail", text_in(why, LANGUAGE_EN)));
}

static void on_say_down(void *ctx, const struct facts *down)
{
	process_say_trouble(((struct notifier *)ctx)->process, TROUBLE_SINK, down);
}

static void on_trouble(void *ctx, int err, const char *what)
{
	struct notifier *t = ctx;

	t->is_refused = true;
	(void)log_error(err, "outbox", kv_s("problem", what), kv_s("detail", db_error(t->db)));
	if (err == -ESTALE) /* a new process makes a new file */
		process_exit(t->process, EXIT_CODE_TEMPORARY);
}

/* -- news -- */

static void gather(struct notifier *t, uint64_t ms)
{
	timer_set(t->gather, ms);
}

void notifier_action_ended(struct notifier *t)
{
	if (!timer_is_set(t->gather))
		gather(t, t->settings->gather_ms);
}

/* Tell what was gathered, or the first part of it; what could not be written is left for later. */
static enum actions_left tell_gathered(struct notifier *t, bool *ret_put)
{
	enum actions_left left;
	const int err = action_messages_put(t->db, t->settings, t->schedule->zone, ret_put, &left);

	if (err < 0)
		on_trouble(t, err, "what was done cannot be told yet");
	return err < 0 ? ACTIONS_LEFT_LATER : left;
}

static void on_gather(void *ctx)
{
	struct notifier *t = ctx;
	bool put;

	const enum actions_left left = tell_gathered(t, &put);

	if (left != ACTIONS_LEFT_NONE)
		gather(t, left == ACTIONS_LEFT_NOW ? 0 : t->settings->gather_ms);
	if (put)
		notifier_wake(t);
}

static void look_again(struct notifier *t)
{
	timer_set(t->look, t->settings->gather_ms / 2);
}

static struct alarm_sources sources_of(const struct notifier *t)
{
	return (struct alarm_sources){
		t->db, t->state, t->sender, t->settings, t->schedule->zone, t->memory
	};
}

/* Once the history can be written again. Not while something is on its way: at the next look. */
static bool end_fallback(struct notifier *t)
{
	if (!db_is_open(t->db) || !sender_is_idle(t->sender) || fallback_return(t->memory, t->db) < 0)
		return false;
	sender_set_memory(t->sender, NULL);
	if (!t->is_recovered)
		sender_recover(t->sender, t->settings);
	t->is_recovered = true;
	db_close(&t->memory);
	log_info("messages are kept in the history again");
	return true;
}

static void begin_fallback(struct notifier *t)
{
	if (fallback_begin(t->db, &t->memory) < 0)
		return; /* at the next look */
	t->is_repeat = clock_boot_ms() - t->started_ms <= t->settings->gather_ms + MAYBE_REPEAT_MS;
	sender_set_memory(t->sender, t->memory);
	(void)log_warn(0, "the history cannot be opened or written: what needs an operator is told from "
			  "memory until it can");
}

static int put_alarms(struct notifier *t, bool *ret_put)
{
	const struct alarm_sources from = sources_of(t);
	const int r = alarm_messages_put(&from, ret_put);

	if (t->memory && t->is_repeat && *ret_put) {
		(void)db_do(t->memory, DB_FALLBACK_DOUBT);
		t->is_repeat = false;
	}
	return r;
}

static void on_look(void *ctx)
{
	struct notifier *t = ctx;
	bool put = false, is_back = t->memory && end_fallback(t);
	const int err = put_alarms(t, &put);

	if (err < 0)
		on_trouble(t, err, "what needs an operator cannot be told yet");
	if (!t->memory && t->is_refused) {
		begin_fallback(t);
		(void)put_alarms(t, &put);
	}
	t->is_refused = false;
	if (put || is_back)
		notifier_wake(t);
	look_again(t);
}

/* -- from start to end -- */

static void on_drained(void *ctx)
{
	struct notifier *t = ctx;

	if (t->memory)
		(void)end_fallback(t);
	t->drained(t->ctx);
}

struct notifier *notifier_new(struct process *p, const struct settings *s,
			      const struct report_schedule *schedule, const struct state *state,
			      struct db *db, struct stats *stats, void (*drained)(void *ctx), void *ctx)
{
	static const struct sender_ops ops = {
		.wake = wake_sender,
		.ended = on_ended,
		.lost = on_lost,
		.say_down = on_say_down,
		.trouble = on_trouble,
		.drained = on_drained,
	};
	struct notifier *t = xcalloc(1, sizeof(*t));

	*t = (struct notifier){ .process = p,
				.settings = s,
				.schedule = schedule,
				.state = state,
				.db = db,
				.stats = stats,
				.drained = drained,
				.ctx = ctx };
	t->started_ms = clock_boot_ms();
	t->sender = sender_new(process_base(p), db, &ops, t);
	t->wake = timer_new(process_base(p), on_wake, t);
	t->gather = timer_new_idle(process_base(p), on_gather, t);
	t->look = timer_new_idle(process_base(p), on_look, t);
	return t;
}

void notifier_free(struct notifier **t)
{
	if (!*t)
		return;
	sender_free(&(*t)->sender);
	db_close(&(*t)->memory);
	timer_free(&(*t)->wake);
	timer_free(&(*t)->gather);
	timer_free(&(*t)->look);
	free(*t);
	*t = NULL;
}

static void forget_gone(struct notifier *t)
{
	const struct facts *why;
	const char *name;
	int64_t at;

	for (size_t i = 0; (name = sender_sink(t->sender, i, &at, &why)); i++)
		if (!has_sink(t->settings, name))
			stats_sink_gone(t->stats, name);
}

void notifier_use_settings(struct notifier *t)
{
	forget_gone(t);
	sender_set(t->sender, t->settings);
	count_all(t);
	look_again(t);
	if (timer_is_set(t->gather)) /* by the time that was to be waited before */
		gather(t, t->settings->gather_ms);
}

void notifier_start(struct notifier *t)
{
	t->is_recovered = db_is_open(t->db);
	if (!t->is_recovered)
		begin_fallback(t);
	notifier_use_settings(t);
}

void notifier_history_opened(struct notifier *t)
{
	const int err = action_messages_begin(t->db);

	if (err < 0)
		on_trouble(t, err, "what was told cannot be read");
	notifier_action_ended(t); /* before the last end of this process, perhaps */
	if (t->memory)
		timer_set(t->look, 0);
}

void notifier_wake(struct notifier *t)
{
	sender_wake(t->sender);
	count_all(t);
}

bool notifier_drain(struct notifier *t)
{
	bool more = timer_is_set(t->gather) && db_is_open(t->db) && !t->memory, put;

	while (more)
		more = tell_gathered(t, &put) == ACTIONS_LEFT_NOW;
	notifier_wake(t);
	const bool is_idle = sender_drain(t->sender);

	if (is_idle && t->memory)
		(void)end_fallback(t);
	return is_idle;
}
