/* run.c - see run.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/digest/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "reporter/digest/schedule.h"
#include "reporter/history/attention.h"

/* The wall clock may be set: look again at least this often. */
#define LOOK_MS    60000u
#define TROUBLE_MS 5000u

static const struct backoff_policy retry_policy = { .base_ms = 1000, .cap_ms = 60000, .jitter = 0.5 };

enum phase_ { IDLE, SYNCING, COLLECTING, PAUSED, POSTING, PHASE__MAX };

struct digest_run {
	struct db *db;
	const struct digest_ops *ops;
	void *ctx;
	struct digest_plan plan;
	bool draining;
	int64_t last;    /* newest slot that needs no looking at */
	int64_t claimed; /* left by an earlier life, to be sent */
	uint64_t synced; /* one bit a cluster */
	struct feishu_limit limit;
	/* the running slot */
	enum phase_ phase;
	uint64_t deadline; /* boot ms: end of SYNCING, COLLECTING, PAUSED */
	struct digest_progress progress;
	bool late;
	uint64_t number;   /* of the question to the watchers */
	uint64_t complete; /* clusters that answered from a complete cache */
	struct digest *digest;
	struct digest_text text, needs;
	struct feishu_parts parts;
	char *incomplete;
	unsigned tries;
	uint64_t first_try;
};

void digest_plan_done(struct digest_plan *p)
{
	zone_free(&p->zone);
	free(p->schedule);
	free(p->title);
	free(p->secret);
	str_list_done(&p->clusters);
	*p = (struct digest_plan){ 0 };
}

struct digest_run *digest_run_new(struct db *db, const struct digest_ops *ops, void *ctx)
{
	struct digest_run *r = xcalloc(1, sizeof(*r));

	r->db = db;
	r->ops = ops;
	r->ctx = ctx;
	/* Differs from the questions of an earlier life, whose answers may still arrive. */
	r->number = (uint64_t)clock_wall_ms() + 1;
	return r;
}

static void clear_slot(struct digest_run *r)
{
	digest_free(&r->digest);
	digest_text_done(&r->text);
	digest_text_done(&r->needs);
	free(r->incomplete);
	r->incomplete = NULL;
	r->phase = IDLE;
}

void digest_run_free(struct digest_run **r)
{
	if (!*r)
		return;
	clear_slot(*r);
	digest_plan_done(&(*r)->plan);
	free(*r);
	*r = NULL;
}

int digest_run_recover(struct digest_run *r, uint64_t *ret_in_doubt)
{
	return digest_store_recover(r->db, ret_in_doubt, &r->claimed);
}

static uint64_t all_clusters(const struct digest_run *r)
{
	return r->plan.clusters.n >= 64 ? UINT64_MAX : (UINT64_C(1) << r->plan.clusters.n) - 1;
}

static void wait_until(struct digest_run *r, enum phase_ phase, uint64_t ms)
{
	r->phase = phase;
	r->deadline = clock_boot_ms() + ms;
}

/* -- end of a slot --------------------------------------------------------------------------------------- */

static void finish(struct digest_run *r, enum digest_state state, const char *error)
{
	struct digest_end e = { .late = r->late, .incomplete = r->incomplete ? r->incomplete : "" };
	int err;

	r->progress.state = state;
	r->progress.error = error;
	if (state == DIGEST_STATE_DONE || state == DIGEST_STATE_EMPTY)
		err = digest_store_finish(r->db, &r->progress, r->digest, &r->plan.clusters, r->complete);
	else
		err = digest_store_state(r->db, &r->progress);
	/* What stays on disk is "sending" or "claimed"; the next life reads it in the safe way. */
	if (err < 0)
		r->ops->trouble(r->ctx, err, "the end of a report could not be written down");
	e.progress = r->progress;
	r->ops->ended(r->ctx, &e);
	clear_slot(r);
}

/* -- sending --------------------------------------------------------------------------------------------- */

static void send_part(struct digest_run *r)
{
	const uint64_t wait = feishu_limit_wait(&r->limit, clock_boot_ms());

	if (wait > 0) {
		wait_until(r, PAUSED, wait);
		return;
	}
	r->progress.state = DIGEST_STATE_SENDING;
	const int err = digest_store_state(r->db, &r->progress);

	if (err < 0) {
		r->ops->trouble(r->ctx, err, "a report is not sent before that can be written down");
		wait_until(r, PAUSED, TROUBLE_MS);
		return;
	}
	if (r->tries++ == 0)
		r->first_try = clock_boot_ms();
	feishu_limit_sent(&r->limit, clock_boot_ms());
	r->phase = POSTING;
	r->ops->post(r->ctx, feishu_body(r->plan.title, r->text.v, &r->parts, r->progress.part - 1,
					 r->plan.secret, clock_wall_ms() / 1000));
}

static void on_accepted(struct digest_run *r, const struct feishu_answer *a)
{
	(void)a;
	if (r->progress.part == r->progress.parts) {
		finish(r, DIGEST_STATE_DONE, r->incomplete);
		return;
	}
	r->progress.part++;
	r->tries = 0;
	wait_until(r, PAUSED, 0);
}

static void give_up(struct digest_run *r, const struct feishu_answer *a, enum digest_state state)
{
	char error[320];

	(void)snprintf(error, sizeof(error), "part %u of %u, try %u: code %lld, %s",
		       (unsigned)r->progress.part, (unsigned)r->progress.parts, r->tries, (long long)a->code,
		       a->text);
	finish(r, state, error);
}

static void on_again(struct digest_run *r, const struct feishu_answer *a)
{
	uint64_t delay = backoff_delay_ms(&retry_policy, r->tries, backoff_random());

	if (a->retry_after_ms > 0 && (uint64_t)a->retry_after_ms > delay)
		delay = (uint64_t)a->retry_after_ms;
	if (r->tries >= DIGEST_TRIES_MAX || clock_boot_ms() + delay > r->first_try + DIGEST_RETRY_MS) {
		give_up(r, a, DIGEST_STATE_FAILED);
		return;
	}
	/* Nothing of this slot was delivered: a later life may send it all. */
	if (r->progress.part == 1) {
		r->progress.state = DIGEST_STATE_CLAIMED;
		(void)digest_store_state(r->db, &r->progress);
	}
	wait_until(r, PAUSED, delay);
}

static void on_refused(struct digest_run *r, const struct feishu_answer *a)
{
	give_up(r, a, DIGEST_STATE_FAILED);
}

static void on_doubt(struct digest_run *r, const struct feishu_answer *a)
{
	give_up(r, a, DIGEST_STATE_UNCONFIRMED);
}

/* Between two parts there is no way back: what came is not sent again, what is missing stays missing. */
static void stop_between(struct digest_run *r)
{
	if (r->phase == PAUSED && r->progress.part > 1)
		finish(r, DIGEST_STATE_FAILED, "the program was stopped before all parts were sent");
	else if (r->phase != IDLE)
		clear_slot(r); /* claimed on disk: the next life sends it */
}

void digest_run_answer(struct digest_run *r, const struct feishu_answer *a)
{
	static void (*const on_verdict[])(struct digest_run *, const struct feishu_answer *) = {
		[FEISHU_ACCEPTED] = on_accepted,
		[FEISHU_AGAIN] = on_again,
		[FEISHU_REFUSED] = on_refused,
		[FEISHU_IN_DOUBT] = on_doubt,
	};

	if (r->phase != POSTING)
		return;
	on_verdict[a->verdict](r, a);
	if (r->draining) {
		stop_between(r);
		r->ops->drained(r->ctx);
		return;
	}
	digest_run_tick(r);
}

/* -- collecting ------------------------------------------------------------------------------------------ */

static char *names_without(const struct digest_run *r, uint64_t bits)
{
	char *ret = xstrdup("");

	for (size_t i = 0; i < r->plan.clusters.n; i++) {
		if (bits & (UINT64_C(1) << i))
			continue;
		char *longer = xasprintf("%s%s%s", ret, *ret ? ", " : "", r->plan.clusters.v[i]);

		free(ret);
		ret = longer;
	}
	return ret;
}

/* Paragraphs move behind those of `to`. */
static void append(struct digest_text *to, struct digest_text *from)
{
	if (from->n > 0)
		to->v = xreallocarray(to->v, to->n + from->n, sizeof(*to->v));
	for (size_t i = 0; i < from->n; i++)
		to->v[to->n++] = from->v[i];
	free(from->v);
	*from = (struct digest_text){ 0 };
}

static void render(struct digest_run *r, int64_t previous)
{
	int64_t lost = 0;
	char slot[DIGEST_SLOT_MAX], before[DIGEST_SLOT_MAX] = "";

	scheduled_run_format(r->progress.slot, r->plan.zone, slot);
	if (previous > 0)
		scheduled_run_format(previous, r->plan.zone, before);
	(void)digest_store_lost(r->db, &lost);
	const struct digest_context ctx = {
		.cluster_names = &r->plan.clusters,
		.incomplete = r->incomplete,
		.slot = slot,
		.previous = before,
		.lost = lost,
		.late = r->late,
	};

	digest_render(r->digest, &ctx, &r->text);
	append(&r->text, &r->needs);
	feishu_split(r->plan.title, r->text.v, r->text.n, &r->parts);
}

static void conclude(struct digest_run *r)
{
	int64_t previous = 0;

	r->incomplete = names_without(r, r->complete);
	digest_finish(r->digest);
	if (digest_store_previous(r->db, &previous) < 0 ||
	    digest_store_deltas(r->db, r->digest, &r->plan.clusters, previous) < 0)
		r->ops->trouble(r->ctx, -EIO, "earlier restart counts could not be read");
	digest_group(r->digest);
	r->progress.workloads = digest_workloads(r->digest);
	r->progress.pods = digest_pods(r->digest);
	if (attention_begin(r->db, r->plan.clusters.n > 1, clock_wall_ms(), &r->needs) < 0)
		r->ops->trouble(r->ctx, -EIO, "what needs a person could not be read");
	if (r->progress.workloads == 0 && r->needs.n == 0) {
		finish(r, DIGEST_STATE_EMPTY, r->incomplete);
		return;
	}
	render(r, previous);
	r->progress.part = 1;
	r->progress.parts = r->parts.n;
	r->tries = 0;
	send_part(r);
}

static void ask_all(struct digest_run *r)
{
	r->number++;
	wait_until(r, COLLECTING, DIGEST_ANSWER_MS);
	for (size_t i = 0; i < r->plan.clusters.n; i++)
		r->ops->ask(r->ctx, i, r->number);
}

static void begin(struct digest_run *r, int64_t slot)
{
	r->progress = (struct digest_progress){ .slot = slot, .state = DIGEST_STATE_CLAIMED };
	r->late = clock_wall_ms() - slot > DIGEST_LATE_MS;
	r->complete = 0;
	r->digest = digest_new();
	wait_until(r, SYNCING, DIGEST_SYNC_MS);
}

void digest_run_synced(struct digest_run *r, uint64_t cluster, bool synced)
{
	const uint64_t bit = cluster < 64 ? UINT64_C(1) << cluster : 0;
	const bool came = synced && !(r->synced & bit);

	r->synced = synced ? r->synced | bit : r->synced & ~bit;
	/* A watcher that was started again meanwhile has not seen the question. */
	if (came && r->phase == COLLECTING && !(r->complete & bit) && cluster < r->plan.clusters.n)
		r->ops->ask(r->ctx, cluster, r->number);
	if (came && r->phase == SYNCING)
		digest_run_tick(r);
}

void digest_run_row(struct digest_run *r, const struct msg_digest_row *row)
{
	if (r->phase == COLLECTING && row->digest == r->number && row->cluster < r->plan.clusters.n)
		digest_add(r->digest, row);
}

void digest_run_end(struct digest_run *r, const struct msg_digest_end *end)
{
	if (r->phase != COLLECTING || end->digest != r->number || end->cluster >= r->plan.clusters.n)
		return;
	if (!end->synced)
		return;
	r->complete |= UINT64_C(1) << end->cluster;
	digest_run_tick(r);
}

/* -- ticks ----------------------------------------------------------------------------------------------- */

/* 0 with the slot begun, or nothing due; negative errno when that could not be written down. */
static int begin_due(struct digest_run *r)
{
	const int64_t now = clock_wall_ms();
	const int64_t slot = schedule_due(&r->plan.cron, r->plan.zone, r->last, now);
	int err = 0;

	if (slot == 0 && r->claimed > 0)
		begin(r, r->claimed);
	if (slot == 0) {
		r->claimed = 0;
		return 0;
	}
	err = digest_store_claim(r->db, slot, r->plan.schedule, now - slot > DIGEST_LATE_MS);
	if (err < 0 && err != -EEXIST)
		return err;
	r->last = slot;
	if (err == -EEXIST)
		return 0;
	if (r->claimed > 0)
		(void)digest_store_supersede(r->db, slot);
	r->claimed = 0;
	begin(r, slot);
	return 0;
}

static void tick_idle(struct digest_run *r)
{
	const int err = begin_due(r);

	if (err < 0)
		r->ops->trouble(r->ctx, err, "a report is not begun before that can be written down");
}

static void tick_syncing(struct digest_run *r)
{
	if ((r->synced & all_clusters(r)) == all_clusters(r) || clock_boot_ms() >= r->deadline)
		ask_all(r);
}

static void tick_collecting(struct digest_run *r)
{
	/* An answer from an incomplete cache is waited on: its watcher is asked again once it is complete. */
	if (r->complete == all_clusters(r) || clock_boot_ms() >= r->deadline)
		conclude(r);
}

static void tick_paused(struct digest_run *r)
{
	if (clock_boot_ms() >= r->deadline)
		send_part(r);
}

static void tick_posting(struct digest_run *r)
{
	(void)r;
}

static uint64_t wake_after(const struct digest_run *r)
{
	const int64_t now = clock_wall_ms();
	const uint64_t boot = clock_boot_ms();

	if (r->phase != IDLE)
		return r->deadline > boot ? r->deadline - boot : 0;
	const int64_t next = cron_next(&r->plan.cron, r->plan.zone, r->last > now ? now : r->last);

	if (next == 0 || next - now > (int64_t)LOOK_MS)
		return LOOK_MS;
	/* Due, but it could not be begun. */
	return next > now ? (uint64_t)(next - now) : TROUBLE_MS;
}

void digest_run_tick(struct digest_run *r)
{
	static void (*const on_tick[PHASE__MAX])(struct digest_run *) = {
		[IDLE] = tick_idle,     [SYNCING] = tick_syncing, [COLLECTING] = tick_collecting,
		[PAUSED] = tick_paused, [POSTING] = tick_posting,
	};
	enum phase_ before;

	if (r->draining || (r->phase == IDLE && !r->plan.enable))
		return;
	do {
		before = r->phase;
		on_tick[before](r);
	} while (r->phase != before && r->phase != POSTING && r->phase != IDLE);
	if (r->phase == IDLE && !r->plan.enable)
		return;
	if (r->phase != POSTING)
		r->ops->wake(r->ctx, wake_after(r));
}

void digest_run_set_plan(struct digest_run *r, struct digest_plan *p)
{
	int err;

	digest_plan_done(&r->plan);
	r->plan = *p;
	*p = (struct digest_plan){ 0 };
	if (r->plan.enable) {
		err = digest_store_arm(r->db, r->plan.schedule, &r->last);
	} else {
		err = digest_store_disarm(r->db);
		if (err == 0 && r->claimed > 0)
			err = digest_store_supersede(r->db, INT64_MAX);
		r->claimed = 0;
	}
	if (err < 0) {
		r->last = clock_wall_ms(); /* rather miss one than invent one */
		r->ops->trouble(r->ctx, err, "the schedule could not be written down");
	}
	digest_run_tick(r);
}

bool digest_run_drain(struct digest_run *r)
{
	r->draining = true;
	if (r->phase == POSTING)
		return false;
	stop_between(r);
	return true;
}
