/* show.c - `show ID`: all that the history knows of one action. The reporter sends columns as they are
 * stored; here they become readable. */
// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/duties.h"
#include "model/retell.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/str.h"
#include "cli/output.h"
#include "cli/command.h"
#include "cli/ctl.h"
#include "cli/table.h"

#define ROWS_MAX 64

struct rows {
	struct msg_ctl_show_row v[ROWS_MAX];
	size_t n;
};

enum kind { KIND_TEXT, KIND_NUMBER, KIND_TIME, KIND_DUTY, KIND_ACTION, KIND_MODE, KIND_OUTCOME };

/* What is not text. The JSON name is the column's in camel case. */
static const struct {
	const char *name;
	enum kind kind;
} kinds[] = {
	{ "id", KIND_NUMBER },
	{ "duty", KIND_DUTY },
	{ "action", KIND_ACTION },
	{ "observe", KIND_MODE },
	{ "intent_at", KIND_TIME },
	{ "since", KIND_TIME },
	{ "reverts", KIND_NUMBER },
	{ "origin", KIND_NUMBER },
	{ "want_replicas", KIND_NUMBER },
	{ "outcome", KIND_OUTCOME },
	{ "replicas_before", KIND_NUMBER },
	{ "http", KIND_NUMBER },
	{ "retry_ms", KIND_NUMBER },
	{ "ended_at", KIND_TIME },
	{ "recorded_at", KIND_TIME },
};

static void on_row(void *ctx, const struct msg *m)
{
	struct rows *r = ctx;

	if (m->type == MSG_CTL_SHOW_ROW && r->n < ROWS_MAX)
		r->v[r->n++] = m->u.ctl_show_row;
}

static enum kind kind_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return kinds[i].kind;
	return KIND_TEXT;
}

/* A value for people; false = it says nothing (0 of something optional). */
static bool readable(const struct msg_ctl_show_row *r, const struct table_view *view, char *ret, size_t size)
{
	const enum kind k = kind_of(r->name);
	int64_t v = 0;

	if (k != KIND_TEXT && str_to_i64(r->value, strlen(r->value), &v) < 0)
		return false;
	switch (k) {
	case KIND_TIME:
		if (v != 0 && view->local)
			output_time(view, v, ret);
		else if (v != 0)
			rfc3339_format(v, true, ret);
		return v != 0;
	case KIND_DUTY:
		(void)snprintf(ret, size, "%s", duty_name((enum duty)v));
		return true;
	case KIND_ACTION:
		(void)snprintf(ret, size, "%s", output_action((uint64_t)v));
		return true;
	case KIND_MODE:
		(void)snprintf(ret, size, "%s", v ? "observe" : "enforce");
		return true;
	case KIND_OUTCOME:
		(void)snprintf(ret, size, "%s", v < 0 ? "open" : outcome_name((enum outcome)v));
		return true;
	case KIND_NUMBER:
		(void)snprintf(ret, size, "%" PRId64, v);
		return v != 0 || strcmp(r->name, "replicas_before") == 0;
	default:
		(void)snprintf(ret, size, "%s", r->value);
		return true;
	}
}

/* "intent_at" -> "intentAt"; observe is called mode everywhere else. */
static void json_name(const char *name, char *ret, size_t size)
{
	size_t n = 0;

	if (strcmp(name, "observe") == 0)
		name = "mode";
	for (; *name && n + 1 < size; name++) {
		if (*name == '_' && name[1])
			ret[n++] = (char)(*++name - 'a' + 'A');
		else
			ret[n++] = *name;
	}
	ret[n] = '\0';
}

static void print_json(const struct rows *rows)
{
	json_t *root = json_object();
	char name[64], value[1100];
	int64_t number = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct msg_ctl_show_row *r = &rows->v[i];

		if (!readable(r, &(const struct table_view){ .local = false }, value, sizeof(value)))
			continue;
		json_name(r->name, name, sizeof(name));
		if (kind_of(r->name) == KIND_NUMBER && str_to_i64(value, strlen(value), &number) == 0)
			json_object_set_new(root, name, json_integer(number));
		else
			json_object_set_new(root, name, json_string(value));
	}
	output_json(root);
}

static const char *value_of(const struct rows *rows, const char *name)
{
	for (size_t i = 0; i < rows->n; i++)
		if (strcmp(rows->v[i].name, name) == 0)
			return rows->v[i].value;
	return "";
}

/* What is a text of ours, not a name or a code. */
static bool is_retold(const char *name)
{
	return strcmp(name, "detail") == 0 || strcmp(name, "evidence") == 0 ||
	       strcmp(name, "live_evidence") == 0;
}

static void print_table(const struct rows *rows, const struct table_view *view)
{
	static const struct table_column columns[] = { { "WHAT", 0, 0 }, { "VALUE", 0, COLUMN_FLOWS } };
	const enum language l = language_of_environment();
	struct table *t = table_new(columns, ARRAY_SIZE(columns));
	char value[1100];
	const char *reason = value_of(rows, "reason");
	const struct reason_desc *desc = reason_find(reason[0] ? reason : value_of(rows, "nominated_for"));

	for (size_t i = 0; i < rows->n; i++) {
		if (!readable(&rows->v[i], view, value, sizeof(value)))
			continue;
		table_add(t, COLOR_DIM, "%s", rows->v[i].name);
		_cleanup_free_ char *said = retell(value, is_retold(rows->v[i].name) ? l : LANGUAGE_EN);

		table_add(t, COLOR_NONE, "%s", said);
	}
	table_print(t, stdout, view);
	table_free(&t);
	if (*desc->text[l].sentence) {
		printf("\n");
		table_text(stdout, view, "%s", desc->text[l].sentence);
		table_text(stdout, view, TEXT(REMEDY_IS), desc->text[l].remedy);
	}
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
	else if (code == EXIT_CODE_OK)
		print_table(&rows, &view);
	return code;
}
