/* config.h - the configuration file as it was written, and what the operator is told about it.
 * Layer: config.  The struct is for everybody; the functions need libyaml (library opc_config_yaml) and are
 * for the loader and the cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdio.h>

#include "config/settings.h"
#include "model/language.h"

struct diags;

/* Every key at its default. */
void config_init(struct config *c);
void config_done(struct config *c);
/* Append an item to "clusters", "overrides" or "sinks", every key at its default. Valid until the next call.
 */
void *config_append(struct config *c, const char *list);

/* Read and check the file `path`. ret must be config_init()ed; what is right is taken, every error and
 * warning goes to d as "FILE:LINE:COLUMN: message". Files that the configuration names are not opened. 0, or
 * -EINVAL when there was an error. Bounded: 1 MiB, 32 levels, 20000 values. */
int config_load(const char *path, struct config *ret, struct diags *d);
/* The same for a text in memory; `path` is only for the messages. Without a text it is the same. */
int config_load_text(const char *path, const char *text, size_t n, struct config *ret, struct diags *d);

/* Print for the operator what was found in the file: "FILE: ok" and the warnings, or all errors. */
void config_print_diags(const char *path, bool loaded, const struct diags *d, enum language l, FILE *out);

#endif
