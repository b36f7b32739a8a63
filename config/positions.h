/* positions.h - where in the file the keys stand, for what is said about them after it was read.
 * Layer: config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_POSITIONS_H
#define CONFIG_POSITIONS_H

#include <stddef.h>

#include "config/settings.h"

/* Where a key stands; line 0: it does not. */
struct position {
	size_t line, column;
	const char *key; /* as written; lives as long as the tree */
};

#define POSITIONS_MAX 256
#define SINK_ROWS_MAX 32

struct positions {
	struct position row[POSITIONS_MAX];    /* by index in settings_table */
	struct position cluster[CLUSTERS_MAX]; /* key is NULL when it has no name */
	struct position override[OVERRIDES_MAX];
	struct position sink[SINKS_MAX];
	struct position sink_key[SINKS_MAX][SINK_ROWS_MAX]; /* by index in settings_sink_table */
};

#endif
