/* retell.c - see retell.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/retell.h"

#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "model/phrases.h"

#define TAKEN_MAX 8 /* of one row */
#define DEPTH_MAX 6 /* a text in a text; it bounds what a hostile one costs, too */

/* Of two that cover as much, the first. */
static const enum phrase rows[] = {
#define PHRASE(ID, en, zh) PHRASE_##ID,
#include "model/phrases_details.def"
#include "model/phrases_evidence.def"
#include "model/phrases_answers.def"
#include "model/phrases_config.def"
#undef PHRASE
};

/* -- what comes out -- */

struct out {
	char *p;
	size_t size, n;
};

static void put(struct out *o, struct str s)
{
	if (o->size - o->n <= s.n) {
		o->size = 2 * (o->n + s.n) + 64;
		o->p = xreallocarray(o->p, o->size, 1);
	}
	if (s.n > 0)
		memcpy(o->p + o->n, s.p, s.n);
	o->n += s.n;
	o->p[o->n] = '\0';
}

/* -- a row -- */

enum part { PART_END, PART_LITERAL, PART_NUMBER, PART_TEXT, PART_FOREIGN };

/* A row may hold several sentences, as a text does; what stands between them, in either language. */
static size_t between(const char *p)
{
	return strncmp(p, "; ", 2) == 0 ? 2 : strncmp(p, "；", 3) == 0 ? 3 : 0;
}

static size_t literal_length(const char *p)
{
	size_t n = strcspn(p, "%;\xef");

	while (p[n] && p[n] != '%' && !between(p + n))
		n += 1 + strcspn(p + n + 1, "%;\xef");
	return n;
}

/* The sentence behind this one of a row; NULL: it was the last. */
static const char *next_sentence(const char *row)
{
	size_t n = literal_length(row);

	while (row[n] == '%')
		n += 1 + literal_length(row + n + 1);
	return row[n] ? row + n + between(row + n) : NULL;
}

static bool ends(const char *row)
{
	return !*row || between(row) > 0;
}

/* The letter of the conversion at this place; NULL: there is none, as in a library's "%YAML". */
static const char *conversion(const char *p)
{
	const char *letter = *p == '%' ? p + 1 + strspn(p + 1, ".*0123456789lhzjt") : "";

	return *letter && strchr("sdufoxcp", *letter) ? letter : NULL;
}

/* A text, or another sentence of the configuration's. */
static bool is_text(char conversion)
{
	return conversion == 's' || conversion == 'p';
}

/* The next part of a sentence, and its literal. Texts with nothing between them are one. */
static enum part part_of(const char **f, struct str *ret)
{
	const char *p = *f;
	bool foreign = false;
	char c;

	if (!conversion(p)) {
		*ret = (struct str){ p, *p == '%' ? 1 : literal_length(p) };
		*f += ret->n;
		return ret->n ? PART_LITERAL : PART_END;
	}
	do {
		foreign = foreign || p[1] == '.';
		c = *conversion(p);
		p = conversion(p) + 1;
	} while (is_text(c) && conversion(p) && is_text(*conversion(p)));
	*f = p;
	return !is_text(c) ? PART_NUMBER : foreign || *p == '"' ? PART_FOREIGN : PART_TEXT;
}

/* A row that is added to what stands before it. */
static bool is_tail(const char *row)
{
	return *row == ',' || *row == ':' || (row[0] == ' ' && row[1] == '(');
}

/* Not so a piece that only others make a sentence of: "; did you mean ". */
static bool is_sentence(const char *row)
{
	const char *next = next_sentence(row);
	const size_t n = next ? (size_t)(next - row) - 2 : strlen(row);

	return n > 1 && row[n - 1] != ' ' && (*row != ' ' || is_tail(row));
}

struct taken {
	struct str v;
	bool ours; /* may be a sentence in turn */
};

/* A sentence on its way through a row. */
struct match {
	struct str text;
	struct taken taken[TAKEN_MAX];
	size_t n, literal, texts; /* bytes that are the row's own; texts it holds */
};

static size_t number_at(struct str s, size_t at)
{
	const size_t sign = at < s.n && s.p[at] == '-' ? 1 : 0;
	size_t n = sign;

	while (at + n < s.n && isdigit((unsigned char)s.p[at + n]))
		n++;
	return n > sign ? n : 0;
}

/* Literals and numbers at this place, up to the next text of the row (*f stands behind them) or its end.
 * Where they end, or -1. */
static ssize_t run_at(struct match *m, const char **f, size_t at)
{
	const char *here = *f, *next = here;
	struct str literal;
	enum part part;

	while ((part = part_of(&next, &literal)) == PART_LITERAL || part == PART_NUMBER) {
		size_t n = literal.n;

		if (part == PART_NUMBER) {
			n = number_at(m->text, at);
			if (n == 0 || m->n == TAKEN_MAX)
				return -1;
			m->taken[m->n++] = (struct taken){ .v = { m->text.p + at, n } };
		} else if (m->text.n - at < n || memcmp(m->text.p + at, literal.p, n) != 0) {
			return -1;
		} else {
			m->literal += n;
		}
		at += n;
		here = next;
	}
	*f = here;
	return (ssize_t)at;
}

/* The same at the first place from *at on where it fits; what ends the row ends the text. Where it begins and
 * ends. */
static bool find_run(struct match *m, const char **f, size_t *at, size_t *ret_end)
{
	const struct match before = { .n = m->n, .literal = m->literal };
	const char *start = *f;

	if (ends(start)) {
		*at = *ret_end = m->text.n;
		return true;
	}
	for (size_t i = *at; i < m->text.n; i++) {
		const char *hit =
			*start == '%' ? m->text.p + i : memchr(m->text.p + i, *start, m->text.n - i);
		ssize_t end;

		if (!hit)
			return false;
		i = (size_t)(hit - m->text.p);
		*f = start;
		m->n = before.n;
		m->literal = before.literal;
		end = run_at(m, f, i);
		if (end >= 0 && (!ends(*f) || (size_t)end == m->text.n)) {
			*at = i;
			*ret_end = (size_t)end;
			return true;
		}
	}
	return false;
}

/* May the text have been made from this row? */
static bool matches(struct match *m, const char *row)
{
	const char *f = row;
	struct str literal;
	ssize_t run = 0;
	size_t end = 0;

	m->n = m->literal = m->texts = 0;
	if (is_tail(row))
		m->taken[m->n++].ours = true;
	else
		run = run_at(m, &f, 0);
	if (run < 0)
		return false;
	end = (size_t)run;
	while (!ends(f)) {
		const size_t from = end;
		size_t at = from, mine = 0;

		if (!is_tail(row) || f != row) {
			const enum part part = part_of(&f, &literal);

			if (m->n == TAKEN_MAX)
				return false;
			mine = m->n++;
			m->texts++;
			m->taken[mine].ours = part == PART_TEXT;
		}
		if (!find_run(m, &f, &at, &end))
			return false;
		m->taken[mine].v = (struct str){ m->text.p + from, at - from };
		if (from == 0 && !m->taken[mine].ours && memmem(m->text.p, at, ": ", 2))
			return false; /* a name, and what stands before it: tell_named() */
	}
	return end == m->text.n && (!is_tail(row) || m->taken[0].v.n > 0);
}

/* How much of the text a row covers. What was added last without a text of its own, " (seen 3 times)", comes
 * off first: it is no part of what stands before it. */
static size_t weight_of(const struct match *m, const char *row)
{
	return is_tail(row) && m->texts == 0 ? m->text.n + m->literal : m->literal;
}

/* A sentence of a row begins with what the text begins with, or with something that is not its own. */
static bool may_match(struct str text, const char *row)
{
	return (*row == *text.p || *row == '%' || is_tail(row)) && is_sentence(row);
}

/* The Chinese of the sentence that covers most of the text, and whether that is a tail; NULL: none. */
static const char *best_row(struct str text, struct match *ret, bool *ret_tail)
{
	const char *best = NULL;
	struct match m = { .text = text };
	size_t most = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *row = phrase_text(rows[i], LANGUAGE_EN), *zh = phrase_text(rows[i], LANGUAGE_ZH);

		for (; row && zh; row = next_sentence(row), zh = next_sentence(zh)) {
			if (!may_match(text, row) || !matches(&m, row) || weight_of(&m, row) <= most)
				continue;
			*ret = m;
			most = weight_of(&m, row);
			*ret_tail = is_tail(row);
			best = zh;
		}
	}
	return best;
}

/* -- telling -- */

static bool tell(struct out *o, struct str text, int depth);

static void tell_or_copy(struct out *o, struct str text, int depth)
{
	if (!tell(o, text, depth))
		put(o, text);
}

/* "deployments.apps/shop/web: it serves": a name before a sentence. Or a sentence before anything, as "get
 * the workload: 500 etcd: leader changed": one that has words, a single one may be a name. */
static bool tell_named(struct out *o, struct str text, int depth)
{
	const char *colon = text.n > 2 ? memmem(text.p, text.n, ": ", 2) : NULL;
	const size_t before = o->n;

	if (!colon || depth + 1 == DEPTH_MAX)
		return false;
	const struct str name = { text.p, (size_t)(colon - text.p) },
			 rest = { colon + 2, text.n - name.n - 2 };
	const bool named = memchr(name.p, ' ', name.n) && tell(o, name, depth + 1);

	if (!named)
		put(o, name);
	put(o, STR_LIT(": "));
	if (tell(o, rest, depth + 1))
		return true;
	if (named)
		put(o, rest);
	else
		o->n = before;
	return named;
}

/* False, and nothing told: there is no row. */
static bool tell(struct out *o, struct str text, int depth)
{
	struct match m;
	struct str literal;
	size_t next = 0;
	enum part part;
	bool tail;

	if (depth == DEPTH_MAX || text.n == 0)
		return false;
	const char *f = best_row(text, &m, &tail);

	if (!f)
		return tell_named(o, text, depth);
	if (tail)
		tell_or_copy(o, m.taken[next++].v, depth + 1);
	while ((part = part_of(&f, &literal)) != PART_END) {
		if (part == PART_LITERAL)
			put(o, literal);
		else if (m.taken[next].ours)
			tell_or_copy(o, m.taken[next++].v, depth + 1);
		else
			put(o, m.taken[next++].v);
	}
	return true;
}

/* A sentence behind others. A message that is not ours may hold "; ": it keeps it. */
static void tell_next(struct out *o, struct str text, bool begun)
{
	const size_t before = o->n;

	if (begun)
		put(o, STR_LIT("；"));
	if (tell(o, text, 0))
		return;
	o->n = before;
	if (begun)
		put(o, STR_LIT("; "));
	put(o, text);
}

char *retell(const char *text, enum language l)
{
	struct out o = { 0 };
	const char *end;
	bool begun = false;

	if (!text || l != LANGUAGE_ZH)
		return text ? xstrdup(text) : NULL;
	for (;; text = end + 2) {
		struct str s = STR_C(text);

		end = strstr(text, "; ");
		if (end)
			s.n = (size_t)(end - text);
		tell_next(&o, s, begun);
		begun = true;
		if (!end)
			return o.p;
	}
}
