/* runner.c - see runner.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/report/runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "model/sink_types.h"
#include "reporter/report/attach.h"
#include "reporter/report/report_run.h"
#include "reporter/report/schedule.h"
#include "reporter/report/samples.h"
#include "reporter/history/attention.h"
#include "reporter/notify/sink_select.h"
#include "reporter/notify/outbox.h"

/* The wall clock may be set: look again at least this often. */
#define INSPECTION_MS 60000u
#define TROUBLE_MS    5000u

enum runner_phase { IDLE, SYNCING, COLLECTING, INSPECTING, WRITING };

struct digest_runner {
	struct db *db;
	const struct digest_ops *ops;
	void *ctx;
	const struct report_schedule *schedule;
	bool draining;
	int64_t last;    /* when the newest run was due that needs no looking at */
	int64_t claimed; /* when the run was due that was begun before a restart and is to be sent; 0 = none
			  */
	bool synced[CLUSTERS_MAX];    /* by index */
	bool elsewhere[CLUSTERS_MAX]; /* another replica leads there, and tells of it */
	/* the run under way */
	enum runner_phase phase;
	uint64_t deadline; /* boot ms: end of SYNCING, COLLECTING, LOOKING; WRITING is tried then */
	struct scheduled_run run;
	uint64_t number;             /* of the question to the watchers */
	bool complete[CLUSTERS_MAX]; /* that answered from a complete cache, or are left out */
	bool left_out[CLUSTERS_MAX];
	struct report_run *report_run;
	digest_preview_fn *preview; /* whom this is for; NULL = it is a run of the schedule */
	void *preview_ctx;
	struct sink_settings previewed; /* who will be shown it: what rows are chosen by */
	struct sampler *sampler;
};

struct digest_runner *digest_runner_new(struct db *db, const struct digest_ops *ops, void *ctx)
{
	static const struct report_schedule none;
	struct digest_runner *r = xcalloc(1, sizeof(*r));

	r->db = db;
	r->schedule = &none;
	r->ops = ops;
	r->ctx = ctx;
	/* Differs from the questions before a restart, whose answers may still arrive. */
	r->number = (uint64_t)clock_wall_ms() + 1;
	r->sampler = sampler_new(db, ops->send, ctx);
	return r;
}

static void clear_run(struct digest_runner *r)
{
	digest_preview_fn *const fn = r->preview;

	r->preview = NULL;
	str_list_done(&r->previewed.clusters);
	str_list_done(&r->previewed.namespaces);
	if (fn)
		fn(r->preview_ctx, r->phase == INSPECTING ? r->report_run : NULL, r->schedule);
	report_run_free(&r->report_run);
	r->phase = IDLE;
}

void digest_runner_free(struct digest_runner **r)
{
	if (!*r)
		return;
	clear_run(*r);
	sampler_free(&(*r)->sampler);
	free(*r);
	*r = NULL;
}

/* -- what the history knows of runs -- */

const char *run_state_name(enum run_state s)
{
	static const char *const names[RUN_STATE__MAX] = {
		[RUN_CLAIMED] = "claimed",
		[RUN_DONE] = "done",
		[RUN_EMPTY] = "empty",
	};

	return (unsigned)s < RUN_STATE__MAX ? names[s] : "?";
}

/* 0; -EEXIST (it was begun before); negative errno. */
static int claim(struct db *db, int64_t due_at, const char *schedule, bool late)
{
	int changes = 0;
	const int r = db_run(db_stmt(db, DB_DIGEST_CLAIM, db_i("due_at", due_at), db_s("schedule", schedule),
				     db_i("late", late)),
			     &changes);

	return r < 0 ? r : changes ? 0 : -EEXIST;
}

/* Skip what was claimed before due_at. */
static int supersede(struct db *db, int64_t due_at)
{
	return db_do(db, DB_DIGEST_SUPERSEDE, db_i("due_at", due_at));
}

int digest_runner_recover(struct digest_runner *r)
{
	const int err = db_number(db_stmt(r->db, DB_DIGEST_CLAIMED), &r->claimed);

	return err < 0 || r->claimed == 0 ? err : supersede(r->db, r->claimed);
}

/* *ret_last is the newest run ever claimed of this schedule, but not before the schedule was armed: since
 * then it is in force. It is armed now when it was not in force. */
static int arm(struct db *db, const char *schedule, int64_t *ret_last)
{
	int r = db_do(db, DB_SCHEDULE_REPLACE, db_s("schedule", schedule));

	if (r == 0)
		r = db_do(db, DB_SCHEDULE_ARM, db_s("schedule", schedule));
	return r < 0 ? r : db_number(db_stmt(db, DB_SCHEDULE_LAST, db_s("schedule", schedule)), ret_last);
}

/* An index of a cluster that there is no more is asked nothing, nor one of which another replica tells. Who
 * asks for a preview is shown all that this one sees. */
static bool is_left_out(const struct digest_runner *r, size_t cluster)
{
	return *r->schedule->clusters.v[cluster] == '\0' || (!r->preview && r->elsewhere[cluster]);
}

/* Where all are left out it may be that nobody leads yet. */
static bool all_are_synced(const struct digest_runner *r)
{
	bool any = false;

	for (size_t c = 0; c < r->schedule->clusters.n; c++) {
		if (!r->synced[c] && !is_left_out(r, c))
			return false;
		any |= !is_left_out(r, c);
	}
	return any;
}

/* The names by index, "" where it is left out; to be freed. */
static struct str_list names_of_run(const struct digest_runner *r)
{
	struct str_list ret = { 0 };

	for (size_t c = 0; c < r->schedule->clusters.n; c++) {
		const char *name = r->left_out[c] ? "" : r->schedule->clusters.v[c];

		str_list_add(&ret, name, strlen(name));
	}
	return ret;
}

/* Have all answered that it waits for? Somebody sits before a preview: it was patient with caches, and says
 * which are missing. */
static bool all_have_answered(const struct digest_runner *r)
{
	for (size_t c = 0; c < r->schedule->clusters.n; c++)
		if (!r->complete[c] && (!r->preview || r->synced[c]))
			return false;
	return true;
}

static void wait_until(struct digest_runner *r, enum runner_phase phase, uint64_t ms)
{
	r->phase = phase;
	r->deadline = clock_boot_ms() + ms;
}

/* -- end of a run -- */

/* 1: a message for the sink was put; 0: there is nothing to tell it; or negative errno. */
static int put_message(const struct digest_runner *r, const struct sink_settings *s,
		       const struct attention *attention)
{
	struct outbox_stats stats;
	struct document doc;
	int err = outbox_stats(r->db, s->name, &stats);

	/* Who is told what needs an operator as it begins is not told again. */
	if (err < 0 || !report_run_compose(r->report_run, r->schedule, s, (int64_t)stats.lost_reports,
					   select_news(s, NEWS_ATTENTION) ? NULL : attention, &doc))
		return err;
	document_add_links(&doc, r->schedule->links);
	if (s->type == SINK_EMAIL)
		digest_attach_page(r->db, s, r->schedule->zone,
				   cluster_names_count(&r->schedule->clusters, NULL) == 1, &doc);
	err = outbox_put(r->db, s->name, &doc);
	document_done(&doc);
	return err < 0 ? err : 1;
}

/* What stood in a report that got lost is due again. */
static int recall_lost(const struct digest_runner *r)
{
	struct outbox_stats stats = { 0 };
	int err = 0;

	for (size_t i = 0; err == 0 && stats.lost_reports == 0 && i < r->schedule->n_sinks; i++)
		if (select_news(&r->schedule->sinks[i], NEWS_REPORT))
			err = outbox_stats(r->db, r->schedule->sinks[i].name, &stats);
	return err == 0 && stats.lost_reports > 0 ? db_do(r->db, DB_ATTENTION_LOST) : err;
}

/* A message for each sink that is told reports. 0 or negative errno. */
static int put_messages(struct digest_runner *r)
{
	_cleanup_(attention_done) struct attention attention = { 0 };
	int err = recall_lost(r);

	if (err == 0)
		err = attention_begin(r->db, &attention);
	r->run.state = RUN_EMPTY;
	for (size_t i = 0; err >= 0 && i < r->schedule->n_sinks; i++) {
		if (!select_news(&r->schedule->sinks[i], NEWS_REPORT))
			continue;
		err = put_message(r, &r->schedule->sinks[i], &attention);
		r->run.state = err > 0 ? RUN_DONE : r->run.state;
	}
	return err < 0 ? err : 0;
}

/* Put the messages of the run into the outbox and remember what it said, in one transaction. */
static int write_run(struct digest_runner *r)
{
	int err = db_begin(r->db);

	if (err == 0)
		err = put_messages(r);
	if (err == 0)
		err = db_do(r->db, DB_DIGEST_STATE, db_i("due_at", r->run.due_at),
			    db_s("state", run_state_name(r->run.state)), db_i("workloads", r->run.workloads),
			    db_i("pods", r->run.pods), db_i("finished_at", r->run.collected_at),
			    db_s("error", r->run.incomplete));
	if (err == 0)
		err = report_run_remember(r->report_run, r->db);
	if (err == 0)
		err = db_do(r->db, DB_ATTENTION_REPORTED);
	return db_end(r->db, err);
}

/* It is tried until it succeeds. */
static void finish(struct digest_runner *r)
{
	const int err = r->preview ? 0 : write_run(r);

	if (err < 0) {
		r->ops->trouble(r->ctx, err, "a report is not sent before that can be written down");
		wait_until(r, WRITING, TROUBLE_MS);
		return;
	}
	if (!r->preview)
		r->ops->ended(r->ctx, &r->run);
	clear_run(r);
}

/* -- collecting -- */

static void ask_inspections(struct digest_runner *r)
{
	struct msg question;

	while (report_run_next_inspection(r->report_run, &question))
		r->ops->send(r->ctx, &question);
}

/* All rows are there. */
static void conclude(struct digest_runner *r)
{
	int64_t last_at = 0;
	int err = db_number(db_stmt(r->db, DB_DIGEST_COLLECTED), &last_at);
	_cleanup_(str_list_done) struct str_list clusters = names_of_run(r);
	const struct report_run_options o = { .clusters = &clusters,
					      .last_at = last_at,
					      .is_preview = r->preview != NULL,
					      .number = r->number };

	r->run.collected_at = clock_wall_ms();
	const int collected =
		report_run_collected(r->report_run, r->db, r->schedule, &o, r->complete, &r->run);

	err = err < 0 ? err : collected;
	if (err < 0)
		r->ops->trouble(r->ctx, err, "earlier restart counts could not be read");
	if (r->preview)
		report_run_want_inspections(r->report_run, &r->previewed);
	for (size_t i = 0; !r->preview && i < r->schedule->n_sinks; i++)
		if (select_news(&r->schedule->sinks[i], NEWS_REPORT))
			report_run_want_inspections(r->report_run, &r->schedule->sinks[i]);
	wait_until(r, INSPECTING, DIGEST_INSPECTION_MS);
	ask_inspections(r);
}

static void ask_one(struct digest_runner *r, uint64_t cluster)
{
	const struct msg question = { .type = MSG_DIGEST_GET,
				      .u.digest_get = { .cluster = cluster, .digest = r->number } };

	r->ops->send(r->ctx, &question);
}

static void ask_all(struct digest_runner *r)
{
	r->number++;
	wait_until(r, COLLECTING, DIGEST_ANSWER_MS);
	r->report_run = report_run_new();
	for (size_t i = 0; i < r->schedule->clusters.n; i++) {
		r->left_out[i] = r->complete[i] = is_left_out(r, i);
		if (!r->complete[i])
			ask_one(r, i);
	}
}

static void begin(struct digest_runner *r, int64_t due_at)
{
	r->run = (struct scheduled_run){ .due_at = due_at, .state = RUN_CLAIMED };
	r->run.late = clock_wall_ms() - due_at > DIGEST_LATE_MS;
	memset(r->complete, 0, sizeof(r->complete));
	wait_until(r, SYNCING, DIGEST_SYNC_MS);
}

void digest_runner_synced(struct digest_runner *r, uint64_t cluster, bool synced)
{
	if (cluster >= CLUSTERS_MAX)
		return;
	const bool came = synced && !r->synced[cluster];

	r->synced[cluster] = synced;
	/* A watcher that was started again meanwhile has not seen the question. */
	if (came && r->phase == COLLECTING && !r->complete[cluster] && cluster < r->schedule->clusters.n)
		ask_one(r, cluster);
	if (came)
		digest_runner_tick(r);
}

void digest_runner_leads(struct digest_runner *r, uint64_t cluster, bool leads)
{
	if (cluster >= CLUSTERS_MAX || r->elsewhere[cluster] == !leads)
		return;
	r->elsewhere[cluster] = !leads;
	if (leads)
		digest_runner_tick(r);
}

void digest_runner_on_row(struct digest_runner *r, const struct msg_digest_row *row)
{
	const int err = sampler_on_row(r->sampler, row);

	if (err < 0)
		r->ops->trouble(r->ctx, err, "restart counts could not be written down");
	if (r->phase == COLLECTING && row->digest == r->number && row->cluster < r->schedule->clusters.n)
		report_run_add(r->report_run, row);
}

void digest_runner_on_end(struct digest_runner *r, const struct msg_digest_end *end)
{
	const int err = sampler_on_end(r->sampler, end);

	if (err < 0)
		r->ops->trouble(r->ctx, err, "restart counts could not be written down");
	if (r->phase != COLLECTING || end->digest != r->number || end->cluster >= r->schedule->clusters.n ||
	    !end->synced)
		return;
	r->complete[end->cluster] = true;
	digest_runner_tick(r);
}

void digest_runner_on_inspected(struct digest_runner *r, const struct msg_inspected *inspected)
{
	if (r->phase != INSPECTING || !report_run_on_inspected(r->report_run, inspected))
		return;
	ask_inspections(r);
	digest_runner_tick(r);
}

int digest_runner_preview(struct digest_runner *r, const struct sink_settings *s, digest_preview_fn *fn,
			  void *ctx)
{
	if (r->phase != IDLE || r->draining)
		return -EBUSY;
	begin(r, clock_wall_ms());
	r->preview = fn;
	r->preview_ctx = ctx;
	r->previewed.top = s->top;
	str_list_add_all(&r->previewed.clusters, &s->clusters);
	str_list_add_all(&r->previewed.namespaces, &s->namespaces);
	wait_until(r, SYNCING, DIGEST_PREVIEW_MS);
	digest_runner_tick(r);
	return 0;
}

/* -- ticks -- */

/* 0 with the run begun, or nothing due; negative errno when that could not be written down. */
static int begin_due(struct digest_runner *r)
{
	const int64_t now = clock_wall_ms(), claimed = r->claimed;

	/* The clock was set back: reports do not wait until that time comes again, and what was claimed once
	 * is not claimed again. */
	if (r->last > now)
		r->last = now;
	const int64_t due_at = schedule_due(&r->schedule->cron, r->schedule->zone, r->last, now);

	if (due_at == 0) {
		r->claimed = 0;
		if (claimed > 0)
			begin(r, claimed);
		return 0;
	}
	const int err = claim(r->db, due_at, r->schedule->schedule, now - due_at > DIGEST_LATE_MS);

	if (err < 0 && err != -EEXIST)
		return err;
	r->last = due_at;
	if (err == -EEXIST)
		return 0;
	r->claimed = 0;
	if (claimed > 0)
		(void)supersede(r->db, due_at);
	begin(r, due_at);
	return 0;
}

/* One step from the phase it is in. An answer from an incomplete cache is waited on: its watcher is asked
 * again once it is complete. */
static void step(struct digest_runner *r)
{
	const bool over = clock_boot_ms() >= r->deadline;
	int err = 0;

	if (r->phase == IDLE)
		err = r->schedule->enable ? begin_due(r) : 0;
	else if (r->phase == SYNCING && (over || all_are_synced(r)))
		ask_all(r);
	else if (r->phase == COLLECTING && (over || all_have_answered(r)))
		conclude(r);
	else if (r->phase == INSPECTING && (over || !report_run_waits_for_inspections(r->report_run)))
		finish(r);
	else if (r->phase == WRITING && over)
		finish(r);
	if (err < 0)
		r->ops->trouble(r->ctx, err, "a report is not begun before that can be written down");
}

static uint64_t wake_after(const struct digest_runner *r)
{
	const int64_t now = clock_wall_ms();
	const uint64_t boot = clock_boot_ms();

	if (r->phase == IDLE && !r->schedule->enable)
		return SAMPLER_MS;
	if (r->phase != IDLE)
		return r->deadline > boot ? r->deadline - boot : 0;
	const int64_t next = cron_next(&r->schedule->cron, r->schedule->zone, r->last > now ? now : r->last);

	if (next == 0 || next - now > (int64_t)INSPECTION_MS)
		return INSPECTION_MS;
	/* Due, but it could not be begun. */
	return next > now ? (uint64_t)(next - now) : TROUBLE_MS;
}

void digest_runner_tick(struct digest_runner *r)
{
	enum runner_phase before;

	if (r->draining)
		return;
	const uint64_t sample_ms = sampler_tick(r->sampler, r->synced);

	do {
		before = r->phase;
		step(r);
	} while (r->phase != before && r->phase != WRITING && r->phase != IDLE);
	const uint64_t wake_ms = wake_after(r);

	r->ops->wake(r->ctx, sample_ms < wake_ms ? sample_ms : wake_ms);
}

void digest_runner_set_schedule(struct digest_runner *r, const struct report_schedule *s)
{
	int err;

	r->schedule = s;
	sampler_set(r->sampler, r->schedule->sample, &r->schedule->clusters);
	if (r->schedule->enable) {
		err = arm(r->db, r->schedule->schedule, &r->last);
	} else {
		/* Runs from now on are not missed. */
		err = db_do(r->db, DB_SCHEDULE_REPLACE, db_s("schedule", ""));
		if (err == 0 && r->claimed > 0)
			err = supersede(r->db, INT64_MAX);
		r->claimed = 0;
	}
	if (err < 0) {
		r->last = clock_wall_ms(); /* rather miss one than invent one */
		r->ops->trouble(r->ctx, err, "the schedule could not be written down");
	}
	digest_runner_tick(r);
}

void digest_runner_drain(struct digest_runner *r)
{
	r->draining = true;
	clear_run(r); /* claimed on disk: reported after the restart */
}
