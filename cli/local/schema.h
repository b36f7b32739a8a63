/* schema.h - the configuration file as a JSON Schema, for editors. Process: cli.
 * Source: JSON Schema draft-07, which yaml-language-server and the editors on it read. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_LOCAL_SCHEMA_H
#define CLI_LOCAL_SCHEMA_H

#include <jansson.h>

/* Made of config/settings.def: every key with type, range, default and meaning. The file's keys may be
 * written in any case; the schema knows the spelling of the table and its aliases. Owned by the caller. */
json_t *schema_of_configuration(void);

#endif
