/* main.c - the reporter: wires history, digests, metrics and the listener to the channel and the loop. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "http/client.h"
#include "reporter/reporter.h"

/* What runs at a drain is given this long. */
#define DRAIN_MS 4000

/* -- timers ---------------------------------------------------------------------------------------------- */

static void on_flush(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	inbox_flush(arg);
}

static void on_prune(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	inbox_prune(arg);
}

static void on_digest_wake(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	digest_run_tick(((struct reporter *)arg)->digests);
}

static void on_drain_limit(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	reports_finish_drain(arg);
}

/* -- settings -------------------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static int check_settings(const struct reporter *r, const struct settings *s, bool first, const char **reterr)
{
	if (!s->state_dir || s->state_dir[0] != '/') {
		*reterr = "stateDir: an absolute path is needed";
		return -EINVAL;
	}
	if (!first && !same_text(s->state_dir, r->settings.state_dir)) {
		*reterr = "stateDir cannot change while the program runs: restart it";
		return -EINVAL;
	}
	if (!first && !same_text(s->metrics_listen, r->settings.metrics_listen)) {
		*reterr = "metricsListen cannot change while the program runs: restart it";
		return -EINVAL;
	}
	return 0;
}

static int on_settings(struct process *p, struct settings *s, bool first, const char **reterr)
{
	struct reporter *r = process_ctx(p);
	struct digest_plan plan;

	if (!r) {
		r = xcalloc(1, sizeof(*r));
		r->process = p;
		settings_init(&r->settings);
		settings_init(&r->next);
		process_set_ctx(p, r);
	}
	int err = check_settings(r, s, first, reterr);

	if (err == 0)
		err = plan_from_settings(s, &plan, reterr);
	if (err < 0)
		return err;
	struct settings *keep = first ? &r->settings : &r->next;

	settings_done(keep);
	*keep = *s;
	settings_init(s);
	digest_plan_done(&r->next_plan);
	r->next_plan = plan;
	return 0;
}

/* Hand what is in r->settings and r->next_plan to everything that works by it. */
static void use_settings(struct reporter *r)
{
	history_set_clusters(r->history, &r->settings.cluster_names);
	stats_set_clusters(&r->figures, &r->settings.cluster_names);
	metrics_set(r->figures.metrics, METRIC_CONFIG_TIME, (double)clock_wall_ms() / 1000.0,
		    METRIC_NO_LABELS);
	webhook_set_url(r->hook, r->settings.api_url, r->settings.api_address);
}

static void on_commit(struct process *p)
{
	struct reporter *r = process_ctx(p);

	settings_done(&r->settings);
	r->settings = r->next;
	settings_init(&r->next);
	use_settings(r);
	digest_run_set_plan(r->digests, &r->next_plan);
}

/* -- life ------------------------------------------------------------------------------------------------ */

static void on_request(void *ctx, const char *path, const char *query, struct listener_answer *ret)
{
	struct reporter *r = ctx;

	routes_serve(&r->figures, r->history, path, query, ret);
}

static int open_history(struct reporter *r)
{
	char text[DB_TEXT_MAX] = "";
	const int err = db_open(r->settings.state_dir, &r->db, text);

	if (err == 0)
		return 0;
	(void)log_error(0, "the history cannot be opened", kv_s("detail", text));
	process_exit(r->process, err == -EPERM || err == -EBADMSG || err == -ENOTDIR ? EXIT_CODE_CONFIG
										     : EXIT_CODE_TEMPORARY);
	return err;
}

static int open_listener(struct reporter *r)
{
	const char *address = r->settings.metrics_listen;

	if (!address || !*address)
		return 0;
	const int err = listener_new(process_base(r->process), address, on_request, r, &r->listener);

	if (err < 0) {
		(void)log_error(
			err, "metricsListen: cannot listen there; choose another address, or \"\" for none",
			kv_s("address", address));
		process_exit(r->process, exit_is_transient(err) ? EXIT_CODE_TEMPORARY : EXIT_CODE_CONFIG);
		return err;
	}
	log_info("serving metrics and health", kv_s("address", listener_address(r->listener)));
	return 0;
}

static int on_start(struct process *p)
{
	struct reporter *r = process_ctx(p);
	struct event_base *base = process_base(p);

	http_global_init();
	stats_init(&r->figures);
	r->flush = event_new(base, -1, 0, on_flush, r);
	r->prune = event_new(base, -1, 0, on_prune, r);
	r->digest_wake = event_new(base, -1, 0, on_digest_wake, r);
	r->drain_limit = event_new(base, -1, 0, on_drain_limit, r);
	int err = open_history(r);

	if (err < 0)
		return err;
	r->history = history_new(r->db, inbox_committed, r);
	r->feed = response_stream_new(base, &inbox_feed_ops, r);
	r->hook = webhook_new(base, reports_hook_answer, r);
	r->digests = digest_run_new(r->db, &reports_ops, r);
	use_settings(r);
	return open_listener(r);
}

static void end_strays(struct reporter *r)
{
	uint64_t n = 0;
	const int err = history_close_strays(r->history, &n);

	if (err < 0 || n > 0)
		(void)log_warn(err,
			       "open actions of clusters that are no longer configured end as unconfirmed",
			       kv_u("actions", n));
}

static void on_ready(struct process *p)
{
	struct reporter *r = process_ctx(p);
	struct query *c = NULL;

	end_strays(r);
	const int err = query_open_intents(r->db, r->history, &c);

	if (err < 0 || !response_stream_add(r->feed, c)) {
		(void)log_error(err, "open actions cannot be read", kv_s("detail", db_error(r->db)));
		process_exit(p, EXIT_CODE_TEMPORARY);
		return;
	}
	reports_recover(r);
	digest_run_set_plan(r->digests, &r->next_plan);
	(void)evtimer_add(r->prune, CLOCK_TIMEVAL(1000));
}

static void on_drain(struct process *p)
{
	struct reporter *r = process_ctx(p);

	r->draining = true;
	(void)evtimer_add(r->drain_limit, CLOCK_TIMEVAL(DRAIN_MS));
	if (digest_run_drain(r->digests))
		reports_finish_drain(r);
}

static void free_event(struct event **e)
{
	if (*e)
		event_free(*e);
	*e = NULL;
}

static void on_done(struct process *p)
{
	struct reporter *r = process_ctx(p);

	if (!r)
		return;
	listener_free(&r->listener);
	response_stream_free(&r->feed);
	digest_run_free(&r->digests);
	webhook_free(&r->hook);
	history_free(&r->history);
	db_close(&r->db);
	if (r->figures.metrics)
		stats_done(&r->figures);
	free_event(&r->flush);
	free_event(&r->prune);
	free_event(&r->digest_wake);
	free_event(&r->drain_limit);
	digest_plan_done(&r->next_plan);
	settings_done(&r->settings);
	settings_done(&r->next);
	free(r->acks);
	free(r);
}

int main(int argc, char **argv)
{
	static const struct process_spec spec = {
		.role = ROLE_REPORTER,
		.on_settings = on_settings,
		.on_commit = on_commit,
		.on_start = on_start,
		.on_ready = on_ready,
		.on_msg = inbox_msg,
		.on_room = inbox_room,
		.on_drain = on_drain,
		.on_done = on_done,
	};

	return process_run(argc, argv, &spec);
}
