/* tree.c - libyaml's events -> a tree, bounded on every side; see tree.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "config/diag.h"
#include "config/file.h"

/* Keys of one mapping: comparing each with each stays cheap. */
#define KEYS_MAX 1000u

static const struct limits {
	size_t bytes, values;
	bool no_case;
} limits_of[] = {
	[TREE_KUBECONFIG] = { 1u << 20, 20000, false },
	[TREE_CONFIGURATION] = { 1u << 20, 20000, true },
	[TREE_MANIFEST] = { 16u << 20, 1000000, false },
};

struct level {
	struct tree_node *node;
	struct tree_node **tail; /* where the next child goes */
	struct tree_node *key;   /* a key that waits for its value */
	size_t n;
};

struct build {
	const char *path;
	const char *text;
	size_t size;
	const struct limits *limits;
	struct diags *d;
	struct tree_node *root;
	struct level stack[TREE_DEPTH_MAX];
	size_t depth, nodes, documents;
};

void tree_free(struct tree_node **node)
{
	struct tree_node *n = *node;

	*node = NULL;
	while (n) {
		struct tree_node *next = n->next;

		if (n->text)
			explicit_bzero(n->text, n->n);
		free(n->text);
		tree_free(&n->key);
		tree_free(&n->first); /* at most TREE_DEPTH_MAX deep */
		free(n);
		n = next;
	}
}

bool tree_is_null(const struct tree_node *node)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL" };

	if (node->kind != TREE_SCALAR || !node->plain)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(node->text, words[i]) == 0)
			return true;
	return false;
}

const struct tree_node *tree_get(const struct tree_node *node, const char *key)
{
	if (!node || node->kind != TREE_MAP)
		return NULL;
	for (const struct tree_node *n = node->first; n; n = n->next)
		if (strcmp(n->key->text, key) == 0)
			return n;
	return NULL;
}

const struct tree_node *tree_items(const struct tree_node *node, const char *key)
{
	const struct tree_node *list = tree_get(node, key);

	return list && list->kind == TREE_LIST ? list->first : NULL;
}

const char *tree_kind_name(const struct tree_node *node)
{
	static const char *const names[] = { "a text", "a list", "a mapping" };

	return tree_is_null(node) ? "nothing" : names[node->kind];
}

#define FAIL(b, at, ...) diags_error((b)->d, (b)->path, (at)->line + 1, (at)->column + 1, __VA_ARGS__)

static bool same_key(const struct build *b, const char *x, const char *y)
{
	return b->limits->no_case ? strcasecmp(x, y) == 0 : strcmp(x, y) == 0;
}

/* A scalar in the place of a key. */
static int add_key(struct build *b, struct level *l, struct tree_node *key, const yaml_mark_t *at)
{
	l->key = key;
	if (key->kind != TREE_SCALAR)
		return FAIL(b, at, "a key must be a plain word");
	if (key->plain && strcmp(key->text, "<<") == 0)
		(void)FAIL(b, at, "merge keys (<<) are not supported: write the keys out");
	if (++l->n > KEYS_MAX)
		return FAIL(b, at, "more than 1000 keys in one mapping");
	for (const struct tree_node *n = l->node->first; n; n = n->next)
		if (same_key(b, n->key->text, key->text)) {
			(void)FAIL(b, at, "duplicate key \"%s\": it is already in line %zu; keep one",
				   key->text, n->key->line);
			break;
		}
	return 0;
}

static int add_node(struct build *b, struct tree_node *node, const yaml_mark_t *at)
{
	struct level *l = b->depth > 0 ? &b->stack[b->depth - 1] : NULL;

	if (!l) {
		b->root = node;
		return 0;
	}
	if (l->node->kind == TREE_MAP && !l->key)
		return add_key(b, l, node, at);
	node->key = TAKE_PTR(l->key);
	*l->tail = node;
	l->tail = &node->next;
	return 0;
}

static int open_node(struct build *b, const yaml_event_t *e, int kind, const char *text, size_t n, bool plain)
{
	const yaml_mark_t *at = &e->start_mark;
	struct tree_node *node;
	int r;

	if (++b->nodes > b->limits->values)
		return FAIL(b, at, "more than %zu values: is this the right file?", b->limits->values);
	if (kind != TREE_SCALAR && b->depth == TREE_DEPTH_MAX)
		return FAIL(b, at, "nested deeper than 32 levels");
	node = xcalloc(1, sizeof(*node));
	node->kind = kind == TREE_MAP ? TREE_MAP : kind == TREE_LIST ? TREE_LIST : TREE_SCALAR;
	node->line = at->line + 1;
	node->column = at->column + 1;
	node->plain = plain;
	node->n = n;
	if (kind == TREE_SCALAR)
		node->text = xstrndup(text, n);
	r = add_node(b, node, at);
	if (r == 0 && kind != TREE_SCALAR)
		b->stack[b->depth++] = (struct level){ .node = node, .tail = &node->first };
	return r;
}

#define NEEDS_QUOTES "; a text that begins with '!' needs its quotes"

/* Errors after which reading goes on: the rest is worth checking. */
static void check_decorations(struct build *b, const yaml_event_t *e, const yaml_char_t *anchor,
			      const yaml_char_t *tag)
{
	if (anchor)
		(void)FAIL(b, &e->start_mark, "anchors (&) are not supported: write the value out");
	if (tag)
		(void)FAIL(b, &e->start_mark, "tags (!) are not supported: leave the tag out%s",
			   diags_said(b->d, NEEDS_QUOTES));
}

static int on_scalar(struct build *b, const yaml_event_t *e)
{
	const char *text = (const char *)e->data.scalar.value;
	const size_t n = e->data.scalar.length;

	check_decorations(b, e, e->data.scalar.anchor, e->data.scalar.tag);
	if (memchr(text, 0, n))
		return FAIL(b, &e->start_mark, "a NUL character in a text: leave it out");
	return open_node(b, e, TREE_SCALAR, text, n, e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE);
}

static int on_event(struct build *b, const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT:
		return on_scalar(b, e);
	case YAML_SEQUENCE_START_EVENT:
		check_decorations(b, e, e->data.sequence_start.anchor, e->data.sequence_start.tag);
		return open_node(b, e, TREE_LIST, NULL, 0, false);
	case YAML_MAPPING_START_EVENT:
		check_decorations(b, e, e->data.mapping_start.anchor, e->data.mapping_start.tag);
		return open_node(b, e, TREE_MAP, NULL, 0, false);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		b->depth--;
		return 0;
	case YAML_ALIAS_EVENT:
		(void)FAIL(b, &e->start_mark,
			   "aliases (*) are not supported: write the value out; "
			   "\"*\" for all namespaces, and a pattern like \"*-dev\", need their quotes");
		return open_node(b, e, TREE_SCALAR, "", 0, true);
	case YAML_DOCUMENT_START_EVENT:
		if (++b->documents > 1)
			return FAIL(b, &e->start_mark, "a second document (---) in the file: keep one");
		return 0;
	default:
		return 0;
	}
}

/* Marks count characters, not bytes: look at the line they name. */
static bool is_tab(const struct build *b, const yaml_mark_t *at)
{
	const char *p = b->text, *end = b->text + b->size;

	for (size_t line = 0; p && line < at->line; line++) {
		p = memchr(p, '\n', (size_t)(end - p));
		p = p ? p + 1 : NULL;
	}
	return p && (size_t)(end - p) > at->column && p[at->column] == '\t';
}

static int report_syntax(struct build *b, const yaml_parser_t *p)
{
	const yaml_mark_t *at = &p->problem_mark;
	const bool tag = p->context && strstr(p->context, "scanning a tag");

	return FAIL(b, at, "not valid YAML: %s%s%s%s",
		    diags_said(b->d, p->problem ? p->problem : "the parser gave up"),
		    p->context ? diags_said(b->d, ", ") : "", p->context ? diags_said(b->d, p->context) : "",
		    diags_said(b->d, tag             ? NEEDS_QUOTES
				     : is_tab(b, at) ? "; a tab cannot indent, use spaces"
						     : ""));
}

static int build(struct build *b)
{
	yaml_parser_t p;
	int r = 0;

	if (!yaml_parser_initialize(&p))
		return FAIL(b, &(yaml_mark_t){ 0 }, "out of memory");
	yaml_parser_set_input_string(&p, (const unsigned char *)b->text, b->size);
	yaml_parser_set_encoding(&p, YAML_UTF8_ENCODING);
	for (bool end = false; r == 0 && !end;) {
		yaml_event_t e;

		if (!yaml_parser_parse(&p, &e)) {
			r = report_syntax(b, &p);
			break;
		}
		end = e.type == YAML_STREAM_END_EVENT;
		r = on_event(b, &e);
		yaml_event_delete(&e);
	}
	yaml_parser_delete(&p);
	for (size_t i = 0; i < b->depth; i++)
		tree_free(&b->stack[i].key);
	return r;
}

/* libyaml's own messages about bytes give no line. */
static int check_bytes(const char *path, const char *text, size_t n, struct diags *d)
{
	size_t line = 1, column = 1;

	for (size_t i = 0; i < n;) {
		const unsigned char c = (unsigned char)text[i];
		const size_t len = unicode_len(text + i, n - i);
		const char *what = len == 0 ? "bytes that are not UTF-8"
				   : c == 0 ? "a NUL byte"
				   : (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f
					   ? "a control character"
					   : NULL;

		if (what)
			return diags_error(d, path, line, column,
					   "%s (0x%02x): the file must be plain UTF-8 text",
					   diags_said(d, what), c);
		column = c == '\n' ? 1 : column + 1;
		line += c == '\n';
		i += len;
	}
	return 0;
}

int tree_parse(const char *path, const char *text, size_t n, enum tree_use use, struct tree_node **ret,
	       struct diags *d)
{
	const size_t bom = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	_cleanup_free_ struct build *b = xcalloc(1, sizeof(*b));

	if (n > limits_of[use].bytes)
		return diags_error(d, path, 0, 0, "is larger than %zu KiB: is this the right file?",
				   limits_of[use].bytes / 1024);
	*b = (struct build){
		.path = path, .text = text + bom, .size = n - bom, .limits = &limits_of[use], .d = d
	};
	if (check_bytes(path, b->text, b->size, d) < 0)
		return -EINVAL;
	if (build(b) < 0) {
		tree_free(&b->root);
		return -EINVAL;
	}
	*ret = b->root;
	return 0;
}

int tree_read_text(const char *path, enum tree_use use, char **ret, size_t *ret_n, struct diags *d)
{
	char why[FILE_ERROR_MAX];
	const int r = file_read(path, limits_of[use].bytes, ret, ret_n, d->translate, why);

	if (r < 0)
		diags_error(d, path, 0, 0, "%s", why);
	return r;
}

int tree_read(const char *path, enum tree_use use, struct tree_node **ret, struct diags *d)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	int r = tree_read_text(path, use, &text, &n, d);

	if (r < 0)
		return r;
	r = tree_parse(path, text, n, use, ret, d);
	explicit_bzero(text, n);
	return r;
}
