/* status_page.c - see status_page.h: what the template of the page is given. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/page/status_page.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/xalloc.h"
#include "model/actions.h"
#include "model/duties.h"
#include "model/reasons.h"
#include "reporter/news/words.h"
#include "reporter/page/chart.h"
#include "text/short_line.h"
#include "text/templates.h"

/* Null where there is none. */
static json_t *when_value(const struct status_page *p, int64_t at_ms)
{
	char when[WHEN_TEXT_MAX];

	if (at_ms <= 0)
		return json_null();
	when_format(at_ms, p->zone, when);
	return json_string(when);
}

/* { at, ago }, or null. */
static json_t *ago_value(const struct status_page *p, int64_t at_ms)
{
	char ago[DURATION_MAX];

	if (at_ms <= 0)
		return json_null();
	return json_pack("{s:o, s:s}", "at", when_value(p, at_ms), "ago",
			 duration_short(p->now_ms - at_ms, ago));
}

static json_t *facts_value(const struct status_page *p, const struct facts *f)
{
	_cleanup_free_ char *text = facts_in_zone(f, p->zone, p->language);

	return template_text(text);
}

/* The sentence of a reason; its code where it has none. */
static json_t *reason_value(const struct status_page *p, const char *code)
{
	const char *sentence = reason_find(code)->text[p->language].sentence;

	return template_text(*sentence ? sentence : code);
}

/* { rows, more }; null where there are none. */
static json_t *list_value(const struct status_page *p, enum status_table t)
{
	if (p->n[t] == 0)
		return json_null();
	return json_pack("{s:O, s:I}", "rows", p->rows[t], "more",
			 (json_int_t)(p->n[t] - json_array_size(p->rows[t])));
}

/* The row is taken over. */
static void add_row(struct status_page *p, enum status_table t, json_t *row)
{
	static const uint64_t max[STATUS__MAX] = {
		LIVE_ROWS_MAX,    LIVE_ROWS_MAX,    LIVE_ROWS_MAX,    LIVE_ROWS_MAX,
		LIVE_ACTIONS_MAX, LIVE_ACTIONS_MAX, LIVE_ACTIONS_MAX, LIVE_ROWS_MAX,
	};

	if (!p->rows[t])
		p->rows[t] = json_array();
	if (p->n[t]++ < max[t])
		(void)json_array_append_new(p->rows[t], row);
	else
		json_decref(row);
}

static json_t *cluster_value(const struct status_page *p, const char *name)
{
	return template_text(p->cluster_title && *name ? p->cluster_title : name);
}

void status_page_add_trouble(struct status_page *p, const struct page_trouble *t)
{
	add_row(p, STATUS_TROUBLES,
		json_pack("{s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "blind", (int)t->is_blind, "sentence",
			  template_text(t->sentence), "object", template_text(t->object), "detail",
			  facts_value(p, t->detail), "remedy", template_text(t->remedy), "cluster",
			  cluster_value(p, t->cluster), "since", ago_value(p, t->since_ms)));
}

void status_page_add_pause(struct status_page *p, const struct msg_pause *m)
{
	add_row(p, STATUS_PAUSES,
		json_pack("{s:o, s:s, s:o, s:o, s:o, s:o}", "cluster", cluster_value(p, m->cluster_name),
			  "duty", m->duty == DUTY_ALL ? "" : duty_name((enum duty)m->duty), "by",
			  template_text(m->by), "why", facts_value(p, &m->why), "since", ago_value(p, m->at),
			  "until", when_value(p, m->until)));
}

/* A number that the history gives. */
static json_t *counted_value(const struct status_page *p, uint64_t n)
{
	return p->no_history ? json_string("–") : json_integer((json_int_t)n);
}

void status_page_add_cluster(struct status_page *p, const struct msg_ctl_tally_row *tally,
			     const struct msg_watch_stats *watch, bool is_paused)
{
	const char *state = !watch->synced    ? "blind"
			    : !watch->leading ? "standby"
			    : is_paused       ? "paused"
					      : "running";

	p->due += tally->due;
	p->done += tally->done;
	p->at_zero += tally->at_zero;
	p->blocked += watch->blocked;
	add_row(p, STATUS_CLUSTERS,
		json_pack("{s:o, s:{s:b}, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "name",
			  cluster_value(p, tally->cluster_name), "state", state, 1, "pods",
			  (json_int_t)watch->pods, "due", (json_int_t)tally->due, "blocked",
			  (json_int_t)watch->blocked, "done", counted_value(p, tally->done), "at_zero",
			  counted_value(p, tally->at_zero), "problem", facts_value(p, &watch->error),
			  "blocked_by", facts_value(p, &watch->blocked_by)));
}

static json_t *tiles_value(const struct status_page *p)
{
	const struct chart hours = { p->done_by_hour, ARRAY_SIZE(p->done_by_hour), 1, 1, 4, 1, 40, 1.5 };

	return json_pack("{s:o, s:b, s:o, s:I, s:I, s:o, s:o, s:I}", "hours",
			 p->done > 0 ? chart_value(&hours) : json_null(), "windows", (int)p->has_windows,
			 "window", when_value(p, p->window_ms), "due", (json_int_t)p->due, "blocked",
			 (json_int_t)p->blocked, "done", counted_value(p, p->done), "at_zero",
			 counted_value(p, p->at_zero), "troubles", (json_int_t)p->n[STATUS_TROUBLES]);
}

void status_page_add_due(struct status_page *p, const char *cluster, const struct msg_due_row *m)
{
	add_row(p, STATUS_DUE,
		json_pack("{s:o, s:s, s:{s:b}, s:I, s:o, s:o}", "cluster", cluster_value(p, cluster), "duty",
			  duty_name((enum duty)m->duty), "verdict", due_state_name((enum due_state)m->state),
			  1, "n", (json_int_t)m->n, "reason", reason_value(p, reason_find(m->reason)->code),
			  "since", ago_value(p, m->oldest)));
}

static json_t *history_row(const struct status_page *p, const struct msg_ctl_history_row *r, int64_t at)
{
	_cleanup_free_ char *at_a_glance = short_line(&r->detail, &r->evidence, p->language);
	struct facts found;

	history_row_facts(r, &found);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "cluster", cluster_value(p, r->cluster_name),
			 "ns", template_text(r->ns), "name", template_text(r->name), "when", ago_value(p, at),
			 "reason", reason_value(p, r->reason), "detail",
			 *at_a_glance && history_row_acted(r) ? template_text(at_a_glance)
							      : facts_value(p, &found),
			 "remedy", "");
}

static const char *outcome_class(int64_t outcome)
{
	switch (outcome) {
	case OUTCOME_DONE:
		return "good";
	case OUTCOME_FORBIDDEN:
	case OUTCOME_FAILED:
		return "bad";
	case OUTCOME_UNCONFIRMED:
		return "warn";
	default:
		return "dim";
	}
}

void status_page_add_action(struct status_page *p, const struct msg_ctl_history_row *m, unsigned alike)
{
	json_t *row = history_row(p, m, m->intent_at);

	(void)json_object_set_new(
		row, "action",
		json_string(m->action < ACTION__MAX ? action_desc((enum action_kind)m->action)->name : ""));
	(void)json_object_set_new(row, "outcome", json_string(outcome_name((enum outcome)m->outcome)));
	(void)json_object_set_new(row, "class", json_string(outcome_class(m->outcome)));
	(void)json_object_set_new(row, "id", json_integer((json_int_t)m->id));
	if (alike > 1)
		(void)json_object_set_new(row, "alike", json_integer((json_int_t)alike));
	add_row(p, STATUS_ACTIONS, row);
}

/* The workload: what is behind the last slash of kind.group/namespace/name. */
void status_page_add_at_zero(struct status_page *p, const struct msg_ctl_history_row *m)
{
	const char *name = strrchr(m->target, '/');
	json_t *row = history_row(p, m, m->intent_at);

	(void)json_object_set_new(row, "name", template_text(name ? name + 1 : m->name));
	(void)json_object_set_new(row, "replicas", json_integer((json_int_t)m->replicas));
	(void)json_object_set_new(row, "id", json_integer((json_int_t)m->id));
	add_row(p, STATUS_AT_ZERO, row);
}

void status_page_add_refusal(struct status_page *p, const struct msg_ctl_history_row *m)
{
	json_t *row = history_row(p, m, m->result_at);

	(void)json_object_set_new(row, "duty", json_string(duty_name((enum duty)m->duty)));
	add_row(p, STATUS_REFUSALS, row);
}

void status_page_add_sink(struct status_page *p, const char *name, const char *type, uint64_t waiting,
			  int64_t delivered_ms, const struct facts *error)
{
	add_row(p, STATUS_SINKS,
		json_pack("{s:o, s:o, s:I, s:o, s:o}", "name", template_text(name), "type",
			  template_text(type), "waiting", (json_int_t)waiting, "delivered",
			  ago_value(p, delivered_ms), "error", facts_value(p, error)));
}

char *status_page_end(struct status_page *p, size_t *ret_size)
{
	static const char *const tables[STATUS__MAX] = { "troubles", "pauses",  "clusters", "due",
							 "actions",  "at_zero", "refusals", "sinks" };
	const struct template_target target = { p->language, ESCAPE_HTML, false };
	char zone[WHEN_TEXT_MAX];

	when_format_zone(p->now_ms, p->zone, zone);
	json_t *data =
		json_pack("{s:s, s:o, s:i, s:b, s:b, s:o, s:b, s:o, s:o, s:s, s:s, s:b}", "language",
			  language_name(p->language), "at", when_value(p, p->now_ms), "refresh",
			  LIVE_REFRESH_S, "ready", (int)p->ready, "observe", (int)p->observe, "tiles",
			  tiles_value(p), "many", p->n[STATUS_CLUSTERS] > 1, "next",
			  when_value(p, p->report_next_ms), "last", when_value(p, p->report_delivered_ms),
			  "version", p->version, "zone", zone, "no_history", (int)p->no_history);

	for (enum status_table t = 0; t < STATUS__MAX; t++) {
		(void)json_object_set_new(data, tables[t], list_value(p, t));
		json_decref(p->rows[t]);
		p->rows[t] = NULL;
	}
	char *page =
		template_render(template_find(STR_C("page/status"), p->language), &target, data, ret_size);

	json_decref(data);
	return page ? page : xstrdup("");
}
