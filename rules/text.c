/* text.c - see text.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"

const char *text_duration(int64_t ms, char buf[static DURATION_MAX])
{
	static const struct {
		int64_t ms;
		const char *unit;
	} units[] = { { 86400000, "d" }, { 3600000, "h" }, { 60000, "m" }, { 1000, "s" } };
	size_t i, n;

	if (ms > 0 && ms < 1000) {
		(void)snprintf(buf, DURATION_MAX, "%" PRId64 "ms", ms);
		return buf;
	}
	for (i = 0; i < ARRAY_SIZE(units) && ms >= 0; i++) {
		if (ms < units[i].ms)
			continue;
		n = (size_t)snprintf(buf, DURATION_MAX, "%" PRId64 "%s", ms / units[i].ms, units[i].unit);
		ms %= units[i].ms;
		if (i + 1 < ARRAY_SIZE(units) && ms >= units[i + 1].ms)
			(void)snprintf(buf + n, DURATION_MAX - n, "%" PRId64 "%s", ms / units[i + 1].ms,
				       units[i + 1].unit);
		return buf;
	}
	(void)snprintf(buf, DURATION_MAX, "0s");
	return buf;
}

void text_print(char *dst, size_t size, const char *fmt, va_list ap)
{
	char raw[1024];
	const int n = vsnprintf(raw, sizeof(raw), fmt, ap);

	(void)str_copy_printable(dst, size, raw, n < 0 ? 0 : strlen(raw));
}

void text_evidence(struct verdict *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_print(v->evidence, sizeof(v->evidence), fmt, ap);
	va_end(ap);
}

void text_append(struct verdict *v, const char *fmt, ...)
{
	char more[128];
	size_t at = strlen(v->evidence), n;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(more, sizeof(more), fmt, ap);
	va_end(ap);
	n = strlen(more);
	if (at > sizeof(v->evidence) - 1 - n)
		at = sizeof(v->evidence) - 1 - n;
	/* Never half a character before it. */
	while (at > 0 && ((unsigned char)v->evidence[at] & 0xc0) == 0x80)
		at--;
	(void)str_copy_printable(v->evidence + at, sizeof(v->evidence) - at, more, n);
}
