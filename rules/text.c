/* text.c - see text.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "text/facts_text.h"

void text_print(char *dst, size_t size, const char *fmt, va_list ap)
{
	char raw[1024];
	const int n = vsnprintf(raw, sizeof(raw), fmt, ap);

	(void)str_copy_printable(dst, size, raw, n < 0 ? 0 : strlen(raw));
}

void text_evidence(struct verdict *v, const char *fmt, ...)
{
	char text[EVIDENCE_MAX];
	va_list ap;

	va_start(ap, fmt);
	text_print(text, sizeof(text), fmt, ap);
	va_end(ap);
	v->evidence = (struct facts){ 0 };
	facts_said(&v->evidence, text);
}

const char *text_of(const struct facts *f, char buf[static EVIDENCE_MAX])
{
	_cleanup_free_ char *line = facts_render(f, NULL);

	(void)snprintf(buf, EVIDENCE_MAX, "%s", line);
	return buf;
}

void text_append(struct verdict *v, const char *fmt, ...)
{
	char more[EVIDENCE_MAX], before[EVIDENCE_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(more, sizeof(more), fmt, ap);
	va_end(ap);
	if (more[0] == ';')
		facts_said(&v->evidence, more + 2);
	else
		text_evidence(v, "%s%s", text_of(&v->evidence, before), more);
}
