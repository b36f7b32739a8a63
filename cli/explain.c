/* explain.c - `explain`: options, and the printing of what the rules say. See explain.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/explain.h"

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "cli/args.h"
#include "cli/paths.h"
#include "cli/table.h"

struct row {
	char *object, *reason, *evidence, *rule; /* rule NULL: a verdict */
	enum tri holds;
	enum duty duty;
	enum verdict_kind verdict;
	int64_t until_ms;
};

struct explain {
	char *object;
	struct row *rows;
	size_t n;
};

struct explain *explain_new(void)
{
	return xcalloc(1, sizeof(struct explain));
}

void explain_free(struct explain **ep)
{
	struct explain *e = *ep;

	for (size_t i = 0; e && i < e->n; i++) {
		free(e->rows[i].object);
		free(e->rows[i].reason);
		free(e->rows[i].evidence);
		free(e->rows[i].rule);
	}
	if (e) {
		free(e->rows);
		free(e->object);
	}
	free(e);
	*ep = NULL;
}

void explain_begin(struct explain *e, const char *object)
{
	free(e->object);
	e->object = xstrdup(object);
}

void explain_add(struct explain *e, const struct explain_row *row)
{
	e->rows = xreallocarray(e->rows, e->n + 1, sizeof(*e->rows));
	e->rows[e->n++] = (struct row){ .object = xstrdup(e->object ? e->object : ""),
					.reason = xstrdup(row->reason),
					.evidence = xstrdup(row->evidence),
					.rule = row->rule ? xstrdup(row->rule) : NULL,
					.holds = row->holds,
					.duty = row->duty,
					.verdict = row->verdict,
					.until_ms = row->until_ms };
}

static const char *sentence(const struct row *r)
{
	const int reason = reason_parse(r->reason);

	return reason < 0 ? "" : reason_sentence((enum reason)reason);
}

static const char *remedy(const struct row *r)
{
	const int reason = reason_parse(r->reason);

	return reason < 0 ? "" : reason_remedy((enum reason)reason);
}

bool explain_same(const struct explain *a, const struct explain *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct row *x = &a->rows[i], *y = &b->rows[i];

		if (x->duty != y->duty || x->verdict != y->verdict || x->until_ms != y->until_ms ||
		    x->holds != y->holds || strcmp(x->object, y->object) != 0 ||
		    strcmp(x->reason, y->reason) != 0 || strcmp(x->evidence, y->evidence) != 0)
			return false;
	}
	return true;
}

static const char *holds_name(enum tri t)
{
	static const char *const names[] = {
		[TRI_UNKNOWN] = "not reached", [TRI_NO] = "decided", [TRI_YES] = "passed"
	};
	return names[t];
}

/* The checks that follow row i are those of its duty and object. */
static json_t *rules_json(const struct explain *e, size_t i)
{
	json_t *rules = json_array();

	for (size_t k = i + 1; k < e->n && e->rows[k].rule; k++)
		json_array_append_new(rules,
				      json_pack("{s:s, s:s, s:s}", "rule", e->rows[k].rule, "result",
						holds_name(e->rows[k].holds), "facts", e->rows[k].evidence));
	return rules;
}

static void print_json(const struct explain *e)
{
	json_t *root = json_array();

	for (size_t i = 0; i < e->n; i++) {
		const struct row *r = &e->rows[i];

		if (r->rule)
			continue;
		json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "pod", r->object, "duty",
				      duty_name(r->duty), "verdict", verdict_kind_name(r->verdict), "reason",
				      r->reason, "sentence", sentence(r), "remedy", remedy(r), "evidence",
				      r->evidence, "until", args_json_time(r->until_ms));

		if (i + 1 < e->n && e->rows[i + 1].rule)
			(void)json_object_set_new(o, "rules", rules_json(e, i));
		json_array_append_new(root, o);
	}
	args_print_json(root);
}

static enum table_color verdict_color(enum verdict_kind k)
{
	static const enum table_color colors[] = { [VERDICT_NONE] = COLOR_DIM,
						   [VERDICT_WAIT] = COLOR_WARN,
						   [VERDICT_ACT] = COLOR_GOOD,
						   [VERDICT_REFUSE] = COLOR_BAD };
	return colors[k];
}

static void print_rules(const struct explain *e)
{
	static const char *const headers[] = { "POD", "DUTY", "RULE", "RESULT", "FACTS" };
	static const enum table_color colors[] = {
		[TRI_UNKNOWN] = COLOR_DIM, [TRI_NO] = COLOR_WARN, [TRI_YES] = COLOR_GOOD
	};
	struct table *t = table_new(headers, 5);
	bool any = false;

	for (size_t i = 0; i < e->n; i++) {
		const struct row *r = &e->rows[i];

		if (!r->rule)
			continue;
		any = true;
		table_add(t, COLOR_NONE, "%s", r->object);
		table_add(t, COLOR_NONE, "%s", duty_name(r->duty));
		table_add(t, COLOR_NONE, "%s", r->rule);
		table_add(t, colors[r->holds], "%s", holds_name(r->holds));
		table_add(t, r->holds == TRI_UNKNOWN ? COLOR_DIM : COLOR_NONE, "%s", r->evidence);
	}
	if (any) {
		printf("\n");
		table_print(t, stdout, table_wants_color(stdout));
	}
	table_free(&t);
}

static void print_table(const struct explain *e)
{
	static const char *const headers[] = { "POD", "DUTY", "VERDICT", "REASON", "UNTIL", "WHY" };
	struct table *t = table_new(headers, 6);

	for (size_t i = 0; i < e->n; i++) {
		const struct row *r = &e->rows[i];
		char until[RFC3339_MAX] = "-";

		if (r->rule)
			continue;
		if (r->until_ms)
			rfc3339_format(r->until_ms, false, until);
		table_add(t, COLOR_NONE, "%s", r->object);
		table_add(t, COLOR_NONE, "%s", duty_name(r->duty));
		table_add(t, verdict_color(r->verdict), "%s", verdict_kind_name(r->verdict));
		table_add(t, COLOR_NONE, "%s", r->reason);
		table_add(t, COLOR_NONE, "%s", until);
		table_add(t, COLOR_NONE, "%s%s%s", sentence(r), r->evidence[0] ? ": " : "", r->evidence);
	}
	table_print(t, stdout, table_wants_color(stdout));
	table_free(&t);
	print_rules(e);
	for (size_t i = 0; i < e->n; i++)
		if (!e->rows[i].rule && e->rows[i].verdict == VERDICT_REFUSE && remedy(&e->rows[i])[0])
			printf("%s: %s: %s\n", e->rows[i].object, e->rows[i].reason, remedy(&e->rows[i]));
}

void explain_print(const struct explain *e, enum output output)
{
	if (output == OUTPUT_JSON)
		print_json(e);
	else
		print_table(e);
}

struct options {
	const char *config, *file, *socket, *cluster;
	int64_t now_ms, since_ms;
	int output;
	bool rules, watch;
};

static int take_option(const struct command *self, struct options *o, int c)
{
	switch (c) {
	case 'c':
		o->config = optarg;
		return -1;
	case 'f':
		o->file = optarg;
		return -1;
	case 'S':
		o->socket = optarg;
		return -1;
	case 'C':
		o->cluster = optarg;
		return -1;
	case 'n':
		return rfc3339_parse(optarg, strlen(optarg), &o->now_ms) < 0
			       ? command_misuse(self, "--now takes an RFC 3339 time")
			       : -1;
	case 's':
		return rfc3339_parse(optarg, strlen(optarg), &o->since_ms) < 0
			       ? command_misuse(self, "--failing-since takes an RFC 3339 time")
			       : -1;
	case 'r':
		o->rules = true;
		return -1;
	case 'w':
		o->watch = true;
		return -1;
	case 'o':
		o->output = output_parse(optarg);
		return o->output < 0 ? command_misuse(self, "-o takes table, wide or json") : -1;
	case 'h':
		return command_help(self);
	default:
		return command_misuse(self, "unknown option");
	}
}

static int explain_by_options(const struct command *self, const struct options *o, const char *object,
			      struct explain *e)
{
	if (!o->file)
		return explain_live(self, o->socket, o->cluster, object, o->rules, e);
	if (o->config)
		return explain_file(o->config, o->file, o->now_ms, o->since_ms, o->rules, e);
	char *config = paths_find_config();
	const int code = explain_file(config, o->file, o->now_ms, o->since_ms, o->rules, e);

	free(config);
	return code;
}

static int explain_once(const struct command *self, const struct options *o, const char *object)
{
	struct explain *e = explain_new();
	const int code = explain_by_options(self, o, object, e);

	if (code == EXIT_CODE_OK)
		explain_print(e, (enum output)o->output);
	explain_free(&e);
	return code;
}

/* Until it is interrupted, or the object or the instance is gone: again whenever the answer changes. */
static int explain_watch(const struct command *self, const struct options *o, const char *object)
{
	struct explain *last = NULL;
	int code;

	for (;;) {
		struct explain *e = explain_new();

		code = explain_by_options(self, o, object, e);
		if (code == EXIT_CODE_OK && (!last || !explain_same(e, last))) {
			if (last && o->output != OUTPUT_JSON)
				printf("\n");
			explain_print(e, (enum output)o->output);
			(void)fflush(stdout);
		}
		explain_free(&last);
		last = e;
		if (code != EXIT_CODE_OK)
			break;
		(void)sleep(1);
	}
	explain_free(&last);
	return code;
}

int command_explain(const struct command *self, int argc, char **argv)
{
	static const struct option longs[] = { { "config", required_argument, NULL, 'c' },
					       { "file", required_argument, NULL, 'f' },
					       { "now", required_argument, NULL, 'n' },
					       { "failing-since", required_argument, NULL, 's' },
					       { "control-socket", required_argument, NULL, 'S' },
					       { "cluster", required_argument, NULL, 'C' },
					       { "output", required_argument, NULL, 'o' },
					       { "rules", no_argument, NULL, 'r' },
					       { "watch", no_argument, NULL, 'w' },
					       { "help", no_argument, NULL, 'h' },
					       { 0 } };
	struct options o = { .now_ms = clock_wall_ms() };
	int c;

	while ((c = getopt_long(argc, argv, "f:o:", longs, NULL)) != -1) {
		const int code = take_option(self, &o, c);

		if (code >= 0)
			return code;
	}
	if ((argc - optind == 1) == (o.file != NULL))
		return command_misuse(self, "needs either NAMESPACE/NAME or -f FILE");
	if (o.watch && o.file)
		return command_misuse(self, "--watch follows a live object, not a file");
	return o.watch ? explain_watch(self, &o, argv[optind])
		       : explain_once(self, &o, o.file ? NULL : argv[optind]);
}
