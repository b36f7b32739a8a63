/* log_level.c - `log-level`: the running instance logs more, or less, for a while. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/exit.h"
#include "base/log.h"
#include "cli/commands/command.h"
#include "cli/instance/ctl.h"
#include "cli/view/output.h"

#define DEFAULT_MS (INT64_C(10) * 60 * 1000)
#define LONGEST_MS (INT64_C(24) * 60 * 60 * 1000)

int command_log_level(const struct options *o)
{
	struct msg request = { .type = MSG_CTL_LOG_LEVEL };
	const int64_t for_ms = o->for_ms ? o->for_ms : DEFAULT_MS;
	const int level = o->n_args ? log_parse_level(o->args[0]) : -1;
	const struct table_view view = options_view(o);
	char span[32];

	if (level < 0)
		return command_misuse(o, "%s", TEXT(TAKES_LEVELS));
	if (for_ms > LONGEST_MS)
		return command_misuse(o, "%s", TEXT(FOR_TOO_LONG));
	request.u.ctl_log_level.level = (uint64_t)level;
	request.u.ctl_log_level.for_ms = (uint64_t)for_ms;
	const int code = ctl_ask(o->socket, &request, 10000, NULL, NULL);

	if (code == EXIT_CODE_OK && o->output == OUTPUT_JSON)
		output_json(json_pack("{s:s, s:I}", "logLevel", o->args[0], "seconds",
				      (json_int_t)(for_ms / 1000)));
	else if (code == EXIT_CODE_OK)
		table_text(stdout, &view, TEXT(LOGGING), o->args[0], table_span(for_ms, span));
	return code;
}
