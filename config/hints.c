/* hints.c - see hints.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/hints.h"

#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"

static const struct hint {
	const char *said, *written, *remedy, *ascii;
} hints[] = {
#define HINT(said, written, remedy) { said, written, remedy, NULL },
#define FULL_WIDTH(written, ascii)  { "", written, NULL, ascii },
#define MEANT(word, option)
#include "config/hints.def"
#undef MEANT
#undef FULL_WIDTH
#undef HINT
};

static const struct {
	const char *word, *option;
} meant[] = {
#define HINT(said, written, remedy)
#define FULL_WIDTH(written, ascii)
#define MEANT(word, option) { word, option },
#include "config/hints.def"
#undef MEANT
#undef FULL_WIDTH
#undef HINT
};

const char *hint_meant(const char *word, const char *const *options, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(meant); i++)
		for (size_t o = 0; o < n && strcasecmp(word, meant[i].word) == 0; o++)
			if (strcmp(options[o], meant[i].option) == 0)
				return options[o];
	return NULL;
}

/* The line of that number, from 1 on; empty when there is none. */
static struct str line_of(const char *text, size_t n, size_t number)
{
	const char *p = text, *end = text + n, *stop;

	while (number > 1 && (p = memchr(p, '\n', (size_t)(end - p)))) {
		p++;
		number--;
	}
	if (!p || number == 0)
		return (struct str){ text, 0 };
	stop = memchr(p, '\n', (size_t)(end - p));
	return (struct str){ p, (size_t)((stop ? stop : end) - p) };
}

/* Where it stands in that line, in characters from 1 on; 0 = nowhere, or in a comment. */
static size_t column_of(struct str line, const char *written)
{
	const char *at = memmem(line.p, line.n, written, strlen(written));
	const char *comment = memmem(line.p, line.n, " #", 2);
	size_t column = 1;

	if (!at || (comment && comment < at))
		return 0;
	for (const char *p = line.p; p < at; p++)
		column += ((unsigned char)*p & 0xc0) != 0x80;
	return column;
}

/* Owned by the caller. */
static char *remedy_of(const struct diags *d, const struct hint *h)
{
	if (h->remedy)
		return xstrdup(diags_said(d, h->remedy));
	return xasprintf(diags_said(d, "'%s' is full-width: write %s"), h->written, diags_said(d, h->ascii));
}

static void add_one(const char *text, size_t n, struct diags *d, size_t i, const struct hint *h)
{
	const struct diag *one = &d->v[i];

	if (!strstr(one->text, diags_said(d, h->said)) || strstr(one->text, diags_said(d, "full-width")))
		return;
	_cleanup_free_ char *remedy = remedy_of(d, h);

	if (!*h->written) {
		diags_append(d, i, remedy);
		return;
	}
	for (size_t up = 0; up < 2 && up < one->line; up++) {
		const size_t line = one->line - up, column = column_of(line_of(text, n, line), h->written);

		if (column) {
			_cleanup_free_ char *placed =
				xasprintf(diags_said(d, "line %zu, column %zu: %s"), line, column, remedy);

			diags_append(d, i, placed);
			return;
		}
	}
}

void hints_add(const char *text, size_t n, struct diags *d, size_t from)
{
	for (size_t i = from; i < d->n; i++)
		for (size_t h = 0; d->v[i].error && h < sizeof(hints) / sizeof(hints[0]); h++)
			add_one(text, n, d, i, &hints[h]);
}
