/* diag.c - see diag.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"

#define LINE_MAX_BYTES 1000 /* a LOAD_LINE holds 1023 */

/* Two clusters in one kubeconfig, say, have one trouble. */
static bool is_known(const struct diags *d, const char *text)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->v[i].text, text) == 0)
			return true;
	return false;
}

int diags_add(struct diags *d, const char *warning, const char *file, size_t line, size_t column,
	      const char *fmt, ...)
{
	const bool error = warning[0] == '\0';
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *message = xvasprintf(diags_said(d, fmt), ap);
	va_end(ap);
	_cleanup_free_ char *where = !file      ? xstrdup("")
				     : line > 0 ? xasprintf("%s:%zu:%zu: ", file, line, column)
						: xasprintf("%s: ", file);
	_cleanup_free_ char *all = xasprintf("%s%s%s", where, diags_said(d, warning), message);
	char shown[LINE_MAX_BYTES];

	d->errors += error;
	(void)str_copy_printable(shown, sizeof(shown), all, strlen(all));
	if (is_known(d, shown))
		return -EINVAL;
	if (d->n == DIAGS_MAX) {
		d->dropped++;
		return -EINVAL;
	}
	d->v = xreallocarray(d->v, d->n + 1, sizeof(*d->v));
	d->v[d->n++] = (struct diag){ error, xstrdup(shown), line, column };
	return -EINVAL;
}

const char *diags_said(const struct diags *d, const char *en)
{
	return str_translate(d->translate, en);
}

void diags_append(struct diags *d, size_t i, const char *more)
{
	struct diag *one = &d->v[i];
	char *longer = xconcat(one->text, diags_said(d, "; "), more, NULL);

	if (strlen(longer) < LINE_MAX_BYTES) {
		free(one->text);
		one->text = TAKE_PTR(longer);
	}
	free(longer);
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
		free(d->v[i].text);
	free(d->v);
	*d = (struct diags){ 0 };
}
