/* explain.c - `explain`: why a pod or workload is acted on, or why not. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "cli/command.h"
#include "cli/explain_file.h"
#include "cli/explain_live.h"

static int explain(const struct options *o, struct explain_report *into)
{
	return o->file ? explain_file(o, into) : explain_live(o, o->args[0], into);
}

static int explain_once(const struct options *o)
{
	struct explain_report *r = explain_report_new();
	const int code = explain(o, r);

	if (code == EXIT_CODE_OK)
		explain_report_print(r, (enum output)o->output);
	explain_report_free(&r);
	return code;
}

/* Again whenever the answer changes, until it is interrupted, or the object or the instance is gone. */
static int explain_watch(const struct options *o)
{
	struct explain_report *last = NULL;

	for (;;) {
		struct explain_report *r = explain_report_new();
		const int code = explain(o, r);

		if (code == EXIT_CODE_OK && (!last || !explain_report_same(r, last))) {
			if (last && o->output != OUTPUT_JSON)
				printf("\n");
			explain_report_print(r, (enum output)o->output);
			(void)fflush(stdout);
		}
		explain_report_free(&last);
		if (code != EXIT_CODE_OK) {
			explain_report_free(&r);
			return code;
		}
		last = r;
		(void)sleep(1);
	}
}

/* "NAMESPACE/NAME" */
static bool is_object(const char *s)
{
	const char *slash = strchr(s, '/');

	return slash && slash != s && slash[1] != '\0' && strlen(s) <= 300;
}

int command_explain(const struct command *self, const struct options *o)
{
	if ((o->n_args == 1) == (o->file != NULL))
		return command_misuse(self, "needs either NAMESPACE/NAME or -f FILE");
	if (o->watch && o->file)
		return command_misuse(self, "--watch follows a live object, not a file");
	if (!o->file && !is_object(o->args[0]))
		return command_misuse(self, "names a pod or workload as NAMESPACE/NAME");
	return o->watch ? explain_watch(o) : explain_once(o);
}
