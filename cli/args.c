/* args.c - see args.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/args.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/duration.h"
#include "model/duty.h"
#include "base/rfc3339.h"
#include "ipc/msg.h"

int args_parse_span(const char *s, int64_t *ret)
{
	int64_t span_ns;
	const char *err;

	if (duration_parse(s, strlen(s), &span_ns, &err) < 0 || span_ns < 1000000)
		return -1;
	*ret = span_ns / 1000000;
	return 0;
}

int args_parse_since(const char *s, int64_t *ret)
{
	int64_t span_ns;
	const char *err;

	if (rfc3339_parse(s, strlen(s), ret) == 0)
		return 0;
	if (duration_parse(s, strlen(s), &span_ns, &err) < 0 || span_ns < 0)
		return -1;
	*ret = clock_wall_ms() - span_ns / 1000000;
	return 0;
}

int args_parse_duty(const char *s, int64_t *ret)
{
	for (int d = 0; d < DUTY_RESTARTS; d++) {
		if (strcmp(duty_name((enum duty)d), s) == 0) {
			*ret = d;
			return 0;
		}
	}
	return -1;
}

int args_parse_outcome(const char *s, uint64_t *ret)
{
	for (int o = 0; o <= OUTCOME__MAX; o++) { /* the last one is "open" */
		*ret = UINT64_C(1) << o;
		if (strcmp(outcome_name((enum outcome)o), s) == 0)
			return 0;
	}
	return -1;
}

const char *args_action_name(uint64_t action)
{
	static const char *const names[] = {
		[ACTION_DUTY] = "duty", [ACTION_RETRY] = "retry", [ACTION_RESTORE] = "restore"
	};

	return action < ARRAY_SIZE(names) ? names[action] : "?";
}

json_t *args_json_time(int64_t ms)
{
	char buf[RFC3339_MAX];

	if (ms == 0)
		return json_null();
	rfc3339_format(ms, true, buf);
	return json_string(buf);
}

void args_print_json(json_t *root)
{
	(void)json_dumpf(root, stdout, JSON_INDENT(2));
	(void)fputc('\n', stdout);
	json_decref(root);
}
