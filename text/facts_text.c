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
	FILE *out;  /* NULL: only `used` is wanted */
	bool *used; /* by enum fact: filled in somewhere */
	unsigned depth;
};

static void fill(struct filling *in, struct str row);

static void put(struct filling *in, const char *p, size_t n)
{
	if (in->out)
		(void)fwrite(p, 1, n, in->out);
}

static void fill_value(struct filling *in, const struct fact_value *v)
{
	const enum text t = fact_kind(v->key) == FACT_KIND_TEXT ? text_find(v->text) : TEXT__MAX;

	if (t < TEXT__MAX && in->depth < DEPTH_MAX) {
		in->depth++;
		fill(in, STR_C(text_in(t, in->view->language)));
		in->depth--;
		return;
	}
	_cleanup_free_ char *value = in->out ? print_value(v, in->view) : NULL;

	if (value)
		put(in, value, strlen(value));
}

/* "{key}" is the value, "{key|one|many}" the word that fits the count. */
static void fill_place(struct filling *in, struct str place)
{
	const char *bar = memchr(place.p, '|', place.n);
	const struct str name = { place.p, bar ? (size_t)(bar - place.p) : place.n };
	const enum fact key = fact_of(name);
	struct fact_value v;

	if (key == FACT__MAX || !facts_find(in->f, key, &v)) {
		put(in, "?", 1);
		return;
	}
	in->used[key] = true;
	if (!bar) {
		fill_value(in, &v);
		return;
	}
	const char *one = bar + 1, *end = place.p + place.n;
	const char *many = memchr(one, '|', (size_t)(end - one));

	if (!many)
		return;
	if (v.number == 1)
		put(in, one, (size_t)(many - one));
	else
		put(in, many + 1, (size_t)(end - many - 1));
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
			const size_t next = 1 + strcspn(row.p + 1, "{["); /* maybe behind this part */
			const size_t plain = next < row.n ? next : row.n;

			put(in, row.p, plain);
			row.p += plain;
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
static void mark_used(struct filling in)
{
	struct fact_value v;

	in.out = NULL;
	for (size_t at = 0; facts_next(in.f, &at, &v);)
		if (is_statement(v.key))
			fill_value(&in, &v);
}

static void print_label(struct filling *in, enum fact key)
{
	const struct marks *m = &marks[in->view->language];
	const char *label = fact_label(key, in->view->language);
	const enum fact_kind kind = fact_kind(key);
	const bool colon =
		kind >= FACT_KIND_QUOTED || (kind == FACT_KIND_TEXT && in->view->language != LANGUAGE_EN);

	if (*label)
		(void)fprintf(in->out, "%s%s", label, colon ? m->colon : " ");
}

/* Entry by entry, without those that stand in a statement. */
static void print_line(struct filling *in)
{
	const struct marks *m = &marks[in->view->language];
	bool after_sentence = false, first = true, said[TEXT__MAX] = { false };
	struct fact_value v;

	mark_used(*in);
	for (size_t at = 0; facts_next(in->f, &at, &v);) {
		const bool quoted = fact_kind(v.key) >= FACT_KIND_QUOTED;
		const bool sentence =
			is_statement(v.key) || (quoted && !*fact_label(v.key, in->view->language));

		/* A statement twice would be filled from the same facts twice. */
		const enum text t = is_statement(v.key) ? text_find(v.text) : TEXT__MAX;

		if (in->used[v.key] || (t < TEXT__MAX && said[t]))
			continue;
		if (t < TEXT__MAX)
			said[t] = true;
		if (!first)
			(void)fputs(after_sentence || sentence ? m->quoted_next : m->next, in->out);
		print_label(in, v.key);
		fill_value(in, &v);
		after_sentence = sentence || quoted;
		first = false;
	}
}

char *facts_render(const struct facts *f, const struct facts_view *view)
{
	bool used[FACT__MAX] = { false };
	_cleanup_free_ char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		abort();
	if (f)
		print_line(&(struct filling){
			.f = f, .view = view ? view : &english, .out = out, .used = used });
	(void)fclose(out);
	return TAKE_PTR(line);
}

char *facts_render_in(const struct facts *f, enum language l)
{
	return facts_render(f, &(const struct facts_view){ .language = l });
}
