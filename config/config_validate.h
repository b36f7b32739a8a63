/* config_validate.h - what is wrong, or other than people may think, only when several keys are seen
 * together. Layer: config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_CONFIG_VALIDATE_H
#define CONFIG_CONFIG_VALIDATE_H

#include "config/diag.h"
#include "config/settings.h"
#include "config/table.h"

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

void config_validate(const char *path, const struct config *c, const struct positions *positions,
		     struct diags *d);

#endif
