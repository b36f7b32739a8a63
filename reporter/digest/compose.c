/* compose.c - see compose.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/digest/compose.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

static char *next_line(const char **p)
{
	const char *begin = *p + strspn(*p, " "), *end = begin + strcspn(begin, "\n");

	*p = *end ? end + 1 : end;
	return xasprintf("%.*s", (int)(end - begin), begin);
}

/* The first line of a paragraph is its title. */
static void add_entry(struct section *s, const char *paragraph)
{
	_cleanup_free_ char *title = next_line(&paragraph);
	struct entry *e = section_add_entry(s, title);

	while (*paragraph) {
		_cleanup_free_ char *line = next_line(&paragraph);

		entry_add_line(e, line);
	}
}

static void add_section(struct document *d, const char *title, char *const *v, size_t n, uint64_t top)
{
	const size_t shown = top && top < n ? (size_t)top : n;

	if (n == 0)
		return;
	struct section *s = document_add_section(d, title);

	for (size_t i = 0; i < shown; i++)
		add_entry(s, v[i]);
	s->more = n - shown;
}

void digest_compose(const struct digest *d, const struct digest_context *ctx, const char *title,
		    const struct sink_settings *s, int64_t at_ms, struct document *ret)
{
	_cleanup_(digest_text_done) struct digest_text t;
	const size_t rows = 1 + d->n_workloads;

	digest_render(d, ctx, &t);
	document_init(ret, NEWS_REPORT, (enum language)s->language, at_ms);
	ret->tone = d->n_workloads + ctx->attention.n > 0 ? TONE_WARNING : TONE_GOOD;
	document_set_title(ret, title);
	for (const char *p = t.v[0]; *p;) {
		_cleanup_free_ char *line = next_line(&p);

		document_add_line(ret, line);
	}
	add_section(ret, "", t.v + 1, d->n_workloads, s->top);
	if (t.n > rows) {
		const char *p = t.v[rows];
		_cleanup_free_ char *head = next_line(&p);

		add_section(ret, head, t.v + rows + 1, t.n - rows - 1, 0);
	}
}
