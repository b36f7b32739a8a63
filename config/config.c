/* config.c - a YAML tree -> struct config, driven by the table; see config.h. What needs two keys to be seen
 * is in config_validate.c. */
// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "config/config_validate.h"
#include "config/diag.h"
#include "config/override.h"
#include "config/table.h"
#include "config/value.h"
#include "config/tree.h"

static void set_defaults(const struct setting *table, void *base)
{
	char note[SETTING_ERROR_MAX], err[SETTING_ERROR_MAX];

	for (const struct setting *row = table; row->path; row++)
		if (row->kind != SET_SECTION && row->kind != SET_OBJECTS && row->def[0] != '\0' &&
		    setting_assign(row, base, row->def, strlen(row->def), note, err) < 0)
			abort(); /* a unit test reads every default */
}

static void cluster_done(struct cluster_config *c)
{
	for (const struct setting *row = settings_cluster_table; row->path; row++)
		setting_clear(row, c);
}

void config_init(struct config *c)
{
	*c = (struct config){ 0 };
	set_defaults(settings_table, c);
}

void config_done(struct config *c)
{
	for (size_t i = 0; i < c->n_clusters; i++)
		cluster_done(&c->clusters[i]);
	free(c->clusters);
	for (const struct setting *row = settings_table; row->path; row++)
		if (row->kind != SET_SECTION && row->kind != SET_OBJECTS)
			setting_clear(row, c);
	*c = (struct config){ 0 };
}

/* -- walk -- */

struct walk {
	const char *path; /* of the file */
	struct config *c;
	struct diags *d;
	struct positions *positions;
	const struct tree_node *overrides; /* read last: what they do not say is as in the rest of the file */
};

#define ERROR(w, node, ...) diags_error((w)->d, (w)->path, (node)->line, (node)->column, __VA_ARGS__)
#define WARN(w, node, ...)  diags_warn((w)->d, (w)->path, (node)->line, (node)->column, __VA_ARGS__)

/* The part of a row's path below `prefix`, or NULL when the row stands elsewhere. */
static const char *below(const char *path, const char *prefix)
{
	const size_t n = strlen(prefix);

	if (strncmp(path, prefix, n) != 0 || path[n] == '\0')
		return NULL;
	return strchr(path + n, '.') && strcmp(prefix, "") == 0 ? NULL : path + n;
}

static const struct setting *find_row(const struct setting *table, const char *prefix, const char *key)
{
	for (const struct setting *row = table; row->path; row++) {
		const char *name = below(row->path, prefix), *alias = below(row->alias, prefix);

		if (row->flags & SETTING_DERIVED)
			continue;
		if ((name && strcasecmp(name, key) == 0) || (alias && strcasecmp(alias, key) == 0))
			return row;
	}
	return NULL;
}

static void report_unknown(struct walk *w, const struct setting *table, const char *prefix,
			   const struct tree_node *key)
{
	const char *options[64];
	size_t n = 0;

	for (const struct setting *row = table; row->path; row++) {
		const char *name = below(row->path, prefix), *alias = below(row->alias, prefix);

		if (row->flags & SETTING_DERIVED)
			continue;
		if (name && n < ARRAY_SIZE(options))
			options[n++] = name;
		if (alias && n < ARRAY_SIZE(options))
			options[n++] = alias;
	}
	const char *near = setting_nearest(key->text, options, n);
	const struct setting *elsewhere = find_row(settings_table, "", key->text);

	if (near)
		ERROR(w, key, "unknown key \"%s%s\": did you mean %s?", prefix, key->text, near);
	else if (elsewhere)
		ERROR(w, key, "unknown key \"%s%s\": %s stands at the top of the file, not in here", prefix,
		      key->text, elsewhere->path);
	else
		ERROR(w, key, "unknown key \"%s%s\": remove it; --help-config lists all keys", prefix,
		      key->text);
}

static void read_list(struct walk *w, const struct setting *row, void *base, const struct tree_node *node)
{
	char note[SETTING_ERROR_MAX], err[SETTING_ERROR_MAX];
	struct str_list *list = setting_member(row, base);

	setting_clear(row, base);
	for (const struct tree_node *item = node->first; item; item = item->next) {
		if (item->kind != TREE_SCALAR || tree_is_null(item)) {
			ERROR(w, item, "%s: an item is %s, a text was expected", row->path,
			      tree_kind_name(item));
			continue;
		}
		if (setting_add_item(row, base, item->text, item->n, note, err) < 0)
			ERROR(w, item, "%s: %s", row->path, err);
		else if (note[0] != '\0')
			WARN(w, item, "%s: %s", row->path, note);
	}
	if (list->n < (size_t)row->min && node->first == NULL)
		ERROR(w, node, "%s: the list is empty", row->path);
}

static void read_value(struct walk *w, const struct setting *row, void *base, const struct tree_node *node)
{
	char note[SETTING_ERROR_MAX], err[SETTING_ERROR_MAX];

	if (tree_is_null(node)) {
		ERROR(w, node->key, "%s has no value: write one, or remove the line", row->path);
	} else if (node->kind == TREE_LIST && setting_is_list(row->kind)) {
		read_list(w, row, base, node);
	} else if (node->kind != TREE_SCALAR) {
		ERROR(w, node, "%s is %s, %s was expected", row->path, tree_kind_name(node),
		      setting_is_list(row->kind) ? "a list or a text" : "a text or number");
	} else if (setting_assign(row, base, node->text, node->n, note, err) < 0) {
		ERROR(w, node, "%s: %s", row->path, err);
	} else if (note[0] != '\0') {
		WARN(w, node, "%s: %s", row->path, note);
	}
}

static void read_cluster(struct walk *w, const struct tree_node *node)
{
	struct config *c = w->c;

	if (node->kind != TREE_MAP) {
		ERROR(w, node, "an item of clusters is %s, a mapping with a name was expected",
		      tree_kind_name(node));
		return;
	}
	if (c->n_clusters == CLUSTERS_MAX) {
		ERROR(w, node, "more than %d clusters", CLUSTERS_MAX);
		return;
	}
	c->clusters = xreallocarray(c->clusters, c->n_clusters + 1, sizeof(*c->clusters));
	struct cluster_config *cluster = &c->clusters[c->n_clusters];
	struct position *position = &w->positions->cluster[c->n_clusters++];
	*position = (struct position){ .line = node->line, .column = node->column };
	*cluster = (struct cluster_config){ 0 };
	for (const struct tree_node *n = node->first; n; n = n->next) {
		const struct setting *row = find_row(settings_cluster_table, "clusters[].", n->key->text);

		if (row && row->kind == SET_NAME)
			position->key = n->key->text;
		if (row)
			read_value(w, row, cluster, n);
		else
			report_unknown(w, settings_cluster_table, "clusters[].", n->key);
	}
}

static void read_clusters(struct walk *w, const struct tree_node *node)
{
	if (node->kind != TREE_LIST || !node->first) {
		ERROR(w, node, "clusters is %s, a list of mappings was expected: \"- name: ...\"",
		      node->kind == TREE_LIST ? "empty" : tree_kind_name(node));
		return;
	}
	for (const struct tree_node *n = node->first; n; n = n->next)
		read_cluster(w, n);
}

/* Keys of one duty in an item of overrides. */
static void read_override_duty(struct walk *w, struct settings *view, const struct setting *section,
			       const struct tree_node *node)
{
	char prefix[64];

	if (node->kind != TREE_MAP) {
		ERROR(w, node->key, "%s is %s, a mapping of keys was expected", section->path,
		      tree_kind_name(node));
		return;
	}
	(void)snprintf(prefix, sizeof(prefix), "%s.", section->path);
	for (const struct tree_node *n = node->first; n; n = n->next) {
		const struct setting *row = find_row(settings_table, prefix, n->key->text);

		if (!row)
			report_unknown(w, settings_table, prefix, n->key);
		else if (!(row->flags & SETTING_OVERRIDE))
			ERROR(w, n->key, "%s holds for all pods: it cannot stand in overrides", row->path);
		else
			read_value(w, row, view, n);
	}
}

static void read_override_key(struct walk *w, struct policy_override *o, const struct tree_node *n)
{
	const struct setting *row = find_row(settings_override_table, "overrides[].", n->key->text);
	const struct setting *section = row ? NULL : find_row(settings_table, "", n->key->text);
	struct settings view;

	if (row) {
		read_value(w, row, o, n);
	} else if (section && section->kind == SET_SECTION && strcmp(section->path, "breaker") != 0) {
		override_view(o, &view);
		read_override_duty(w, &view, section, n);
		override_take(o, &view);
	} else {
		ERROR(w, n->key, "unknown key \"overrides[].%s\": name, namespaces, labels, or a duty",
		      n->key->text);
	}
}

static void read_override(struct walk *w, const struct tree_node *node)
{
	struct policy *p = &w->c->settings.policy;
	struct policy_override *o;

	if (node->kind != TREE_MAP) {
		ERROR(w, node, "an item of overrides is %s, a mapping was expected", tree_kind_name(node));
		return;
	}
	if (p->n_overrides == OVERRIDES_MAX) {
		ERROR(w, node, "more than %d overrides", OVERRIDES_MAX);
		return;
	}
	w->positions->override[p->n_overrides] =
		(struct position){ .line = node->line, .column = node->column };
	o = override_add(p);
	for (const struct tree_node *n = node->first; n; n = n->next)
		read_override_key(w, o, n);
	if (!o->name)
		o->name = xasprintf("override %zu", p->n_overrides);
}

static void read_overrides(struct walk *w, const struct tree_node *node)
{
	if (node->kind != TREE_LIST || !node->first) {
		ERROR(w, node, "overrides is %s, a list of mappings was expected: \"- name: ...\"",
		      node->kind == TREE_LIST ? "empty" : tree_kind_name(node));
		return;
	}
	for (const struct tree_node *n = node->first; n; n = n->next)
		read_override(w, n);
}

static void read_map(struct walk *w, const struct tree_node *map, const char *prefix);

static void read_section(struct walk *w, const struct setting *row, const struct tree_node *node)
{
	char prefix[64];

	if (node->kind != TREE_MAP) {
		ERROR(w, node->key, "%s is %s, a mapping of keys was expected", row->path,
		      tree_kind_name(node));
		return;
	}
	(void)snprintf(prefix, sizeof(prefix), "%s.", row->path);
	read_map(w, node, prefix);
}

static void read_map(struct walk *w, const struct tree_node *map, const char *prefix)
{
	for (const struct tree_node *n = map->first; n; n = n->next) {
		const struct setting *row = find_row(settings_table, prefix, n->key->text);

		if (!row) {
			report_unknown(w, settings_table, prefix, n->key);
			continue;
		}
		struct position *position = &w->positions->row[row - settings_table];

		if (position->line > 0 && row->alias[0] != '\0' &&
		    strcasecmp(n->key->text, position->key) != 0)
			ERROR(w, n->key, "%s and %s (line %zu) are two spellings of one key: keep one",
			      n->key->text, position->key, position->line);
		*position = (struct position){ n->key->line, n->key->column, n->key->text };
		if (row->kind == SET_SECTION)
			read_section(w, row, n);
		else if (row->kind == SET_OBJECTS)
			read_clusters(w, n);
		else if (row->kind == SET_OVERRIDES)
			w->overrides = n;
		else
			read_value(w, row, w->c, n);
	}
}

static int walk_tree(const char *path, const struct tree_node *root, struct config *ret, struct diags *d)
{
	_cleanup_free_ struct positions *positions = xcalloc(1, sizeof(*positions));
	struct walk w = { .path = path, .c = ret, .d = d, .positions = positions };

	if (root && root->kind != TREE_MAP)
		ERROR(&w, root, "the file is %s, keys were expected: \"deleteEvictedPod:\"",
		      tree_kind_name(root));
	else if (root)
		read_map(&w, root, "");
	if (w.overrides)
		read_overrides(&w, w.overrides);
	config_validate(path, ret, positions, d);
	return d->errors > 0 ? -EINVAL : 0;
}

/* Errors of the tree and of the walk, in the order of the file. */
static int load_tree(const char *path, int r, struct tree_node *root, struct config *ret, struct diags *d,
		     size_t from)
{
	if (r == 0)
		r = walk_tree(path, root, ret, d);
	tree_free(&root);
	diags_sort(d, from);
	return r;
}

int config_load_text(const char *path, const char *text, size_t n, struct config *ret, struct diags *d)
{
	struct tree_node *root = NULL;
	const size_t from = d->n;
	const int r = tree_parse(path, text, n, TREE_CONFIGURATION, &root, d);

	return load_tree(path, r, root, ret, d, from);
}

int config_load(const char *path, struct config *ret, struct diags *d)
{
	struct tree_node *root = NULL;
	const size_t from = d->n;
	const int r = tree_read(path, TREE_CONFIGURATION, &root, d);

	return load_tree(path, r, root, ret, d, from);
}

int config_check(const char *path, FILE *out)
{
	struct diags d = { 0 };
	struct config c;
	int r;

	config_init(&c);
	r = config_load(path, &c, &d);
	if (r == 0)
		(void)fprintf(out, "%s: ok\n", path);
	for (size_t i = 0; i < d.n; i++)
		if (r == 0 || d.v[i].error)
			(void)fprintf(out, "%s\n", d.v[i].text);
	if (d.dropped > 0)
		(void)fprintf(out, "%s: and %zu more\n", path, d.dropped);
	config_done(&c);
	diags_done(&d);
	return r < 0 ? EXIT_CODE_CONFIG : EXIT_CODE_OK;
}
