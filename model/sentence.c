/* sentence.c - see sentence.h. A packed sentence: OPEN, the ID of its row, END, each argument with END behind
 * it, CLOSE. */
// SPDX-License-Identifier: Apache-2.0
#include "model/sentence.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/unicode.h"
#include "base/xalloc.h"

#define OPEN          '\x02'
#define CLOSE         '\x03'
#define END           '\x1f'
#define ARGUMENTS_MAX 10 /* of one row */
#define DEPTH_MAX     8  /* a sentence in a sentence */
#define FLAGS         "-+ #0123456789"

static const struct {
	enum phrase row;
	const char *id;
} rows[] = {
#define PHRASE(ID, ...) { PHRASE_##ID, #ID },
#include "model/phrases_config.def"
#undef PHRASE
};

static size_t find_row(struct str id)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(rows) && !str_is(id, rows[i].id))
		i++;
	return i;
}

bool sentence_ok(struct str s)
{
	size_t from = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != OPEN && s.p[i] != CLOSE && s.p[i] != END)
			continue;
		if (!unicode_all_printable(s.p + from, i - from))
			return false;
		from = i + 1;
	}
	return unicode_all_printable(s.p + from, s.n - from);
}

/* -- pack -- */

/* Returns its length, behind which the arguments go. */
static size_t pack_head(char *dst, size_t size, enum phrase row)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(rows) && rows[i].row != row)
		i++;
	return (size_t)snprintf(dst, size, "%c%s%c", OPEN, i < ARRAY_SIZE(rows) ? rows[i].id : "", END);
}

const char *sentence_word(char dst[static SENTENCE_WORD_MAX], enum phrase row)
{
	const size_t n = pack_head(dst, SENTENCE_WORD_MAX - 1, row);

	dst[n] = CLOSE;
	dst[n + 1] = '\0';
	return dst;
}

/* A conversion of a format, from its '%' on. */
struct conversion {
	char spec[16]; /* as printf takes it, without "*" */
	bool star;     /* ".*": its precision is an argument */
	char length, kind;
	size_t n;
};

static struct conversion read_conversion(const char *p)
{
	struct conversion c = { 0 };
	const char *end = p + 1 + strspn(p + 1, FLAGS ".*");
	const char *kind = end + strspn(end, "lzjh");

	c.star = kind > p && memchr(p, '*', (size_t)(end - p)) != NULL;
	c.length = kind > end ? (kind[-1] == 'l' && kind - end == 2 ? 'q' : kind[-1]) : '\0';
	c.kind = *kind;
	c.n = (size_t)(kind - p) + 1;
	(void)snprintf(c.spec, sizeof(c.spec), "%.*s", (int)c.n, p);
	return c;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static size_t print_number(char ret[static 64], const struct conversion *c, va_list *ap)
{
	int n = 0;

	if (c->kind == 'f')
		n = snprintf(ret, 64, c->spec, va_arg(*ap, double));
	else if (c->length == 'z')
		n = snprintf(ret, 64, c->spec, va_arg(*ap, size_t));
	else if (c->length == 'q')
		n = snprintf(ret, 64, c->spec, va_arg(*ap, long long));
	else if (c->length == 'l' || c->length == 'j')
		n = snprintf(ret, 64, c->spec, va_arg(*ap, long));
	else
		n = snprintf(ret, 64, c->spec, va_arg(*ap, int));
	return (size_t)n;
}
#pragma GCC diagnostic pop

/* Append an argument at w. Returns where the next one goes. */
static size_t pack_one(char *dst, size_t w, const struct conversion *c, va_list *ap)
{
	const size_t room = SENTENCE_MAX - 2 - w; /* END and CLOSE, and the NUL behind them, fit as well */
	char number[64];

	if (room <= 1)
		return w;
	if (c->kind == 's') {
		const int most = c->star ? va_arg(*ap, int) : -1;
		const char *dot = strchr(c->spec, '.'), *s = va_arg(*ap, const char *);
		uint64_t precision = 0;

		if (dot && !c->star)
			(void)str_to_u64(dot + 1, strspn(dot + 1, "0123456789"), &precision);
		const size_t n = most >= 0         ? strnlen(s, (size_t)most)
				 : dot && !c->star ? strnlen(s, precision)
						   : strlen(s);

		w += str_copy_printable(dst + w, room, s, n);
	} else if (c->kind == 'p') {
		const char *s = va_arg(*ap, const char *);
		const size_t n = strlen(s);

		if (n < room)
			memcpy(dst + w, s, n);
		w += n < room ? n : 0;
	} else {
		const size_t n = print_number(number, c, ap);

		w += str_copy_printable(dst + w, room, number, n);
	}
	dst[w++] = END;
	return w;
}

void sentence_vpack(char dst[static SENTENCE_MAX], enum phrase row, const char *en, va_list *ap)
{
	size_t w = pack_head(dst, SENTENCE_MAX, row);

	for (const char *p = en; (p = strchr(p, '%'));) {
		const struct conversion c = read_conversion(p);

		p += c.n;
		if (c.kind != '%')
			w = pack_one(dst, w, &c, ap);
	}
	dst[w++] = CLOSE;
	dst[w] = '\0';
}

int sentence_pack(char dst[static SENTENCE_MAX], enum phrase row, const char *en, ...)
{
	va_list ap;

	va_start(ap, en);
	sentence_vpack(dst, row, en, &ap);
	va_end(ap);
	return -EINVAL;
}

/* -- words -- */

/* Behind the argument at p, which may be a sentence. */
static const char *skip_argument(const char *p)
{
	for (int depth = 0; *p && (depth > 0 || *p != END); p++)
		depth += (*p == OPEN) - (*p == CLOSE);
	return *p ? p + 1 : p;
}

/* Print the sentence at p. */
static void print(FILE *out, const char *p, enum language l, unsigned depth)
{
	const char *argument[ARGUMENTS_MAX] = { 0 };
	size_t n = 0, used = 0;

	if (*p != OPEN || depth == DEPTH_MAX) {
		p += *p == OPEN;
		(void)fprintf(out, "%.*s", (int)strcspn(p, (char[]){ END, CLOSE, 0 }), p);
		return;
	}
	const struct str id = { p + 1, strcspn(p + 1, (char[]){ END, CLOSE, 0 }) };
	const size_t row = find_row(id);
	const char *text = row < ARRAY_SIZE(rows) ? phrase_text(rows[row].row, l) : "?";

	p = id.p + id.n;
	for (p += *p == END; *p && *p != CLOSE && n < ARGUMENTS_MAX; p = skip_argument(p))
		argument[n++] = p;
	while (*text) {
		const size_t literal = strcspn(text, "%");

		(void)fwrite(text, 1, literal, out);
		text += literal;
		if (!*text)
			break;
		const struct conversion c = read_conversion(text);

		text += c.n;
		if (c.kind == '%')
			(void)fputc('%', out);
		else if (used < n)
			print(out, argument[used++], l, depth + 1);
	}
}

char *sentence_text(const char *sentence, enum language l)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	if (out) {
		print(out, sentence, l, 0);
		(void)fclose(out);
	}
	return text ? text : xstrdup("");
}
