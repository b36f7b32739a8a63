/* yaml_json.c - see yaml_json.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/local/yaml_json.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "cli/view/output.h"
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

#define FILE_MAX (16u << 20)

/* The bytes of a file, "-" = standard input, owned by the caller; NULL after a message on stderr. */
static char *read_file(const char *path, size_t *ret_n)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	char *buf = NULL;
	size_t n = 0, k;

	if (!f) {
		(void)fprintf(stderr, TEXT(CANNOT_READ), path, strerrordesc_np(errno));
		(void)fputc('\n', stderr);
		return NULL;
	}
	do {
		buf = xreallocarray(buf, n + 65536, 1);
		k = fread(buf + n, 1, 65536, f);
		n += k;
	} while (k > 0 && n <= FILE_MAX);
	const bool bad = ferror(f) != 0;

	if (f != stdin)
		(void)fclose(f);
	if (bad || n > FILE_MAX) {
		(void)fprintf(stderr, bad ? TEXT(CANNOT_READ_FOLDER) : TEXT(TOO_LARGE), path);
		(void)fputc('\n', stderr);
		free(buf);
		return NULL;
	}
	*ret_n = n;
	return buf;
}

json_t *yaml_json_read(const char *path)
{
	struct diags d = { 0 };
	size_t n = 0;
	_cleanup_free_ char *text = read_file(path, &n);
	json_t *root = text ? yaml_json_load(path, text, n, &d) : NULL;

	output_diags(&d, false);
	diags_done(&d);
	return root;
}
