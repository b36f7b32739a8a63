/* positions.h - where the keys of a configuration stand in its file.  Layer: config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_POSITIONS_H
#define CONFIG_POSITIONS_H

#include "config/diag.h"
#include "config/table.h"

#define POSITIONS_MAX 256
#define SINK_ROWS_MAX 32

/* Where the keys stand in the file, each with its spelling there; line 0: it is not written. Lives as long as
 * the document. */
struct positions {
	struct place row[POSITIONS_MAX];    /* by index in settings_table */
	struct place cluster[CLUSTERS_MAX]; /* key is NULL when it has no name */
	struct place override[OVERRIDES_MAX];
	struct place sink[SINKS_MAX];
	struct place sink_key[SINKS_MAX][SINK_ROWS_MAX]; /* by index in settings_sink_table */
};

/* Where a key that stands in no list is written in the file at `path`. */
static inline struct place positions_of(const struct positions *p, const char *path, const char *key)
{
	const struct place *row = &p->row[settings_find(key) - settings_table];

	return (struct place){ path, row->line, row->column, key };
}

#endif
