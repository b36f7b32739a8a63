/* table.h - config/settings.def as data.  Layer: config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_TABLE_H
#define CONFIG_TABLE_H

#include "config/settings.h"

enum setting_kind {
	SET_SECTION, /* no value of its own */
	SET_OBJECTS, /* list of mappings, `clusters` */
	SET_BOOL,
	SET_COUNT,    /* int64_t or uint64_t */
	SET_DURATION, /* the same, milliseconds; written as a Go duration */
	SET_ENUM,
	SET_TEXT, /* char *, as are the next six; NULL when empty */
	SET_CRON,
	SET_URL,
	SET_LISTEN,
	SET_ZONE,
	SET_PATH,
	SET_NAME,
	SET_NAMESPACES, /* struct str_list, as are the next four */
	SET_REASONS,
	SET_LABELS,  /* key=value */
	SET_WINDOWS, /* one text is one window: it may hold commas */
	SET_STRINGS,
	SET_OVERRIDES, /* struct policy_override *, its size_t length is the next member */
	SET_BYTES,     /* void *, its uint64_t length is the next member */
};

enum {
	SETTING_FIXED = 1,
	SETTING_SECRET = 2,
	SETTING_DERIVED = 4,
	SETTING_NO_STAR = 8,   /* NAMESPACES: "*" is not one */
	SETTING_OVERRIDE = 16, /* may stand in an item of `overrides` */
	SETTING_ANY = 32,      /* REASONS: "*" is any */
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
/* Keys of one entry of `clusters`; offsets in struct cluster_config. */
extern const struct setting settings_cluster_table[];
/* Keys of one entry of `overrides`, without those of the duties; offsets in struct policy_override. */
extern const struct setting settings_override_table[];

bool setting_is_text(enum setting_kind kind);
bool setting_is_list(enum setting_kind kind);
bool setting_is_number(enum setting_kind kind); /* also BOOL and ENUM */

/* Is it a member of struct duty_policy: what an override is made of? The base of such a row may also be a
 * struct policy or a struct policy_override. */
bool setting_is_of_duty(const struct setting *row);

/* The member of `base` (struct config, struct settings or struct cluster_config) that a row describes. */
void *setting_member(const struct setting *row, void *base);
const void *setting_member_const(const struct setting *row, const void *base);
int64_t setting_get_number(const struct setting *row, const void *base);
void setting_set_number(const struct setting *row, void *base, int64_t v);
bool setting_equal(const struct setting *row, const void *a, const void *b);
/* Release what the member holds and zero it. */
void setting_clear(const struct setting *row, void *base);
/* Append an override without name, namespaces and labels whose duties are copies of the policy's. The pointer
 * is valid until the next call. */
struct policy_override *setting_add_override(struct policy *policy);

#endif
