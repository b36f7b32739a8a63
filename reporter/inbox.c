/* inbox.c - messages to the reporter: queue, one commit a turn, acknowledge; answers; figures. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "reporter/reporter.h"
#include "reporter/history/attention.h"
#include "reporter/history/restore.h"

#define PRUNE_MS 3600000
/* How long a commit that is not urgent waits for more: usually, and with many actions under way, who keep
 * the workers busy for longer than that (up to 10,000 of them a second). */
#define GATHER_MS      10
#define GATHER_MANY_MS 25
#define MANY_ACTIONS   256u

static const struct backoff_policy commit_policy = { .base_ms = 1000, .cap_ms = 30000, .jitter = 0.2 };

/* -- history: queue, commit, acknowledge ----------------------------------------------------------------- */

static void send_ack(struct reporter *r, const struct msg *ack)
{
	if (r->n_acks == 0 && process_send(r->process, ack) != -EAGAIN)
		return;
	r->acks = xreallocarray(r->acks, r->n_acks + 1, sizeof(*r->acks));
	r->acks[r->n_acks++] = *ack;
}

void inbox_committed(void *ctx, const struct history_entry *e)
{
	struct reporter *r = ctx;
	struct msg ack = { .type = MSG_INTENT_ACK };

	stats_committed(&r->figures, e);
	if (e->effect == HISTORY_CONFLICT) {
		(void)log_error(-EEXIST,
				"this lease id is taken by another object: its intent is not written",
				kv_u("id", e->m->u.intent.id), kv_s("uid", e->m->u.intent.uid));
	}
	if (e->m->type == MSG_INTENT) {
		ack.u.intent_ack.id = e->m->u.intent.id;
		ack.u.intent_ack.written = e->effect != HISTORY_CONFLICT;
		send_ack(r, &ack);
	} else if (e->m->type == MSG_RECORD) {
		ack = (struct msg){ .type = MSG_RECORD_ACK, .u.record_ack.id = e->m->u.record.id };
		send_ack(r, &ack);
	} else if (e->m->type == MSG_PAUSE) {
		send_ack(r, e->m);
	}
}

void inbox_flush(struct reporter *r)
{
	const int err = history_flush(r->history);

	if (err < 0) {
		const uint64_t delay =
			backoff_delay_ms(&commit_policy, ++r->commit_failures, backoff_random());

		metrics_add(r->figures.metrics, METRIC_COMMIT_FAILURES, 1, METRIC_NO_LABELS);
		(void)log_error(err, "the history cannot be written: nothing is acted on until it can",
				kv_s("directory", r->settings.state_dir), kv_s("detail", db_error(r->db)),
				kv_u("waiting", history_queued(r->history)));
		(void)evtimer_add(r->flush, CLOCK_TIMEVAL(delay));
		return;
	}
	if (r->commit_failures > 0)
		log_info("the history can be written again");
	r->commit_failures = 0;
	r->committed_ms = clock_boot_ms();
	if (!r->lost)
		return;
	(void)log_warn(
		0, "too many messages waited for the history: starting again to be sent the dropped ones");
	process_exit(r->process, EXIT_CODE_TEMPORARY);
}

static bool has_many(const struct reporter *r)
{
	return history_open_intents(r->history) >= MANY_ACTIONS;
}

/* For most something waits: an action for its intent, a person for a pause. Not for a result: one that is
 * lost with this process is sent again to the next one. And with many actions under way, one more would only
 * wait for a worker. */
static bool is_urgent(const struct reporter *r, enum msg_type type)
{
	if (type == MSG_RECORD || type == MSG_REFUSAL)
		return false;
	return !has_many(r) || clock_boot_ms() - r->committed_ms >= GATHER_MANY_MS;
}

/* What is urgent is committed at the end of this turn of the loop, with all that is there; anything else a
 * little later: then a commit, which waits for the disk, is of many. After a failure the next try keeps its
 * time. */
static void plan_flush(struct reporter *r, enum msg_type type)
{
	const bool planned = event_pending(r->flush, EV_TIMEOUT, NULL);

	if (planned && r->commit_failures > 0)
		return;
	if (is_urgent(r, type))
		(void)evtimer_add(r->flush, CLOCK_TIMEVAL(0));
	else if (!planned)
		(void)evtimer_add(r->flush, CLOCK_TIMEVAL(has_many(r) ? GATHER_MANY_MS : GATHER_MS));
}

static void on_write(struct reporter *r, const struct msg *m)
{
	if (!history_add(r->history, m)) {
		metrics_add(r->figures.metrics, METRIC_HISTORY_DROPPED, 1, METRIC_NO_LABELS);
		r->lost = r->lost ||
			  (m->type != MSG_REFUSAL && m->type != MSG_FAILING_SINCE && m->type != MSG_SAVED);
		return;
	}
	plan_flush(r, m->type);
}

void inbox_prune(struct reporter *r)
{
	bool more = false;
	const int err = history_prune(r->history, r->settings.history_days, &more);

	if (err < 0)
		(void)log_warn(err, "old history cannot be removed", kv_s("detail", db_error(r->db)));
	(void)evtimer_add(r->prune, CLOCK_TIMEVAL(more ? 100 : PRUNE_MS));
}

/* -- answers of many messages ---------------------------------------------------------------------------- */

static int response_stream_send(void *ctx, const struct msg *m)
{
	return process_send(((struct reporter *)ctx)->process, m);
}

static void response_stream_trouble(void *ctx, int err)
{
	struct reporter *r = ctx;

	(void)log_warn(err, "the history cannot be read", kv_s("detail", db_error(r->db)));
}

const struct response_stream_ops inbox_feed_ops = { response_stream_send, response_stream_trouble };

static void on_since_get(struct reporter *r, const struct msg *m)
{
	struct msg end = { .type = MSG_SAVED_END, .u.saved_end.cluster = m->u.saved_get.cluster };
	struct query *c = NULL;

	(void)history_flush(r->history); /* what the last watcher said belongs to the answer */
	const int err = query_since(r->db, r->history, m->u.saved_get.cluster,
				    r->settings.policy.mode == MODE_OBSERVE, &c);

	if (err == 0 && response_stream_add(r->feed, c))
		return;
	/* Without memory the clocks of failing revisions start again: later, never too early. */
	(void)log_error(err, "what is remembered of failing revisions cannot be read");
	query_free(&c);
	(void)process_send(r->process, &end);
}

/* A question of a person: err and c are what began its answer. */
static void answer_person(struct reporter *r, uint64_t conn, int err, struct query *c)
{
	struct msg end;

	if (err == 0 && response_stream_add(r->feed, c))
		return;
	(void)log_warn(err, "a question about the history cannot be answered");
	query_free(&c);
	query_failed(conn, &end);
	(void)process_send(r->process, &end);
}

static void on_history(struct reporter *r, const struct msg *m)
{
	struct query *c = NULL;

	(void)history_flush(r->history);
	const int err = query_history(r->db, r->history, &m->u.ctl_history, &c);

	answer_person(r, m->u.ctl_history.conn, err, c);
}

static void on_show(struct reporter *r, const struct msg *m)
{
	struct query *c = NULL;

	(void)history_flush(r->history);
	const int err = query_show(r->db, r->history, &m->u.ctl_show, &c);

	answer_person(r, m->u.ctl_show.conn, err, c);
}

static void on_restore(struct reporter *r, const struct msg *m)
{
	struct msg answer;

	(void)history_flush(r->history);
	restore_find(r->db, r->history, &m->u.ctl_restore, &answer);
	send_ack(r, &answer);
}

/* -- figures and digest rows ----------------------------------------------------------------------------- */

/* A budget that is full for long is for a person. The first word after a start, and then every change. */
static void note_hold(struct reporter *r, const struct msg_watch_stats *s)
{
	const char now = attention_hold_matters(s->blocked_by) ? 'y' : 'n';
	const char *name = history_cluster_name(r->history, s->cluster);

	if (r->hold_noted[s->cluster] == now)
		return;
	const int err = attention_note_hold(r->db, s->blocked_by, name, clock_wall_ms());

	if (err == 0)
		r->hold_noted[s->cluster] = now;
	else
		(void)log_warn(err, "what holds a cluster cannot be written down",
			       kv_s("detail", db_error(r->db)));
}

static void on_watch_stats(struct reporter *r, const struct msg *m)
{
	const struct msg_watch_stats *s = &m->u.watch_stats;

	if (s->cluster >= r->settings.cluster_names.n)
		return;
	stats_watch(&r->figures, history_cluster_name(r->history, s->cluster), s);
	note_hold(r, s);
	digest_run_synced(r->digests, s->cluster, s->synced);
}

static void on_child_stats(struct reporter *r, const struct msg *m)
{
	const struct msg_child_stats *s = &m->u.child_stats;
	const int cluster = history_cluster_index(r->history, s->cluster_name);

	if (!stats_child(&r->figures, s) || cluster < 0)
		return;
	stats_watch_down(&r->figures, s->cluster_name);
	digest_run_synced(r->digests, (uint64_t)cluster, false);
}

static void on_digest_row(struct reporter *r, const struct msg *m)
{
	digest_run_row(r->digests, &m->u.digest_row);
}

static void on_digest_end(struct reporter *r, const struct msg *m)
{
	digest_run_end(r->digests, &m->u.digest_end);
}

static void (*const handlers[MSG__MAX])(struct reporter *r, const struct msg *m) = {
	[MSG_INTENT] = on_write,
	[MSG_RECORD] = on_write,
	[MSG_REFUSAL] = on_write,
	[MSG_FAILING_SINCE] = on_write,
	[MSG_SAVED] = on_write,
	[MSG_PAUSE] = on_write,
	[MSG_SAVED_GET] = on_since_get,
	[MSG_CTL_HISTORY] = on_history,
	[MSG_CTL_SHOW] = on_show,
	[MSG_CTL_RESTORE] = on_restore,
	[MSG_WATCH_STATS] = on_watch_stats,
	[MSG_CHILD_STATS] = on_child_stats,
	[MSG_DIGEST_ROW] = on_digest_row,
	[MSG_DIGEST_END] = on_digest_end,
};

void inbox_msg(struct process *p, const struct msg *m)
{
	if (handlers[m->type])
		handlers[m->type](process_ctx(p), m);
}

void inbox_room(struct process *p)
{
	struct reporter *r = process_ctx(p);
	size_t sent = 0;

	while (sent < r->n_acks && process_send(p, &r->acks[sent]) != -EAGAIN)
		sent++;
	memmove(r->acks, r->acks + sent, (r->n_acks - sent) * sizeof(*r->acks));
	r->n_acks -= sent;
	response_stream_room(r->feed);
}
