/* facts_text.c - see facts_text.h. */
// SPDX-License-Identifier: Apache-2.0
#include "text/facts_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/xalloc.h"
#include "model/retell.h"
#include "text/texts.h"

/* What stands between facts, between a label and words of others, and behind those. */
static const struct marks {
	const char *next, *colon, *quoted_next;
} marks[LANGUAGE__MAX] = { [LANGUAGE_EN] = { ", ", ": ", "; " }, [LANGUAGE_ZH] = { "，", "：", "；" } };

static char *print_said(struct str said, enum language l)
{
	_cleanup_free_ char *en = xstrndup(said.p, said.n);

	return retell(en, l);
}

static char *print_text(struct str code, enum language l)
{
	const enum text t = text_find(code);

	return t < TEXT__MAX ? xstrdup(text_in(t, l)) : xstrndup(code.p, code.n);
}

static char *print_time(int64_t ms, const struct facts_view *view)
{
	char text[RFC3339_MAX];

	if (view->format_time)
		view->format_time(view->zone, ms, text);
	else
		rfc3339_format(ms, false, text);
	return xstrdup(text);
}

/* The value alone; the caller frees it. */
static char *print_value(const struct fact_value *v, const struct facts_view *view)
{
	char text[DURATION_MAX];

	if (v->key == FACT_SAID)
		return print_said(v->text, view->language);
	switch (fact_kind(v->key)) {
	case FACT_KIND_TIME:
		return print_time(v->number, view);
	case FACT_KIND_DURATION:
		return xstrdup(duration_short(v->number, text));
	case FACT_KIND_COUNT:
		return xasprintf("%" PRId64, v->number);
	case FACT_KIND_TEXT:
		return print_text(v->text, view->language);
	case FACT_KIND_NAME:
	case FACT_KIND_QUOTED:
		break;
	}
	return xstrndup(v->text.p, v->text.n);
}

char *facts_render(const struct facts *f, const struct facts_view *view)
{
	static const struct facts_view english;
	const struct marks *m = &marks[(view = view ? view : &english)->language];
	_cleanup_free_ char *line = NULL;
	bool after_quoted = false;
	struct fact_value v;
	size_t size, at = 0;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return xstrdup("");
	for (bool first = true; f && facts_next(f, &at, &v); first = false) {
		const bool quoted = fact_kind(v.key) == FACT_KIND_QUOTED;
		const char *label = fact_label(v.key, view->language);
		const bool colon =
			quoted || (view->language != LANGUAGE_EN && fact_kind(v.key) == FACT_KIND_TEXT);
		_cleanup_free_ char *value = print_value(&v, view);

		(void)fprintf(out, "%s%s%s%s",
			      first                                 ? ""
			      : after_quoted || (quoted && !*label) ? m->quoted_next
								    : m->next,
			      label,
			      !*label ? ""
			      : colon ? m->colon
				      : " ",
			      value);
		after_quoted = quoted;
	}
	(void)fclose(out);
	return TAKE_PTR(line);
}

char *facts_render_in(const struct facts *f, enum language l)
{
	return facts_render(f, &(const struct facts_view){ .language = l });
}
