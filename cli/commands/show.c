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

static void print_json(const struct rows *rows)
{
	json_t *root = json_object();

	for (size_t i = 0; i < rows->ctl_show_row.n; i++) {
		_cleanup_free_ char *key = NULL;
		int64_t time;
		json_t *value = json_of_column(rows->ctl_show_row.v[i].name, rows->ctl_show_row.v[i].value,
					       &key, &time);

		if (!facts_empty(&rows->ctl_show_row.v[i].facts)) {
			json_decref(value);
			value = facts_json(&rows->ctl_show_row.v[i].facts);
		}
		if (value)
			json_object_set_new(root, key, value);
	}
	const struct msg_ctl_quote_row *quotes = rows->ctl_quote_row.v;
	const size_t n = rows->ctl_quote_row.n;

	json_object_set_new(root, "quotes", json_of_quotes(quotes, n, n ? quotes->id : 0));
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

/* The row of that name; an empty one where there is none. */
static const struct msg_ctl_show_row *find(const struct rows *rows, const char *name)
{
	static const struct msg_ctl_show_row none;

	for (size_t i = 0; i < rows->ctl_show_row.n; i++)
		if (strcmp(rows->ctl_show_row.v[i].name, name) == 0)
			return &rows->ctl_show_row.v[i];
	return &none;
}

/* What was found, and what was found again: it is said once. Times that differ by less than is shown are the
 * same to a reader. */
static bool repeats(const struct rows *rows, const struct msg_ctl_show_row *r, const struct table_view *view)
{
	const struct msg_ctl_show_row *found = find(rows, "evidence");

	if (strcmp(r->name, "detail") != 0 || !found->name[0] || strcmp(found->value, r->value) != 0)
		return false;
	_cleanup_free_ char *before = output_facts(&found->facts, view),
			    *again = output_facts(&r->facts, view);

	return strcmp(before, again) == 0;
}

/* As people read it: the column of the mode holds whether it was a dry run. */
static const char *label_of(const struct msg_ctl_show_row *r)
{
	static const char *const labels[][2] = { { "observe", "mode" }, { "cluster_name", "cluster" } };

	for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
		if (strcmp(r->name, labels[i][0]) == 0)
			return labels[i][1];
	return r->name;
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
	_cleanup_(table_free) struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < rows->ctl_show_row.n; i++) {
		_cleanup_free_ char *value = readable(&rows->ctl_show_row.v[i], view);

		if (!value || repeats(rows, &rows->ctl_show_row.v[i], view))
			continue;
		table_add(t, COLOR_DIM, "%s", label_of(&rows->ctl_show_row.v[i]));
		_cleanup_free_ char *facts = output_facts(&rows->ctl_show_row.v[i].facts, view);

		table_add(t, COLOR_NONE, "%s%s", value, facts);
	}
	printf("\n");
	table_print(t, stdout, view);
}

/* For who was woken: what it was, what to do, and the words that were kept; everything else is behind it. */
static void print_summary(const struct rows *rows, const struct table_view *view)
{
	const enum language l = language_of_environment();
	const char *reason = find(rows, "reason")->value;
	const struct reason_desc *desc = reason_find(reason[0] ? reason : find(rows, "nominated_for")->value);
	_cleanup_free_ char *at_a_glance =
		short_line(&find(rows, "detail")->facts, &find(rows, "live_evidence")->facts, l);

	if (*at_a_glance)
		table_text(stdout, view, "%s", at_a_glance);
	if (*desc->text[l].sentence) {
		table_text(stdout, view, "%s", desc->text[l].sentence);
		table_text(stdout, view, TEXT(REMEDY_IS), desc->text[l].remedy);
	}
	for (size_t i = 0; i < rows->ctl_quote_row.n; i++)
		print_quote(&rows->ctl_quote_row.v[i], l, view);
}

int command_show(const struct options *o)
{
	struct msg request = { .type = MSG_CTL_SHOW };
	struct rows rows = { 0 };

	if (o->n_args != 1 || str_to_u64(o->args[0], strlen(o->args[0]), &request.u.ctl_show.id) < 0 ||
	    request.u.ctl_show.id == 0 || request.u.ctl_show.id > LEASE_ID_MAX)
		return command_misuse(o, "%s", TEXT(SHOW_NEEDS));
	const struct table_view view = options_view(o);
	const int code = ctl_ask(o->socket, &request, 20000, rows_take, &rows);

	if (code == EXIT_CODE_OK && o->output == OUTPUT_JSON)
		print_json(&rows);
	else if (code == EXIT_CODE_OK) {
		print_summary(&rows, &view);
		print_table(&rows, &view);
	}
	rows_done(&rows);
	return code;
}
