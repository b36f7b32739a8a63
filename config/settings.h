/* settings.h - the validated settings as every process sees them, made from YAML by the loader and carried in
 * sealed memfds. One table (config/settings.def) describes every key: type, default, range, unit, reloadable,
 * secret, roles, doc. Layer: config.  No libyaml in here: linking the YAML parser needs config/config.h. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include "config/structs.h"
#include "ipc/msg.h"

void settings_init(struct settings *s);
void settings_done(struct settings *s);

/* The i-th key that a reload does not change (FIXED), NULL behind the last, and a hash of its value: with
 * another hash the value is another. */
const char *settings_fixed_key(const struct settings *s, size_t i, uint64_t *ret_hash);

#endif
