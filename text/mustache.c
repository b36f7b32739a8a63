/* mustache.c - see mustache.h. A template is a row of tokens; a section knows where it ends. */
// SPDX-License-Identifier: Apache-2.0
#include "text/mustache.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

enum kind { LITERAL, VALUE, PLAIN, SECTION, INVERTED, END, PARTIAL, COMMENT };

struct token {
	enum kind kind;
	struct str text;   /* of a literal; else the name */
	struct str indent; /* of a partial that stands alone in its line */
	size_t end;        /* of a section: its end token */
};

struct mustache {
	char *text;
	struct token *tokens;
	size_t n;
};

/* -- parsing -- */

struct parser {
	struct mustache *m;
	const char *at, *end;            /* what is left */
	size_t open[MUSTACHE_DEPTH_MAX]; /* sections that are not closed yet */
	size_t depth;
};

static struct token *add(struct parser *p, enum kind kind, const char *from, const char *to)
{
	struct mustache *m = p->m;

	m->tokens = xreallocarray(m->tokens, m->n + 1, sizeof(*m->tokens));
	m->tokens[m->n] = (struct token){ .kind = kind, .text = { from, (size_t)(to - from) } };
	return &m->tokens[m->n++];
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The begin of the line that s stands in, where nothing but blanks are before s; else NULL. */
static const char *blank_before(const struct parser *p, const char *s)
{
	while (s > p->m->text && is_blank(s[-1]))
		s--;
	return s == p->m->text || s[-1] == '\n' ? s : NULL;
}

/* The begin of the next line, where nothing but blanks are left of this one; else NULL. */
static const char *blank_behind(const struct parser *p, const char *s)
{
	while (s < p->end && is_blank(*s))
		s++;
	if (s == p->end)
		return s;
	s += *s == '\r' && s + 1 < p->end;
	return *s == '\n' ? s + 1 : NULL;
}

static int fail(struct mustache_error *e, enum mustache_fault fault, const struct parser *p, const char *at)
{
	*e = (struct mustache_error){ fault, 1 };
	for (const char *c = p->m->text; c < at; c++)
		e->line += *c == '\n';
	return -EINVAL;
}

static enum kind kind_of(char sigil)
{
	switch (sigil) {
	case '#':
		return SECTION;
	case '^':
		return INVERTED;
	case '/':
		return END;
	case '>':
		return PARTIAL;
	case '!':
		return COMMENT;
	case '&':
	case '{':
		return PLAIN;
	default:
		return VALUE;
	}
}

static int close_section(struct parser *p, struct str name, struct mustache_error *e)
{
	struct token *begin = p->depth ? &p->m->tokens[p->open[p->depth - 1]] : NULL;

	if (!begin || begin->text.n != name.n || memcmp(begin->text.p, name.p, name.n) != 0)
		return fail(e, MUSTACHE_NO_SECTION, p, name.p);
	begin->end = p->m->n;
	p->depth--;
	(void)add(p, END, name.p, name.p + name.n);
	return 0;
}

static bool is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (memchr(" \t\r\n=", s.p[i], 5))
			return false;
	return s.n > 0;
}

/* The tag with this content. */
static int add_tag(struct parser *p, enum kind kind, struct str content, struct str indent,
		   struct mustache_error *e)
{
	const struct str name = str_trim(content, " \t\r\n");

	if (kind == COMMENT)
		return 0;
	if (!is_name(name))
		return fail(e, MUSTACHE_BAD_TAG, p, content.p);
	if (kind == END)
		return close_section(p, name, e);
	add(p, kind, name.p, name.p + name.n)->indent = indent;
	if (kind != SECTION && kind != INVERTED)
		return 0;
	if (p->depth == MUSTACHE_DEPTH_MAX)
		return fail(e, MUSTACHE_UNCLOSED_SECTION, p, name.p);
	p->open[p->depth++] = p->m->n - 1;
	return 0;
}

/* From p->at to behind the next tag. */
static int parse_tag(struct parser *p, const char *tag, struct mustache_error *e)
{
	const enum kind kind = kind_of(tag[2]);
	const bool triple = tag[2] == '{', alone = kind != VALUE && kind != PLAIN;
	const char *content = tag + 2 + (kind != VALUE);
	const char *close =
		memmem(content, (size_t)(p->end - content), triple ? "}}}" : "}}", triple ? 3 : 2);

	if (!close)
		return fail(e, MUSTACHE_UNCLOSED_TAG, p, tag);
	const char *next = close + (triple ? 3 : 2), *line = alone ? blank_before(p, tag) : NULL;
	const char *next_line = line ? blank_behind(p, next) : NULL;
	struct str indent = { 0 };

	if (next_line) {
		indent = (struct str){ line, (size_t)(tag - line) };
		tag = line;
		next = next_line;
	}
	if (tag > p->at)
		(void)add(p, LITERAL, p->at, tag);
	p->at = next;
	return add_tag(p, kind, (struct str){ content, (size_t)(close - content) }, indent, e);
}

int mustache_parse(struct str text, struct mustache **ret, struct mustache_error *ret_error)
{
	struct mustache *m = xcalloc(1, sizeof(*m));
	struct parser p = { .m = m };
	int r = 0;

	m->text = xmemdup(text.p, text.n);
	p.at = m->text;
	p.end = m->text + text.n;
	while (r == 0) {
		const char *tag = memmem(p.at, (size_t)(p.end - p.at), "{{", 2);

		if (!tag)
			break;
		r = tag + 2 < p.end ? parse_tag(&p, tag, ret_error)
				    : fail(ret_error, MUSTACHE_UNCLOSED_TAG, &p, tag);
	}
	if (r == 0 && p.depth > 0)
		r = fail(ret_error, MUSTACHE_UNCLOSED_SECTION, &p, m->tokens[p.open[p.depth - 1]].text.p);
	if (r < 0) {
		mustache_free(&m);
		return r;
	}
	if (p.at < p.end)
		(void)add(&p, LITERAL, p.at, p.end);
	*ret = m;
	return 0;
}

void mustache_free(struct mustache **m)
{
	if (*m) {
		free((*m)->text);
		free((*m)->tokens);
	}
	free(*m);
	*m = NULL;
}

void mustache_each_partial(const struct mustache *m, void (*fn)(void *ctx, struct str name), void *ctx)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->tokens[i].kind == PARTIAL)
			fn(ctx, m->tokens[i].text);
}

/* -- rendering -- */

struct rendering {
	FILE *f;
	const struct mustache_target *target;
	const json_t *stack[MUSTACHE_DEPTH_MAX]; /* the innermost last */
	size_t depth, partials, bytes, steps;
};

/* A template on its way: the root, or a partial, of which each line is indented. */
struct frame {
	const struct mustache *m;
	const char *indent;
	bool at_line; /* nothing of this line is written yet */
};

static const json_t *member(const json_t *of, struct str name)
{
	return json_object_getn(of, name.p, name.n);
}

static const json_t *find_first(const struct rendering *r, struct str name)
{
	const json_t *found = NULL;

	for (size_t i = r->depth; i > 0 && !found; i--)
		found = member(r->stack[i - 1], name);
	return found;
}

/* "a.b": a of the innermost value that has it, and of that alone b. "." is the innermost value itself. */
static const json_t *find(const struct rendering *r, struct str name)
{
	const json_t *at = r->stack[r->depth - 1];
	bool first = true;

	if (name.n > 0 && name.p[0] == '.') {
		name = (struct str){ name.p + 1, name.n - 1 };
		first = false;
	}
	while (name.n > 0 && at) {
		const struct str part = str_cut(&name, '.');

		at = first ? find_first(r, part) : member(at, part);
		first = false;
	}
	return at;
}

static bool is_true(const json_t *v)
{
	switch (v ? json_typeof(v) : JSON_NULL) {
	case JSON_OBJECT:
	case JSON_TRUE:
		return true;
	case JSON_ARRAY:
		return json_array_size(v) > 0;
	case JSON_STRING:
		return json_string_length(v) > 0;
	case JSON_INTEGER:
		return json_integer_value(v) != 0;
	case JSON_REAL:
		return json_real_value(v) < 0 || json_real_value(v) > 0;
	default:
		return false;
	}
}

static void begin_line(struct rendering *r, struct frame *frame)
{
	if (frame->at_line)
		(void)fputs(frame->indent, r->f);
	frame->at_line = false;
}

static void write_literal(struct rendering *r, struct frame *frame, struct str s)
{
	r->bytes += s.n;
	while (s.n > 0) {
		const char *line = memchr(s.p, '\n', s.n);
		const size_t n = line ? (size_t)(line - s.p) + 1 : s.n;

		begin_line(r, frame);
		(void)fwrite(s.p, 1, n, r->f);
		frame->at_line = line != NULL;
		s = (struct str){ s.p + n, s.n - n };
	}
}

static void write_value(struct rendering *r, struct frame *frame, const json_t *v, bool plain)
{
	char number[40];
	struct str s = { 0 };

	begin_line(r, frame);
	if (json_is_string(v))
		s = (struct str){ json_string_value(v), json_string_length(v) };
	else if (json_is_boolean(v))
		s = json_is_true(v) ? STR_C("true") : STR_C("false");
	else if (json_is_integer(v))
		s = (struct str){ number, (size_t)snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT,
							   json_integer_value(v)) };
	else if (json_is_real(v))
		s = (struct str){ number,
				  (size_t)snprintf(number, sizeof(number), "%.15g", json_real_value(v)) };
	r->bytes += s.n;
	if (s.n > 0)
		r->target->write(r->target->ctx, r->f, s, plain);
}

static int render(struct rendering *r, struct frame *frame, size_t from, size_t to);

static int render_partial(struct rendering *r, struct frame *frame, const struct token *t)
{
	const struct mustache *m = r->target->find ? r->target->find(r->target->ctx, t->text) : NULL;

	if (!m)
		return 0;
	if (r->partials == MUSTACHE_DEPTH_MAX)
		return -ELOOP;
	_cleanup_free_ char *indent = xasprintf("%s%.*s", t->indent.n ? frame->indent : "", (int)t->indent.n,
						t->indent.n ? t->indent.p : "");
	struct frame inner = { m, indent, t->indent.n > 0 };

	if (t->indent.n == 0)
		begin_line(r, frame);
	r->partials++;
	const int ret = render(r, &inner, 0, m->n);

	r->partials--;
	return ret;
}

static int render_section(struct rendering *r, struct frame *frame, size_t i)
{
	const struct token *t = &frame->m->tokens[i];
	const json_t *v = find(r, t->text);
	const bool is_list = json_is_array(v) && t->kind == SECTION;
	const size_t n = is_true(v) != (t->kind == SECTION) ? 0 : is_list ? json_array_size(v) : 1;
	int ret = 0;

	if (r->depth == MUSTACHE_DEPTH_MAX)
		return -ELOOP;
	r->depth++;
	for (size_t k = 0; k < n && ret == 0; k++) {
		r->stack[r->depth - 1] = is_list              ? json_array_get(v, k)
					 : t->kind == SECTION ? v
							      : r->stack[r->depth - 2];
		ret = render(r, frame, i + 1, t->end);
	}
	r->depth--;
	return ret;
}

static int render(struct rendering *r, struct frame *frame, size_t from, size_t to)
{
	int ret = 0;

	for (size_t i = from; i < to && ret == 0; i++) {
		const struct token *t = &frame->m->tokens[i];

		if (r->bytes > MUSTACHE_BYTES_MAX || ++r->steps > MUSTACHE_STEPS_MAX)
			return -E2BIG;
		if (t->kind == LITERAL) {
			write_literal(r, frame, t->text);
		} else if (t->kind == VALUE || t->kind == PLAIN) {
			write_value(r, frame, find(r, t->text), t->kind == PLAIN);
		} else if (t->kind == PARTIAL) {
			ret = render_partial(r, frame, t);
		} else if (t->kind == SECTION || t->kind == INVERTED) {
			ret = render_section(r, frame, i);
			i = t->end;
		}
	}
	return ret;
}

int mustache_render(const struct mustache *m, const struct json_t *data, const struct mustache_target *target,
		    char **ret, size_t *ret_size)
{
	struct rendering r = { .target = target, .stack = { data }, .depth = 1 };
	struct frame frame = { m, "", false };
	char *text = NULL;

	r.f = open_memstream(&text, ret_size);
	if (!r.f)
		abort();
	const int status = render(&r, &frame, 0, m->n);

	(void)fclose(r.f);
	if (status < 0)
		free(TAKE_PTR(text));
	*ret = text;
	return status;
}
