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

static void add_troubles(const struct status_sources *from, struct status_page *p)
{
	const struct state_entry *e;

	for (size_t i = 0; (e = state_at(from->state, MSG_TROUBLE_ROW, i)); i++) {
		const struct msg_trouble_row *m = &e->m->u.trouble_row;
		const struct trouble_desc *d = trouble_desc((enum trouble)m->trouble);

		if (m->n > 0)
			status_page_add_trouble(
				p, &(struct page_trouble){ .cluster = e->cluster,
							   .object = "",
							   .sentence = d->text[p->language].sentence,
							   .detail = &m->particulars,
							   .remedy = d->text[p->language].remedy,
							   .since_ms = m->since,
							   .is_blind = d->severity == TROUBLE_IS_BLIND });
	}
}

static void add_attention(const struct status_sources *from, struct status_page *p)
{
	_cleanup_(attention_done) struct attention attention = { 0 };

	(void)attention_present(from->db, LIVE_ROWS_MAX, &attention);
	for (size_t i = 0; i < attention.n; i++) {
		const struct attention_group *g = &attention.v[i];
		const struct reason_desc *d = reason_find(g->reason);
		const char *sentence = d->text[p->language].sentence;

		status_page_add_trouble(p,
					&(struct page_trouble){ .cluster = g->cluster,
								.object = g->names,
								.sentence = *sentence ? sentence : g->reason,
								.detail = g->detail,
								.remedy = d->text[p->language].remedy,
								.since_ms = g->first_at });
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

int status_snapshot_tally(const struct status_sources *from, uint64_t conn, struct msg_ctl_tally_row *ret)
{
	const struct str_list *names = &from->settings->cluster_names;
	uint64_t done[CLUSTERS_MAX], at_zero[CLUSTERS_MAX];

	const int of_done = history_count(from->history, DB_DONE_COUNTS, done);
	const int of_zero = history_count(from->history, DB_AT_ZERO_COUNTS, at_zero);

	for (size_t i = 0; i < names->n; i++) {
		ret[i] = (struct msg_ctl_tally_row){ .conn = conn,
						     .due = count_due(from->state, names->v[i]),
						     .done = done[i],
						     .at_zero = at_zero[i] };
		(void)snprintf(ret[i].cluster_name, sizeof(ret[i].cluster_name), "%s", names->v[i]);
	}
	return of_done < 0 ? of_done : of_zero;
}

static void add_pauses(const struct status_sources *from, struct status_page *p, bool *ret_paused)
{
	const struct str_list *names = &from->settings->cluster_names;
	_cleanup_free_ struct msg_pause *pauses = xcalloc(LIVE_ROWS_MAX, sizeof(*pauses));
	size_t n = 0;

	(void)recent_rows(from->db, RECENT_PAUSES, LIVE_ROWS_MAX, pauses, &n);
	for (size_t i = 0; i < n; i++) {
		status_page_add_pause(p, &pauses[i]);
		for (size_t c = 0; c < names->n; c++)
			ret_paused[c] |=
				!*pauses[i].cluster_name || strcmp(pauses[i].cluster_name, names->v[c]) == 0;
	}
}

/* A pause is a state of the cluster. */
static void add_clusters(const struct status_sources *from, struct status_page *p)
{
	static const struct msg_watch_stats nothing;
	const struct str_list *names = &from->settings->cluster_names;
	_cleanup_free_ struct msg_ctl_tally_row *tallies = xcalloc(names->n + 1, sizeof(*tallies));
	_cleanup_free_ bool *is_paused = xcalloc(names->n + 1, sizeof(*is_paused));

	add_pauses(from, p, is_paused);
	p->no_history = status_snapshot_tally(from, 0, tallies) < 0;
	for (size_t i = 0; i < names->n; i++) {
		const struct msg_watch_stats *said = state_watch(from->state, names->v[i]);

		if (*names->v[i])
			status_page_add_cluster(p, &tallies[i], said ? said : &nothing, is_paused[i]);
	}
}

/* By verdict (blocked, due, refused, waiting); then the most first. */
static int compare_due(const void *a, const void *b)
{
	const struct state_entry *x = *(const struct state_entry *const *)a,
				 *y = *(const struct state_entry *const *)b;
	const struct msg_due_row *m = &x->m->u.due_row, *n = &y->m->u.due_row;
	const int by_verdict =
		strcmp(due_state_name((enum due_state)m->state), due_state_name((enum due_state)n->state));

	return by_verdict ? by_verdict : m->n < n->n ? 1 : m->n > n->n ? -1 : strcmp(x->cluster, y->cluster);
}

static void add_due(const struct status_sources *from, struct status_page *p)
{
	const struct state_entry *due[LIVE_DUE_MAX];
	size_t n = 0;

	while (n < LIVE_DUE_MAX && (due[n] = state_at(from->state, MSG_DUE_ROW, n)))
		n++;
	qsort(due, n, sizeof(due[0]), compare_due);
	for (size_t i = 0; i < n; i++)
		status_page_add_due(p, due[i]->cluster, &due[i]->m->u.due_row);
}

static void add_sinks(const struct status_sources *from, struct status_page *p)
{
	for (size_t i = 0; i < from->settings->n_sinks; i++) {
		const struct sink_settings *s = &from->settings->sinks[i];
		struct outbox_stats stats;

		if (outbox_stats(from->db, s->name, &stats) == 0)
			status_page_add_sink(p, s->name, sink_type_desc((enum sink_type)s->type)->name,
					     stats.waiting, stats.delivered_at, &stats.error);
	}
}

static bool are_alike(const struct msg_ctl_history_row *a, const struct msg_ctl_history_row *b)
{
	return a->action == b->action && a->outcome == b->outcome && strcmp(a->reason, b->reason) == 0 &&
	       strcmp(a->cluster_name, b->cluster_name) == 0 && strcmp(a->ns, b->ns) == 0;
}

/* The newest of each run of actions that are alike: a storm is one row. */
static void add_actions(const struct msg_ctl_history_row *rows, size_t n, struct status_page *p)
{
	unsigned alike = 1;

	for (size_t i = 0; i < n && p->n[STATUS_ACTIONS] < LIVE_ACTIONS_MAX; i += alike) {
		for (alike = 1; i + alike < n && are_alike(&rows[i], &rows[i + alike]);)
			alike++;
		status_page_add_action(p, &rows[i], alike);
	}
}

/* What cannot be read is not shown: the trouble of the history says why. */
static void add_history(const struct status_sources *from, struct status_page *p)
{
	_cleanup_free_ struct msg_ctl_history_row *rows = xcalloc(RECENT_MAX, sizeof(*rows));
	size_t n = 0;

	(void)recent_rows(from->db, RECENT_ACTIONS, RECENT_MAX, rows, &n);
	add_actions(rows, n, p);
	(void)recent_rows(from->db, RECENT_REFUSALS, LIVE_ACTIONS_MAX, rows, &n);
	for (size_t i = 0; i < n; i++)
		status_page_add_refusal(p, &rows[i]);
	(void)recent_rows(from->db, RECENT_AT_ZERO, LIVE_ACTIONS_MAX, rows, &n);
	for (size_t i = 0; i < n; i++)
		status_page_add_at_zero(p, &rows[i]);
	(void)db_number(db_stmt(from->db, DB_REPORT_DELIVERED), &p->report_delivered_ms);
}

/* The one that opens first, of those that are closed; no time where one is open. */
static void set_window(const struct settings *s, struct status_page *p)
{
	struct windows *w = windows_new();

	windows_set_zones(w, s->window_zones, s->window_zones_size);
	for (enum duty d = 0; d < DUTY__MAX; d++) {
		const struct str_list *texts = &s->policy.duty[d].windows;
		int64_t at = 0;

		if (!policy_enables(&s->policy, d) || texts->n == 0)
			continue;
		const bool open = windows_are_open(w, texts, p->now_ms, &at);

		if (!open && at == 0) /* it never opens */
			continue;
		if (open || !p->has_windows || at < p->window_ms)
			p->window_ms = open ? 0 : at;
		p->has_windows = true;
		if (open)
			break;
	}
	windows_free(&w);
}

static void set_hours(const struct status_sources *from, struct status_page *p)
{
	sqlite3_stmt *st = db_stmt(from->db, DB_DONE_HOURS, db_i("written", OUTCOMES_WRITTEN));

	while (db_step(st) > 0) {
		const int64_t hour = sqlite3_column_int64(st, 0);

		if (hour >= 0 && hour < (int64_t)ARRAY_SIZE(p->done_by_hour))
			p->done_by_hour[hour] = (uint32_t)sqlite3_column_int64(st, 1);
	}
}

void status_snapshot_serve(const struct status_sources *from, const struct web_request *request,
			   struct listener_answer *ret)
{
	const struct report_schedule *schedule = from->schedule;
	struct status_page p = { .language = request_language(request),
				 .zone = schedule->zone,
				 .version = OPC_VERSION,
				 .cluster_title = from->settings->cluster_title,
				 .now_ms = clock_wall_ms(),
				 .observe = from->settings->policy.mode == MODE_OBSERVE,
				 .ready = stats_is_ready(from->stats, from->history) };

	if (schedule->enable)
		p.report_next_ms = cron_next(&schedule->cron, schedule->zone, p.now_ms);
	add_troubles(from, &p);
	add_attention(from, &p);
	add_history(from, &p);
	add_clusters(from, &p);
	add_due(from, &p);
	add_sinks(from, &p);
	set_window(from->settings, &p);
	set_hours(from, &p);
	ret->share = LISTENER_LARGE;
	ret->status = 200;
	ret->content_type = "text/html; charset=utf-8";
	ret->headers = "Content-Security-Policy: " PAGE_POLICY
		       "\r\nReferrer-Policy: no-referrer\r\nVary: Accept-Language\r\n";
	ret->body = status_page_end(&p, &ret->size);
}
