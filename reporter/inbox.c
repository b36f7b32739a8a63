/* inbox.c - see inbox.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/inbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "ipc/timer.h"
#include "reporter/report_requests.h"
#include "reporter/history/attention.h"
#include "reporter/history/query.h"
#include "reporter/status_snapshot.h"

#define FIRST_PRUNE_MS 1000
#define PRUNE_MS       3600000
#define PRUNE_MORE_MS  100
/* How long a commit that is not urgent waits for more: usually, and with many actions under way, which keep
 * the workers busy for longer than that (up to 10,000 of them a second). */
#define GATHER_MS      10
#define GATHER_MANY_MS 25
#define MANY_ACTIONS   256u
/* So many messages take no longer to commit than one: an urgent intent waits for their commit, and not for
 * that of more. */
#define FEW_QUEUED 16u

static const struct backoff_policy commit_policy = { .base_ms = 1000, .cap_ms = 30000, .jitter = 0.2 };

/* What a cluster's watcher had written down since then, by pruning time. */
struct share {
	uint64_t since_ms, rows;
};

struct inbox {
	struct process *process;
	const struct settings *settings;
	struct db *db;
	struct stats *stats;
	struct digest_runner *runner;
	struct notifier *notifier;
	struct history *history;
	struct state *state;
	struct response_stream *stream;
	struct report_requests *requests;
	struct timer *flush, *flush_urgent, *prune;
	uint64_t days_kept; /* by the last prune */
	unsigned commit_failures;
	uint64_t committed_ms; /* boot clock: when the last commit ended */
	uint64_t intent_us[2]; /* boot clock: since when one waits for a commit, urgent and in bulk; 0 = none
				*/
	struct msg *acks;      /* that the channel did not take */
	size_t n_acks;
	struct share shares[CLUSTERS_MAX + 1][3]; /* refusals, saved, failing since */
	bool lost; /* a message had to be dropped: the supervisor sends it again after a restart */
	struct {
		bool known;
		uint64_t guards;
	} noted[CLUSTERS_MAX + 1]; /* by cluster: which guards were noted as blocking */
};

/* -- written down -- */

static void send_ack(void *ctx, const struct msg *ack)
{
	struct inbox *i = ctx;

	if (i->n_acks == 0 && process_send(i->process, ack) != -EAGAIN)
		return;
	i->acks = xreallocarray(i->acks, i->n_acks + 1, sizeof(*i->acks));
	i->acks[i->n_acks++] = *ack;
}

static void on_committed(void *ctx, const struct history_entry *e)
{
	struct inbox *i = ctx;
	struct msg ack = { .type = MSG_INTENT_ACK };

	stats_committed(i->stats, e);
	if (e->effect == HISTORY_CONFLICT && e->m->type == MSG_INTENT)
		(void)log_error(-EEXIST,
				"this lease id is taken by another object: its intent is not written",
				kv_u("id", e->m->u.intent.id), kv_s("uid", e->m->u.intent.uid));
	if (e->m->type == MSG_INTENT) {
		ack.u.intent_ack.id = e->m->u.intent.id;
		ack.u.intent_ack.written = e->effect != HISTORY_CONFLICT;
		send_ack(i, &ack);
	} else if (e->m->type == MSG_RECORD) {
		notifier_action_ended(i->notifier);
		ack.type = MSG_RECORD_ACK;
		ack.u.record_ack.id = e->m->u.record.id;
		send_ack(i, &ack);
	} else if (e->m->type == MSG_SETTLED && e->effect != HISTORY_CONFLICT) {
		ack.type = MSG_SETTLED_ACK;
		ack.u.settled_ack.cluster = e->m->u.settled.cluster;
		msg_text(&ack, settled_ack.uid, e->m->u.settled.uid);
		send_ack(i, &ack);
	} else if (e->m->type == MSG_PAUSE) {
		ack.type = MSG_PAUSE; /* e->m is only as long as its own struct */
		ack.u.pause = e->m->u.pause;
		send_ack(i, &ack);
	}
}

static void say_unwritable(struct inbox *i, int err)
{
	struct facts f = facts_of(TEXT_HISTORY_UNWRITTEN);

	facts_quoted(&f, FACT_PLACE, STR_C(i->settings->state_dir));
	facts_quoted(&f, FACT_LIBRARY, STR_C(db_error(i->db)));
	facts_quoted(&f, FACT_SYSTEM, STR_C(strerrordesc_np(-err)));
	process_say_trouble(i->process, TROUBLE_HISTORY, &f);
}

static void note_commit(struct inbox *i, bool in_bulk)
{
	uint64_t *since = &i->intent_us[in_bulk];

	if (*since)
		stats_timing(i->stats, NULL, TIMING_COMMIT, clock_boot_us() - *since);
	*since = 0;
}

static void try_again(struct inbox *i, int err)
{
	const uint64_t delay = backoff_delay_ms(&commit_policy, ++i->commit_failures, backoff_random());

	metrics_add(i->stats->metrics, METRIC_COMMIT_FAILURES, 1, METRIC_NO_LABELS);
	say_unwritable(i, err);
	timer_stop(i->flush_urgent); /* which may have been planned before */
	timer_set(i->flush, delay);
	if (err == -ENOSPC) /* there may be old rows that make room */
		timer_set(i->prune, PRUNE_MORE_MS);
}

/* What was not acknowledged is sent again to a process that has a file. */
static void begin_anew(const struct inbox *i)
{
	(void)log_error(0, "the history was removed or replaced while it was open: starting again",
			kv_s("directory", i->settings->state_dir));
	process_exit(i->process, EXIT_CODE_TEMPORARY);
}

/* r of history_flush() or history_flush_part(). */
static void on_commit(struct inbox *i, int r, bool urgent)
{
	if (r == -ESTALE) {
		begin_anew(i);
		return;
	}
	if (r < 0) {
		try_again(i, r);
		return;
	}
	if (i->commit_failures > 0)
		process_say_trouble(i->process, TROUBLE_HISTORY, NULL);
	i->commit_failures = 0;
	if (r > 0)
		return;
	note_commit(i, false);
	if (urgent)
		return;
	note_commit(i, true);
	i->committed_ms = clock_boot_ms();
	if (!i->lost)
		return;
	(void)log_warn(
		0, "too many messages waited for the history: starting again to be sent the dropped ones");
	process_exit(i->process, EXIT_CODE_TEMPORARY);
}

static void flush(struct inbox *i)
{
	if (db_is_open(i->db)) /* else inbox_start() writes */
		on_commit(i, history_flush(i->history), false);
}

/* What is urgent comes in while a part is written, and goes first then. */
static void flush_part(struct inbox *i, bool urgent)
{
	if (!db_is_open(i->db))
		return;
	const int r = history_flush_part(i->history, urgent);

	on_commit(i, r, urgent);
	if (r > 0)
		timer_set(urgent ? i->flush_urgent : i->flush, 0);
}

static void on_flush(void *ctx)
{
	struct inbox *i = ctx;

	process_read_waiting(i->process);
	if (timer_is_set(i->flush_urgent)) /* it goes first */
		timer_set(i->flush, 0);
	else
		flush_part(i, false);
}

static void on_flush_urgent(void *ctx)
{
	struct inbox *i = ctx;

	flush_part(i, history_queued(i->history) > FEW_QUEUED);
}

static bool has_many(const struct inbox *i)
{
	return history_open_intents(i->history) >= MANY_ACTIONS;
}

/* For most something waits: an operator for a pause, a watcher for what it saves. Not for a result: one that
 * is lost with this process is sent again to the next one. An intent in bulk waits for a worker anyway. */
static bool is_urgent(const struct inbox *i, const struct msg *m)
{
	if (m->type == MSG_QUOTE || m->type == MSG_RECORD || m->type == MSG_REFUSAL || m->type == MSG_SETTLED)
		return false;
	return m->type != MSG_INTENT || clock_boot_ms() - i->committed_ms >= GATHER_MANY_MS;
}

/* What is urgent is committed at the end of this run of the loop, with all that is there; anything else a
 * little later: then a commit, which waits for the disk, is of many. An action waits for its intent, so that
 * one does not even wait for the others. After a failure the next try keeps its time. */
static void plan_flush(struct inbox *i, const struct msg *m)
{
	const bool planned = timer_is_set(i->flush);

	if (planned && i->commit_failures > 0)
		return;
	if (m->type == MSG_INTENT && !m->u.intent.in_bulk)
		timer_set(i->flush_urgent, 0);
	else if (is_urgent(i, m))
		timer_set(i->flush, 0);
	else if (!planned)
		timer_set(i->flush, has_many(i) ? GATHER_MANY_MS : GATHER_MS);
}

/* The supervisor counts acknowledgements of pauses: once one message was dropped none is taken. */
static void on_write(struct inbox *i, const struct msg *m)
{
	if (!i->lost && history_add(i->history, m)) {
		if (m->type == MSG_INTENT && !i->intent_us[m->u.intent.in_bulk])
			i->intent_us[m->u.intent.in_bulk] = clock_boot_us();
		plan_flush(i, m);
		return;
	}
	metrics_add(i->stats->metrics, METRIC_HISTORY_DROPPED, 1, METRIC_NO_LABELS);
	i->lost = i->lost || m->type == MSG_INTENT || m->type == MSG_RECORD || m->type == MSG_PAUSE;
}

/* A watcher that was taken over does not fill the file, without whose room nothing is done in any cluster. */
static void on_watchers_row(struct inbox *i, const struct msg *m)
{
	const uint64_t cluster = msg_get_u64(m, "cluster", 0);
	struct share *s = &i->shares[cluster][m->type == MSG_REFUSAL ? 0 : m->type == MSG_SAVED ? 1 : 2];
	const uint64_t now = clock_boot_ms();

	if (now >= s->since_ms + PRUNE_MS)
		*s = (struct share){ .since_ms = now };
	if (s->rows++ < db_share(i->db))
		on_write(i, m);
	else
		metrics_add(i->stats->metrics, METRIC_HISTORY_DROPPED, 1, METRIC_NO_LABELS);
}

/* By a clock that is ahead all is old: more API servers bear out that it is not than say that it is. One
 * whose own clock is behind would keep everything, until the file is full. */
static bool clock_is_known(const struct inbox *i)
{
	const struct state_entry *e;
	int more = 0;

	for (size_t n = 0; (e = state_at(i->state, MSG_WATCH_STATS, n)); n++)
		if (e->m->u.watch_stats.synced || e->m->u.watch_stats.host_ahead)
			more += e->m->u.watch_stats.host_ahead ? -1 : 1;
	return more > 0;
}

static void on_prune(void *ctx)
{
	struct inbox *i = ctx;
	uint64_t days = i->settings->history_days;
	bool more = false;

	if (!clock_is_known(i)) {
		timer_set(i->prune, FIRST_PRUNE_MS);
		return;
	}
	const int err = history_prune(i->history, &days, &more);

	if (err < 0)
		(void)log_warn(err, "old history cannot be removed", kv_s("detail", db_error(i->db)));
	else if (days < i->settings->history_days && days != i->days_kept)
		(void)log_warn(
			0,
			"the history is nearly full: older rows are removed; raise historyMegabytes to "
			"keep them longer",
			kv_u("days_kept", days));
	i->days_kept = days;
	timer_set(i->prune, more ? PRUNE_MORE_MS : PRUNE_MS);
}

/* -- questions -- */

/* What was sent before a question belongs into its answer. */
static void write_first(struct inbox *i)
{
	if (i->commit_failures == 0)
		flush(i);
}

static int send_row(void *ctx, const struct msg *m)
{
	return process_send(((struct inbox *)ctx)->process, m);
}

static void on_trouble(void *ctx, int err)
{
	struct inbox *i = ctx;

	(void)log_warn(err, "the history cannot be read", kv_s("detail", db_error(i->db)));
}

static void on_saved_get(struct inbox *i, const struct msg *m)
{
	struct query *q = NULL;

	write_first(i);
	const int err = query_saved(i->db, i->history, m->u.saved_get.cluster, &q);

	if (err == 0 && response_stream_add(i->stream, q))
		return;
	/* A watcher that took that for all there is would forget what its guards remember. It judges nothing
	 * meanwhile, and asks again. */
	(void)log_error(err, "what is saved for a watcher cannot be read");
	query_free(&q);
	send_ack(i, &(struct msg){ .type = MSG_SAVED_END,
				   .u.saved_end = { .cluster = m->u.saved_get.cluster, .failed = true } });
}

/* CTL_HISTORY and CTL_SHOW. */
static void on_ctl_question(struct inbox *i, const struct msg *m)
{
	struct query *q = NULL;
	struct msg end;

	write_first(i);
	const int err = m->type == MSG_CTL_SHOW ? query_show(i->db, i->history, m, &q)
						: query_history(i->db, i->history, m, &q);

	if (err == 0 && response_stream_add(i->stream, q))
		return;
	(void)log_warn(err, "a question about the history cannot be answered");
	query_free(&q);
	query_failed(m->type == MSG_CTL_SHOW ? m->u.ctl_show.conn : m->u.ctl_history.conn, err, &end);
	(void)process_send(i->process, &end);
}

static void on_ctl_report(struct inbox *i, const struct msg *m)
{
	report_requests_on_ask(i->requests, &m->u.ctl_report);
}

/* None where the history cannot be read: nothing is not 0. */
static void send_tallies(struct inbox *i, uint64_t conn)
{
	const struct status_sources from = {
		.settings = i->settings, .state = i->state, .db = i->db, .history = i->history
	};
	const size_t n = i->settings->cluster_names.n;
	_cleanup_free_ struct msg_ctl_tally_row *rows = xcalloc(n + 1, sizeof(*rows));

	const int r = status_snapshot_tally(&from, conn, rows);

	for (size_t k = 0; r >= 0 && k < n; k++)
		if (*rows[k].cluster_name)
			send_ack(i, &(struct msg){ .type = MSG_CTL_TALLY_ROW, .u.ctl_tally_row = rows[k] });
}

static void on_ctl_sinks(struct inbox *i, const struct msg *m)
{
	send_tallies(i, m->u.ctl_sinks.conn);
	notifier_answer(i->notifier, m->u.ctl_sinks.conn, send_ack, i);
}

static void on_ctl_restore(struct inbox *i, const struct msg *m)
{
	struct msg found;

	write_first(i);
	query_restorable(i->db, i->history, &m->u.ctl_restore, &found);
	send_ack(i, &found);
}

/* -- stats and digest rows -- */

/* The first word after a start, and then every change. */
static void note_guards(struct inbox *i, const struct msg_watch_stats *s)
{
	const uint64_t guards = attention_guards(s->guards);

	if ((i->noted[s->cluster].known && i->noted[s->cluster].guards == guards) || !db_is_open(i->db))
		return;
	const int err = attention_note_guards(i->db, guards, &s->blocked_by,
					      history_cluster_name(i->history, s->cluster));

	i->noted[s->cluster].known = err == 0;
	i->noted[s->cluster].guards = guards;
	if (err < 0)
		(void)log_warn(err, "what blocks a cluster cannot be written down",
			       kv_s("detail", db_error(i->db)));
}

static void on_watch_stats(struct inbox *i, const struct msg *m)
{
	const struct msg_watch_stats *s = &m->u.watch_stats;

	if (s->cluster >= i->settings->cluster_names.n)
		return;
	state_put(i->state, history_cluster_name(i->history, s->cluster), m);
	note_guards(i, s);
	digest_runner_leads(i->runner, s->cluster, s->leading);
	digest_runner_synced(i->runner, s->cluster, s->synced);
}

/* The name of a cluster that is configured, else NULL: a reload may have taken it away. */
static const char *configured(const struct inbox *i, uint64_t cluster)
{
	return cluster < i->settings->cluster_names.n ? history_cluster_name(i->history, cluster) : NULL;
}

/* DUE_ROW, WORKER_STATS, REQUESTS and TIMING. */
static void on_figures(struct inbox *i, const struct msg *m)
{
	const char *cluster = configured(i, msg_get_u64(m, "cluster", 0));

	if (!cluster)
		return;
	if (m->type == MSG_DUE_ROW || m->type == MSG_WORKER_STATS)
		state_put(i->state, cluster, m);
	else if (m->type == MSG_REQUESTS)
		stats_requests(i->stats, cluster, &m->u.requests);
	else
		stats_timings(i->stats, cluster, &m->u.timing);
}

static void on_trouble_row(struct inbox *i, const struct msg *m)
{
	state_put(i->state, m->u.trouble_row.cluster_name, m);
}

static void on_child_stats(struct inbox *i, const struct msg *m)
{
	const char *name = m->u.child_stats.cluster_name;
	const int cluster = history_cluster_index(i->history, name);

	state_put(i->state, name, m);
	const struct msg_watch_stats *watch = state_watch(i->state, name);

	if (cluster >= 0 && !(watch && watch->synced))
		digest_runner_synced(i->runner, (uint64_t)cluster, false);
}

/* What watchers and workers answer for a report. */
static void on_report_answer(struct inbox *i, const struct msg *m)
{
	if (m->type == MSG_DIGEST_ROW)
		digest_runner_on_row(i->runner, &m->u.digest_row);
	else if (m->type == MSG_DIGEST_END)
		digest_runner_on_end(i->runner, &m->u.digest_end);
	else
		digest_runner_on_inspected(i->runner, &m->u.inspected);
}

static void (*const handlers[MSG__MAX])(struct inbox *i, const struct msg *m) = {
	[MSG_INTENT] = on_write,
	[MSG_QUOTE] = on_write,
	[MSG_RECORD] = on_write,
	[MSG_REFUSAL] = on_watchers_row,
	[MSG_FAILING_SINCE] = on_watchers_row,
	[MSG_SAVED] = on_watchers_row,
	[MSG_SETTLED] = on_write,
	[MSG_PAUSE] = on_write,
	[MSG_SAVED_GET] = on_saved_get,
	[MSG_CTL_HISTORY] = on_ctl_question,
	[MSG_CTL_SHOW] = on_ctl_question,
	[MSG_CTL_RESTORE] = on_ctl_restore,
	[MSG_CTL_REPORT] = on_ctl_report,
	[MSG_CTL_SINKS] = on_ctl_sinks,
	[MSG_WATCH_STATS] = on_watch_stats,
	[MSG_CHILD_STATS] = on_child_stats,
	[MSG_WORKER_STATS] = on_figures,
	[MSG_DUE_ROW] = on_figures,
	[MSG_REQUESTS] = on_figures,
	[MSG_TIMING] = on_figures,
	[MSG_TROUBLE_ROW] = on_trouble_row,
	[MSG_DIGEST_ROW] = on_report_answer,
	[MSG_DIGEST_END] = on_report_answer,
	[MSG_INSPECTED] = on_report_answer,
};

void inbox_on_msg(struct inbox *i, const struct msg *m)
{
	if (handlers[m->type])
		handlers[m->type](i, m);
}

void inbox_on_room(struct inbox *i)
{
	size_t sent = 0;

	while (sent < i->n_acks && process_send(i->process, &i->acks[sent]) != -EAGAIN)
		sent++;
	i->n_acks -= sent;
	if (sent > 0)
		memmove(i->acks, i->acks + sent, i->n_acks * sizeof(*i->acks));
	response_stream_room(i->stream);
}

/* -- from start to end -- */

struct inbox *inbox_new(struct process *p, const struct settings *s, struct state *state, struct db *db,
			struct stats *stats, struct digest_runner *runner, struct notifier *notifier)
{
	static const struct response_stream_ops ops = { send_row, on_trouble };
	struct event_base *base = process_base(p);
	struct inbox *i = xcalloc(1, sizeof(*i));

	*i = (struct inbox){ .process = p,
			     .settings = s,
			     .state = state,
			     .db = db,
			     .stats = stats,
			     .runner = runner,
			     .notifier = notifier };
	i->history = history_new(db, &s->cluster_names, on_committed, i);
	i->stream = response_stream_new(base, &ops, i);
	i->requests = report_requests_new(base, s, db, runner, send_ack, i);
	i->flush = timer_new(base, on_flush, i);
	i->flush_urgent = timer_new(base, on_flush_urgent, i);
	i->prune = timer_new(base, on_prune, i);
	return i;
}

void inbox_settings_changed(struct inbox *i)
{
	if (db_is_open(i->db))
		timer_set(i->prune, PRUNE_MORE_MS);
}

void inbox_free(struct inbox **i)
{
	if (!*i)
		return;
	report_requests_free(&(*i)->requests);
	response_stream_free(&(*i)->stream);
	history_free(&(*i)->history);
	timer_free(&(*i)->flush);
	timer_free(&(*i)->flush_urgent);
	timer_free(&(*i)->prune);
	free((*i)->acks);
	free(*i);
	*i = NULL;
}

struct history *inbox_history(struct inbox *i)
{
	return i->history;
}

int inbox_check(const struct inbox *i)
{
	struct query *q = NULL;
	struct msg m;
	int r = query_open_intents(i->db, i->history, &q);

	for (r = r < 0 ? r : 1; r > 0;)
		r = query_next(q, &m);
	query_free(&q);
	return r;
}

int inbox_start(struct inbox *i)
{
	struct query *q = NULL;
	uint64_t orphans = 0;

	history_opened(i->history);
	int err = history_end_orphans(i->history, &orphans);

	if (err < 0 || orphans > 0)
		(void)log_warn(err,
			       "open actions of clusters that are no longer configured end as unconfirmed",
			       kv_u("actions", orphans));
	err = query_open_intents(i->db, i->history, &q);
	if (err < 0)
		return err;
	(void)response_stream_add(i->stream, q); /* the first one */
	timer_set(i->prune, FIRST_PRUNE_MS);
	if (history_queued(i->history) > 0 || i->lost)
		flush(i);
	return 0;
}

uint64_t inbox_finish(struct inbox *i)
{
	return history_flush(i->history) < 0 ? history_queued(i->history) : 0;
}
