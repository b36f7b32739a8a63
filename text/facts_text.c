/* facts_text.c - see facts_text.h. */
// SPDX-License-Identifier: Apache-2.0
#include "text/facts_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/xalloc.h"
#include "model/sentence.h"
#include "text/texts.h"

/* What stands between facts, between a label and words of others, and behind those. */
static const struct marks {
	const char *next, *colon, *quoted_next;
} marks[LANGUAGE__MAX] = { [LANGUAGE_EN] = { ", ", ": ", "; " }, [LANGUAGE_ZH] = { "，", "：", "；" } };

static char *print_sentence(struct str packed, enum language l)
{
	_cleanup_free_ char *sentence = xstrndup(packed.p, packed.n);

	return sentence_text(sentence, l);
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

	struct facts about;

	switch (fact_kind(v->key)) {
	case FACT_KIND_TIME:
		return print_time(v->number, view);
	case FACT_KIND_DURATION:
		return xstrdup(duration_short(v->number, text));
	case FACT_KIND_COUNT:
		return xasprintf("%" PRId64, v->number);
	case FACT_KIND_SENTENCE:
		return print_sentence(v->text, view->language);
	case FACT_KIND_FACTS:
		fact_facts(v, &about);
		return facts_render(&about, view);
	case FACT_KIND_TEXT:
	case FACT_KIND_NAME:
	case FACT_KIND_QUOTED:
		break;
	}
	return xstrndup(v->text.p, v->text.n);
}

/* -- statements: the rows of texts.def with their places filled -- */

#define DEPTH_MAX 3 /* a value may be a statement in turn */

struct filling {
	const struct facts *f;
	const struct facts_view *view;
	FILE *out;
	bool *used; /* by enum fact: filled in somewhere */
	unsigned depth;
};

static void fill(struct filling *in, struct str row);

static void fill_value(struct filling *in, const struct fact_value *v)
{
	const enum text t = fact_kind(v->key) == FACT_KIND_TEXT ? text_find(v->text) : TEXT__MAX;

	if (t < TEXT__MAX && in->depth < DEPTH_MAX) {
		in->depth++;
		fill(in, STR_C(text_in(t, in->view->language)));
		in->depth--;
		return;
	}
	_cleanup_free_ char *value = print_value(v, in->view);

	(void)fputs(value, in->out);
}

/* "{key}" is the value, "{key|one|many}" the word that fits the count. */
static void fill_place(struct filling *in, struct str place)
{
	const char *bar = memchr(place.p, '|', place.n);
	const struct str name = { place.p, bar ? (size_t)(bar - place.p) : place.n };
	const enum fact key = fact_of(name);
	struct fact_value v;

	if (key == FACT__MAX || !facts_find(in->f, key, &v)) {
		(void)fputc('?', in->out);
		return;
	}
	in->used[key] = true;
	if (!bar) {
		fill_value(in, &v);
		return;
	}
	const char *one = bar + 1, *end = place.p + place.n;
	const char *many = memchr(one, '|', (size_t)(end - one));

	if (many)
		(void)(v.number == 1 ? fwrite(one, 1, (size_t)(many - one), in->out)
				     : fwrite(many + 1, 1, (size_t)(end - many - 1), in->out));
}

/* Is every fact known that this part of a row has a place for? */
static bool part_known(const struct facts *f, struct str part)
{
	struct fact_value v;

	for (size_t i = 0; i < part.n; i++) {
		const char *place = part.p + i + 1;

		if (part.p[i] != '{')
			continue;
		const enum fact key = fact_of((struct str){ place, strcspn(place, "|}") });

		if (key == FACT__MAX || !facts_find(f, key, &v))
			return false;
	}
	return true;
}

/* Print a row; a part in [brackets] only where all of its facts are known. */
static void fill(struct filling *in, struct str row)
{
	for (const char *end = row.p + row.n; row.p < end; row.n = (size_t)(end - row.p)) {
		const char close = *row.p == '{' ? '}' : *row.p == '[' ? ']' : '\0';
		const char *last = close ? memchr(row.p, close, row.n) : NULL;

		if (!last) {
			(void)fputc(*row.p++, in->out);
			continue;
		}
		const struct str inner = { row.p + 1, (size_t)(last - row.p) - 1 };

		row.p = last + 1;
		if (close == '}')
			fill_place(in, inner);
		else if (part_known(in->f, inner))
			fill(in, inner);
	}
}

static const struct facts_view english;

char *facts_fill(const char *row, const struct facts *f, const struct facts_view *view)
{
	bool used[FACT__MAX] = { false };
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	fill(&(struct filling){ .f = f, .view = view ? view : &english, .out = out, .used = used },
	     STR_C(row));
	(void)fclose(out);
	return TAKE_PTR(text);
}

/* -- a line -- */

static bool is_statement(enum fact key)
{
	return fact_kind(key) == FACT_KIND_TEXT && !*fact_label(key, LANGUAGE_EN);
}

/* Note what stands in a statement, and is not said again beside it. */
static void mark_used(const struct facts *f, const struct facts_view *view, bool used[static FACT__MAX])
{
	_cleanup_free_ char *nowhere = NULL;
	struct fact_value v;
	size_t size;
	FILE *out = open_memstream(&nowhere, &size);

	if (!out)
		abort();
	struct filling in = { .f = f, .view = view, .out = out, .used = used };

	for (size_t at = 0; facts_next(f, &at, &v);)
		if (is_statement(v.key))
			fill_value(&in, &v);
	(void)fclose(out);
}

/* Each entry alone, the caller frees it; NULL: it stands in a statement. */
static char *print_entry(const struct facts *f, const struct fact_value *v, const struct facts_view *view,
			 bool used[static FACT__MAX])
{
	const struct marks *m = &marks[view->language];
	const char *label = fact_label(v->key, view->language);
	const enum fact_kind kind = fact_kind(v->key);
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = used[v->key] ? NULL : open_memstream(&text, &size);

	if (!out)
		return NULL;
	struct filling in = { .f = f, .view = view, .out = out, .used = used };

	if (*label)
		(void)fprintf(out, "%s%s", label,
			      kind >= FACT_KIND_QUOTED ||
					      (kind == FACT_KIND_TEXT && view->language != LANGUAGE_EN)
				      ? m->colon
				      : " ");
	fill_value(&in, v);
	(void)fclose(out);
	return TAKE_PTR(text);
}

char *facts_render(const struct facts *f, const struct facts_view *view)
{
	bool used[FACT__MAX] = { false }, after_sentence = false, first = true;
	_cleanup_free_ char *line = NULL;
	struct fact_value v;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		abort();
	view = view ? view : &english;
	const struct marks *m = &marks[view->language];

	if (f)
		mark_used(f, view, used);
	for (size_t at = 0; f && facts_next(f, &at, &v);) {
		_cleanup_free_ char *entry = print_entry(f, &v, view, used);
		const bool quoted = fact_kind(v.key) >= FACT_KIND_QUOTED;
		const bool sentence = is_statement(v.key) || (quoted && !*fact_label(v.key, view->language));

		if (!entry)
			continue;
		(void)fprintf(out, "%s%s",
			      first                        ? ""
			      : after_sentence || sentence ? m->quoted_next
							   : m->next,
			      entry);
		after_sentence = sentence || quoted;
		first = false;
	}
	(void)fclose(out);
	return TAKE_PTR(line);
}

char *facts_render_in(const struct facts *f, enum language l)
{
	return facts_render(f, &(const struct facts_view){ .language = l });
}
