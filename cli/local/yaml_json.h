/* yaml_json.h - a YAML (or JSON) document as a jansson tree, for files that operators give us. Plain scalars
 * have the core types of YAML 1.2; what config/yaml.h refuses is refused. Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_LOCAL_YAML_JSON_H
#define CLI_LOCAL_YAML_JSON_H

#include <jansson.h>
#include <stddef.h>

struct diags;

/* The document in text, or NULL with the errors in d (empty before); path is only for them. */
json_t *yaml_json_load(const char *path, const char *text, size_t n, struct diags *d);
/* The document in a file of at most 16 MiB ("-" = standard input), or NULL after its errors on stderr. */
json_t *yaml_json_read(const char *path);

#endif
