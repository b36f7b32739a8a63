/* reporter.c - the reporter: wires history, digest, what people are told, metrics and the listener to the
 * channel and the loop. Of the digest: questions to the watchers, and how runs ended into log and metrics. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/reporter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/cleanup.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "http/global.h"
#include "ipc/timer.h"
#include "reporter/inbox.h"
#include "reporter/notifier.h"
#include "reporter/status_snapshot.h"
#include "reporter/web/listener.h"
#include "text/facts_text.h"

/* What runs at a drain is given this long. */
#define DRAIN_MS 4000
/* How often it is tried to listen where it was not possible. */
#define LISTEN_MS 20000

/* How often it is tried to open a history that could not be opened. */
static const struct backoff_policy open_policy = { .base_ms = 1000, .cap_ms = 10000, .jitter = 0.2 };

struct reporter {
	struct process *process;
	struct settings settings;
	struct report_schedule schedule; /* of the settings */
	struct state *state;
	struct db *db;
	struct stats stats;
	struct web_listener *listener;
	struct notifier *notifier;
	struct digest_runner *runner;
	struct inbox *inbox;
	struct timer *wake, *drain_limit, *listen_again, *open_again;
	struct facts listen_trouble;  /* while nothing is served that should be */
	struct facts history_trouble; /* why the history is not open, as was said; none = it is */
	unsigned open_failures;
	bool draining;
};

/* -- settings -- */

static int check_settings(const struct settings *s, enum text *ret_why)
{
	struct report_schedule options = { 0 };

	if (!s->state_dir || s->state_dir[0] != '/') {
		*ret_why = TEXT_STATE_DIR_RELATIVE;
		return -EINVAL;
	}
	const int err = report_schedule_parse(s, &options, ret_why);

	report_schedule_done(&options);
	return err;
}

static void take_settings(struct reporter *r, struct settings *s)
{
	enum text why;

	settings_done(&r->settings);
	r->settings = *s;
	settings_init(s);
	report_schedule_done(&r->schedule);
	(void)report_schedule_parse(&r->settings, &r->schedule, &why); /* was checked */
	http_take_system_ca(&r->settings.system_ca);
}

/* -- digest -- */

static void ask(void *ctx, const struct msg *question)
{
	(void)process_send(((struct reporter *)ctx)->process, question);
}

static void wake(void *ctx, uint64_t ms)
{
	timer_set(((struct reporter *)ctx)->wake, ms);
}

static void ended(void *ctx, const struct scheduled_run *run)
{
	struct reporter *r = ctx;
	char due[RFC3339_MAX];
	const bool partial = *run->incomplete != '\0';

	rfc3339_format(run->due_at, false, due);
	if (run->state == RUN_EMPTY)
		metrics_add(r->stats.metrics, METRIC_DIGEST_SENDS, 1,
			    METRIC_LABELS(run_state_name(run->state)));
	(void)LOG_(partial ? LOG_LEVEL_WARN : LOG_LEVEL_INFO, 0, "restart report ended",
		   kv_s("result", run_state_name(run->state)), kv_s("due", due),
		   kv_s("late", run->late ? "yes" : "no"), kv_u("workloads", run->workloads),
		   kv_u("pods", run->pods), kv_s("no_answer_from", run->incomplete));
	notifier_wake(r->notifier);
}

static void trouble(void *ctx, int err, const char *what)
{
	struct reporter *r = ctx;

	(void)log_error(err, "restart report", kv_s("problem", what), kv_s("detail", db_error(r->db)));
}

static void on_wake(void *ctx)
{
	digest_runner_tick(((struct reporter *)ctx)->runner);
}

/* Go on where the last end of this process left off. */
static void start_digest(struct reporter *r)
{
	int64_t delivered = 0;
	const int err = digest_runner_recover(r->runner);

	if (err < 0)
		trouble(r, err, "what was left before the restart cannot be read");
	if (db_number(db_stmt(r->db, DB_REPORT_DELIVERED), &delivered) == 0 && delivered > 0)
		metrics_set(r->stats.metrics, METRIC_DIGEST_SUCCESS, (double)delivered / 1000.0,
			    METRIC_NO_LABELS);
	digest_runner_set_schedule(r->runner, &r->schedule);
}

/* -- the history -- */

/* 0, or negative errno and why. */
static int open_file(struct reporter *r, struct facts *ret_why)
{
	const int err = db_open(r->db, r->settings.history_megabytes << 20, ret_why);

	return err == 0 && inbox_check(r->inbox) < 0 ? db_give_up(r->db, ret_why) : err;
}

/* The supervisor is told what is open in it, and nothing was done before. */
static void start_with_history(struct reporter *r)
{
	const int err = inbox_start(r->inbox);

	if (err < 0) {
		(void)log_error(err, "open actions cannot be read", kv_s("detail", db_error(r->db)));
		process_exit(r->process, EXIT_CODE_TEMPORARY);
		return;
	}
	notifier_history_opened(r->notifier);
	start_digest(r);
}

static void say_trouble(struct reporter *r)
{
	_cleanup_free_ char *text = facts_render(&r->history_trouble, NULL);

	(void)log_error(0, "the history cannot be opened: it is tried again", kv_s("detail", text));
	process_say_trouble(r->process, TROUBLE_HISTORY, &r->history_trouble);
}

static void open_later(struct reporter *r)
{
	const uint64_t ms = backoff_delay_ms(&open_policy, ++r->open_failures, backoff_random());

	timer_set(r->open_again, ms);
}

static void start_without_history(struct reporter *r)
{
	struct msg m = { .type = MSG_NO_HISTORY };

	facts_set(&m.u.no_history.why, &r->history_trouble);
	(void)process_send(r->process, &m);
	say_trouble(r);
	open_later(r);
}

static void open_history(struct reporter *r)
{
	struct facts why = { 0 };
	const int err = open_file(r, &why);

	if (err < 0 && !facts_equal(&why, &r->history_trouble)) {
		facts_set(&r->history_trouble, &why);
		say_trouble(r);
	}
	if (err == -ESTALE) { /* a new process can use the new directory */
		process_drain(r->process);
	} else if (err < 0) {
		open_later(r);
	} else if (process_seal(r->process) == 0) {
		log_info("the history is open");
		process_say_trouble(r->process, TROUBLE_HISTORY, NULL);
		start_with_history(r);
	}
}

static void on_open_again(void *ctx)
{
	open_history(ctx);
}

static void on_commit(struct process *p, struct settings *s)
{
	struct reporter *r = process_ctx(p);

	/* Much here is kept by their index, and a new process costs nothing but a moment. */
	if (!str_list_equal(&r->settings.cluster_names, &s->cluster_names)) {
		log_info("other clusters: starting again with the new settings");
		process_exit(p, EXIT_CODE_OK);
		return;
	}
	take_settings(r, s);
	stats_use_settings(&r->stats, r->settings.policy.mode == MODE_OBSERVE);
	notifier_use_settings(r->notifier);
	if (!db_is_open(r->db)) { /* who changes the settings waits to see whether it works now */
		open_history(r);
		return;
	}
	digest_runner_set_schedule(r->runner, &r->schedule);
	inbox_settings_changed(r->inbox);
}

/* -- start -- */

static void on_request(void *ctx, const struct web_request *request, struct listener_answer *ret)
{
	struct reporter *r = ctx;

	const struct status_sources from = {
		&r->settings, &r->schedule, r->state, r->db, inbox_history(r->inbox), &r->stats
	};

	if (strcmp(request->path, "/") == 0)
		status_snapshot_serve(&from, request, ret);
	else
		stats_serve(&r->stats, inbox_history(r->inbox), request, ret);
}

/* Without its directory there is no place that the sandbox could be closed around. */
static int end_without_directory(struct reporter *r, int err, const struct facts *why)
{
	_cleanup_free_ char *text = facts_render(why, NULL);
	const bool lasting = err == -EPERM || err == -ENOTDIR;

	(void)log_error(0, "the directory of the history cannot be used", kv_s("detail", text));
	process_exit(r->process, lasting ? EXIT_CODE_CONFIG : EXIT_CODE_TEMPORARY);
	return err;
}

/* Nothing else depends on it: who cannot be asked goes on with the work. */
static void open_listener(struct reporter *r)
{
	const char *address = r->settings.metrics_listen;

	if (!address || !*address)
		return;
	const int err = listener_new(process_base(r->process), address, on_request, r, &r->listener);

	if (err == 0) {
		log_info("serving metrics and health", kv_s("address", listener_address(r->listener)));
		return;
	}
	r->listen_trouble = facts_of(TEXT_NOT_LISTENING);
	facts_quoted(&r->listen_trouble, FACT_PLACE, STR_C(address));
	facts_quoted(&r->listen_trouble, FACT_SYSTEM, STR_C(strerrordesc_np(-err)));
}

/* The sandbox lets no process bind a port later: a new one does. */
static void on_listen_again(void *ctx)
{
	log_info("starting again, to listen for metrics and health");
	process_drain(((struct reporter *)ctx)->process);
}

/* End the drain: write, say how much is left. Once; again it does nothing. */
static void finish_drain(void *ctx)
{
	struct reporter *r = ctx;

	if (r->draining)
		process_drained(r->process, inbox_finish(r->inbox));
	r->draining = false;
}

static int on_start(struct process *p, struct settings *s)
{
	struct reporter *r = xcalloc(1, sizeof(*r));
	struct facts why = { 0 };

	process_set_ctx(p, r);
	r->process = p;
	take_settings(r, s);
	http_global_init();
	r->state = state_new();
	stats_init(&r->stats, r->state, &r->settings.cluster_names);
	const int err = db_claim(r->settings.state_dir, &r->db, &why);

	if (err < 0)
		return end_without_directory(r, err, &why);
	r->drain_limit = timer_new(process_base(p), finish_drain, r);
	r->open_again = timer_new(process_base(p), on_open_again, r);
	r->wake = timer_new(process_base(p), on_wake, r);
	r->listen_again = timer_new(process_base(p), on_listen_again, r);
	open_listener(r);
	return 0;
}

static void on_trim(struct process *p)
{
	db_trim(((struct reporter *)process_ctx(p))->db);
}

static int on_confined(struct process *p)
{
	static const struct digest_ops digest = { ask, wake, ended, trouble };
	struct reporter *r = process_ctx(p);

	r->runner = digest_runner_new(r->db, &digest, r);
	r->notifier =
		notifier_new(p, &r->settings, &r->schedule, r->state, r->db, &r->stats, finish_drain, r);
	r->inbox = inbox_new(p, &r->settings, r->state, r->db, &r->stats, r->runner, r->notifier);
	stats_use_settings(&r->stats, r->settings.policy.mode == MODE_OBSERVE);
	return open_file(r, &r->history_trouble) < 0;
}

static void on_ready(struct process *p)
{
	struct reporter *r = process_ctx(p);

	notifier_start(r->notifier);
	if (db_is_open(r->db))
		start_with_history(r);
	else
		start_without_history(r);
	if (facts_empty(&r->listen_trouble))
		return;
	process_say_trouble(p, TROUBLE_LISTENER, &r->listen_trouble);
	timer_set(r->listen_again, LISTEN_MS);
}

/* -- messages, end -- */

static void on_msg(struct process *p, const struct msg *m)
{
	inbox_on_msg(((struct reporter *)process_ctx(p))->inbox, m);
}

static void on_room(struct process *p)
{
	inbox_on_room(((struct reporter *)process_ctx(p))->inbox);
}

static void on_drain(struct process *p)
{
	struct reporter *r = process_ctx(p);

	r->draining = true;
	timer_stop(r->open_again);
	timer_set(r->drain_limit, DRAIN_MS);
	digest_runner_drain(r->runner);
	(void)inbox_finish(r->inbox); /* what has just ended is told, too */
	if (notifier_drain(r->notifier))
		finish_drain(r);
}

static void on_done(struct process *p)
{
	struct reporter *r = process_ctx(p);

	if (!r)
		return;
	listener_free(&r->listener);
	digest_runner_free(&r->runner); /* an operator may wait for its preview */
	inbox_free(&r->inbox);
	notifier_free(&r->notifier);
	db_close(&r->db);
	stats_done(&r->stats);
	state_free(&r->state);
	timer_free(&r->wake);
	timer_free(&r->drain_limit);
	timer_free(&r->listen_again);
	timer_free(&r->open_again);
	report_schedule_done(&r->schedule);
	settings_done(&r->settings);
	free(r);
}

const struct process_spec reporter_spec = {
	.role = ROLE_REPORTER,
	.check_settings = check_settings,
	.on_commit = on_commit,
	.on_start = on_start,
	.on_confined = on_confined,
	.on_ready = on_ready,
	.on_msg = on_msg,
	.on_trim = on_trim,
	.on_room = on_room,
	.on_drain = on_drain,
	.on_done = on_done,
};
