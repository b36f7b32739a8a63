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
#include "config/hints.h"
#include "config/table.h"
#include "config/value.h"
#include "config/tree.h"

static void set_defaults(const struct setting *table, void *base)
{
	char text[SETTING_ERROR_MAX];

	for (const struct setting *row = table; row->path; row++)
		if (row->kind != SET_SECTION && !setting_item_table(row->kind) && row->def[0] != '\0' &&
		    setting_assign(row, base, row->def, strlen(row->def), NULL, text) < 0)
			abort(); /* a unit test reads every default */
}

void config_init(struct config *c)
{
	*c = (struct config){ 0 };
	set_defaults(settings_table, c);
}

void config_done(struct config *c)
{
	for (size_t i = 0; i < c->n_clusters; i++)
		for (const struct setting *row = settings_cluster_table; row->path; row++)
			setting_clear(row, &c->clusters[i]);
	free(c->clusters);
	for (const struct setting *row = settings_table; row->path; row++)
		setting_clear(row, c);
	*c = (struct config){ 0 };
}

struct sink_settings *config_add_sink(struct config *c)
{
	struct sink_settings *s = setting_add_sink(&c->settings);

	set_defaults(settings_sink_table, s);
	return s;
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
#define SAID(w, en)         diags_said((w)->d, en)

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

/* The key of that table which is meant; NULL when none is like it. */
static const char *meant_key(const struct setting *table, const char *prefix, const char *key)
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
	const char *meant = hint_meant(key, options, n);

	return meant ? meant : setting_nearest(key, options, n);
}

/* The first section that has such a key. */
static const struct setting *find_in_section(const char *key)
{
	for (const struct setting *row = settings_table; row->path; row++) {
		const char *dot = strrchr(row->path, '.');

		if (dot && !(row->flags & SETTING_DERIVED) && strcasecmp(dot + 1, key) == 0)
			return row;
	}
	return NULL;
}

static void report_unknown(struct walk *w, const struct setting *table, const char *prefix,
			   const struct tree_node *key)
{
	const char *meant = meant_key(table, prefix, key->text);
	const struct setting *elsewhere = find_row(settings_table, "", key->text),
			     *inside = *prefix ? NULL : find_in_section(key->text);

	if (inside)
		ERROR(w, key, "unknown key \"%s%s\": it stands in a section, as in %s", prefix, key->text,
		      inside->path);
	else if (meant)
		ERROR(w, key, "unknown key \"%s%s\": did you mean %s?", prefix, key->text, meant);
	else if (elsewhere)
		ERROR(w, key, "unknown key \"%s%s\": %s stands at the top of the file, not in here", prefix,
		      key->text, elsewhere->path);
	else
		ERROR(w, key, "unknown key \"%s%s\": remove it; --help-config lists all keys", prefix,
		      key->text);
}

static void report(struct walk *w, const struct setting *row, const struct tree_node *node, int r,
		   const char *text)
{
	if (r < 0)
		ERROR(w, node, "%s: %s", row->path, text);
	else if (text[0] != '\0')
		WARN(w, node, "%s: %s", row->path, text);
}

static void read_list(struct walk *w, const struct setting *row, void *base, const struct tree_node *node)
{
	char text[SETTING_ERROR_MAX];

	if (row->kind == SET_OPTIONS)
		setting_set_number(row, base, 0);
	setting_clear(row, base);
	for (const struct tree_node *item = node->first; item; item = item->next) {
		if (item->kind != TREE_SCALAR || tree_is_null(item))
			ERROR(w, item, "%s: an item is %s, a text was expected", row->path,
			      SAID(w, tree_kind_name(item)));
		else
			report(w, row, item,
			       setting_add_item(row, base, item->text, item->n, w->d->translate, text), text);
	}
	if (row->min > 0 && node->first == NULL)
		ERROR(w, node, "%s: the list is empty", row->path);
}

static bool takes_items(const struct setting *row)
{
	return setting_is_list(row->kind) || row->kind == SET_OPTIONS;
}

static void read_value(struct walk *w, const struct setting *row, void *base, const struct tree_node *node)
{
	char text[SETTING_ERROR_MAX];

	if (tree_is_null(node))
		ERROR(w, node->key, "%s has no value: write one, or remove the line", row->path);
	else if (node->kind == TREE_LIST && takes_items(row))
		read_list(w, row, base, node);
	else if (node->kind != TREE_SCALAR)
		ERROR(w, node, "%s is %s, %s was expected", row->path, SAID(w, tree_kind_name(node)),
		      SAID(w, takes_items(row) ? "a list or a text" : "a text or number"));
	else
		report(w, row, node, setting_assign(row, base, node->text, node->n, w->d->translate, text),
		       text);
}

static void read_cluster(struct walk *w, const struct tree_node *node)
{
	struct config *c = w->c;

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

static void read_section(struct walk *w, const struct setting *row, void *base, const struct tree_node *node);

static bool is_of_overrides(const struct setting *section)
{
	return section && section->kind == SET_SECTION && strcmp(section->path, "breaker") != 0;
}

/* In an item of overrides: its own keys, and the sections of the duties. */
static void report_unknown_override(struct walk *w, const struct tree_node *key)
{
	const char *own = meant_key(settings_override_table, "overrides[].", key->text);
	const char *section = meant_key(settings_table, "", key->text);

	if (!own && section && is_of_overrides(find_row(settings_table, "", section)))
		own = section;
	if (own)
		ERROR(w, key, "unknown key \"%s%s\": did you mean %s?", "overrides[].", key->text, own);
	else
		ERROR(w, key, "unknown key \"overrides[].%s\": name, namespaces, labels, or a duty",
		      key->text);
}

static void read_override(struct walk *w, const struct tree_node *node)
{
	struct policy *p = &w->c->settings.policy;
	struct policy_override *o;

	w->positions->override[p->n_overrides] =
		(struct position){ .line = node->line, .column = node->column };
	o = setting_add_override(p);
	for (const struct tree_node *n = node->first; n; n = n->next) {
		const struct setting *row = find_row(settings_override_table, "overrides[].", n->key->text);
		const struct setting *section = find_row(settings_table, "", n->key->text);

		if (row)
			read_value(w, row, o, n);
		else if (is_of_overrides(section))
			read_section(w, section, o, n);
		else
			report_unknown_override(w, n->key);
	}
	if (!o->name)
		o->name = xasprintf("override %zu", p->n_overrides);
}

static void read_sink(struct walk *w, const struct tree_node *node)
{
	const size_t i = w->c->settings.n_sinks;
	struct sink_settings *s = config_add_sink(w->c);

	w->positions->sink[i] = (struct position){ .line = node->line, .column = node->column };
	for (const struct tree_node *n = node->first; n; n = n->next) {
		const struct setting *row = find_row(settings_sink_table, "sinks[].", n->key->text);

		if (!row) {
			report_unknown(w, settings_sink_table, "sinks[].", n->key);
			continue;
		}
		w->positions->sink_key[i][row - settings_sink_table] =
			(struct position){ n->key->line, n->key->column, n->key->text };
		read_value(w, row, s, n);
	}
}

static const struct items {
	enum setting_kind kind;
	size_t count, max; /* offset in struct config; of the list */
	const char *of;    /* what a mapping of it must have */
	void (*read)(struct walk *, const struct tree_node *);
} item_kinds[] = {
	{ SET_OBJECTS, offsetof(struct config, n_clusters), CLUSTERS_MAX, " with a name", read_cluster },
	{ SET_OVERRIDES, offsetof(struct config, settings.policy.n_overrides), OVERRIDES_MAX, "",
	  read_override },
	/* tooManyRestart makes one more */
	{ SET_SINKS, offsetof(struct config, settings.n_sinks), SINKS_MAX - 1, " with a name and a type",
	  read_sink },
};

/* `clusters`, `overrides` or `sinks`. */
static void read_items(struct walk *w, const struct setting *row, const struct tree_node *node)
{
	const struct items *k = item_kinds;

	while (k->kind != row->kind)
		k++;
	const size_t *n = (const size_t *)(const void *)((const char *)w->c + k->count);

	if (node->kind != TREE_LIST || !node->first) {
		ERROR(w, node, "%s is %s, a list of mappings was expected: \"- name: ...\"", row->path,
		      SAID(w, node->kind == TREE_LIST ? "empty" : tree_kind_name(node)));
		return;
	}
	for (const struct tree_node *item = node->first; item; item = item->next) {
		if (item->kind != TREE_MAP)
			ERROR(w, item, "an item of %s is %s, a mapping%s was expected", row->path,
			      SAID(w, tree_kind_name(item)), SAID(w, k->of));
		else if (*n == k->max)
			ERROR(w, item, "more than %zu %s", *n, row->path);
		else
			k->read(w, item);
	}
}

static void note_position(struct walk *w, const struct setting *row, const struct tree_node *key)
{
	struct position *position = &w->positions->row[row - settings_table];

	if (position->line > 0 && row->alias[0] != '\0' && strcasecmp(key->text, position->key) != 0)
		ERROR(w, key, "%s and %s (line %zu) are two spellings of one key: keep one", key->text,
		      position->key, position->line);
	*position = (struct position){ key->line, key->column, key->text };
}

/* base is the configuration, or an item of overrides. */
static void read_map(struct walk *w, void *base, const struct tree_node *map, const char *prefix)
{
	for (const struct tree_node *n = map->first; n; n = n->next) {
		const struct setting *row = find_row(settings_table, prefix, n->key->text);

		if (!row) {
			report_unknown(w, settings_table, prefix, n->key);
			continue;
		}
		if (base == w->c)
			note_position(w, row, n->key);
		if (base != w->c && !(row->flags & SETTING_OVERRIDE))
			ERROR(w, n->key, "%s holds for all pods: it cannot stand in overrides", row->path);
		else if (row->kind == SET_SECTION)
			read_section(w, row, base, n);
		else if (row->kind == SET_OVERRIDES)
			w->overrides = n;
		else if (setting_item_table(row->kind))
			read_items(w, row, n);
		else
			read_value(w, row, base, n);
	}
}

static void read_section(struct walk *w, const struct setting *row, void *base, const struct tree_node *node)
{
	char prefix[64];

	if (node->kind != TREE_MAP) {
		ERROR(w, node->key, "%s is %s, a mapping of keys was expected", row->path,
		      SAID(w, tree_kind_name(node)));
		return;
	}
	(void)snprintf(prefix, sizeof(prefix), "%s.", row->path);
	read_map(w, base, node, prefix);
}

/* A whole object of Kubernetes, as `kubectl get -o yaml` prints it: the configuration stands in it. */
static bool is_object(struct walk *w, const struct tree_node *root)
{
	const struct tree_node *kind = tree_get(root, "kind"), *data = tree_get(root, "data");
	const char *key = data && data->kind == TREE_MAP && data->first ? data->first->key->text : NULL;

	if (!kind || kind->kind != TREE_SCALAR || !tree_get(root, "apiVersion"))
		return false;
	if (key)
		ERROR(w, data->first->key,
		      "the file is a whole %s, the configuration is the text of its key %s: take it with "
		      "`kubectl get %s NAME -o go-template='{{index .data \"%s\"}}'`",
		      kind->text, key, kind->text, key);
	else
		ERROR(w, kind->key, "the file is a %s of Kubernetes, and holds no configuration", kind->text);
	return true;
}

static int walk_tree(const char *path, const struct tree_node *root, struct config *ret, struct diags *d)
{
	_cleanup_free_ struct positions *positions = xcalloc(1, sizeof(*positions));
	struct walk w = { .path = path, .c = ret, .d = d, .positions = positions };

	if (root && root->kind != TREE_MAP)
		ERROR(&w, root, "the file is %s, keys were expected: \"deleteEvictedPod:\"",
		      SAID(&w, tree_kind_name(root)));
	else if (root && !is_object(&w, root))
		read_map(&w, ret, root, "");
	if (w.overrides)
		read_items(&w, settings_find("overrides"), w.overrides);
	config_validate(path, ret, positions, d);
	return d->errors > 0 ? -EINVAL : 0;
}

int config_load_text(const char *path, const char *text, size_t n, struct config *ret, struct diags *d)
{
	struct tree_node *root = NULL;
	const size_t from = d->n;
	int r = tree_parse(path, text, n, TREE_CONFIGURATION, &root, d);

	if (r == 0)
		r = walk_tree(path, root, ret, d);
	tree_free(&root);
	diags_sort(d, from); /* of the tree and of the walk, in the order of the file */
	hints_add(text, n, d, from);
	return r;
}

int config_load(const char *path, struct config *ret, struct diags *d)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	int r = tree_read_text(path, TREE_CONFIGURATION, &text, &n, d);

	if (r < 0)
		return r;
	r = config_load_text(path, text, n, ret, d);
	explicit_bzero(text, n);
	return r;
}

void config_tell(const char *path, bool loaded, const struct diags *d, FILE *out)
{
	if (loaded)
		(void)fprintf(out, "%s: ok\n", path);
	for (size_t i = 0; i < d->n; i++)
		if (loaded || d->v[i].error)
			(void)fprintf(out, "%s\n", d->v[i].text);
	if (d->dropped > 0) {
		(void)fprintf(out, diags_said(d, "%s: and %zu more"), path, d->dropped);
		(void)fputc('\n', out);
	}
}
