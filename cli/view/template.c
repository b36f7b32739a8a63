/* template.c - see template.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/view/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "text/templates.h"

static void write_value(const void *escaped, FILE *f, struct str value, bool plain)
{
	for (size_t i = 0; i < value.n; i++)
		if (!plain && value.p[i] == '\'')
			(void)fputs("'\\''", f);
		else
			(void)fprintf(f, "%s%c", !plain && strchr(escaped, value.p[i]) ? "\\" : "",
				      value.p[i]);
}

static const struct mustache *find(const void *ctx, struct str name)
{
	(void)ctx;
	return template_find(name, LANGUAGE_EN);
}

char *template_filled(const char *name, const char *escaped, json_t *values)
{
	const struct mustache_target target = { .write = write_value, .find = find, .ctx = escaped };
	char *text = NULL;
	size_t n;

	if (mustache_render(find(NULL, STR_C(name)), values, &target, &text, &n) < 0)
		abort(); /* as large as the configuration, whose size is bounded */
	json_decref(values);
	return text;
}

void template_print(const char *name, const char *escaped, json_t *values)
{
	_cleanup_free_ char *text = template_filled(name, escaped, values);
	const size_t n = strlen(text);

	printf("%s%s", text, n > 0 && text[n - 1] == '\n' ? "" : "\n");
}
