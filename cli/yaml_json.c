/* yaml_json.c - see yaml_json.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/yaml_json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/str.h"
#include "base/xalloc.h"

#define DEPTH_MAX 64
#define NODES_MAX 1000000u

struct loader {
	yaml_parser_t parser;
	unsigned nodes;
	char *err;
};

static json_t *fail(struct loader *l, const yaml_mark_t *at, const char *text)
{
	if (!l->err)
		l->err = xasprintf("%zu:%zu: %s", at->line + 1, at->column + 1, text);
	return NULL;
}

static bool next(struct loader *l, yaml_event_t *ev)
{
	if (yaml_parser_parse(&l->parser, ev))
		return true;
	(void)fail(l, &l->parser.problem_mark, l->parser.problem ? l->parser.problem : "not YAML");
	return false;
}

static json_t *plain_scalar(const char *s, size_t n)
{
	int64_t i;

	if (n == 0 || strcmp(s, "~") == 0 || strcmp(s, "null") == 0)
		return json_null();
	if (strcmp(s, "true") == 0 || strcmp(s, "false") == 0)
		return json_boolean(s[0] == 't');
	if (str_to_i64(s, n, &i) == 0)
		return json_integer(i);
	return NULL;
}

static json_t *scalar(struct loader *l, const yaml_event_t *ev)
{
	const char *s = (const char *)ev->data.scalar.value;
	const size_t n = ev->data.scalar.length;
	json_t *v = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? plain_scalar(s, n) : NULL;

	if (!v)
		v = json_stringn(s, n);
	return v ? v : fail(l, &ev->start_mark, "text is not UTF-8");
}

static json_t *value(struct loader *l, const yaml_event_t *ev, int depth);

static json_t *sequence(struct loader *l, int depth)
{
	json_t *array = json_array();

	for (;;) {
		yaml_event_t ev;

		if (!next(l, &ev))
			break;
		const bool end = ev.type == YAML_SEQUENCE_END_EVENT;
		json_t *item = end ? NULL : value(l, &ev, depth + 1);

		yaml_event_delete(&ev);
		if (end)
			return array;
		if (!item)
			break;
		json_array_append_new(array, item);
	}
	json_decref(array);
	return NULL;
}

static json_t *mapping(struct loader *l, int depth)
{
	json_t *object = json_object();

	for (;;) {
		yaml_event_t key, ev;
		json_t *item = NULL;

		if (!next(l, &key))
			break;
		if (key.type == YAML_MAPPING_END_EVENT) {
			yaml_event_delete(&key);
			return object;
		}
		if (key.type != YAML_SCALAR_EVENT) {
			(void)fail(l, &key.start_mark, "a key must be a plain word");
		} else if (next(l, &ev)) {
			item = value(l, &ev, depth + 1);
			yaml_event_delete(&ev);
		}
		if (item && json_object_set_new(object, (const char *)key.data.scalar.value, item) < 0)
			item = fail(l, &key.start_mark, "key is not UTF-8");
		yaml_event_delete(&key);
		if (!item)
			break;
	}
	json_decref(object);
	return NULL;
}

static json_t *value(struct loader *l, const yaml_event_t *ev, int depth)
{
	if (++l->nodes > NODES_MAX || depth > DEPTH_MAX)
		return fail(l, &ev->start_mark, "too large or too deep");
	switch (ev->type) {
	case YAML_SCALAR_EVENT:
		return scalar(l, ev);
	case YAML_SEQUENCE_START_EVENT:
		return sequence(l, depth);
	case YAML_MAPPING_START_EVENT:
		return mapping(l, depth);
	case YAML_ALIAS_EVENT:
		return fail(l, &ev->start_mark, "aliases are not taken");
	default:
		return fail(l, &ev->start_mark, "a value is missing");
	}
}

static json_t *document(struct loader *l)
{
	yaml_event_t ev;
	json_t *root = NULL;

	while (next(l, &ev)) {
		const yaml_event_type_t type = ev.type;

		if (type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT) {
			root = type == YAML_STREAM_END_EVENT ? fail(l, &ev.start_mark, "the file is empty")
							     : value(l, &ev, 0);
			yaml_event_delete(&ev);
			break;
		}
		yaml_event_delete(&ev);
	}
	return root;
}

json_t *yaml_json_load(const char *text, size_t n, char **reterr)
{
	struct loader l = { 0 };

	*reterr = NULL;
	if (!yaml_parser_initialize(&l.parser))
		abort();
	yaml_parser_set_input_string(&l.parser, (const unsigned char *)text, n);
	json_t *root = document(&l);

	yaml_parser_delete(&l.parser);
	if (root) {
		free(l.err);
		return root;
	}
	*reterr = l.err;
	return NULL;
}
