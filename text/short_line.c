/* short_line.c - see short_line.h. */
// SPDX-License-Identifier: Apache-2.0
#include "text/short_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "text/facts_text.h"
#include "text/texts.h"

static struct str find(const struct facts *const of[2], enum fact key)
{
	struct fact_value v;

	for (int i = 0; i < 2; i++)
		if (!facts_empty(of[i]) && facts_find(of[i], key, &v))
			return v.text;
	return (struct str){ "", 0 };
}

/* A kubelet quotes the runtime, which quotes the registry: what was answered stands behind the last colon. A
 * text that was cut has lost it. */
static struct str answer_in(struct str said)
{
	static const char cut[] = "…";
	const size_t n = sizeof(cut) - 1;

	if (said.n > n && memcmp(said.p + said.n - n, cut, n) == 0)
		return said;
	for (size_t i = said.n; i-- > 2;)
		if (said.p[i - 1] == ' ' && said.p[i - 2] == ':')
			return (struct str){ said.p + i, said.n - i };
	return said;
}

/* "The node was low on resource: memory. Threshold quantity: ..." */
static struct str first_sentence(struct str said)
{
	for (size_t i = 0; i + 1 < said.n; i++)
		if (said.p[i] == '.' && said.p[i + 1] == ' ')
			return (struct str){ said.p, i };
	return said.n > 0 && said.p[said.n - 1] == '.' ? (struct str){ said.p, said.n - 1 } : said;
}

/* Between characters, with a mark. */
static void cut(char *line)
{
	size_t chars = 0;

	for (char *c = line; *c; c++) {
		if (((unsigned char)*c & 0xc0) == 0x80)
			continue;
		if (++chars == SHORT_LINE_MAX && strlen(c) > strlen("…") && c[1]) {
			memcpy(c, "…", sizeof("…"));
			return;
		}
	}
}

/* How often it crashed, and how the last time. Owned by the caller; NULL: it did not. */
static char *crash_line(const struct facts *const of[2], enum language l)
{
	struct fact_value v;

	for (int i = 0; i < 2; i++)
		if (!facts_empty(of[i]) && facts_find(of[i], FACT_RESTARTS, &v) &&
		    facts_find(of[i], FACT_EXIT_CODE, &v))
			return facts_fill(text_in(TEXT_SHORT_CRASH, l), of[i], NULL);
	return NULL;
}

char *short_line(const struct facts *detail, const struct facts *evidence, enum language l)
{
	return short_line_beside(NULL, detail, evidence, l);
}

char *short_line_beside(const struct facts *shown, const struct facts *detail, const struct facts *evidence,
			enum language l)
{
	const struct facts *const beside[2] = { shown };
	const struct facts *const of[2] = { detail, evidence };
	const struct str image = find(of, FACT_IMAGE), evicted = find(of, FACT_POD_MESSAGE);
	struct str said = find(of, FACT_MESSAGE);
	struct facts f = { 0 };

	said = said.n ? said : find(of, FACT_CAUSE_TEXT);
	facts_name(&f, FACT_IMAGE, image);
	if (!find(beside, FACT_NODE).n)
		facts_name(&f, FACT_NODE, find(of, FACT_NODE));
	facts_quoted(&f, FACT_MESSAGE, answer_in(said));
	facts_quoted(&f, FACT_POD_MESSAGE, first_sentence(evicted));
	const bool pulls = image.n && said.n;
	char *line =
		evicted.n || pulls
			? facts_fill(text_in(evicted.n ? TEXT_SHORT_EVICTED : TEXT_SHORT_PULL, l), &f, NULL)
			: crash_line(of, l);

	if (!line)
		return xstrdup("");
	cut(line);
	return line;
}

char *quote_title(enum quote_kind kind, struct str pod, struct str container, struct str image,
		  enum language l)
{
	const enum text row = kind == QUOTE_LOG ? TEXT_QUOTE_LOG
			      : container.n     ? TEXT_QUOTE_CONTAINER
						: TEXT_QUOTE_POD;
	struct facts f = { 0 };

	facts_name(&f, FACT_POD, pod);
	facts_name(&f, FACT_CONTAINER, container);
	facts_name(&f, FACT_IMAGE, image);
	return facts_fill(text_in(row, l), &f, NULL);
}
