/* tree.h - the part of YAML that configuration needs, as a small tree with positions. Anchors, aliases, tags,
 * merge keys and several documents are refused. JSON is read too. Layer: config.  The only file that includes
 * libyaml's header is tree.c. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_TREE_H
#define CONFIG_TREE_H

#include <stdbool.h>
#include <stddef.h>

struct diags;

#define TREE_DEPTH_MAX 32u

/* What a file is for: kubeconfig and configuration (at most 1 MiB, 20,000 values), objects of Kubernetes (16
 * MiB, 1,000,000 values). In a configuration, keys that differ only in case are duplicates. */
enum tree_use { TREE_KUBECONFIG, TREE_CONFIGURATION, TREE_MANIFEST };

struct tree_node {
	enum { TREE_SCALAR, TREE_LIST, TREE_MAP } kind;
	size_t line, column; /* from 1 */
	char *text;          /* of a scalar, NUL-terminated; holds no NUL inside */
	size_t n;
	bool plain;                     /* not quoted, no block */
	struct tree_node *key;          /* in a map: this child's key */
	struct tree_node *first, *next; /* children; next sibling */
};

/* Read a file (by file_read) or a text. *ret is NULL for an empty document. Every error goes
 * to d. -EINVAL when there is no tree, or why the file
 * could not be read; 0 also after errors (duplicate key, alias, ...) that leave the rest worth checking: look
 * at d->errors. Free with tree_free. */
int tree_read(const char *path, enum tree_use use, struct tree_node **ret, struct diags *d);
/* Only its text, as far as it may be one; malloc()ed. */
int tree_read_text(const char *path, enum tree_use use, char **ret, size_t *ret_n, struct diags *d);
int tree_parse(const char *path, const char *text, size_t n, enum tree_use use, struct tree_node **ret,
	       struct diags *d);
void tree_free(struct tree_node **node);

/* A plain scalar that YAML reads as nothing: empty, ~ or null. */
bool tree_is_null(const struct tree_node *node);
/* Child of a map by exact key; NULL when absent or node is no map. */
const struct tree_node *tree_get(const struct tree_node *node, const char *key);
/* First item of the list that is such a child; NULL when it is no list. */
const struct tree_node *tree_items(const struct tree_node *node, const char *key);
/* "a text", "a list", "a mapping" */
const char *tree_kind_name(const struct tree_node *node);

#endif
