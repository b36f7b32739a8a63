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
#include "reporter/news/when.h"
#include "reporter/page/chart.h"
#include "text/facts_text.h"
#include "text/short_line.h"
#include "text/templates.h"

/* Null where there is none. */
static json_t *when_value(const struct live *l, int64_t at_ms)
{
	char when[WHEN_TEXT_MAX];

	if (at_ms <= 0)
		return json_null();
	when_format(at_ms, l->zone, when);
	return json_string(when);
}

/* { at, ago }, or null. */
static json_t *ago_value(const struct live *l, int64_t at_ms)
{
	char ago[DURATION_MAX];

	if (at_ms <= 0)
		return json_null();
	return json_pack("{s:o, s:s}", "at", when_value(l, at_ms), "ago",
			 duration_short(l->now_ms - at_ms, ago));
}

static json_t *facts_value(const struct live *l, const struct facts *f)
{
	_cleanup_free_ char *text = facts_render_in(f, l->language);

	return template_text(text);
}

/* The sentence of a reason; its code where it has none. */
static json_t *reason_value(const struct live *l, const char *code)
{
	const char *sentence = reason_find(code)->text[l->language].sentence;

	return template_text(*sentence ? sentence : code);
}

/* { rows, more } of n things, at most max rows; null of none. */
typedef json_t *row_fn(const struct live *l, size_t i);
static json_t *list_value(const struct live *l, size_t n, size_t max, row_fn *row)
{
	json_t *rows = json_array();

	if (n == 0) {
		json_decref(rows);
		return json_null();
	}
	for (size_t i = 0; i < n && i < max; i++)
		(void)json_array_append_new(rows, row(l, i));
	return json_pack("{s:o, s:I}", "rows", rows, "more", (json_int_t)(n > max ? n - max : 0));
}

static json_t *cluster_value(const struct live *l, const char *name)
{
	return template_text(l->cluster_title && *name ? l->cluster_title : name);
}

static json_t *trouble_row(const struct live *l, size_t i)
{
	const struct live_trouble *t = &l->troubles[i];

	return json_pack("{s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "blind", (int)t->is_blind, "sentence",
			 template_text(t->sentence), "object", template_text(t->object), "detail",
			 facts_value(l, t->detail), "remedy", template_text(t->remedy), "cluster",
			 cluster_value(l, t->cluster), "since", ago_value(l, t->since_ms));
}

static json_t *pause_row(const struct live *l, size_t i)
{
	const struct msg_pause *p = &l->pauses[i];

	return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o}", "cluster", cluster_value(l, p->cluster_name),
			 "duty", p->duty == DUTY_ALL ? "" : duty_name((enum duty)p->duty), "by",
			 template_text(p->by), "why", facts_value(l, &p->why), "since", ago_value(l, p->at),
			 "until", when_value(l, p->until));
}

static json_t *cluster_row(const struct live *l, size_t i)
{
	const struct live_cluster *c = &l->clusters[i];
	const char *state = !c->synced     ? "blind"
			    : !c->leading  ? "standby"
			    : c->is_paused ? "paused"
					   : "running";

	return json_pack("{s:o, s:{s:b}, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "name",
			 cluster_value(l, c->name), "state", state, 1, "pods", (json_int_t)c->pods, "due",
			 (json_int_t)c->due, "blocked", (json_int_t)c->blocked, "done", (json_int_t)c->done,
			 "at_zero", (json_int_t)c->at_zero, "problem", facts_value(l, c->problem),
			 "blocked_by", facts_value(l, c->blocked_by));
}

static json_t *tiles_value(const struct live *l)
{
	uint64_t due = 0, blocked = 0, done = 0, at_zero = 0;

	for (size_t i = 0; i < l->n_clusters; i++) {
		due += l->clusters[i].due;
		blocked += l->clusters[i].blocked;
		done += l->clusters[i].done;
		at_zero += l->clusters[i].at_zero;
	}
	const struct chart hours = { l->done_by_hour, ARRAY_SIZE(l->done_by_hour), 1, 1, 4, 1, 40, 1.5 };

	return json_pack("{s:o, s:b, s:o, s:I, s:I, s:I, s:I, s:I}", "hours",
			 done > 0 ? chart_value(&hours) : json_null(), "windows", (int)l->has_windows,
			 "window", when_value(l, l->window_ms), "due", (json_int_t)due, "blocked",
			 (json_int_t)blocked, "done", (json_int_t)done, "at_zero", (json_int_t)at_zero,
			 "troubles", (json_int_t)l->n_troubles);
}

static json_t *due_row(const struct live *l, size_t i)
{
	const struct live_due *d = &l->due[i];

	return json_pack("{s:o, s:o, s:{s:b}, s:I, s:o, s:o}", "cluster", cluster_value(l, d->cluster),
			 "duty", template_text(d->duty), "verdict", d->verdict, 1, "n", (json_int_t)d->n,
			 "reason", reason_value(l, d->reason), "since", ago_value(l, d->oldest_ms));
}

static json_t *history_row(const struct live *l, const struct msg_ctl_history_row *r, int64_t at)
{
	_cleanup_free_ char *at_a_glance = short_line(&r->detail, &r->evidence, l->language);
	struct facts found;

	history_row_facts(r, &found);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "cluster", cluster_value(l, r->cluster_name),
			 "ns", template_text(r->ns), "name", template_text(r->name), "when", ago_value(l, at),
			 "reason", reason_value(l, r->reason), "detail",
			 *at_a_glance && history_row_acted(r) ? template_text(at_a_glance)
							      : facts_value(l, &found),
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

static json_t *action_row(const struct live *l, size_t i)
{
	const struct msg_ctl_history_row *r = &l->actions[i];
	json_t *row = history_row(l, r, r->intent_at);

	(void)json_object_set_new(
		row, "action",
		json_string(r->action < ACTION__MAX ? action_desc((enum action_kind)r->action)->name : ""));
	(void)json_object_set_new(row, "outcome", json_string(outcome_name((enum outcome)r->outcome)));
	(void)json_object_set_new(row, "class", json_string(outcome_class(r->outcome)));
	(void)json_object_set_new(row, "id", json_integer((json_int_t)r->id));
	if (l->n_alike && l->n_alike[i] > 1)
		(void)json_object_set_new(row, "alike", json_integer((json_int_t)l->n_alike[i]));
	return row;
}

/* The workload: what is behind the last slash of kind.group/namespace/name. */
static json_t *at_zero_row(const struct live *l, size_t i)
{
	const struct msg_ctl_history_row *r = &l->at_zero[i];
	const char *name = strrchr(r->target, '/');
	json_t *row = history_row(l, r, r->intent_at);

	(void)json_object_set_new(row, "name", template_text(name ? name + 1 : r->name));
	(void)json_object_set_new(row, "replicas", json_integer((json_int_t)r->replicas));
	(void)json_object_set_new(row, "id", json_integer((json_int_t)r->id));
	return row;
}

static json_t *refusal_row(const struct live *l, size_t i)
{
	const struct msg_ctl_history_row *r = &l->refusals[i];
	json_t *row = history_row(l, r, r->result_at);

	(void)json_object_set_new(row, "duty", json_string(duty_name((enum duty)r->duty)));
	return row;
}

static json_t *sink_row(const struct live *l, size_t i)
{
	const struct live_sink *s = &l->sinks[i];

	return json_pack("{s:o, s:o, s:I, s:o, s:o}", "name", template_text(s->name), "type",
			 template_text(s->type), "waiting", (json_int_t)s->waiting, "delivered",
			 ago_value(l, s->delivered_ms), "error", facts_value(l, &s->error));
}

char *page_status(const struct live *l, size_t *ret_size)
{
	const struct template_target target = { l->language, ESCAPE_HTML, false };
	json_t *data = json_pack(
		"{s:s, s:o, s:i, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:s, "
		"s:b}",
		"language", language_name(l->language), "at", when_value(l, l->now_ms), "refresh",
		LIVE_REFRESH_S, "ready", l->live && l->ready, "observe", (int)l->observe, "tiles",
		tiles_value(l), "troubles", list_value(l, l->n_troubles, LIVE_ROWS_MAX, trouble_row),
		"pauses", list_value(l, l->n_pauses, LIVE_ROWS_MAX, pause_row), "clusters",
		list_value(l, l->n_clusters, LIVE_ROWS_MAX, cluster_row), "due",
		list_value(l, l->n_due, LIVE_ROWS_MAX, due_row), "many", l->n_clusters > 1, "actions",
		list_value(l, l->n_actions, LIVE_ACTIONS_MAX, action_row), "at_zero",
		list_value(l, l->n_at_zero, LIVE_ACTIONS_MAX, at_zero_row), "refusals",
		list_value(l, l->n_refusals, LIVE_ACTIONS_MAX, refusal_row), "next",
		when_value(l, l->report_next_ms), "last", when_value(l, l->report_delivered_ms), "sinks",
		list_value(l, l->n_sinks, LIVE_ROWS_MAX, sink_row), "version", l->version, "local",
		l->zone != NULL);
	char *page =
		template_render(template_find(STR_C("page/status"), l->language), &target, data, ret_size);

	json_decref(data);
	return page ? page : xstrdup("");
}
