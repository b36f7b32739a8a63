/* main.c - the reporter: wires history, digest, metrics and the listener to the channel and the loop. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "http/global.h"
#include "reporter/inbox.h"
#include "reporter/reports.h"
#include "reporter/web/listener.h"
#include "reporter/web/routes.h"

/* What runs at a drain is given this long. */
#define DRAIN_MS 4000

struct reporter {
	struct process *process;
	struct settings settings, next;
	struct digest_options next_options; /* of `next`; before on_ready of `settings` */
	struct db *db;
	struct stats stats;
	struct web_listener *listener;
	struct reports *reports;
	struct inbox *inbox;
	struct event *drain_limit;
	bool draining;
};

/* -- settings -- */

static int on_settings(struct process *p, struct settings *s, bool first, const char **reterr)
{
	struct reporter *r = process_ctx(p);
	struct digest_options options;

	if (!r) {
		r = xcalloc(1, sizeof(*r));
		r->process = p;
		settings_init(&r->settings);
		settings_init(&r->next);
		process_set_ctx(p, r);
	}
	if (!s->state_dir || s->state_dir[0] != '/') {
		*reterr = "stateDir: an absolute path is needed";
		return -EINVAL;
	}
	const int err = digest_options_from_settings(s, &options, reterr);

	if (err < 0)
		return err;
	struct settings *keep = first ? &r->settings : &r->next;

	settings_done(keep);
	*keep = *s;
	settings_init(s);
	digest_options_done(&r->next_options);
	r->next_options = options;
	return 0;
}

/* Hand r->settings to everything that does not read them at each use. */
static void use_settings(struct reporter *r)
{
	stats_use_settings(&r->stats);
	reports_set_address(r->reports, &r->settings);
}

static void on_commit(struct process *p)
{
	struct reporter *r = process_ctx(p);

	settings_done(&r->settings);
	r->settings = r->next;
	settings_init(&r->next);
	use_settings(r);
	digest_runner_set_options(reports_runner(r->reports), &r->next_options);
}

/* -- start -- */

static void on_request(void *ctx, const char *path, const char *query, struct listener_answer *ret)
{
	struct reporter *r = ctx;

	routes_serve(&r->stats, inbox_history(r->inbox), path, query, ret);
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

/* End the drain: write, say how much is left. Once; again it does nothing. */
static void finish_drain(void *ctx)
{
	struct reporter *r = ctx;

	if (r->draining)
		process_drained(r->process, inbox_finish(r->inbox));
	r->draining = false;
}

static void on_drain_limit(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	finish_drain(arg);
}

static int on_start(struct process *p)
{
	struct reporter *r = process_ctx(p);

	http_global_init();
	stats_init(&r->stats, &r->settings.cluster_names);
	const int err = open_history(r);

	if (err < 0)
		return err;
	r->drain_limit = evtimer_new(process_base(p), on_drain_limit, r);
	r->reports = reports_new(p, r->db, &r->stats, finish_drain, r);
	r->inbox = inbox_new(p, &r->settings, r->db, &r->stats, reports_runner(r->reports));
	use_settings(r);
	return open_listener(r);
}

static void on_ready(struct process *p)
{
	struct reporter *r = process_ctx(p);
	const int err = inbox_start(r->inbox);

	if (err < 0) {
		(void)log_error(err, "open actions cannot be read", kv_s("detail", db_error(r->db)));
		process_exit(p, EXIT_CODE_TEMPORARY);
		return;
	}
	reports_start(r->reports, &r->next_options);
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
	(void)evtimer_add(r->drain_limit, CLOCK_TIMEVAL(DRAIN_MS));
	if (reports_drain(r->reports))
		finish_drain(r);
}

static void on_done(struct process *p)
{
	struct reporter *r = process_ctx(p);

	if (!r)
		return;
	listener_free(&r->listener);
	inbox_free(&r->inbox);
	reports_free(&r->reports);
	db_close(&r->db);
	stats_done(&r->stats);
	if (r->drain_limit)
		event_free(r->drain_limit);
	digest_options_done(&r->next_options);
	settings_done(&r->settings);
	settings_done(&r->next);
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
		.on_msg = on_msg,
		.on_room = on_room,
		.on_drain = on_drain,
		.on_done = on_done,
	};

	return process_run(argc, argv, &spec);
}
