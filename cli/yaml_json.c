/* yaml_json.c - see yaml_json.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/yaml_json.h"

#include <string.h>

#include "base/str.h"
#include "config/diag.h"
#include "config/tree.h"

static json_t *json_of_scalar(const struct tree_node *n)
{
	int64_t i;

	if (tree_is_null(n))
		return json_null();
	if (n->plain && (strcmp(n->text, "true") == 0 || strcmp(n->text, "false") == 0))
		return json_boolean(n->text[0] == 't');
	if (n->plain && str_to_i64(n->text, n->n, &i) == 0)
		return json_integer(i);
	return json_stringn(n->text, n->n);
}

static json_t *json_of(const struct tree_node *n)
{
	if (n->kind == TREE_SCALAR)
		return json_of_scalar(n);
	json_t *all = n->kind == TREE_LIST ? json_array() : json_object();

	for (const struct tree_node *child = n->first; child; child = child->next) {
		json_t *v = json_of(child); /* bounded depth */

		if (n->kind == TREE_LIST)
			(void)json_array_append_new(all, v);
		else
			(void)json_object_set_new(all, child->key->text, v);
	}
	return all;
}

json_t *yaml_json_load(const char *path, const char *text, size_t n, struct diags *d)
{
	struct tree_node *root = NULL;
	json_t *j = NULL;

	if (tree_parse(path, text, n, TREE_MANIFEST, &root, d) == 0 && !root)
		diags_error(d, path, 0, 0, "the file is empty");
	if (d->errors == 0)
		j = json_of(root);
	tree_free(&root);
	return j;
}
