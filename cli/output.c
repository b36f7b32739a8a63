/* output.c - see output.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <stdio.h>

#include "base/rfc3339.h"
#include "model/duties.h"
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

json_t *output_json_replicas(int64_t n)
{
	return n < 0 ? json_null() : json_integer(n);
}

const char *output_sentence(const char *code)
{
	return reason_find(code)->text[LANGUAGE_EN].sentence;
}

const char *output_remedy(const char *code)
{
	return reason_find(code)->text[LANGUAGE_EN].remedy;
}

const char *output_action(uint64_t action)
{
	return action < ACTION__MAX ? action_desc((enum action_kind)action)->name : "?";
}

void output_duty(char *ret, size_t size, uint64_t duty, uint64_t action)
{
	const struct duty_desc *d = duty_desc((enum duty)duty);
	const bool own = action == d->action;

	(void)snprintf(ret, size, "%s%s%s", d->name, own ? "" : " ", own ? "" : output_action(action));
}
