/* yaml.c - see yaml.h. A first pass over libyaml's events bounds the text, so that the document is loaded
 * only when it is small; a walk over the document counts what aliases repeat, which also ends at an alias of
 * a node that it is in. */
// SPDX-License-Identifier: Apache-2.0
#include "config/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/unicode.h"
#include "config/diag.h"
#include "config/file.h"

#define KEYS_MAX    1000u /* of one mapping: each is compared with each */
#define ANCHORS_MAX 1000u /* libyaml compares each alias with each */

static const struct limits {
	size_t bytes, values;
	bool no_case;
} limits_of[] = {
	[YAML_KUBECONFIG] = { 1u << 20, 20000, false },
	[YAML_CONFIGURATION] = { 1u << 20, 20000, true },
	[YAML_MANIFEST] = { 16u << 20, 1000000, false },
};

/* A text on its way to a document. */
struct load {
	const char *path;
	struct str text;
	const struct limits *limits;
	struct diags *d;
	struct yaml *y;
	size_t values, depth, anchors, documents;
};

/* -- the document -- */

static yaml_node_t *node_at(const struct yaml *y, int index)
{
	return y->document.nodes.start + index - 1;
}

void yaml_done(struct yaml *y)
{
	for (yaml_node_t *n = y->document.nodes.start; y->loaded && n < y->document.nodes.top; n++)
		if (n->type == YAML_SCALAR_NODE)
			explicit_bzero(n->data.scalar.value, n->data.scalar.length);
	if (y->loaded)
		yaml_document_delete(&y->document);
	*y = (struct yaml){ 0 };
}

const yaml_node_t *yaml_root(const struct yaml *y)
{
	return y->loaded && y->document.nodes.top > y->document.nodes.start ? y->document.nodes.start : NULL;
}

bool yaml_next(const struct yaml *y, const yaml_node_t *node, size_t *i, struct yaml_item *ret)
{
	const size_t at = (*i)++;

	if (!node || node->type == YAML_SCALAR_NODE)
		return false;
	if (node->type == YAML_SEQUENCE_NODE) {
		const yaml_node_item_t *item = node->data.sequence.items.start + at;

		if (item >= node->data.sequence.items.top)
			return false;
		*ret = (struct yaml_item){ NULL, node_at(y, *item) };
		return true;
	}
	const yaml_node_pair_t *pair = node->data.mapping.pairs.start + at;

	if (pair >= node->data.mapping.pairs.top)
		return false;
	*ret = (struct yaml_item){ node_at(y, pair->key), node_at(y, pair->value) };
	return true;
}

struct yaml_item yaml_get(const struct yaml *y, const yaml_node_t *node, const char *key)
{
	struct yaml_item item;
	size_t i = 0;

	while (yaml_next(y, node, &i, &item))
		if (item.key && strcmp(yaml_text(item.key), key) == 0)
			return item;
	return (struct yaml_item){ 0 };
}

bool yaml_is_plain(const yaml_node_t *node)
{
	return yaml_is_text(node) && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

bool yaml_is_null(const yaml_node_t *node)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL" };

	for (size_t i = 0; yaml_is_plain(node) && i < ARRAY_SIZE(words); i++)
		if (strcmp(yaml_text(node), words[i]) == 0)
			return true;
	return false;
}

enum phrase yaml_kind(const yaml_node_t *node)
{
	return yaml_is_null(node)                 ? PHRASE_DIAG_NOTHING
	       : node->type == YAML_SCALAR_NODE   ? PHRASE_DIAG_TEXT
	       : node->type == YAML_SEQUENCE_NODE ? PHRASE_DIAG_LIST
						  : PHRASE_DIAG_MAPPING;
}

static struct place mark_place(const struct load *l, const yaml_mark_t *at)
{
	return (struct place){ l->path, at->line + 1, at->column + 1, NULL };
}

#define FAIL(l, at, ...)   diags_error((l)->d, mark_place(l, at), __VA_ARGS__)
#define FAIL_AT(l, n, ...) diags_error((l)->d, yaml_place((l)->path, n, NULL), __VA_ARGS__)

/* -- the walk -- */

static bool same_key(const struct load *l, int a, int b)
{
	const char *x = yaml_text(node_at(l->y, a)), *y = yaml_text(node_at(l->y, b));

	return l->limits->no_case ? strcasecmp(x, y) == 0 : strcmp(x, y) == 0;
}

static bool has_key(const struct load *l, const yaml_node_t *map, int key)
{
	for (const yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++)
		if (same_key(l, p->key, key))
			return true;
	return false;
}

/* Add the keys of `from` that map does not have. */
static int merge_one(const struct load *l, yaml_node_t *map, const yaml_node_t *from)
{
	if (from->type != YAML_MAPPING_NODE)
		return FAIL_AT(l, from, WRONG_KIND, "<<", WORD(yaml_kind(from)), WORD(PHRASE_DIAG_MAPPING));
	for (const yaml_node_pair_t *p = from->data.mapping.pairs.start; p < from->data.mapping.pairs.top;
	     p++)
		if (!has_key(l, map, p->key) &&
		    !yaml_document_append_mapping_pair(
			    &l->y->document, (int)(map - l->y->document.nodes.start) + 1, p->key, p->value))
			return FAIL_AT(l, map, MEMORY);
	return 0;
}

/* Replace each "<<" by the keys of the mapping, or of the list of mappings, that is its value. */
static int merge(const struct load *l, yaml_node_t *map)
{
	int r = 0;

	for (size_t i = 0; r == 0 && map->data.mapping.pairs.start + i < map->data.mapping.pairs.top;) {
		yaml_node_pair_t *p = map->data.mapping.pairs.start + i;
		const yaml_node_t *key = node_at(l->y, p->key), *from = node_at(l->y, p->value);
		struct yaml_item item;
		size_t k = 0;

		if (!yaml_is_plain(key) || strcmp(yaml_text(key), "<<") != 0) {
			i++;
			continue;
		}
		memmove(p, p + 1, (size_t)(map->data.mapping.pairs.top - p - 1) * sizeof(*p));
		map->data.mapping.pairs.top--;
		if (from->type != YAML_SEQUENCE_NODE)
			r = merge_one(l, map, from);
		while (r == 0 && from->type == YAML_SEQUENCE_NODE && yaml_next(l->y, from, &k, &item))
			r = merge_one(l, map, item.value);
	}
	return r;
}

static int check_keys(struct load *l, const yaml_node_t *map)
{
	const yaml_node_pair_t *first = map->data.mapping.pairs.start, *end = map->data.mapping.pairs.top;

	for (const yaml_node_pair_t *p = first; p < end; p++) {
		const yaml_node_t *key = node_at(l->y, p->key);

		if (p - first >= KEYS_MAX)
			return FAIL_AT(l, key, KEYS);
		for (const yaml_node_pair_t *q = first; q < p; q++)
			if (same_key(l, q->key, p->key)) {
				(void)FAIL_AT(l, key, DUPLICATE, yaml_text(key),
					      node_at(l->y, q->key)->start_mark.line + 1);
				break;
			}
	}
	return 0;
}

static int check_node(struct load *l, yaml_node_t *node, size_t depth)
{
	struct yaml_item item;
	int r = 0;

	if (++l->values > l->limits->values)
		return FAIL_AT(l, node, VALUES, l->limits->values);
	if (node->type != YAML_SCALAR_NODE && depth == YAML_DEPTH_MAX)
		return FAIL_AT(l, node, DEPTH);
	for (size_t i = 0; r == 0 && yaml_next(l->y, node, &i, &item);) {
		l->values += item.key != NULL;
		if (item.key && item.key->type != YAML_SCALAR_NODE)
			return FAIL_AT(l, item.key, KEY_NO_WORD);
		r = check_node(l, l->y->document.nodes.start + (item.value - l->y->document.nodes.start),
			       depth + 1);
	}
	if (r == 0 && node->type == YAML_MAPPING_NODE)
		r = merge(l, node);
	return r == 0 && node->type == YAML_MAPPING_NODE ? check_keys(l, node) : r;
}

/* -- the events -- */

/* A tag is an error after which reading goes on: the rest is worth checking. */
static void check_tag(const struct load *l, const yaml_event_t *e, const yaml_char_t *tag)
{
	if (tag)
		(void)FAIL(l, &e->start_mark, TAGS);
}

static int count_node(struct load *l, const yaml_event_t *e, bool opens, const yaml_char_t *anchor,
		      const yaml_char_t *tag)
{
	check_tag(l, e, tag);
	l->anchors += anchor != NULL;
	if (++l->values > l->limits->values)
		return FAIL(l, &e->start_mark, VALUES, l->limits->values);
	if (l->anchors > ANCHORS_MAX)
		return FAIL(l, &e->start_mark, ANCHORS);
	if (opens && ++l->depth > YAML_DEPTH_MAX)
		return FAIL(l, &e->start_mark, DEPTH);
	return 0;
}

static int on_event(struct load *l, const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT:
		if (memchr(e->data.scalar.value, 0, e->data.scalar.length))
			return FAIL(l, &e->start_mark, NUL_IN_TEXT);
		return count_node(l, e, false, e->data.scalar.anchor, e->data.scalar.tag);
	case YAML_ALIAS_EVENT:
		return count_node(l, e, false, NULL, NULL);
	case YAML_SEQUENCE_START_EVENT:
		return count_node(l, e, true, e->data.sequence_start.anchor, e->data.sequence_start.tag);
	case YAML_MAPPING_START_EVENT:
		return count_node(l, e, true, e->data.mapping_start.anchor, e->data.mapping_start.tag);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		l->depth--;
		return 0;
	case YAML_DOCUMENT_START_EVENT:
		if (++l->documents > 1)
			return FAIL(l, &e->start_mark, DOCUMENTS);
		return 0;
	default:
		return 0;
	}
}

/* Marks count characters, not bytes: look at the line they name. */
static bool is_tab(const struct load *l, const yaml_mark_t *at)
{
	const char *p = l->text.p, *end = l->text.p + l->text.n;

	for (size_t line = 0; p && line < at->line; line++) {
		p = memchr(p, '\n', (size_t)(end - p));
		p = p ? p + 1 : NULL;
	}
	return p && (size_t)(end - p) > at->column && p[at->column] == '\t';
}

static int report_syntax(const struct load *l, const yaml_parser_t *p)
{
	const yaml_mark_t *at = &p->problem_mark;
	const char *context = p->context ? p->context : "", *problem = p->problem ? p->problem : "";
	const enum phrase remedy = strstr(context, "scanning a tag") ? PHRASE_DIAG_NEEDS_QUOTES
				   : strstr(context, "an alias") || strstr(problem, "undefined alias")
					   ? PHRASE_DIAG_STAR_QUOTES
				   : is_tab(l, at) ? PHRASE_DIAG_TAB
						   : PHRASE__MAX;

	return FAIL(l, at, SYNTAX, problem, *context ? ", " : "", context,
		    remedy < PHRASE__MAX ? WORD(remedy) : "");
}

static bool open_parser(const struct load *l, yaml_parser_t *p)
{
	if (!yaml_parser_initialize(p)) {
		(void)diags_error(l->d, place_of_file(l->path), MEMORY);
		return false;
	}
	yaml_parser_set_input_string(p, (const unsigned char *)l->text.p, l->text.n);
	yaml_parser_set_encoding(p, YAML_UTF8_ENCODING);
	return true;
}

static int check_events(struct load *l)
{
	yaml_parser_t p;
	int r = 0;

	if (!open_parser(l, &p))
		return -EINVAL;
	for (bool end = false; r == 0 && !end;) {
		yaml_event_t e;

		if (!yaml_parser_parse(&p, &e)) {
			r = report_syntax(l, &p);
			break;
		}
		end = e.type == YAML_STREAM_END_EVENT;
		r = on_event(l, &e);
		yaml_event_delete(&e);
	}
	yaml_parser_delete(&p);
	return r;
}

static int load_document(struct load *l)
{
	yaml_parser_t p;
	int r = 0;

	if (!open_parser(l, &p))
		return -EINVAL;
	l->y->loaded = yaml_parser_load(&p, &l->y->document) != 0;
	if (!l->y->loaded)
		r = report_syntax(l, &p);
	yaml_parser_delete(&p);
	l->values = 0;
	return r == 0 && yaml_root(l->y) ? check_node(l, l->y->document.nodes.start, 0) : r;
}

/* Find bytes that are no text: libyaml's messages about them give no line. */
static int check_bytes(const struct load *l)
{
	size_t line = 1, column = 1;

	for (size_t i = 0; i < l->text.n;) {
		const unsigned char c = (unsigned char)l->text.p[i];
		const size_t len = unicode_len(l->text.p + i, l->text.n - i);
		const enum phrase found = len == 0 ? PHRASE_DIAG_NOT_UTF8
					  : c == 0 ? PHRASE_DIAG_NUL
					  : (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f
						  ? PHRASE_DIAG_CONTROL
						  : PHRASE__MAX;

		if (found < PHRASE__MAX)
			return diags_error(l->d, ((struct place){ l->path, line, column, NULL }), NOT_PLAIN,
					   WORD(found), c);
		column = c == '\n' ? 1 : column + 1;
		line += c == '\n';
		i += len;
	}
	return 0;
}

int yaml_parse(const char *path, const char *text, size_t n, enum yaml_use use, struct yaml *ret,
	       struct diags *d)
{
	const size_t bom = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	struct load l = { path, { text + bom, n - bom }, &limits_of[use], d, ret };

	*ret = (struct yaml){ 0 };
	if (n > limits_of[use].bytes)
		return diags_error(d, place_of_file(path), FILE_LARGE, limits_of[use].bytes / 1024);
	if (check_bytes(&l) == 0 && check_events(&l) == 0 && load_document(&l) == 0)
		return 0;
	yaml_done(ret);
	return -EINVAL;
}

int yaml_read_text(const char *path, enum yaml_use use, char **ret, size_t *ret_n, struct diags *d)
{
	char why[SENTENCE_MAX];
	const int r = file_read(path, limits_of[use].bytes, ret, ret_n, why);

	if (r < 0)
		(void)diags_put(d, true, place_of_file(path), why);
	return r;
}

int yaml_read(const char *path, enum yaml_use use, struct yaml *ret, struct diags *d)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	int r = yaml_read_text(path, use, &text, &n, d);

	*ret = (struct yaml){ 0 };
	if (r < 0)
		return r;
	r = yaml_parse(path, text, n, use, ret, d);
	explicit_bzero(text, n);
	return r;
}
