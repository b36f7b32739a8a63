/* reports.c - see reports.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/reports.h"

#include <event2/event.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "reporter/sinks/webhook.h"

struct reports {
	struct process *process;
	struct db *db;
	struct stats *stats;
	void (*on_drained)(void *ctx);
	void *ctx;
	struct webhook *webhook;
	struct digest_runner *runner;
	struct event *wake;
};

static void ask(void *ctx, uint64_t cluster, uint64_t digest)
{
	const struct msg m = { .type = MSG_DIGEST_GET, .u.digest_get = { cluster, digest } };

	(void)process_send(((struct reports *)ctx)->process, &m);
}

static void post(void *ctx, char *body)
{
	webhook_post(((struct reports *)ctx)->webhook, body);
}

static void wake(void *ctx, uint64_t ms)
{
	(void)evtimer_add(((struct reports *)ctx)->wake, CLOCK_TIMEVAL(ms));
}

static void ended(void *ctx, const struct scheduled_run *run)
{
	static const enum log_level levels[RUN_STATE__MAX] = {
		[RUN_DONE] = LOG_LEVEL_INFO,
		[RUN_EMPTY] = LOG_LEVEL_INFO,
		[RUN_FAILED] = LOG_LEVEL_ERROR,
		[RUN_UNCONFIRMED] = LOG_LEVEL_ERROR,
	};
	struct reports *r = ctx;
	const bool partial = *run->incomplete != '\0';
	const enum log_level level = levels[run->state];

	stats_digests(r->stats, run_state_name(run->state), 1);
	if (run->state == RUN_DONE)
		stats_digest_delivered(r->stats, clock_wall_ms());
	(void)LOG_(partial && level == LOG_LEVEL_INFO ? LOG_LEVEL_WARN : level, 0, "restart report ended",
		   kv_s("result", run_state_name(run->state)), kv_i("due_at_ms", run->due_at),
		   kv_u("late", run->late), kv_u("workloads", run->workloads), kv_u("pods", run->pods),
		   kv_u("part", run->part), kv_u("parts", run->parts),
		   kv_s("no_answer_from", run->incomplete), kv_s("detail", run->error ? run->error : ""));
}

static void trouble(void *ctx, int err, const char *what)
{
	struct reports *r = ctx;

	(void)log_error(err, "restart report", kv_s("problem", what), kv_s("detail", db_error(r->db)));
}

static void drained(void *ctx)
{
	struct reports *r = ctx;

	r->on_drained(r->ctx);
}

static const struct digest_ops ops = { ask, post, wake, ended, trouble, drained };

static void on_answer(void *ctx, const struct sink_answer *a)
{
	digest_runner_on_answer(((struct reports *)ctx)->runner, a);
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	digest_runner_tick(((struct reports *)arg)->runner);
}

struct reports *reports_new(struct process *p, struct db *db, struct stats *stats,
			    void (*on_drained)(void *ctx), void *ctx)
{
	struct reports *r = xcalloc(1, sizeof(*r));

	*r = (struct reports){ .process = p, .db = db, .stats = stats, .on_drained = on_drained, .ctx = ctx };
	r->webhook = webhook_new(process_base(p), on_answer, r);
	r->runner = digest_runner_new(db, &ops, r);
	r->wake = evtimer_new(process_base(p), on_wake, r);
	return r;
}

void reports_free(struct reports **r)
{
	if (!*r)
		return;
	digest_runner_free(&(*r)->runner);
	webhook_free(&(*r)->webhook);
	event_free((*r)->wake);
	free(*r);
	*r = NULL;
}

void reports_set_address(struct reports *r, const struct settings *s)
{
	webhook_set_url(r->webhook, s->api_url, s->api_address);
}

void reports_start(struct reports *r, struct digest_options *o)
{
	struct run_log_past past;
	uint64_t in_doubt = 0;
	const int err = digest_runner_recover(r->runner, &in_doubt);

	if (err < 0)
		trouble(r, err, "what was left before the restart cannot be read");
	if (in_doubt > 0) {
		(void)log_error(
			0, "a restart report was on its way when the process ended; it is not sent again",
			kv_u("reports", in_doubt));
		stats_digests(r->stats, run_state_name(RUN_UNCONFIRMED), in_doubt);
	}
	if (run_log_past(r->db, &past) == 0 && past.last_success > 0)
		stats_digest_delivered(r->stats, past.last_success);
	digest_runner_set_options(r->runner, o);
}

struct digest_runner *reports_runner(struct reports *r)
{
	return r->runner;
}

bool reports_drain(struct reports *r)
{
	return digest_runner_drain(r->runner);
}
