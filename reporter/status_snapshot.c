/* status_snapshot.c - see status_snapshot.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/status_snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "build_id.h"
#include "config/settings.h"
#include "config/window.h"
#include "model/duties.h"
#include "model/policy.h"
#include "model/phrases.h"
#include "model/reasons.h"
#include "model/sink_types.h"
#include "model/troubles.h"
#include "reporter/report/schedule.h"
#include "reporter/history/attention.h"
#include "reporter/history/query.h"
#include "reporter/notify/outbox.h"
#include "reporter/page/status_page.h"

/* Rows of what is due that are looked at: more are not counted either. */
#define LIVE_DUE_MAX 300u

static void add_troubles(const struct status_sources *from, struct live *l)
{
	const struct state_entry *e;

	for (size_t i = 0; (e = state_at(from->state, MSG_TROUBLE_ROW, i)); i++) {
		const struct msg_trouble_row *m = &e->m->u.trouble_row;
		const struct trouble_desc *d = trouble_desc((enum trouble)m->trouble);

		if (m->n == 0)
			continue;
		l->troubles = xreallocarray(l->troubles, l->n_troubles + 1, sizeof(*l->troubles));
		l->troubles[l->n_troubles++] =
			(struct live_trouble){ .cluster = e->cluster,
					       .object = "",
					       .sentence = d->text[l->language].sentence,
					       .detail = &m->particulars,
					       .remedy = d->text[l->language].remedy,
					       .since_ms = m->since,
					       .is_blind = d->severity == TROUBLE_IS_BLIND };
	}
}

static void add_attention(const struct attention *a, struct live *l)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct attention_group *g = &a->v[i];
		const struct reason_desc *d = reason_find(g->reason);
		const char *sentence = d->text[l->language].sentence;

		l->troubles = xreallocarray(l->troubles, l->n_troubles + 1, sizeof(*l->troubles));
		l->troubles[l->n_troubles++] =
			(struct live_trouble){ .cluster = g->cluster,
					       .object = g->names,
					       .sentence = *sentence ? sentence : g->reason,
					       .detail = g->detail,
					       .remedy = d->text[l->language].remedy,
					       .since_ms = g->first_at };
	}
}

static uint64_t count_due(const struct state *state, const char *cluster)
{
	const struct state_entry *e;
	uint64_t n = 0;

	for (size_t i = 0; (e = state_at(state, MSG_DUE_ROW, i)); i++)
		if (e->m->u.due_row.state == DUE_NOW && strcmp(e->cluster, cluster) == 0)
			n += e->m->u.due_row.n;
	return n;
}

void status_snapshot_tally(const struct status_sources *from, uint64_t conn, struct msg_ctl_tally_row *ret)
{
	const struct str_list *names = &from->settings->cluster_names;
	uint64_t done[CLUSTERS_MAX], at_zero[CLUSTERS_MAX];

	(void)history_count(from->history, DB_DONE_COUNTS, done);
	(void)history_count(from->history, DB_AT_ZERO_COUNTS, at_zero);
	for (size_t i = 0; i < names->n; i++) {
		ret[i] = (struct msg_ctl_tally_row){ .conn = conn,
						     .due = count_due(from->state, names->v[i]),
						     .done = done[i],
						     .at_zero = at_zero[i] };
		(void)snprintf(ret[i].cluster_name, sizeof(ret[i].cluster_name), "%s", names->v[i]);
	}
}

static bool is_paused(const struct live *l, const char *cluster)
{
	for (size_t i = 0; i < l->n_pauses; i++)
		if (!l->pauses[i].cluster_name[0] || strcmp(l->pauses[i].cluster_name, cluster) == 0)
			return true;
	return false;
}

/* Behind fill_history(): a pause is a state of the cluster. */
static void fill_clusters(const struct status_sources *from, struct live *l)
{
	static const struct msg_watch_stats nothing;
	const struct str_list *names = &from->settings->cluster_names;

	_cleanup_free_ struct msg_ctl_tally_row *tallies = xcalloc(names->n + 1, sizeof(*tallies));

	status_snapshot_tally(from, 0, tallies);
	l->clusters = xcalloc(names->n + 1, sizeof(*l->clusters));
	for (size_t i = 0; i < names->n; i++) {
		const struct msg_watch_stats *said = state_watch(from->state, names->v[i]);
		const struct msg_watch_stats *m = said ? said : &nothing;

		if (!*names->v[i])
			continue;
		l->clusters[l->n_clusters++] = (struct live_cluster){ .name = names->v[i],
								      .synced = m->synced,
								      .leading = m->leading,
								      .is_paused = is_paused(l, names->v[i]),
								      .pods = m->pods,
								      .due = tallies[i].due,
								      .blocked = m->blocked,
								      .done = tallies[i].done,
								      .at_zero = tallies[i].at_zero,
								      .problem = &m->error,
								      .blocked_by = &m->blocked_by };
	}
}

/* By verdict (blocked, due, refused, waiting); then the most first. */
static int compare_due(const void *a, const void *b)
{
	const struct live_due *x = a, *y = b;
	const int by_verdict = strcmp(x->verdict, y->verdict);

	return by_verdict ? by_verdict : x->n < y->n ? 1 : x->n > y->n ? -1 : strcmp(x->cluster, y->cluster);
}

static void fill_due(const struct status_sources *from, struct live *l)
{
	const struct state_entry *e;

	l->due = xcalloc(LIVE_DUE_MAX, sizeof(*l->due));
	for (size_t i = 0; l->n_due < LIVE_DUE_MAX && (e = state_at(from->state, MSG_DUE_ROW, i)); i++) {
		const struct msg_due_row *m = &e->m->u.due_row;

		l->due[l->n_due++] = (struct live_due){ .cluster = e->cluster,
							.duty = duty_name((enum duty)m->duty),
							.verdict = due_state_name((enum due_state)m->state),
							.reason = reason_find(m->reason)->code,
							.n = m->n,
							.oldest_ms = m->oldest };
	}
	qsort(l->due, l->n_due, sizeof(*l->due), compare_due);
}

static void fill_sinks(const struct status_sources *from, struct live *l)
{
	const struct settings *s = from->settings;

	l->sinks = xcalloc(s->n_sinks + 1, sizeof(*l->sinks));
	for (size_t i = 0; i < s->n_sinks; i++) {
		struct outbox_stats stats;

		if (outbox_stats(from->db, s->sinks[i].name, &stats) < 0)
			continue;
		struct live_sink *sink = &l->sinks[l->n_sinks++];

		*sink = (struct live_sink){ .name = s->sinks[i].name,
					    .type = sink_type_desc((enum sink_type)s->sinks[i].type)->name,
					    .waiting = stats.waiting,
					    .oldest_ms = stats.oldest_at,
					    .delivered_ms = stats.delivered_at };
		facts_set(&sink->error, &stats.error);
	}
}

static bool are_alike(const struct msg_ctl_history_row *a, const struct msg_ctl_history_row *b)
{
	return a->action == b->action && a->outcome == b->outcome && strcmp(a->reason, b->reason) == 0 &&
	       strcmp(a->cluster_name, b->cluster_name) == 0 && strcmp(a->ns, b->ns) == 0;
}

/* The newest of each run of actions that are alike: a storm is one row. */
static void fill_actions(const struct status_sources *from, struct live *l)
{
	size_t n = 0;

	l->actions = xcalloc(RECENT_MAX, sizeof(*l->actions));
	l->n_alike = xcalloc(RECENT_MAX, sizeof(*l->n_alike));
	(void)recent_actions(from->db, RECENT_MAX, l->actions, &l->n_actions);
	for (size_t i = 0; i < l->n_actions; i++) {
		if (n == 0 || !are_alike(&l->actions[n - 1], &l->actions[i]))
			l->actions[n++] = l->actions[i];
		l->n_alike[n - 1]++;
	}
	l->n_actions = n < LIVE_ACTIONS_MAX ? n : LIVE_ACTIONS_MAX;
}

/* What cannot be read is not shown: the trouble of the history says why. */
static void fill_history(const struct status_sources *from, struct live *l)
{
	fill_actions(from, l);
	l->refusals = xcalloc(LIVE_ACTIONS_MAX, sizeof(*l->refusals));
	(void)recent_refusals(from->db, LIVE_ACTIONS_MAX, l->refusals, &l->n_refusals);
	l->at_zero = xcalloc(LIVE_ACTIONS_MAX, sizeof(*l->at_zero));
	(void)recent_at_zero(from->db, LIVE_ACTIONS_MAX, l->at_zero, &l->n_at_zero);
	l->pauses = xcalloc(LIVE_ROWS_MAX, sizeof(*l->pauses));
	(void)recent_pauses(from->db, LIVE_ROWS_MAX, l->pauses, &l->n_pauses);
	(void)db_number(db_stmt(from->db, DB_REPORT_DELIVERED), &l->report_delivered_ms);
}

static void live_done(struct live *l)
{
	free(l->troubles);
	free(l->clusters);
	free(l->sinks);
	free(l->actions);
	free(l->n_alike);
	free(l->refusals);
	free(l->at_zero);
	free(l->pauses);
	free(l->due);
}

/* The one that opens first, of those that are closed; no time where one is open. */
static void fill_windows(const struct settings *s, struct live *l)
{
	struct windows *w = windows_new();

	windows_set_zones(w, s->window_zones, s->window_zones_size);
	for (enum duty d = 0; d < DUTY__MAX; d++) {
		const struct str_list *texts = &s->policy.duty[d].windows;
		int64_t at = 0;

		if (!policy_enables(&s->policy, d) || texts->n == 0)
			continue;
		const bool open = windows_are_open(w, texts, l->now_ms, &at);

		if (!open && at == 0) /* it never opens */
			continue;
		if (open || !l->has_windows || at < l->window_ms)
			l->window_ms = open ? 0 : at;
		l->has_windows = true;
		if (open)
			break;
	}
	windows_free(&w);
}

static void fill_hours(const struct status_sources *from, struct live *l)
{
	sqlite3_stmt *st = db_stmt(from->db, DB_DONE_HOURS, db_i("written", OUTCOMES_WRITTEN));

	while (db_step(st) > 0) {
		const int64_t hour = sqlite3_column_int64(st, 0);

		if (hour >= 0 && hour < (int64_t)ARRAY_SIZE(l->done_by_hour))
			l->done_by_hour[hour] = (uint32_t)sqlite3_column_int64(st, 1);
	}
}

void status_snapshot_serve(const struct status_sources *from, const struct web_request *request,
			   struct listener_answer *ret)
{
	const struct report_schedule *schedule = from->schedule;
	_cleanup_(attention_done) struct attention attention = { 0 };
	struct live l = { .language = request_language(request),
			  .zone = schedule->zone,
			  .version = OPC_VERSION,
			  .cluster_title = from->settings->cluster_title,
			  .now_ms = clock_wall_ms(),
			  .observe = from->settings->policy.mode == MODE_OBSERVE,
			  .live = stats_is_live(from->stats),
			  .ready = stats_is_ready(from->stats, from->history) };

	if (schedule->enable)
		l.report_next_ms = cron_next(&schedule->cron, schedule->zone, l.now_ms);
	(void)attention_present(from->db, LIVE_ROWS_MAX, &attention);
	add_troubles(from, &l);
	add_attention(&attention, &l);
	fill_history(from, &l);
	fill_clusters(from, &l);
	fill_windows(from->settings, &l);
	fill_hours(from, &l);
	fill_due(from, &l);
	fill_sinks(from, &l);
	ret->share = LISTENER_LARGE;
	ret->status = 200;
	ret->content_type = "text/html; charset=utf-8";
	ret->headers = "Content-Security-Policy: " PAGE_POLICY
		       "\r\nReferrer-Policy: no-referrer\r\nVary: Accept-Language\r\n";
	ret->body = page_status(&l, &ret->size);
	live_done(&l);
}
