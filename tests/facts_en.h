/* facts_en.h - facts as English, for assertions. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_FACTS_EN_H
#define TESTS_FACTS_EN_H

#include <stdio.h>
#include <stdlib.h>

#include "text/facts_text.h"
#include "text/texts.h"

/* The line that a log has; valid until eight others were asked for. */
#define EN(facts) facts_en(&(facts))
static inline const char *facts_en(const struct facts *f)
{
	static char lines[8][4096];
	static unsigned next;
	char *line = lines[next++ % 8], *text = facts_render(f, NULL);

	(void)snprintf(line, sizeof(lines[0]), "%s", text);
	free(text);
	return line;
}

/* The same of a value that has no address. */
#define EN_OF(of) facts_en((const struct facts[1]){ of })

/* What a request failed by: words of libcurl. */
static inline void transport_said(struct facts *f, const char *words)
{
	facts_text(f, FACT_PROBLEM, TEXT_TRANSPORT);
	facts_quoted(f, FACT_TRANSPORT, STR_C(words));
}

/* Facts that are words of somebody else. */
static inline struct facts quoting(const char *words)
{
	struct facts f = { .n = 0 };

	facts_quoted(&f, FACT_WHY, STR_C(words));
	return f;
}

/* The same in place of what was there. */
#define SET_SAID(of, en) set_said(&(of), en)
static inline void set_said(struct facts *f, const char *en)
{
	*f = quoting(en);
}

#endif
