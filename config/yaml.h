/* yaml.h - a file of YAML or JSON as libyaml's nodes, checked and bounded on every side before anything is
 * read from it. Anchors, aliases and merge keys are resolved; tags and a second document are refused. Layer:
 * config (library opc_config_yaml). Owns: the document. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_YAML_H
#define CONFIG_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#include "config/diag.h"

#define YAML_DEPTH_MAX 32u

/* Limits: a configuration and a kubeconfig have at most 1 MiB and 20,000 values, objects of Kubernetes 16 MiB
 * and 1,000,000. A value counts each time that an alias repeats it. Keys of a configuration that differ only
 * in case are duplicates. */
enum yaml_use { YAML_KUBECONFIG, YAML_CONFIGURATION, YAML_MANIFEST };

/* Zero-initialised = empty. */
struct yaml {
	yaml_document_t document;
	bool loaded;
};

/* A key with its value, or an item of a list, whose key is NULL. Both are libyaml's. */
struct yaml_item {
	const yaml_node_t *key, *value;
};

/* Read a file (by file_read) or parse a text. Every error goes to d, with path as its file. 0, also after
 * errors that leave the rest worth checking (d->errors tells); -EINVAL when there is no document, or the
 * errno of the file. Release with yaml_done(), also after an error. */
int yaml_read(const char *path, enum yaml_use use, struct yaml *ret, struct diags *d);
int yaml_parse(const char *path, const char *text, size_t n, enum yaml_use use, struct yaml *ret,
	       struct diags *d);
/* Read the bytes of a file, as far as they may be such a text; *ret is malloc()ed. As yaml_read(). */
int yaml_read_text(const char *path, enum yaml_use use, char **ret, size_t *ret_n, struct diags *d);
/* Wipe all values, as some are secrets, and release the document. */
void yaml_done(struct yaml *y);

/* The outermost node; NULL in an empty document. */
const yaml_node_t *yaml_root(const struct yaml *y);
/* Step over the items of a list or the keys of a mapping: *i is 0 before the first. False behind the last,
 * and at once when node is NULL or a scalar. Every key is a scalar. */
bool yaml_next(const struct yaml *y, const yaml_node_t *node, size_t *i, struct yaml_item *ret);
/* The key of a mapping with exactly this name. Both members are NULL when it is absent, or node is no
 * mapping.
 */
struct yaml_item yaml_get(const struct yaml *y, const yaml_node_t *node, const char *key);

static inline bool yaml_is_text(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE;
}

/* The text of a scalar, NUL-terminated and without a NUL in it. */
static inline const char *yaml_text(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

/* Is it a scalar without quotes? */
bool yaml_is_plain(const yaml_node_t *node);
/* Is it a plain scalar that YAML reads as nothing: empty, ~ or null? */
bool yaml_is_null(const yaml_node_t *node);
/* The row of "a text", "a list", "a mapping" or "nothing". */
enum phrase yaml_kind(const yaml_node_t *node);

/* Where it stands, for diags_error() and diags_warn(); key: in front of the sentence, NULL = none. */
static inline struct place yaml_place(const char *path, const yaml_node_t *node, const char *key)
{
	return (struct place){ path, node->start_mark.line + 1, node->start_mark.column + 1, key };
}

#endif
