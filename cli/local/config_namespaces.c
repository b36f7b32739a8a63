/* config_namespaces.c - see config_namespaces.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/local/config_namespaces.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "cli/local/yaml_json.h"
#include "cli/view/output.h"
#include "config/diag.h"
#include "rules/select.h"

/* -- in words -- */

static void say_item(FILE *f, const struct namespace_item *i, enum language l)
{
	if (i->kind == NAMESPACE_LABEL && str_is(i->value, "*"))
		(void)fprintf(f, phrase(NAMESPACES_LABEL, l), STR_ARG(i->text));
	else if (i->kind == NAMESPACE_LABEL)
		(void)fprintf(f, phrase(NAMESPACES_LABELLED, l), STR_ARG(i->text), STR_ARG(i->value));
	else if (str_is(i->text, "*"))
		(void)fputs(phrase(NAMESPACES_EVERY, l), f);
	else if (i->kind == NAMESPACE_PATTERN)
		(void)fprintf(f, phrase(NAMESPACES_NAMED, l), STR_ARG(i->text));
	else
		(void)fprintf(f, "%.*s", STR_ARG(i->text));
}

static size_t say_items(FILE *f, const struct str_list *list, bool except, const char *before,
			enum language l)
{
	size_t n = 0;

	for (size_t k = 0; k < list->n; k++) {
		const struct namespace_item i = namespaces_item(STR_C(list->v[k]));

		if (i.except != except)
			continue;
		(void)fputs(n++ ? ", " : before, f);
		say_item(f, &i, l);
	}
	return n;
}

static bool is_wide(const struct str_list *l)
{
	for (size_t k = 0; k < l->n; k++) {
		const struct namespace_item i = namespaces_item(STR_C(l->v[k]));

		if (!i.except && i.kind != NAMESPACE_NAME)
			return true;
	}
	return namespaces_only_except(l);
}

/* Owned by the caller. protected: what the list does not name is not meant where it is protected. */
static char *meaning(const struct str_list *list, bool protected, enum language l)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		abort();
	if (say_items(f, list, false, "", l) == 0)
		(void)fputs(list->n ? phrase(NAMESPACES_EVERY, l) : phrase(NONE, l), f);
	(void)say_items(f, list, true, phrase(NAMESPACES_BUT_NOT, l), l);
	if (protected && is_wide(list))
		(void)fputs(phrase(NAMESPACES_PROTECTED, l), f);
	(void)fclose(f);
	return text;
}

/* -- in a cluster -- */

/* Does the duty work in this namespace? */
static bool serves(const struct policy *p, enum duty d, json_t *item, const char *name)
{
	json_t *labels = json_object_get(json_object_get(item, "metadata"), "labels"), *value;
	_cleanup_free_ struct label *v = xcalloc(json_object_size(labels) + 1, sizeof(*v));
	const char *key;
	size_t n = 0;

	json_object_foreach (labels, key, value)
		if (json_is_string(value))
			v[n++] = (struct label){ STR_C(key), STR_C(json_string_value(value)) };
	const struct namespace_labels all = { v, n };
	const struct pod_facts pod = { .ns = STR_C(name), .namespace_labels = &all };
	enum reason ignored;

	return select_namespace(p, d, &pod, &ignored);
}

static json_t *served(const struct policy *p, enum duty d, const json_t *cluster)
{
	json_t *names = json_array(), *items = json_object_get(cluster, "items"), *item;
	size_t i;

	json_array_foreach (items, i, item) {
		const char *name =
			json_string_value(json_object_get(json_object_get(item, "metadata"), "name"));

		if (name && serves(p, d, item, name))
			json_array_append_new(names, json_string(name));
	}
	return names;
}

json_t *config_namespaces_load(const char *path)
{
	json_t *root = yaml_json_read(path);

	if (root && !json_is_array(json_object_get(root, "items"))) {
		(void)fprintf(stderr, TEXT(NAMESPACES_NO_LIST), path);
		(void)fputc('\n', stderr);
		json_decref(root);
		root = NULL;
	}
	return root;
}

/* -- both -- */

static void print_line(FILE *out, const char *what, const char *text)
{
	(void)fprintf(out, "  %s:\n", what);
	table_indented(out, 4, "%s", text);
}

static void print_served(FILE *out, const struct policy *p, enum duty d, const json_t *cluster)
{
	json_auto_t *names = served(p, d, cluster);
	char *text = NULL;
	size_t n = 0, i;
	json_t *name;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		abort();
	(void)fprintf(f, TEXT(NAMESPACES_OF), json_array_size(json_object_get(cluster, "items")),
		      json_array_size(names));
	json_array_foreach (names, i, name)
		(void)fprintf(f, "%s%s", i ? ", " : "", json_string_value(name));
	(void)fclose(f);
	table_indented(out, 4, "%s", text);
	free(text);
}

void config_namespaces_print(const struct policy *p, const json_t *cluster, FILE *out)
{
	const enum language said = language_of_environment();
	bool wide = false;

	(void)fprintf(out, "%s\n", TEXT(NAMESPACES_HEAD));
	for (size_t i = 0; i < DUTY__MAX; i++) {
		const enum duty d = duty_at(i);
		const struct str_list *l = &p->duty[d].namespaces;
		_cleanup_free_ char *text = meaning(l, true, said);

		if (!policy_enables(p, d))
			continue;
		wide = wide || is_wide(l);
		print_line(out, duty_name(d), text);
		if (cluster)
			print_served(out, p, d, cluster);
	}
	for (size_t i = 0; i < p->n_overrides; i++) {
		_cleanup_free_ char *text = meaning(&p->overrides[i].namespaces, false, said);
		_cleanup_free_ char *what = xasprintf(TEXT(NAMESPACES_OVERRIDE), p->overrides[i].name);

		if (p->overrides[i].namespaces.n)
			print_line(out, what, text);
	}
	_cleanup_free_ char *never = meaning(&p->exclude_namespaces, false, said);
	_cleanup_free_ char *protected = meaning(&p->default_exclude_namespaces, false, said);

	if (p->exclude_namespaces.n)
		print_line(out, TEXT(NAMESPACES_NEVER), never);
	if (wide) {
		_cleanup_free_ char *text = xconcat(protected, TEXT(NAMESPACES_OWN), NULL);

		print_line(out, TEXT(NAMESPACES_PROTECTED_ARE), text);
	}
}

json_t *config_namespaces_json(const struct policy *p, const json_t *cluster)
{
	json_t *all = json_object();

	for (size_t i = 0; i < DUTY__MAX; i++) {
		const enum duty d = duty_at(i);
		_cleanup_free_ char *text = meaning(&p->duty[d].namespaces, true, LANGUAGE_EN);
		json_t *one = json_pack("{s:s}", "meaning", text);

		if (cluster)
			json_object_set_new(one, "namespaces", served(p, d, cluster));
		if (policy_enables(p, d))
			json_object_set(all, duty_name(d), one);
		json_decref(one);
	}
	return all;
}
