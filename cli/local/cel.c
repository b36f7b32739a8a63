/* cel.c - see cel.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/local/cel.h"

#include "base/cleanup.h"
#include "model/namespaces.h"

void cel_string(FILE *f, struct str s)
{
	(void)fputc('\'', f);
	for (size_t i = 0; i < s.n; i++) {
		const unsigned char c = (unsigned char)s.p[i];

		if (c == '\'' || c == '\\' || c < 0x20 || c == 0x7f)
			(void)fprintf(f, "\\x%02x", c);
		else
			(void)fputc(c, f);
	}
	(void)fputc('\'', f);
}

void cel_list(FILE *f, const struct str_list *l)
{
	(void)fputc('[', f);
	for (size_t i = 0; i < l->n; i++) {
		(void)fputs(i == 0 ? "" : i % 6 == 0 ? ",\n" : ", ", f);
		cel_string(f, STR_C(l->v[i]));
	}
	(void)fputc(']', f);
}

/* '*' stands for any characters, all others for themselves. */
static void put_matches(FILE *f, const char *what, struct str pattern)
{
	(void)fprintf(f, "%s.matches('^", what);
	for (size_t i = 0; i < pattern.n; i++)
		if (pattern.p[i] == '*')
			(void)fputs(".*", f);
		else if (pattern.p[i] == '.')
			(void)fputs("[.]", f);
		else
			(void)fputc(pattern.p[i], f);
	(void)fputs("$')", f);
}

void cel_matches_any(FILE *f, const char *what, const struct str_list *l)
{
	struct str_list plain = { 0 };

	for (size_t i = 0; i < l->n; i++)
		if (!strchr(l->v[i], '*'))
			str_list_add(&plain, l->v[i], strlen(l->v[i]));
	(void)fprintf(f, "%s in ", what);
	cel_list(f, &plain);
	for (size_t i = 0; i < l->n; i++)
		if (strchr(l->v[i], '*')) {
			(void)fputs(" ||\n", f);
			put_matches(f, what, STR_C(l->v[i]));
		}
	str_list_done(&plain);
}

/* -- namespaces -- */

static void put_item(FILE *f, const struct namespace_item *item)
{
	if (item->kind == NAMESPACE_PATTERN) {
		put_matches(f, "variables.ns", item->text);
		return;
	}
	(void)fputs("(", f);
	cel_string(f, item->text);
	(void)fputs(" in variables.labels && variables.labels[", f);
	cel_string(f, item->text);
	put_matches(f, "]", item->value);
	(void)fputs(")", f);
}

/* Those of the items that except, or of the others, that mean the namespace: the names, then each of the
 * rest. */
static bool put_any(FILE *f, const struct str_list *l, bool except)
{
	struct str_list names = { 0 };
	bool any = false;

	for (size_t i = 0; i < l->n; i++) {
		const struct namespace_item item = namespaces_item(STR_C(l->v[i]));

		if (item.except == except && item.kind == NAMESPACE_NAME)
			str_list_add(&names, item.text.p, item.text.n);
	}
	if (names.n > 0) {
		(void)fputs("variables.ns in ", f);
		cel_list(f, &names);
		any = true;
	}
	str_list_done(&names);
	for (size_t i = 0; i < l->n; i++) {
		const struct namespace_item item = namespaces_item(STR_C(l->v[i]));

		if (item.except != except || item.kind == NAMESPACE_NAME)
			continue;
		(void)fputs(any ? " ||\n" : "", f);
		put_item(f, &item);
		any = true;
	}
	return any;
}

static bool has_exceptions(const struct str_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (namespaces_item(STR_C(l->v[i])).except)
			return true;
	return false;
}

void cel_in_namespaces(FILE *f, const struct str_list *l)
{
	(void)fputs("(", f);
	if (!put_any(f, l, false))
		(void)fputs(namespaces_only_except(l) ? "true" : "false", f);
	if (has_exceptions(l)) {
		(void)fputs(") &&\n!(", f);
		(void)put_any(f, l, true);
	}
	(void)fputs(")", f);
}

void cel_named(FILE *f, const struct str_list *l)
{
	struct str_list names = { 0 };

	for (size_t i = 0; i < l->n; i++) {
		const struct namespace_item item = namespaces_item(STR_C(l->v[i]));

		if (item.kind == NAMESPACE_NAME && namespaces_name(l, item.text))
			str_list_add(&names, item.text.p, item.text.n);
	}
	(void)fputs("variables.ns in ", f);
	cel_list(f, &names);
	str_list_done(&names);
}
