/* explain.c - `explain`: options, and the printing of what the rules say. See explain.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/explain.h"

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "cli/paths.h"
#include "cli/table.h"

struct row {
	char *object, *reason, *evidence;
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

static void print_json(const struct explain *e)
{
	json_t *root = json_array();

	for (size_t i = 0; i < e->n; i++) {
		const struct row *r = &e->rows[i];
		char until[RFC3339_MAX];

		rfc3339_format(r->until_ms, true, until);
		json_array_append_new(root, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "pod",
						      r->object, "duty", duty_name(r->duty), "verdict",
						      verdict_kind_name(r->verdict), "reason", r->reason,
						      "sentence", sentence(r), "remedy", remedy(r),
						      "evidence", r->evidence, "until",
						      r->until_ms ? json_string(until) : json_null()));
	}
	(void)json_dumpf(root, stdout, JSON_INDENT(2));
	(void)fputc('\n', stdout);
	json_decref(root);
}

static enum table_color verdict_color(enum verdict_kind k)
{
	static const enum table_color colors[] = { [VERDICT_NONE] = COLOR_DIM,
						   [VERDICT_WAIT] = COLOR_WARN,
						   [VERDICT_ACT] = COLOR_GOOD,
						   [VERDICT_REFUSE] = COLOR_BAD };
	return colors[k];
}

static void print_table(const struct explain *e)
{
	static const char *const headers[] = { "POD", "DUTY", "VERDICT", "REASON", "UNTIL", "WHY" };
	struct table *t = table_new(headers, 6);

	for (size_t i = 0; i < e->n; i++) {
		const struct row *r = &e->rows[i];
		char until[RFC3339_MAX] = "-";

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
	for (size_t i = 0; i < e->n; i++)
		if (e->rows[i].verdict == VERDICT_REFUSE && remedy(&e->rows[i])[0])
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
		return explain_live(self, o->socket, o->cluster, object, e);
	if (o->config)
		return explain_file(o->config, o->file, o->now_ms, o->since_ms, e);
	char *config = paths_find_config();
	const int code = explain_file(config, o->file, o->now_ms, o->since_ms, e);

	free(config);
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
	struct explain *e = explain_new();
	const int code = explain_by_options(self, &o, o.file ? NULL : argv[optind], e);

	if (code == EXIT_CODE_OK)
		explain_print(e, (enum output)o.output);
	explain_free(&e);
	return code;
}
