/* config_print.h - the keys of the configuration and their values, printed for operators.
 * Layer: config (library opc_config_yaml). */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_CONFIG_PRINT_H
#define CONFIG_CONFIG_PRINT_H

#include <stdio.h>

#include "config/config.h"
#include "config/table.h"

/* All keys with type, default, range and meaning, for a terminal. */
void config_print_help(FILE *out);
/* The configuration in force as YAML that reads back equal; secrets as "(hidden)". */
void config_print_effective(const struct config *c, FILE *out);

/* Words up to `width` columns, each line after `indent` blanks. */
void config_print_wrapped(FILE *out, const char *text, int indent, int width);
/* What may be written, in a word. */
const char *config_type_name(const struct setting *row);
/* Range of a number or a duration, or the texts that are possible, between open and close; nothing when there
 * is no such limit. */
void config_print_range(const struct setting *row, FILE *out, const char *open, const char *close);

#endif
