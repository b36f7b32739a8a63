/* yaml_json.c - see yaml_json.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/local/yaml_json.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "config/diag.h"
#include "config/yaml.h"

static json_t *json_of_scalar(const yaml_node_t *n)
{
	const char *text = yaml_text(n);
	int64_t i;

	if (yaml_is_null(n))
		return json_null();
	if (yaml_is_plain(n) && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
		return json_boolean(text[0] == 't');
	if (yaml_is_plain(n) && str_to_i64(text, strlen(text), &i) == 0)
		return json_integer(i);
	return json_string(text);
}

static json_t *json_of(const struct yaml *y, const yaml_node_t *n)
{
	struct yaml_item item;

	if (yaml_is_text(n))
		return json_of_scalar(n);
	json_t *all = n->type == YAML_SEQUENCE_NODE ? json_array() : json_object();

	for (size_t i = 0; yaml_next(y, n, &i, &item);) {
		json_t *v = json_of(y, item.value); /* bounded depth */

		if (item.key)
			(void)json_object_set_new(all, yaml_text(item.key), v);
		else
			(void)json_array_append_new(all, v);
	}
	return all;
}

json_t *yaml_json_load(const char *path, const char *text, size_t n, struct diags *d)
{
	_cleanup_(yaml_done) struct yaml y;
	json_t *j = NULL;

	if (yaml_parse(path, text, n, YAML_MANIFEST, &y, d) == 0 && !yaml_root(&y))
		diags_error(d, place_of_file(path), FILE_EMPTY);
	if (d->errors == 0)
		j = json_of(&y, yaml_root(&y));
	return j;
}
