/* config.c - a YAML document -> struct config, driven by the table; see config.h. What needs two keys to be
 * seen is in config_validate.c. */
// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "config/clusters.h"
#include "config/config_validate.h"
#include "config/diag.h"
#include "config/table.h"
#include "config/value.h"
#include "config/yaml.h"

static void set_defaults(const struct setting *table, void *base)
{
	for (const struct setting *row = table; row->path; row++)
		if (row->kind != SET_SECTION && !setting_item_table(row->kind) && row->def[0] != '\0' &&
		    setting_assign(row, base, row->def, strlen(row->def), NULL, (struct place){ 0 }) < 0)
			abort(); /* a unit test reads every default */
}

void config_init(struct config *c)
{
	*c = (struct config){ 0 };
	set_defaults(settings_table, c);
}

void config_done(struct config *c)
{
	for (const struct setting *row = settings_table; row->path; row++)
		setting_clear(row, c);
	*c = (struct config){ 0 };
}

void *config_append(struct config *c, const char *list)
{
	const struct setting *row = settings_find(list);
	void *one = setting_append(row, c);

	set_defaults(setting_item_table(row->kind), one);
	return one;
}

/* -- walk -- */

struct walk {
	const char *path; /* of the file */
	struct config *c;
	struct diags *d;
	struct positions *positions;
	const struct yaml *y;
	struct yaml_item overrides; /* read last: what they do not say is as in the rest of the file */
};

#define ERROR(w, node, ID, ...) diags_error((w)->d, yaml_place((w)->path, node, NULL), ID, ##__VA_ARGS__)
#define KIND(node)              WORD(yaml_kind(node))

static struct place position_of(const struct walk *w, const yaml_node_t *n)
{
	return yaml_place(w->path, n, yaml_is_text(n) ? yaml_text(n) : NULL);
}

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

/* The key of that table that is nearest to the word; NULL when none is near. */
static const char *nearest_key(const struct setting *table, const char *prefix, const char *key)
{
	const char *options[64];
	size_t n = 0;

	for (const struct setting *row = table; row->path; row++) {
		const char *names[] = { below(row->path, prefix), below(row->alias, prefix) };

		for (size_t i = 0; i < ARRAY_SIZE(names) && !(row->flags & SETTING_DERIVED); i++)
			if (names[i] && n < ARRAY_SIZE(options))
				options[n++] = names[i];
	}
	return setting_nearest(key, options, n);
}

/* What others call what has another name here. */
static const char *const other_names[][2] = {
	{ "budget", "maxPerHour" },
	{ "budgets", "maxPerHour" },
	{ "limit", "maxPerHour" },
	{ "rateLimit", "maxPerHour" },
	{ "protectedNamespaces", "excludeNamespaces" },
	{ "protected", "excludeNamespaces" },
	{ "ignoreNamespaces", "excludeNamespaces" },
	{ "skipNamespaces", "excludeNamespaces" },
	{ "dryRun", "mode" },
	{ "threshold", "hours" },
};

static const char *known_by_another_name(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(other_names); i++)
		if (strcasecmp(other_names[i][0], key) == 0)
			return other_names[i][1];
	return NULL;
}

/* The first row whose path ends with such a key: it belongs there. */
static const struct setting *find_elsewhere(const char *key)
{
	for (const struct setting *row = settings_table; row->path; row++) {
		const char *dot = strrchr(row->path, '.');

		if (!(row->flags & SETTING_DERIVED) && strcasecmp(dot ? dot + 1 : row->path, key) == 0)
			return row;
	}
	return NULL;
}

static void report_unknown(struct walk *w, const struct setting *table, const char *prefix,
			   const yaml_node_t *key)
{
	const struct setting *elsewhere = find_elsewhere(yaml_text(key));
	const bool there = elsewhere && (!*prefix || !strchr(elsewhere->path, '.'));
	const char *meant = there ? NULL : nearest_key(table, prefix, yaml_text(key));

	if (!meant && !elsewhere)
		meant = known_by_another_name(yaml_text(key));
	if (!meant && elsewhere)
		meant = elsewhere->path;
	if (meant)
		ERROR(w, key, KEY_NEAR, prefix, yaml_text(key), meant);
	else
		ERROR(w, key, KEY_UNKNOWN, prefix, yaml_text(key));
}

/* Where a value of that row is read. */
static struct place value_place(const struct walk *w, const struct setting *row, const yaml_node_t *node)
{
	return yaml_place(w->path, node, row->path);
}

static void read_list(struct walk *w, const struct setting *row, void *base, const yaml_node_t *node)
{
	struct yaml_item n;
	size_t i = 0;

	if (row->kind == SET_OPTIONS)
		setting_set_number(row, base, 0);
	setting_clear(row, base);
	while (yaml_next(w->y, node, &i, &n)) {
		if (!yaml_is_text(n.value) || yaml_is_null(n.value))
			diags_error(w->d, value_place(w, row, n.value), ITEM_NO_TEXT, KIND(n.value));
		else
			(void)setting_add_item(row, base, yaml_text(n.value), strlen(yaml_text(n.value)),
					       w->d, value_place(w, row, n.value));
	}
	if (row->min > 0 && i == 1)
		diags_error(w->d, value_place(w, row, node), LIST_EMPTY);
}

static bool takes_items(const struct setting *row)
{
	return setting_is_list(row->kind) || row->kind == SET_OPTIONS;
}

static void read_value(struct walk *w, const struct setting *row, void *base, const struct yaml_item *n)
{
	const yaml_node_t *node = n->value;

	if (yaml_is_null(node))
		ERROR(w, n->key, NO_VALUE, row->path);
	else if (node->type == YAML_SEQUENCE_NODE && takes_items(row))
		read_list(w, row, base, node);
	else if (!yaml_is_text(node))
		ERROR(w, node, WRONG_KIND, row->path, KIND(node),
		      WORD(takes_items(row) ? PHRASE_DIAG_LIST_OR_TEXT : PHRASE_DIAG_TEXT_OR_NUMBER));
	else
		(void)setting_assign(row, base, yaml_text(node), strlen(yaml_text(node)), w->d,
				     value_place(w, row, node));
}

static void read_section(struct walk *w, const struct setting *row, void *base, const struct yaml_item *n);
static void read_mistaken(struct walk *w, void *base, const struct yaml_item *n);

static bool is_of_overrides(const struct setting *section)
{
	return section && section->kind == SET_SECTION && strcmp(section->path, "breaker") != 0;
}

/* In an item of overrides: its own keys, and the sections of the duties. */
static void report_unknown_override(struct walk *w, const yaml_node_t *key)
{
	const char *own = nearest_key(settings_override_table, "overrides[].", yaml_text(key));
	const char *section = nearest_key(settings_table, "", yaml_text(key));

	if (!own && section && is_of_overrides(find_row(settings_table, "", section)))
		own = section;
	if (own)
		ERROR(w, key, KEY_NEAR, "overrides[].", yaml_text(key), own);
	else
		ERROR(w, key, KEY_OVERRIDE, yaml_text(key));
}

static void read_of_override(struct walk *w, struct policy_override *o, const struct yaml_item *n)
{
	const struct setting *section = find_row(settings_table, "", yaml_text(n->key));

	if (is_of_overrides(section)) {
		read_section(w, section, o, n);
		return;
	}
	report_unknown_override(w, n->key);
	read_mistaken(w, o, n);
}

/* One of `clusters`, `overrides` or `sinks`. */
static void read_item(struct walk *w, const struct setting *list, const yaml_node_t *node)
{
	const struct setting *table = setting_item_table(list->kind);
	const size_t number = setting_items(list, w->c).n;
	struct item_places *at = positions_of_item(w->positions, list->kind, number);
	void *item = config_append(w->c, list->path);
	char prefix[64];
	struct yaml_item n;

	(void)snprintf(prefix, sizeof(prefix), "%s[].", list->path);
	at->item = position_of(w, node);
	for (size_t k = 0; yaml_next(w->y, node, &k, &n);) {
		const struct setting *row = find_row(table, prefix, yaml_text(n.key));

		if (row) {
			at->key[row - table] = position_of(w, n.key);
			read_value(w, row, item, &n);
		} else if (list->kind == SET_OVERRIDES) {
			read_of_override(w, item, &n);
		} else {
			report_unknown(w, table, prefix, n.key);
		}
	}
	if (list->kind == SET_OVERRIDES && !((struct policy_override *)item)->name)
		((struct policy_override *)item)->name = xasprintf("override %zu", number + 1);
}

static void read_items(struct walk *w, const struct setting *row, const yaml_node_t *node)
{
	const size_t max = (size_t)row->max - (row->kind == SET_SINKS); /* tooManyRestart makes one more */
	struct yaml_item item;
	size_t i = 0;

	if (node->type != YAML_SEQUENCE_NODE || !yaml_next(w->y, node, &i, &item)) {
		ERROR(w, node, WANTS_ITEMS, row->path,
		      WORD(node->type == YAML_SEQUENCE_NODE ? PHRASE_DIAG_EMPTY : yaml_kind(node)));
		return;
	}
	for (i = 0; yaml_next(w->y, node, &i, &item);) {
		if (item.value->type != YAML_MAPPING_NODE)
			ERROR(w, item.value, ITEM_KIND, row->path, KIND(item.value));
		else if (setting_items(row, w->c).n == max)
			ERROR(w, item.value, TOO_MANY, max, row->path);
		else
			read_item(w, row, item.value);
	}
}

static void note_position(struct walk *w, const struct setting *row, const yaml_node_t *key)
{
	struct place *position = &w->positions->row[row - settings_table];

	if (position->line > 0 && row->alias[0] != '\0' && strcasecmp(yaml_text(key), position->key) != 0)
		ERROR(w, key, SPELLINGS, yaml_text(key), position->key, position->line);
	*position = position_of(w, key);
}

/* How many keys of the map are some of that section. */
static size_t count_known(const struct walk *w, const struct setting *section, const yaml_node_t *map)
{
	struct yaml_item n;
	char prefix[64];
	size_t known = 0;

	(void)snprintf(prefix, sizeof(prefix), "%s.", section->path);
	for (size_t i = 0; yaml_next(w->y, map, &i, &n);)
		known += find_row(settings_table, prefix, yaml_text(n.key)) != NULL;
	return known;
}

/* The section that holds most of these keys, the first of several; NULL: none holds one. */
static const struct setting *section_of_keys(const struct walk *w, const yaml_node_t *map)
{
	const struct setting *best = NULL;
	size_t most = 0;

	for (const struct setting *row = settings_table; row->path; row++) {
		const size_t n = row->kind == SET_SECTION ? count_known(w, row, map) : 0;

		if (n > most) {
			most = n;
			best = row;
		}
	}
	return best;
}

/* What was meant by a key that nothing is called: one of the top that stands too deep, one of nearly that
 * name, else a section with such keys. NULL: nothing like it. */
static const struct setting *what_was_meant(const struct walk *w, const struct yaml_item *n)
{
	const char *near = nearest_key(settings_table, "", yaml_text(n->key));
	const struct setting *meant = near ? find_row(settings_table, "", near) : NULL;

	if (n->value->type == YAML_MAPPING_NODE && (!meant || meant->kind != SET_SECTION))
		meant = section_of_keys(w, n->value);
	return meant;
}

/* A section or a list whose name is mistaken is read all the same: one run tells of every mistake. */
static void read_mistaken(struct walk *w, void *base, const struct yaml_item *n)
{
	const struct setting *meant = what_was_meant(w, n);
	const bool in_override = base != w->c;

	if (!meant)
		return;
	if (n->value->type == YAML_MAPPING_NODE && (!in_override || is_of_overrides(meant)))
		read_section(w, meant, base, n);
	else if (n->value->type == YAML_SEQUENCE_NODE && !in_override && setting_item_table(meant->kind))
		read_items(w, meant, n->value);
}

/* base is the configuration, or an item of overrides. */
static void read_map(struct walk *w, void *base, const yaml_node_t *map, const char *prefix)
{
	struct yaml_item n;

	for (size_t i = 0; yaml_next(w->y, map, &i, &n);) {
		const struct setting *row = find_row(settings_table, prefix, yaml_text(n.key));

		if (!row) {
			report_unknown(w, settings_table, prefix, n.key);
			read_mistaken(w, base, &n);
			continue;
		}
		if (base == w->c)
			note_position(w, row, n.key);
		if (base != w->c && !(row->flags & SETTING_OVERRIDE))
			ERROR(w, n.key, NO_OVERRIDE, row->path);
		else if (row->kind == SET_SECTION)
			read_section(w, row, base, &n);
		else if (row->kind == SET_OVERRIDES)
			w->overrides = n;
		else if (setting_item_table(row->kind))
			read_items(w, row, n.value);
		else
			read_value(w, row, base, &n);
	}
}

/* `workers: N`: both bounds. */
static void read_bounds(struct walk *w, const struct yaml_item *n)
{
	struct setting row = *settings_find("workers.max");

	row.path = "workers";
	read_value(w, &row, w->c, n);
	w->c->workers_min = w->c->workers;
}

static void read_section(struct walk *w, const struct setting *row, void *base, const struct yaml_item *n)
{
	char prefix[64];

	if (row->flags & SETTING_NUMBER && yaml_is_text(n->value)) {
		read_bounds(w, n);
		return;
	}
	if (n->value->type != YAML_MAPPING_NODE) {
		ERROR(w, n->key, WANTS_KEYS, row->path, KIND(n->value));
		return;
	}
	(void)snprintf(prefix, sizeof(prefix), "%s.", row->path);
	read_map(w, base, n->value, prefix);
}

/* A whole object of Kubernetes, as `kubectl get -o yaml` prints it: the configuration stands in it. */
static bool is_object(struct walk *w, const yaml_node_t *root)
{
	const struct yaml_item kind = yaml_get(w->y, root, "kind");
	const yaml_node_t *data = yaml_get(w->y, root, "data").value;
	struct yaml_item first = { 0 };
	size_t i = 0;

	if (!yaml_is_text(kind.value) || !yaml_get(w->y, root, "apiVersion").key)
		return false;
	if (yaml_next(w->y, data, &i, &first) && first.key)
		ERROR(w, first.key, WHOLE_OBJECT, yaml_text(kind.value), yaml_text(first.key),
		      yaml_text(kind.value), yaml_text(first.key));
	else
		ERROR(w, kind.key, OTHER_OBJECT, yaml_text(kind.value));
	return true;
}

static int walk_document(const char *path, const struct yaml *y, struct config *ret, struct diags *d)
{
	const yaml_node_t *root = yaml_root(y);
	_cleanup_free_ struct positions *positions = xcalloc(1, sizeof(*positions));
	struct walk w = { .path = path, .c = ret, .d = d, .positions = positions, .y = y };

	if (root && root->type != YAML_MAPPING_NODE)
		ERROR(&w, root, NO_KEYS, KIND(root));
	else if (root && !is_object(&w, root))
		read_map(&w, ret, root, "");
	if (w.overrides.key)
		read_items(&w, settings_find("overrides"), w.overrides.value);
	cluster_files_add(path, ret, positions, positions_of(positions, path, "clustersFrom"), d);
	config_validate(path, ret, positions, d);
	return d->errors > 0 ? -EINVAL : 0;
}

/* -- characters of the wrong width -- */

/* What to write in the place of a character that an input method for Chinese gives; NUL: it is none of those.
 */
static char ascii_of(uint32_t c)
{
	static const struct {
		uint32_t wide;
		char ascii;
	} others[] = { { 0x3000, ' ' }, { 0x3001, ',' }, { 0x3002, '.' }, { 0x2018, '"' },
		       { 0x2019, '"' }, { 0x201c, '"' }, { 0x201d, '"' } };

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i].wide == c)
			return others[i].ascii;
	return c >= 0xff01 && c <= 0xff5e ? (char)(c - 0xfee0) : '\0';
}

/* Report the first such character of a line, outside of its comment. */
static void report_width(const char *path, struct str text, size_t line, struct diags *d)
{
	const char *p = text.p, *end = text.p + text.n;
	size_t column = 1;
	uint32_t c;

	for (size_t i = 1; p && i < line; i++, p = p ? p + 1 : NULL)
		p = memchr(p, '\n', (size_t)(end - p));
	for (size_t n; p && p < end && *p != '\n' && *p != '#'; p += n, column++) {
		n = unicode_take(p, (size_t)(end - p), &c);
		const char ascii = n ? ascii_of(c) : '\0';

		if (ascii) {
			diags_error(d, ((struct place){ path, line, column, NULL }), FULL_WIDTH, (int)n, p,
				    (char[]){ ascii, '\0' });
			return;
		}
		n = n ? n : 1;
	}
}

/* Such a character explains many an error in its line, or in the next, where the parser met it. */
static void report_widths(const char *path, struct str text, struct diags *d, size_t from)
{
	for (size_t i = from, n = d->n; i < n; i++)
		for (size_t up = 0; d->v[i].error && up < 2 && up < d->v[i].line; up++)
			report_width(path, text, d->v[i].line - up, d);
}

int config_load_text(const char *path, const char *text, size_t n, struct config *ret, struct diags *d)
{
	_cleanup_(yaml_done) struct yaml y;
	const size_t from = d->n;
	int r = yaml_parse(path, text, n, YAML_CONFIGURATION, &y, d);

	if (r == 0)
		r = walk_document(path, &y, ret, d);
	report_widths(path, (struct str){ text, n }, d, from);
	diags_sort(d, from); /* of the document and of the walk, in the order of the file */
	return r;
}

int config_load(const char *path, struct config *ret, struct diags *d)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	int r = yaml_read_text(path, YAML_CONFIGURATION, &text, &n, d);

	if (r < 0)
		return r;
	r = config_load_text(path, text, n, ret, d);
	explicit_bzero(text, n);
	return r;
}

void config_print_diags(const char *path, bool loaded, const struct diags *d, enum language l, FILE *out)
{
	if (loaded)
		(void)fprintf(out, "%s: ok\n", path);
	for (size_t i = 0; i < d->n; i++) {
		_cleanup_free_ char *text = diag_text(&d->v[i], l);

		if (loaded || d->v[i].error)
			(void)fprintf(out, "%s\n", text);
	}
	if (d->dropped > 0) {
		(void)fprintf(out, phrase(DIAG_MORE, l), path, d->dropped);
		(void)fputc('\n', out);
	}
}
