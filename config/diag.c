/* diag.c - see diag.h. A packed sentence: OPEN, its row in two bytes, each argument with END behind it,
 * CLOSE. */
// SPDX-License-Identifier: Apache-2.0
#include "config/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"

#define OPEN           '\x02'
#define CLOSE          '\x03'
#define END            '\x1f'
#define HEAD           3    /* bytes of OPEN and the row */
#define ARGUMENTS_MAX  10   /* of one row */
#define LINE_MAX_BYTES 1000 /* a LOAD_LINE holds 1023 */
#define FLAGS          "-+ #0123456789"

/* -- pack -- */

const char *sentence_word(char dst[static 5], enum phrase row)
{
	const char text[5] = { OPEN, (char)(0x80 | row >> 7), (char)(0x80 | (row & 0x7f)), CLOSE, '\0' };

	memcpy(dst, text, sizeof(text));
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

static void pack(char dst[static SENTENCE_MAX], enum phrase row, const char *en, va_list *ap)
{
	size_t w = HEAD;

	(void)sentence_word(dst, row);
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
	pack(dst, row, en, &ap);
	va_end(ap);
	return -EINVAL;
}

int sentence_of_duration(char dst[static SENTENCE_MAX], const struct duration_error *e)
{
	if (e->kind == DURATION_NONE)
		return sentence_make(dst, DURATION_NONE, e->text);
	if (e->kind == DURATION_NO_UNIT)
		return sentence_make(dst, DURATION_NO_UNIT, e->text);
	if (e->kind == DURATION_RANGE)
		return sentence_make(dst, DURATION_RANGE, e->text);
	return e->hours ? sentence_make(dst, DURATION_DAYS, e->text, (unsigned long long)e->hours)
			: sentence_make(dst, DURATION_UNIT, e->text);
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
static void print(FILE *out, const char *p, enum language l)
{
	const char *argument[ARGUMENTS_MAX] = { 0 };
	size_t n = 0, used = 0;

	if (*p != OPEN) {
		(void)fprintf(out, "%.*s", (int)strcspn(p, (char[]){ END, 0 }), p);
		return;
	}
	const char *text = phrase_text((enum phrase)((p[1] & 0x7f) << 7 | (p[2] & 0x7f)), l);

	for (p += HEAD; *p && *p != CLOSE && n < ARGUMENTS_MAX; p = skip_argument(p))
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
			print(out, argument[used++], l); /* as deep as it was packed */
	}
}

char *sentence_text(const char *sentence, enum language l)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	if (out) {
		print(out, sentence, l);
		(void)fclose(out);
	}
	return text ? text : xstrdup("");
}

/* -- diagnostics -- */

char *diag_text(const struct diag *one, enum language l)
{
	_cleanup_free_ char *words = sentence_text(one->sentence, l);
	_cleanup_free_ char *all = xconcat(one->place, one->error ? "" : phrase(DIAG_WARNING, l), one->key,
					   *one->key ? ": " : "", words, NULL);
	char shown[LINE_MAX_BYTES];

	(void)str_copy_printable(shown, sizeof(shown), all, strlen(all));
	return xstrdup(shown);
}

static void diag_done(struct diag *one)
{
	free(one->text);
	free(one->place);
	free(one->key);
	free(one->sentence);
}

/* Two clusters in one kubeconfig, say, have one trouble. */
static bool is_known(const struct diags *d, const char *text)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->v[i].text, text) == 0)
			return true;
	return false;
}

int diags_add(struct diags *d, bool error, struct place at, enum phrase row, const char *en, ...)
{
	char sentence[SENTENCE_MAX];
	va_list ap;

	va_start(ap, en);
	pack(sentence, row, en, &ap);
	va_end(ap);
	return diags_put(d, error, at, sentence);
}

int diags_put(struct diags *d, bool error, struct place at, const char *sentence)
{
	if (!d)
		return -EINVAL;
	struct diag one = {
		.error = error,
		.line = at.line,
		.column = at.column,
		.place = !at.file      ? xstrdup("")
			 : at.line > 0 ? xasprintf("%s:%zu:%zu: ", at.file, at.line, at.column)
				       : xasprintf("%s: ", at.file),
		.key = xstrdup(at.key ? at.key : ""),
		.sentence = xstrdup(sentence),
	};

	one.text = diag_text(&one, LANGUAGE_EN);
	d->errors += error;
	if (is_known(d, one.text) || d->n == DIAGS_MAX) {
		d->dropped += !is_known(d, one.text);
		diag_done(&one);
		return -EINVAL;
	}
	d->v = xreallocarray(d->v, d->n + 1, sizeof(*d->v));
	d->v[d->n++] = one;
	return -EINVAL;
}

void diags_sort(struct diags *d, size_t from)
{
	/* At most DIAGS_MAX, mostly in order, and equal places must keep theirs. */
	for (size_t i = from + 1; i < d->n; i++) {
		const struct diag one = d->v[i];
		size_t at = i;

		for (; at > from; at--) {
			const struct diag *before = &d->v[at - 1];

			if (before->line < one.line ||
			    (before->line == one.line && before->column <= one.column))
				break;
			d->v[at] = *before;
		}
		d->v[at] = one;
	}
}

void diags_done(struct diags *d)
{
	for (size_t i = 0; i < d->n; i++)
		diag_done(&d->v[i]);
	free(d->v);
	*d = (struct diags){ 0 };
}
