/* show.c - `show ID`: all that the history knows of one action. The reporter sends columns as they are
 * stored; here they become readable. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/duties.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "cli/view/output.h"
#include "cli/commands/command.h"
#include "cli/instance/ctl.h"
#include "cli/view/table.h"
#include "cli/view/json.h"
#include "text/facts_json.h"
#include "text/short_line.h"

#define ROWS_MAX 64

struct rows {
	struct msg_ctl_show_row v[ROWS_MAX];
	size_t n;
	struct msg_ctl_quote_row quotes[QUOTES_MAX];
	size_t n_quotes;
};

static void on_row(void *ctx, const struct msg *m)
{
	struct rows *r = ctx;

	if (m->type == MSG_CTL_SHOW_ROW && r->n < ROWS_MAX)
		r->v[r->n++] = m->u.ctl_show_row;
	if (m->type == MSG_CTL_QUOTE_ROW && r->n_quotes < QUOTES_MAX)
		r->quotes[r->n_quotes++] = m->u.ctl_quote_row;
}

static void print_json(const struct rows *rows)
{
	json_t *root = json_object();

	for (size_t i = 0; i < rows->n; i++) {
		_cleanup_free_ char *key = NULL;
		int64_t time;
		json_t *value = json_of_column(rows->v[i].name, rows->v[i].value, &key, &time);

		if (!facts_empty(&rows->v[i].facts)) {
			json_decref(value);
			value = facts_json(&rows->v[i].facts);
		}
		if (value)
			json_object_set_new(root, key, value);
	}
	const uint64_t id = rows->n_quotes ? rows->quotes[0].id : 0;

	json_object_set_new(root, "quotes", json_of_quotes(rows->quotes, rows->n_quotes, id));
	output_json(root);
}

/* The value of a row for people, NULL where it says nothing. Owned by the caller. */
static char *readable(const struct msg_ctl_show_row *r, const struct table_view *view)
{
	_cleanup_free_ char *key = NULL;
	int64_t time;
	json_auto_t *value = json_of_column(r->name, r->value, &key, &time);
	char text[RFC3339_MAX];

	if (!value)
		return NULL;
	if (time && view->local)
		output_time(view, time, text);
	if (time && view->local)
		return xstrdup(text);
	return json_is_string(value) ? xstrdup(json_string_value(value)) : json_dumps(value, JSON_ENCODE_ANY);
}

static const char *value_of(const struct rows *rows, const char *name)
{
	for (size_t i = 0; i < rows->n; i++)
		if (strcmp(rows->v[i].name, name) == 0)
			return rows->v[i].value;
	return "";
}

/* NULL: there are none. */
static const struct facts *facts_at(const struct rows *rows, const char *name)
{
	for (size_t i = 0; i < rows->n; i++)
		if (strcmp(rows->v[i].name, name) == 0)
			return &rows->v[i].facts;
	return NULL;
}

/* What was found, and what was found again: it is said once. */
static bool repeats(const struct rows *rows, size_t i, const struct table_view *view)
{
	const struct msg_ctl_show_row *r = &rows->v[i];

	if (strcmp(r->name, "detail") != 0)
		return false;
	for (size_t k = 0; k < i; k++) {
		_cleanup_free_ char *before = output_facts(&rows->v[k].facts, view);
		_cleanup_free_ char *again = output_facts(&r->facts, view);

		if (strcmp(rows->v[k].name, "evidence") == 0)
			return strcmp(rows->v[k].value, r->value) == 0 && strcmp(before, again) == 0;
	}
	return false;
}

/* The column holds whether it was a dry run, its value is a mode. */
static const char *label_of(const struct msg_ctl_show_row *r)
{
	return strcmp(r->name, "observe") == 0 ? "mode" : r->name;
}

/* What it is, and its lines below. */
static void print_quote(const struct msg_ctl_quote_row *q, enum language l, const struct table_view *view)
{
	_cleanup_free_ char *title = quote_title((enum quote_kind)q->quote, STR_C(q->pod),
						 STR_C(q->container), STR_C(q->image), l);

	printf("\n");
	table_text(stdout, view, "%s:", title);
	for (const char *line = q->text; line;) {
		const char *feed = strchr(line, '\n');

		printf("    %.*s\n", feed ? (int)(feed - line) : (int)strlen(line), line);
		line = feed ? feed + 1 : NULL;
	}
}

static void print_table(const struct rows *rows, const struct table_view *view)
{
	static const struct table_column columns[] = { { "WHAT", 0, 0 }, { "VALUE", 0, COLUMN_FLOWS } };
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < rows->n; i++) {
		_cleanup_free_ char *value = readable(&rows->v[i], view);

		if (!value || repeats(rows, i, view))
			continue;
		table_add(t, COLOR_DIM, "%s", label_of(&rows->v[i]));
		_cleanup_free_ char *facts = output_facts(&rows->v[i].facts, view);

		table_add(t, COLOR_NONE, "%s%s", value, facts);
	}
	printf("\n");
	table_print(t, stdout, view);
	table_free(&t);
}

/* For who was woken: what it was, what to do, and the words that were kept; everything else is behind it. */
static void print_summary(const struct rows *rows, const struct table_view *view)
{
	const enum language l = language_of_environment();
	const char *reason = value_of(rows, "reason");
	const struct reason_desc *desc = reason_find(reason[0] ? reason : value_of(rows, "nominated_for"));
	_cleanup_free_ char *at_a_glance =
		short_line(facts_at(rows, "detail"), facts_at(rows, "live_evidence"), l);

	if (*at_a_glance)
		table_text(stdout, view, "%s", at_a_glance);
	if (*desc->text[l].sentence) {
		table_text(stdout, view, "%s", desc->text[l].sentence);
		table_text(stdout, view, TEXT(REMEDY_IS), desc->text[l].remedy);
	}
	for (size_t i = 0; i < rows->n_quotes; i++)
		print_quote(&rows->quotes[i], l, view);
}

int command_show(const struct options *o)
{
	struct msg request = { .type = MSG_CTL_SHOW };
	struct rows rows = { .n = 0 };

	if (o->n_args != 1 || str_to_u64(o->args[0], strlen(o->args[0]), &request.u.ctl_show.id) < 0 ||
	    request.u.ctl_show.id == 0 || request.u.ctl_show.id > LEASE_ID_MAX)
		return command_misuse(o, "%s", TEXT(SHOW_NEEDS));
	const struct table_view view = options_view(o);
	const int code = ctl_ask(o->socket, &request, 20000, on_row, &rows);

	if (code == EXIT_CODE_OK && o->output == OUTPUT_JSON)
		print_json(&rows);
	else if (code == EXIT_CODE_OK) {
		print_summary(&rows, &view);
		print_table(&rows, &view);
	}
	return code;
}
