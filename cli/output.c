/* output.c - see output.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "model/actions.h"
#include "model/reasons.h"

void output_json(json_t *root)
{
	(void)json_dumpf(root, stdout, JSON_INDENT(2));
	(void)fputc('\n', stdout);
	json_decref(root);
}

json_t *output_json_time(int64_t ms)
{
	char buf[RFC3339_MAX];

	rfc3339_format(ms, true, buf);
	return ms == 0 ? json_null() : json_string(buf);
}

json_t *output_json_text(const char *s)
{
	return s[0] ? json_string(s) : json_null();
}

const char *output_sentence(const char *code)
{
	const int r = reason_parse(code);

	return r < 0 ? "" : reason_sentence((enum reason)r);
}

const char *output_remedy(const char *code)
{
	const int r = reason_parse(code);

	return r < 0 ? "" : reason_remedy((enum reason)r);
}

const char *output_action(uint64_t action)
{
	static const char *const names[] = {
		[ACTION_DUTY] = "duty", [ACTION_RETRY] = "retry", [ACTION_RESTORE] = "restore"
	};

	return action < ARRAY_SIZE(names) ? names[action] : "?";
}
