/* report.c - `report`: what the report would say now, what a sink would be sent, and whether it takes a
 * message. The reporter of the running instance answers with lines; they are printed as they come. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/exit.h"
#include "cli/command.h"
#include "cli/ctl.h"
#include "cli/output.h"
#include "model/language.h"

/* Longer than all watchers together may take to answer, or a sink. */
#define ASK_MS UINT64_C(180000)

static void on_row(void *ctx, const struct msg *m)
{
	(void)ctx;
	if (m->type == MSG_CTL_TEXT)
		(void)fprintf(stdout, "%s%s", m->u.ctl_text.text, m->u.ctl_text.more ? "" : "\n");
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
	if (sends ? o->form >= 0 : o->test != 0)
		return command_misuse(o, "%s",
				      sends ? TEXT(REPORT_SEND_PRINTS_NONE) : TEXT(REPORT_TEST_SENDS));
	if (!*word && o->sink)
		return command_misuse(o, "%s", TEXT(REPORT_SINK_OF));
	q->ask = sends ? REPORT_ASK_TEST : previews ? REPORT_ASK_PREVIEW : REPORT_ASK_NOW;
	q->form = o->form >= 0 ? (uint64_t)o->form : previews ? REPORT_FORM_BODY : REPORT_FORM_TEXT;
	return EXIT_CODE_OK;
}

int command_report(const struct options *o)
{
	struct msg request = { .type = MSG_CTL_REPORT };
	const int code = take_arguments(o, &request.u.ctl_report);

	if (code != EXIT_CODE_OK)
		return code;
	request.u.ctl_report.language = language_of_environment();
	if (o->sink)
		msg_set(&request, ctl_report.sink, o->sink, strlen(o->sink));
	return ctl_ask(o->socket, &request, ASK_MS, on_row, NULL);
}
