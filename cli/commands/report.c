/* report.c - `report`: what the report would say now, what a sink would be sent, and whether it takes a
 * message. The reporter of the running instance answers with lines; they are printed as they come. */
// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/commands/command.h"
#include "cli/instance/ctl.h"
#include "cli/view/output.h"
#include "cli/view/table.h"
#include "model/language.h"

/* Longer than all watchers together may take to answer, or a sink. */
#define ASK_MS UINT64_C(180000)

struct reader {
	struct table_view view;
	bool folds;
	char *line;    /* what came of it; NULL = nothing */
	json_t *lines; /* NULL: they are printed as they come */
};

/* A line that is to be copied stays whole. What goes on stands under the text. */
static void print_line(const struct reader *r, const char *line)
{
	const size_t blanks = strspn(line, " "), mark = strncmp(line + blanks, "- ", 2) == 0 ? 2 : 0;

	if (!r->folds || r->view.width == 0 || strncmp(line + blanks, "$ ", 2) == 0) {
		(void)fprintf(stdout, "%s\n", line);
		return;
	}
	struct table_flow f = {
		.out = stdout, .width = r->view.width, .indent = blanks + mark, .at = blanks + mark
	};

	(void)fprintf(stdout, "%.*s", (int)(blanks + mark), line);
	table_words(&f, line + blanks + mark);
	(void)fputc('\n', stdout);
}

static void on_row(void *ctx, const struct msg *m)
{
	struct reader *r = ctx;

	if (m->type != MSG_CTL_TEXT)
		return;
	xappend(&r->line, "", m->u.ctl_text.text);
	if (m->u.ctl_text.more)
		return;
	if (r->lines)
		json_array_append_new(r->lines, json_string(r->line));
	else
		print_line(r, r->line);
	free(r->line);
	r->line = NULL;
}

/* Which question it is, or EXIT_CODE_USAGE. */
static int take_arguments(const struct options *o, struct msg_ctl_report *q)
{
	const char *word = o->n_args > 0 ? o->args[0] : "";
	const bool previews = strcmp(word, "preview") == 0, sends = strcmp(word, "send") == 0;

	if (*word && !previews && !sends)
		return command_misuse(o, TEXT(REPORT_TAKES), word);
	if (sends && (!o->sink || !o->test))
		return command_misuse(o, "%s", TEXT(REPORT_SEND_NEEDS));
	if (sends && o->form >= 0 && o->form != REPORT_FORM_JSON)
		return command_misuse(o, "%s", TEXT(REPORT_SEND_PRINTS_NONE));
	if (!sends && o->test)
		return command_misuse(o, "%s", TEXT(REPORT_TEST_SENDS));
	if (!*word && o->sink)
		return command_misuse(o, "%s", TEXT(REPORT_SINK_OF));
	if (*word && o->clusters.n > 0)
		return command_misuse(o, "%s", TEXT(REPORT_CLUSTER_OF));
	q->ask = sends ? REPORT_ASK_TEST : previews ? REPORT_ASK_PREVIEW : REPORT_ASK_NOW;
	q->form = o->form >= 0 && !sends ? (uint64_t)o->form : previews ? REPORT_FORM_BODY : REPORT_FORM_TEXT;
	return EXIT_CODE_OK;
}

int command_report(const struct options *o)
{
	struct msg request = { .type = MSG_CTL_REPORT };
	const int code = take_arguments(o, &request.u.ctl_report);

	if (code != EXIT_CODE_OK)
		return code;
	request.u.ctl_report.language = language_of_environment();
	_cleanup_free_ char *clusters = option_names_join(&o->clusters, "\n");

	if (clusters)
		msg_set(&request, ctl_report.clusters, clusters, strlen(clusters));
	if (o->sink)
		msg_set(&request, ctl_report.sink, o->sink, strlen(o->sink));
	const bool sends_json = request.u.ctl_report.ask == REPORT_ASK_TEST && o->form == REPORT_FORM_JSON;
	struct reader r = { options_view(o), request.u.ctl_report.form == REPORT_FORM_TEXT, NULL,
			    sends_json ? json_array() : NULL };
	const int exit_code = ctl_ask(o->socket, &request, ASK_MS, on_row, &r);

	if (sends_json && exit_code == EXIT_CODE_OK)
		output_json(json_pack("{s:s, s:b, s:O}", "sink", o->sink, "accepted", 1, "lines", r.lines));
	json_decref(r.lines);
	free(r.line);
	return exit_code;
}
