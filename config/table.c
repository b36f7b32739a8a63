/* table.c - see table.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fnv.h"
#include "base/xalloc.h"
#include "config/settings.def"
#include "config/settings.h"

/* One per kind: does not compile when the member has another C type than the kind says. */
#define TYPE_BOOL(m)     _Generic((m), bool : 1)
#define TYPE_COUNT(m)    _Generic((m), int64_t : 1, uint64_t : 1)
#define TYPE_DURATION(m) _Generic((m), int64_t : 1, uint64_t : 1)
#define TYPE_ENUM(m)                                                                                         \
	_Generic((m), enum policy_mode : 1, enum restore_mode : 1, enum ordinal_mode : 1, uint64_t : 1)
#define TYPE_OPTIONS(m)     _Generic((m), uint64_t : 1)
#define TYPE_TEXT(m)        _Generic((m), char * : 1)
#define TYPE_CRON(m)        TYPE_TEXT(m)
#define TYPE_URL(m)         TYPE_TEXT(m)
#define TYPE_PROXY(m)       TYPE_TEXT(m)
#define TYPE_LISTEN(m)      TYPE_TEXT(m)
#define TYPE_ZONE(m)        TYPE_TEXT(m)
#define TYPE_PATH(m)        TYPE_TEXT(m)
#define TYPE_NAME(m)        TYPE_TEXT(m)
#define TYPE_OBJECT_NAME(m) TYPE_TEXT(m)
#define TYPE_NAMESPACES(m)  _Generic((m), struct str_list : 1)
#define TYPE_REASONS(m)     TYPE_NAMESPACES(m)
#define TYPE_STRINGS(m)     TYPE_NAMESPACES(m)
#define TYPE_LABELS(m)      TYPE_NAMESPACES(m)
#define TYPE_WINDOWS(m)     TYPE_NAMESPACES(m)
#define TYPE_OVERRIDES(m)   _Generic((m), struct policy_override * : 1)
#define TYPE_SINKS(m)       _Generic((m), struct sink_settings * : 1)
#define TYPE_BYTES(m)       _Generic((m), void * : 1)
#define TYPE_SECTION(m)     1
#define TYPE_OBJECTS(m)     _Generic((m), struct cluster_config * : 1)

#define ROW(S, PATH, ALIAS, KIND, MEMBER, DEF, MIN, MAX, UNIT, FLAGS, ROLES, DOC)                            \
	{                                                                                                    \
		.path = PATH,                                                                                \
		.alias = ALIAS,                                                                              \
		.kind = SET_##KIND,                                                                          \
		.off = offsetof(struct S, MEMBER),                                                           \
		.size = TYPE_##KIND(((struct S *)0)->MEMBER) * sizeof(((struct S *)0)->MEMBER),              \
		.def = DEF,                                                                                  \
		.min = MIN,                                                                                  \
		.max = MAX,                                                                                  \
		.unit = UNIT,                                                                                \
		.flags = FLAGS,                                                                              \
		.roles = ROLES,                                                                              \
		.doc = DOC,                                                                                  \
	},
#define CONFIG_ROW(...)   ROW(config, __VA_ARGS__)
#define CLUSTER_ROW(...)  ROW(cluster_config, __VA_ARGS__)
#define OVERRIDE_ROW(...) ROW(policy_override, __VA_ARGS__)
#define SINK_ROW(...)     ROW(sink_settings, __VA_ARGS__)

const struct setting settings_table[] = { SETTINGS_LIST(CONFIG_ROW){ 0 } };
const struct setting settings_cluster_table[] = { CLUSTER_KEYS(CLUSTER_ROW){ 0 } };
const struct setting settings_override_table[] = { OVERRIDE_KEYS(OVERRIDE_ROW){ 0 } };
const struct setting settings_sink_table[] = { SINK_KEYS(SINK_ROW){ 0 } };

_Static_assert(offsetof(struct config, settings) == 0 && offsetof(struct settings, policy.duty) == 0 &&
		       offsetof(struct policy_override, duty) == 0,
	       "a row of a duty is used on all of these structs");
_Static_assert(offsetof(struct settings, window_zones_size) ==
		       offsetof(struct settings, window_zones) + sizeof(void *),
	       "SET_BYTES expects the length behind the pointer");
_Static_assert(offsetof(struct settings, zone_size) == offsetof(struct settings, zone_data) + sizeof(void *),
	       "SET_BYTES expects the length behind the pointer");
_Static_assert(offsetof(struct policy, n_overrides) == offsetof(struct policy, overrides) + sizeof(void *),
	       "SET_OVERRIDES expects the length behind the pointer");
_Static_assert(offsetof(struct settings, n_sinks) == offsetof(struct settings, sinks) + sizeof(void *),
	       "SET_SINKS expects the length behind the pointer");
_Static_assert(offsetof(struct config, n_clusters) == offsetof(struct config, clusters) + sizeof(void *),
	       "SET_OBJECTS expects the length behind the pointer");

const struct setting *settings_find(const char *path)
{
	for (const struct setting *row = settings_table; row->path; row++)
		if (strcmp(row->path, path) == 0)
			return row;
	abort();
}

const struct setting *setting_find_member(const struct setting *table, size_t off)
{
	for (const struct setting *row = table; row->path; row++)
		if (row->off == off)
			return row;
	abort();
}

bool setting_is_text(enum setting_kind kind)
{
	return kind >= SET_TEXT && kind <= SET_OBJECT_NAME;
}

bool setting_is_list(enum setting_kind kind)
{
	return kind >= SET_NAMESPACES && kind <= SET_STRINGS;
}

bool setting_is_number(enum setting_kind kind)
{
	return kind >= SET_BOOL && kind <= SET_OPTIONS;
}

bool setting_is_of_duty(const struct setting *row)
{
	return row->kind != SET_SECTION && row->off < sizeof(((struct policy *)NULL)->duty);
}

void *setting_member(const struct setting *row, void *base)
{
	return (char *)base + row->off;
}

const void *setting_member_const(const struct setting *row, const void *base)
{
	return (const char *)base + row->off;
}

int64_t setting_get_number(const struct setting *row, const void *base)
{
	const void *p = setting_member_const(row, base);
	int64_t wide = 0;
	uint32_t narrow = 0;

	if (row->size == sizeof(bool))
		return *(const bool *)p;
	if (row->size == sizeof(narrow)) {
		memcpy(&narrow, p, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, p, sizeof(wide));
	return wide;
}

void setting_set_number(const struct setting *row, void *base, int64_t v)
{
	void *p = setting_member(row, base);
	const uint32_t narrow = (uint32_t)v;

	if (row->size == sizeof(bool))
		*(bool *)p = v != 0;
	else if (row->size == sizeof(narrow))
		memcpy(p, &narrow, sizeof(narrow));
	else
		memcpy(p, &v, sizeof(v));
}

/* -- lists of mappings -- */

#define KEYS_OF(table) table, ARRAY_SIZE(table) - 1
static const struct item_kind {
	const struct setting *table;
	size_t keys, size; /* of the table; of an item */
	bool has_duties;
} item_kinds[] = {
	[SET_OBJECTS] = { KEYS_OF(settings_cluster_table), sizeof(struct cluster_config), false },
	[SET_OVERRIDES] = { KEYS_OF(settings_override_table), sizeof(struct policy_override), true },
	[SET_SINKS] = { KEYS_OF(settings_sink_table), sizeof(struct sink_settings), false },
	[SET_BYTES] = { 0 }, /* the last kind */
};

const struct setting *setting_item_table(enum setting_kind kind)
{
	return item_kinds[kind].table;
}

const struct setting *setting_next(enum setting_kind kind, size_t *i)
{
	const struct item_kind *k = &item_kinds[kind];

	if (*i < k->keys)
		return &k->table[(*i)++];
	while (k->has_duties && settings_table[*i - k->keys].path) {
		const struct setting *row = &settings_table[(*i)++ - k->keys];

		if (setting_is_of_duty(row))
			return row;
	}
	return NULL;
}

struct setting_items setting_items(const struct setting *row, const void *base)
{
	struct setting_items ret;

	memcpy(&ret, setting_member_const(row, base), sizeof(ret));
	return ret;
}

void *setting_item(const struct setting *row, const struct setting_items *items, size_t i)
{
	return items->v + i * item_kinds[row->kind].size;
}

/* -- one value -- */

static bool items_equal(const struct setting *row, const void *a, const void *b)
{
	const struct setting_items x = setting_items(row, a), y = setting_items(row, b);
	const struct setting *key;
	bool equal = x.n == y.n;

	for (size_t n = 0; equal && n < x.n; n++)
		for (size_t i = 0; equal && (key = setting_next(row->kind, &i));)
			equal = setting_equal(key, setting_item(row, &x, n), setting_item(row, &y, n));
	return equal;
}

static bool text_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool bytes_equal(const void *const *a, const void *const *b)
{
	uint64_t n, m;

	memcpy(&n, a + 1, sizeof(n));
	memcpy(&m, b + 1, sizeof(m));
	return n == m && (n == 0 || memcmp(*a, *b, n) == 0);
}

bool setting_equal(const struct setting *row, const void *a, const void *b)
{
	const void *pa = setting_member_const(row, a), *pb = setting_member_const(row, b);

	if (setting_is_number(row->kind))
		return setting_get_number(row, a) == setting_get_number(row, b);
	if (setting_is_text(row->kind))
		return text_equal(*(char *const *)pa, *(char *const *)pb);
	if (setting_is_list(row->kind))
		return str_list_equal(pa, pb);
	return row->kind == SET_BYTES ? bytes_equal(pa, pb) : items_equal(row, a, b);
}

size_t cluster_names_count(const struct str_list *names, const char **ret_first)
{
	size_t n = 0;

	for (size_t i = names->n; i-- > 0;) {
		n += *names->v[i] != '\0';
		if (ret_first && *names->v[i])
			*ret_first = names->v[i];
	}
	return n;
}

const char *settings_cluster_title(const struct settings *s, const char *name)
{
	return s->cluster_title && cluster_names_count(&s->cluster_names, NULL) == 1 && *name
		       ? s->cluster_title
		       : name;
}

bool settings_judge_alike(const struct settings *a, const struct settings *b)
{
	const size_t from = offsetof(struct settings, cluster), to = from + sizeof(a->cluster);
	bool alike = true;

	for (const struct setting *row = settings_table; alike && row->path; row++)
		if (row->roles & (R_WATCHER | R_WORKER) && (row->off < from || row->off >= to))
			alike = setting_equal(row, a, b);
	return alike;
}

static void clear_items(const struct setting *row, void *base)
{
	const struct setting_items items = setting_items(row, base);
	const struct setting *key;

	for (size_t n = 0; n < items.n; n++)
		for (size_t i = 0; (key = setting_next(row->kind, &i));)
			setting_clear(key, setting_item(row, &items, n));
	free(items.v);
	memset(setting_member(row, base), 0, sizeof(items));
}

void setting_clear(const struct setting *row, void *base)
{
	void *p = setting_member(row, base);

	if (setting_is_list(row->kind)) {
		str_list_done(p);
	} else if (setting_is_text(row->kind)) {
		char **s = p;

		if (*s && (row->flags & SETTING_SECRET))
			explicit_bzero(*s, strlen(*s));
		free(*s);
		*s = NULL;
	} else if (row->kind == SET_BYTES) {
		void **bytes = p;

		free(*bytes);
		*bytes = NULL;
		memset(bytes + 1, 0, sizeof(uint64_t));
	} else if (setting_item_table(row->kind)) {
		clear_items(row, base);
	}
}

/* Make the member of dst, which holds nothing, a copy of that of src: a number, a text or a list. */
static void copy(const struct setting *row, void *dst, const void *src)
{
	const void *from = setting_member_const(row, src);
	const char *text = setting_is_text(row->kind) ? *(char *const *)from : NULL;
	const struct str_list *list = from;

	if (setting_is_number(row->kind))
		setting_set_number(row, dst, setting_get_number(row, src));
	if (text)
		*(char **)setting_member(row, dst) = xstrdup(text);
	for (size_t i = 0; setting_is_list(row->kind) && i < list->n; i++)
		str_list_add(setting_member(row, dst), list->v[i], strlen(list->v[i]));
}

void *setting_append(const struct setting *row, void *base)
{
	const struct item_kind *k = &item_kinds[row->kind];
	struct setting_items items = setting_items(row, base);
	const struct setting *key;

	items.v = xreallocarray(items.v, items.n + 1, k->size);
	void *one = memset(setting_item(row, &items, items.n++), 0, k->size);

	memcpy(setting_member(row, base), &items, sizeof(items));
	for (size_t i = k->keys; (key = setting_next(row->kind, &i));)
		copy(key, one, base);
	return one;
}

/* -- struct settings (settings.h) -- */

bool config_has_original_sink(const struct config *c)
{
	return policy_enables(&c->settings.policy, DUTY_RESTARTS) && (c->api_url || c->api_url_file);
}

void settings_init(struct settings *s)
{
	*s = (struct settings){ 0 };
}

void settings_done(struct settings *s)
{
	for (const struct setting *row = settings_table; row->path; row++)
		if (row->off + row->size <= sizeof(*s))
			setting_clear(row, s);
	settings_init(s);
}

/* The operator chooses the values: nobody makes two of them collide. */
static uint64_t hash_value(const struct setting *row, const struct settings *s)
{
	const int64_t number = setting_is_number(row->kind) ? setting_get_number(row, s) : 0;
	const char *text = setting_is_text(row->kind) ? *(char *const *)setting_member_const(row, s) : NULL;

	return fnv_text(FNV_START ^ (uint64_t)number, text ? text : "");
}

const char *settings_fixed_key(const struct settings *s, size_t i, uint64_t *ret_hash)
{
	const struct setting *row = settings_table;

	/* How many clusters and workers there are the supervisor sees by itself. */
	while (row->path && (!(row->flags & SETTING_FIXED) || row->off + row->size > sizeof(*s) || i-- > 0))
		row++;
	if (row->path)
		*ret_hash = hash_value(row, s);
	return row->path;
}
