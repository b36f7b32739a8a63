/* table.h - config/settings.def as data.  Layer: config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_TABLE_H
#define CONFIG_TABLE_H

#include "config/settings.h"

/* The kinds of keys, and what may be written; NULL: nothing, or what the row's unit says. */
/* clang-format off */
#define SETTING_KINDS(K) \
	K(SECTION, "section") /* no value of its own */ \
	K(OBJECTS, "list of mappings") /* `clusters` */ \
	K(BOOL, "true or false") \
	K(COUNT, "number") /* int64_t or uint64_t */ \
	K(DURATION, "duration") /* the same, milliseconds; written as a Go duration */ \
	K(ENUM, NULL) \
	K(OPTIONS, "list of words") /* uint64_t, a bit for each */ \
	K(TEXT, "text") /* char *, as are the next eight; NULL when empty */ \
	K(CRON, "schedule") \
	K(URL, "URL") \
	K(PROXY, "URL") \
	K(LISTEN, "address:port") \
	K(ZONE, "time zone") \
	K(PATH, "path") \
	K(NAME, "name") \
	K(OBJECT_NAME, "name") /* of an object in Kubernetes */ \
	K(NAMESPACES, "list of namespaces") /* struct str_list, as are the next four */ \
	K(REASONS, "list of reasons") \
	K(LABELS, "list of labels") /* key=value */ \
	K(WINDOWS, "list of windows") /* one text is one window: it may hold commas */ \
	K(STRINGS, "list of texts") \
	K(OVERRIDES, "list of mappings") /* struct policy_override *, its size_t length is the next member */ \
	K(SINKS, "list of mappings") /* struct sink_settings *, the same */ \
	K(BYTES, NULL) /* void *, its uint64_t length is the next member */
/* clang-format on */
#define SETTING_KIND(KIND, written) SET_##KIND,
enum setting_kind { SETTING_KINDS(SETTING_KIND) };

enum {
	SETTING_FIXED = 1,
	SETTING_SECRET = 2,
	SETTING_DERIVED = 4,
	SETTING_NO_STAR = 8,   /* NAMESPACES: "*" is not one */
	SETTING_OVERRIDE = 16, /* may stand in an item of `overrides` */
	SETTING_ANY = 32,      /* REASONS: "*" is any */
	SETTING_NUMBER = 128,  /* SECTION: a number in its place is its min and its max */
	SETTING_NO_LABEL = 64, /* NAMESPACES: label:KEY=VALUE is not one */
};

struct setting {
	const char *path, *alias;
	enum setting_kind kind;
	size_t off, size; /* in struct config; of the C member */
	const char *def;
	int64_t min, max;
	const char *unit;
	unsigned flags, roles;
	const char *doc;
};

/* Rows in the order of the file; ends with path NULL. */
extern const struct setting settings_table[];
/* The row of this path, which there is. */
const struct setting *settings_find(const char *path);
/* The row of this member, which there is. */
const struct setting *setting_find_member(const struct setting *table, size_t off);
/* Keys of one entry of `clusters`; offsets in struct cluster_config. */
extern const struct setting settings_cluster_table[];
/* Keys of one entry of `sinks`; offsets in struct sink_settings. */
extern const struct setting settings_sink_table[];
/* Keys of one entry of `overrides`, without those of the duties; offsets in struct policy_override. */
extern const struct setting settings_override_table[];

bool setting_is_text(enum setting_kind kind);
bool setting_is_list(enum setting_kind kind);
bool setting_is_number(enum setting_kind kind); /* also BOOL, ENUM and OPTIONS */

/* A list of mappings (OBJECTS, OVERRIDES, SINKS), as its member holds it. */
struct setting_items {
	char *v;
	size_t n;
};
/* Keys of one item, for an override without those of the duties. NULL for other kinds. */
const struct setting *setting_item_table(enum setting_kind kind);
/* Step over all that an item holds, of an override also what is of the duties: *i is 0 before the first. NULL
 * behind the last. */
const struct setting *setting_next(enum setting_kind kind, size_t *i);
/* The items of base, which is the member's struct or one that it begins. */
struct setting_items setting_items(const struct setting *row, const void *base);
/* The i-th of them. */
void *setting_item(const struct setting *row, const struct setting_items *items, size_t i);
/* Append one of which nothing is known; the duties of an override are copies of those of base. Valid until
 * the next call. */
void *setting_append(const struct setting *row, void *base);

/* Is it a member of struct duty_policy: what an override is made of? The base of such a row may also be a
 * struct policy or a struct policy_override. */
bool setting_is_of_duty(const struct setting *row);

/* The member of `base` (struct config, struct settings or struct cluster_config) that a row describes. */
void *setting_member(const struct setting *row, void *base);
const void *setting_member_const(const struct setting *row, const void *base);
int64_t setting_get_number(const struct setting *row, const void *base);
void setting_set_number(const struct setting *row, void *base, int64_t v);
/* Are both members equal, and of a list of mappings all items? */
bool setting_equal(const struct setting *row, const void *a, const void *b);
/* Release what the member holds and zero it. */
void setting_clear(const struct setting *row, void *base);

#endif
