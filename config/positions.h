/* positions.h - where the keys of a configuration stand in its file.  Layer: config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_POSITIONS_H
#define CONFIG_POSITIONS_H

#include "config/diag.h"
#include "config/table.h"

#define POSITIONS_MAX 256
#define ITEM_KEYS_MAX 32

/* Where an item of a list of mappings stands, and its keys. */
struct item_places {
	struct place item;
	struct place key[ITEM_KEYS_MAX]; /* by index in its table */
};

/* Where the keys stand in the file, each with its spelling there; line 0: it is not written. Lives as long as
 * the document. */
struct positions {
	struct place row[POSITIONS_MAX]; /* by index in settings_table */
	struct item_places cluster[CLUSTERS_MAX], override[OVERRIDES_MAX], sink[SINKS_MAX];
};

static inline struct item_places *positions_of_item(struct positions *p, enum setting_kind list, size_t i)
{
	return list == SET_OBJECTS ? &p->cluster[i] : list == SET_SINKS ? &p->sink[i] : &p->override[i];
}

/* Where a key that stands in no list is written in the file at `path`. */
static inline struct place positions_of(const struct positions *p, const char *path, const char *key)
{
	const struct place *row = &p->row[settings_find(key) - settings_table];

	return (struct place){ path, row->line, row->column, key };
}

#endif
