/* reports.c - digests on the loop: questions out, posts out, how they ended into log and figures. */
// SPDX-License-Identifier: Apache-2.0
#include <event2/event.h>
#include <stdlib.h>

#include "base/clock.h"
#include "reporter/reporter.h"

/* -- digests --------------------------------------------------------------------------------------------- */

static void digest_ask(void *ctx, uint64_t cluster, uint64_t digest)
{
	const struct msg m = { .type = MSG_DIGEST_GET, .u.digest_get = { cluster, digest } };

	(void)process_send(((struct reporter *)ctx)->process, &m);
}

static void digest_post(void *ctx, char *body)
{
	webhook_post(((struct reporter *)ctx)->hook, body);
}

static void digest_wake(void *ctx, uint64_t ms)
{
	(void)evtimer_add(((struct reporter *)ctx)->digest_wake, CLOCK_TIMEVAL(ms));
}

static void digest_ended(void *ctx, const struct digest_end *e)
{
	static const enum log_level levels[DIGEST_STATE__MAX] = {
		[DIGEST_STATE_DONE] = LOG_LEVEL_INFO,
		[DIGEST_STATE_EMPTY] = LOG_LEVEL_INFO,
		[DIGEST_STATE_FAILED] = LOG_LEVEL_ERROR,
		[DIGEST_STATE_UNCONFIRMED] = LOG_LEVEL_ERROR,
	};
	struct reporter *r = ctx;
	const struct digest_progress *p = &e->progress;
	const bool partial = *e->incomplete != '\0';
	const enum log_level level = levels[p->state];

	stats_digest(&r->figures, e);
	(void)LOG_(partial && level == LOG_LEVEL_INFO ? LOG_LEVEL_WARN : level, 0, "restart report ended",
		   kv_s("result", digest_state_name(p->state)), kv_i("slot_ms", p->slot),
		   kv_u("late", e->late), kv_u("workloads", p->workloads), kv_u("pods", p->pods),
		   kv_u("part", p->part), kv_u("parts", p->parts), kv_s("no_answer_from", e->incomplete),
		   kv_s("detail", p->error ? p->error : ""));
}

static void digest_trouble(void *ctx, int err, const char *what)
{
	struct reporter *r = ctx;

	(void)log_error(err, "restart report", kv_s("problem", what), kv_s("detail", db_error(r->db)));
}

void reports_finish_drain(void *ctx)
{
	struct reporter *r = ctx;

	if (r->draining)
		process_drained(r->process, history_flush(r->history) < 0 ? history_queued(r->history) : 0);
	r->draining = false;
}

const struct digest_ops reports_ops = { digest_ask,   digest_post,    digest_wake,
					digest_ended, digest_trouble, reports_finish_drain };

void reports_hook_answer(void *ctx, const struct feishu_answer *a)
{
	digest_run_answer(((struct reporter *)ctx)->digests, a);
}

void reports_recover(struct reporter *r)
{
	uint64_t in_doubt = 0;
	int64_t last = 0;
	const int err = digest_run_recover(r->digests, &in_doubt);

	if (err < 0)
		digest_trouble(r, err, "what an earlier life left cannot be read");
	if (in_doubt > 0)
		(void)log_error(
			0, "a restart report was on its way when the process ended; it is not sent again",
			kv_u("reports", in_doubt));
	if (in_doubt > 0)
		metrics_add(r->figures.metrics, METRIC_DIGEST_SENDS, (double)in_doubt,
			    METRIC_LABELS(digest_state_name(DIGEST_STATE_UNCONFIRMED)));
	if (digest_store_last_success(r->db, &last) == 0 && last > 0)
		metrics_set(r->figures.metrics, METRIC_DIGEST_SUCCESS, (double)last / 1000.0,
			    METRIC_NO_LABELS);
}
