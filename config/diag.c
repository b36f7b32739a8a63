/* diag.c - see diag.h. */
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

#define LINE_MAX_BYTES 1000 /* a line of the log */

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
	sentence_vpack(sentence, row, en, &ap);
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
