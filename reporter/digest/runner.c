/* runner.c - see runner.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/digest/runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/backoff.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "reporter/digest/digest.h"
#include "reporter/digest/options.h"
#include "reporter/history/attention.h"

/* The wall clock may be set: look again at least this often. */
#define LOOK_MS    60000u
#define TROUBLE_MS 5000u

static const struct backoff_policy retry_policy = { .base_ms = 1000, .cap_ms = 60000, .jitter = 0.5 };

enum runner_phase { IDLE, SYNCING, COLLECTING, PAUSED, POSTING };

struct digest_runner {
	struct db *db;
	const struct digest_ops *ops;
	void *ctx;
	struct digest_options options;
	bool draining;
	int64_t last;    /* when the newest run was due that needs no looking at */
	int64_t claimed; /* when the run was due that was begun before a restart and is to be sent; 0 = none
			  */
	uint64_t synced; /* one bit a cluster */
	struct sink_limit limit;
	/* the run under way */
	enum runner_phase phase;
	uint64_t deadline; /* boot ms: end of SYNCING, COLLECTING, PAUSED */
	struct scheduled_run run;
	uint64_t number;   /* of the question to the watchers */
	uint64_t complete; /* clusters that answered from a complete cache */
	struct digest digest;
	struct digest_text text;
	struct sink_parts parts;
	char *incomplete;
	unsigned tries;
	uint64_t first_try;
};

struct digest_runner *digest_runner_new(struct db *db, const struct digest_ops *ops, void *ctx)
{
	struct digest_runner *r = xcalloc(1, sizeof(*r));

	r->db = db;
	r->ops = ops;
	r->ctx = ctx;
	/* Differs from the questions before a restart, whose answers may still arrive. */
	r->number = (uint64_t)clock_wall_ms() + 1;
	return r;
}

static void clear_run(struct digest_runner *r)
{
	digest_done(&r->digest);
	digest_text_done(&r->text);
	free(r->incomplete);
	r->incomplete = NULL;
	r->phase = IDLE;
}

void digest_runner_free(struct digest_runner **r)
{
	if (!*r)
		return;
	clear_run(*r);
	digest_options_done(&(*r)->options);
	free(*r);
	*r = NULL;
}

int digest_runner_recover(struct digest_runner *r, uint64_t *ret_in_doubt)
{
	return run_log_recover(r->db, ret_in_doubt, &r->claimed);
}

static uint64_t all_clusters(const struct digest_runner *r)
{
	return r->options.clusters.n >= 64 ? UINT64_MAX : (UINT64_C(1) << r->options.clusters.n) - 1;
}

static void wait_until(struct digest_runner *r, enum runner_phase phase, uint64_t ms)
{
	r->phase = phase;
	r->deadline = clock_boot_ms() + ms;
}

/* -- end of a run -- */

static void finish(struct digest_runner *r, enum run_state state, const char *error)
{
	int err;

	r->run.state = state;
	r->run.error = error;
	if (state == RUN_DONE || state == RUN_EMPTY)
		err = run_log_finish(r->db, &r->run, &r->digest, &r->options.clusters, r->complete);
	else
		err = run_log_state(r->db, &r->run);
	/* What stays on disk is "sending" or "claimed"; the next start reads it in the safe way. */
	if (err < 0)
		r->ops->trouble(r->ctx, err, "the end of a report could not be written down");
	r->run.incomplete = r->incomplete ? r->incomplete : "";
	r->ops->ended(r->ctx, &r->run);
	clear_run(r);
}

/* -- sending -- */

static void send_part(struct digest_runner *r)
{
	const uint64_t wait = sink_limit_wait(&r->limit, r->options.sink->per_second,
					      r->options.sink->per_minute, clock_boot_ms());

	if (wait > 0) {
		wait_until(r, PAUSED, wait);
		return;
	}
	r->run.state = RUN_SENDING;
	const int err = run_log_state(r->db, &r->run);

	if (err < 0) {
		r->ops->trouble(r->ctx, err, "a report is not sent before that can be written down");
		wait_until(r, PAUSED, TROUBLE_MS);
		return;
	}
	if (r->tries++ == 0)
		r->first_try = clock_boot_ms();
	sink_limit_sent(&r->limit, clock_boot_ms());
	r->phase = POSTING;
	const struct sink_message m = {
		.title = r->options.title,
		.secret = r->options.secret,
		.paragraphs = r->text.v,
		.parts = &r->parts,
		.part = r->run.part - 1,
		.timestamp_s = clock_wall_ms() / 1000,
	};

	r->ops->post(r->ctx, r->options.sink->render(&m));
}

static void on_accepted(struct digest_runner *r)
{
	if (r->run.part == r->run.parts) {
		finish(r, RUN_DONE, r->incomplete);
		return;
	}
	r->run.part++;
	r->tries = 0;
	wait_until(r, PAUSED, 0);
}

static void give_up(struct digest_runner *r, const struct sink_answer *a, enum run_state state)
{
	char error[320];

	(void)snprintf(error, sizeof(error), "part %u of %u, try %u: code %lld, %s", (unsigned)r->run.part,
		       (unsigned)r->run.parts, r->tries, (long long)a->code, a->text);
	finish(r, state, error);
}

static void on_again(struct digest_runner *r, const struct sink_answer *a)
{
	uint64_t delay = backoff_delay_ms(&retry_policy, r->tries, backoff_random());

	if (a->retry_after_ms > 0 && (uint64_t)a->retry_after_ms > delay)
		delay = (uint64_t)a->retry_after_ms;
	if (r->tries >= DIGEST_TRIES_MAX || clock_boot_ms() + delay > r->first_try + DIGEST_RETRY_MS) {
		give_up(r, a, RUN_FAILED);
		return;
	}
	/* Nothing of this run was delivered: after a restart all of it may be sent. */
	if (r->run.part == 1) {
		r->run.state = RUN_CLAIMED;
		(void)run_log_state(r->db, &r->run);
	}
	wait_until(r, PAUSED, delay);
}

/* Between two parts there is no way back: what came is not sent again, what is missing stays missing. */
static void stop_between(struct digest_runner *r)
{
	if (r->phase == PAUSED && r->run.part > 1)
		finish(r, RUN_FAILED, "the program was stopped before all parts were sent");
	else if (r->phase != IDLE)
		clear_run(r); /* claimed on disk: sent after the restart */
}

void digest_runner_on_answer(struct digest_runner *r, const struct sink_answer *a)
{
	if (r->phase != POSTING)
		return;
	if (a->verdict == SINK_ACCEPTED)
		on_accepted(r);
	else if (a->verdict == SINK_AGAIN)
		on_again(r, a);
	else
		give_up(r, a, a->verdict == SINK_IN_DOUBT ? RUN_UNCONFIRMED : RUN_FAILED);
	if (r->draining) {
		stop_between(r);
		r->ops->drained(r->ctx);
		return;
	}
	digest_runner_tick(r);
}

/* -- collecting -- */

static char *names_without(const struct digest_runner *r, uint64_t bits)
{
	char *ret = xstrdup("");

	for (size_t i = 0; i < r->options.clusters.n; i++) {
		if (bits & (UINT64_C(1) << i))
			continue;
		char *longer = xasprintf("%s%s%s", ret, *ret ? ", " : "", r->options.clusters.v[i]);

		free(ret);
		ret = longer;
	}
	return ret;
}

static void render(struct digest_runner *r, const struct run_log_past *past,
		   const struct attention *attention)
{
	char due[SCHEDULE_TEXT_MAX], previous[SCHEDULE_TEXT_MAX] = "";

	schedule_format(r->run.due_at, r->options.zone, due);
	if (past->delivered > 0)
		schedule_format(past->delivered, r->options.zone, previous);
	const struct digest_context ctx = {
		.cluster_names = &r->options.clusters,
		.incomplete = r->incomplete,
		.due = due,
		.previous = previous,
		.lost = past->lost,
		.late = r->run.late,
		.attention = *attention,
	};

	digest_render(&r->digest, &ctx, &r->text);
	sink_split(r->options.sink, r->options.title, r->text.v, r->text.n, &r->parts);
}

static void conclude(struct digest_runner *r)
{
	_cleanup_(attention_done) struct attention attention;
	struct run_log_past past;

	r->incomplete = names_without(r, r->complete);
	digest_finish(&r->digest);
	if (run_log_past(r->db, &past) < 0 ||
	    run_log_deltas(r->db, &r->digest, &r->options.clusters, past.delivered) < 0)
		r->ops->trouble(r->ctx, -EIO, "earlier restart counts could not be read");
	digest_group(&r->digest);
	r->run.workloads = r->digest.n_workloads;
	r->run.pods = r->digest.n_pods;
	if (attention_begin(r->db, &attention) < 0)
		r->ops->trouble(r->ctx, -EIO, "what needs an operator could not be read");
	if (r->run.workloads == 0 && attention.n == 0) {
		finish(r, RUN_EMPTY, r->incomplete);
		return;
	}
	render(r, &past, &attention);
	r->run.part = 1;
	r->run.parts = r->parts.n;
	r->tries = 0;
	send_part(r);
}

static void ask_all(struct digest_runner *r)
{
	r->number++;
	wait_until(r, COLLECTING, DIGEST_ANSWER_MS);
	for (size_t i = 0; i < r->options.clusters.n; i++)
		r->ops->ask(r->ctx, i, r->number);
}

static void begin(struct digest_runner *r, int64_t due_at)
{
	r->run = (struct scheduled_run){ .due_at = due_at, .state = RUN_CLAIMED };
	r->run.late = clock_wall_ms() - due_at > DIGEST_LATE_MS;
	r->complete = 0;
	wait_until(r, SYNCING, DIGEST_SYNC_MS);
}

void digest_runner_synced(struct digest_runner *r, uint64_t cluster, bool synced)
{
	const uint64_t bit = cluster < 64 ? UINT64_C(1) << cluster : 0;
	const bool came = synced && !(r->synced & bit);

	r->synced = synced ? r->synced | bit : r->synced & ~bit;
	/* A watcher that was started again meanwhile has not seen the question. */
	if (came && r->phase == COLLECTING && !(r->complete & bit) && cluster < r->options.clusters.n)
		r->ops->ask(r->ctx, cluster, r->number);
	if (came && r->phase == SYNCING)
		digest_runner_tick(r);
}

void digest_runner_on_row(struct digest_runner *r, const struct msg_digest_row *row)
{
	if (r->phase == COLLECTING && row->digest == r->number && row->cluster < r->options.clusters.n)
		digest_add(&r->digest, row);
}

void digest_runner_on_end(struct digest_runner *r, const struct msg_digest_end *end)
{
	if (r->phase != COLLECTING || end->digest != r->number || end->cluster >= r->options.clusters.n ||
	    !end->synced)
		return;
	r->complete |= UINT64_C(1) << end->cluster;
	digest_runner_tick(r);
}

/* -- ticks -- */

/* 0 with the run begun, or nothing due; negative errno when that could not be written down. */
static int begin_due(struct digest_runner *r)
{
	const int64_t now = clock_wall_ms(), claimed = r->claimed;
	const int64_t due_at = schedule_due(&r->options.cron, r->options.zone, r->last, now);

	if (due_at == 0) {
		r->claimed = 0;
		if (claimed > 0)
			begin(r, claimed);
		return 0;
	}
	const int err = run_log_claim(r->db, due_at, r->options.schedule, now - due_at > DIGEST_LATE_MS);

	if (err < 0 && err != -EEXIST)
		return err;
	r->last = due_at;
	if (err == -EEXIST)
		return 0;
	r->claimed = 0;
	if (claimed > 0)
		(void)run_log_supersede(r->db, due_at);
	begin(r, due_at);
	return 0;
}

/* One step from the phase it is in. An answer from an incomplete cache is waited on: its watcher is asked
 * again once it is complete. */
static void step(struct digest_runner *r)
{
	const bool over = clock_boot_ms() >= r->deadline;
	const uint64_t all = all_clusters(r);
	int err = 0;

	if (r->phase == IDLE)
		err = begin_due(r);
	else if (r->phase == SYNCING && (over || (r->synced & all) == all))
		ask_all(r);
	else if (r->phase == COLLECTING && (over || r->complete == all))
		conclude(r);
	else if (r->phase == PAUSED && over)
		send_part(r);
	if (err < 0)
		r->ops->trouble(r->ctx, err, "a report is not begun before that can be written down");
}

static uint64_t wake_after(const struct digest_runner *r)
{
	const int64_t now = clock_wall_ms();
	const uint64_t boot = clock_boot_ms();

	if (r->phase != IDLE)
		return r->deadline > boot ? r->deadline - boot : 0;
	const int64_t next = cron_next(&r->options.cron, r->options.zone, r->last > now ? now : r->last);

	if (next == 0 || next - now > (int64_t)LOOK_MS)
		return LOOK_MS;
	/* Due, but it could not be begun. */
	return next > now ? (uint64_t)(next - now) : TROUBLE_MS;
}

void digest_runner_tick(struct digest_runner *r)
{
	enum runner_phase before;

	if (r->draining || (r->phase == IDLE && !r->options.enable))
		return;
	do {
		before = r->phase;
		step(r);
	} while (r->phase != before && r->phase != POSTING && r->phase != IDLE);
	if (r->phase == IDLE && !r->options.enable)
		return;
	if (r->phase != POSTING)
		r->ops->wake(r->ctx, wake_after(r));
}

void digest_runner_set_options(struct digest_runner *r, struct digest_options *o)
{
	int err;

	digest_options_done(&r->options);
	r->options = *o;
	*o = (struct digest_options){ 0 };
	if (r->options.enable) {
		err = run_log_arm(r->db, r->options.schedule, &r->last);
	} else {
		err = run_log_disarm(r->db);
		if (err == 0 && r->claimed > 0)
			err = run_log_supersede(r->db, INT64_MAX);
		r->claimed = 0;
	}
	if (err < 0) {
		r->last = clock_wall_ms(); /* rather miss one than invent one */
		r->ops->trouble(r->ctx, err, "the schedule could not be written down");
	}
	digest_runner_tick(r);
}

bool digest_runner_drain(struct digest_runner *r)
{
	r->draining = true;
	if (r->phase == POSTING)
		return false;
	stop_between(r);
	return true;
}
