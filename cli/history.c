/* history.c - `history`: what was done, refused or left open, newest last (the reporter sends the newest
 * first). */
// SPDX-License-Identifier: Apache-2.0
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/duty.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "base/cleanup.h"
#include "cli/args.h"
#include "cli/command.h"
#include "cli/ctl.h"
#include "cli/table.h"

struct rows {
	struct msg_ctl_history_row *v;
	size_t n;
};

static void on_row(void *ctx, const struct msg *m)
{
	struct rows *r = ctx;

	if (m->type != MSG_CTL_HISTORY_ROW)
		return;
	r->v = xreallocarray(r->v, r->n + 1, sizeof(*r->v));
	r->v[r->n++] = m->u.ctl_history_row;
}

static const char *outcome_text(const struct msg_ctl_history_row *h)
{
	return h->outcome < 0 ? (h->id ? "open" : "refused") : outcome_name((enum outcome)h->outcome);
}

static json_t *row_json(const struct msg_ctl_history_row *h)
{
	char intent[RFC3339_MAX], result[RFC3339_MAX];

	rfc3339_format(h->intent_at, true, intent);
	rfc3339_format(h->result_at, true, result);
	return json_pack("{s:I, s:s, s:o, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:I, s:s}",
			 "id", (json_int_t)h->id, "intentAt", intent, "resultAt",
			 h->result_at ? json_string(result) : json_null(), "cluster", h->cluster_name, "duty",
			 duty_name((enum duty)h->duty), "namespace", h->ns, "name", h->name, "uid", h->uid,
			 "mode", h->observe ? "observe" : "enforce", "outcome", outcome_text(h), "reason",
			 h->reason, "detail", h->detail, "target", h->target, "replicas",
			 h->replicas >= 0 ? json_integer(h->replicas) : json_null(), "http",
			 (json_int_t)h->http, "action", args_action_name(h->action));
}

static void print_json(const struct rows *rows)
{
	json_t *root = json_array();

	for (size_t i = rows->n; i-- > 0;)
		json_array_append_new(root, row_json(&rows->v[i]));
	(void)json_dumpf(root, stdout, JSON_INDENT(2));
	(void)fputc('\n', stdout);
	json_decref(root);
}

static enum table_color outcome_color(const struct msg_ctl_history_row *h)
{
	switch (h->outcome) {
	case OUTCOME_DONE:
	case OUTCOME_GONE:
		return COLOR_GOOD;
	case OUTCOME_FORBIDDEN:
	case OUTCOME_FAILED:
		return COLOR_BAD;
	default:
		return COLOR_WARN;
	}
}

static void print_table(const struct rows *rows, bool wide)
{
	static const char *const headers[] = { "ID",      "WHEN",   "CLUSTER", "POD",   "DUTY",
					       "OUTCOME", "REASON", "TARGET",  "DETAIL" };
	struct table *t = table_new(headers, wide ? 9 : 8);

	for (size_t i = rows->n; i-- > 0;) {
		const struct msg_ctl_history_row *h = &rows->v[i];
		char when[RFC3339_MAX];

		rfc3339_format(h->result_at ? h->result_at : h->intent_at, false, when);
		if (h->id)
			table_add(t, COLOR_NONE, "%" PRIu64, h->id);
		else
			table_add(t, COLOR_NONE, "-");
		table_add(t, COLOR_DIM, "%s", when);
		table_add(t, COLOR_NONE, "%s", h->cluster_name);
		table_add(t, COLOR_NONE, "%s/%s", h->ns, h->name);
		table_add(t, COLOR_NONE, "%s%s%s", duty_name((enum duty)h->duty), h->action ? " " : "",
			  h->action ? args_action_name(h->action) : "");
		table_add(t, outcome_color(h), "%s%s", outcome_text(h), h->observe ? " (observe)" : "");
		table_add(t, COLOR_NONE, "%s", h->reason);
		if (h->replicas >= 0)
			table_add(t, COLOR_NONE, "%s (had %" PRId64 ")", h->target, h->replicas);
		else
			table_add(t, COLOR_NONE, "%s", h->target);
		if (wide)
			table_add(t, COLOR_DIM, "%s", h->detail);
	}
	table_print(t, stdout, table_wants_color(stdout));
	table_free(&t);
}

struct history_options {
	struct msg request;
	const char *socket;
	int output;
};

static int take_option(const struct command *self, struct history_options *o, int c)
{
	struct msg_ctl_history *h = &o->request.u.ctl_history;

	switch (c) {
	case 'S':
		o->socket = optarg;
		return -1;
	case 'o':
		o->output = output_parse(optarg);
		return o->output < 0 ? command_misuse(self, "-o takes table, wide or json") : -1;
	case 's':
		return args_parse_since(optarg, &h->since) < 0
			       ? command_misuse(self, "--since takes a duration (2h) or an RFC 3339 time")
			       : -1;
	case 'l':
		return str_to_u64(optarg, strlen(optarg), &h->limit) < 0 || h->limit < 1 || h->limit > 100000
			       ? command_misuse(self, "--limit takes a number from 1 to 100000")
			       : -1;
	case 'd':
		return args_parse_duty(optarg, &h->duty) < 0
			       ? command_misuse(
					 self,
					 "--duty takes deleteEvictedPod, deleteTerminatingPod, errImagePull")
			       : -1;
	case 'n':
		if (strlen(optarg) > 63)
			return command_misuse(self, "--namespace is longer than a namespace may be");
		msg_set(&o->request, ctl_history.ns, optarg, strlen(optarg));
		return -1;
	case 'O':
		return args_parse_outcome(optarg, &h->outcomes) < 0
			       ? command_misuse(self, "--outcome takes open or an outcome; see --help")
			       : -1;
	case 't':
		msg_set(&o->request, ctl_history.target, optarg, strlen(optarg));
		return -1;
	case 'r':
		h->refusals = true;
		return -1;
	case 'h':
		return command_help(self);
	default:
		return command_misuse(self, "unknown option");
	}
}

int command_history(const struct command *self, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "control-socket", required_argument, NULL, 'S' },
		{ "output", required_argument, NULL, 'o' },
		{ "since", required_argument, NULL, 's' },
		{ "limit", required_argument, NULL, 'l' },
		{ "duty", required_argument, NULL, 'd' },
		{ "namespace", required_argument, NULL, 'n' },
		{ "outcome", required_argument, NULL, 'O' },
		{ "target", required_argument, NULL, 't' },
		{ "refusals", no_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct history_options o = {
		.request = { .type = MSG_CTL_HISTORY,
			     .u.ctl_history = { .limit = 200, .duty = -1, .outcomes = OUTCOMES_ALL } }
	};
	struct rows rows = { 0 };
	int c;

	while ((c = getopt_long(argc, argv, "o:n:", longs, NULL)) != -1) {
		const int code = take_option(self, &o, c);

		if (code >= 0)
			return code;
	}
	const int code = ctl_ask(o.socket, &o.request, 30000, on_row, &rows);

	if (code == EXIT_CODE_OK && o.output == OUTPUT_JSON)
		print_json(&rows);
	else if (code == EXIT_CODE_OK)
		print_table(&rows, o.output == OUTPUT_WIDE);
	free(rows.v);
	return code;
}
