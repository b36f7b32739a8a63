/* yaml_json.h - a YAML (or JSON) document as a jansson tree, for files that people give us. YAML 1.2 core
 * types for plain scalars; no anchors, aliases or tags; at most 64 levels and 1,000,000 nodes. Process: cli.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_YAML_JSON_H
#define CLI_YAML_JSON_H

#include <jansson.h>
#include <stddef.h>

/* The first document. NULL with *reterr = "LINE:COLUMN: message" (owned by the caller) on error. */
json_t *yaml_json_load(const char *text, size_t n, char **reterr);

#endif
