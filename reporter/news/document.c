/* document.c - see document.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/news/document.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

/* -- making one -- */

static char *printable(const char *s)
{
	const size_t n = s ? strlen(s) : 0;
	char *ret = xmalloc(n + 1);

	(void)str_copy_printable(ret, n + 1, s ? s : "", n);
	return ret;
}

static void replace(char **dst, const char *s)
{
	char *copy = printable(s);

	free(*dst);
	*dst = copy;
}

static void add_text(struct str_list *l, const char *s)
{
	_cleanup_free_ char *copy = printable(s);

	str_list_add(l, copy, strlen(copy));
}

void document_init(struct document *d, enum news kind, enum language language, int64_t at_ms)
{
	*d = (struct document){ .kind = kind, .tone = TONE_INFO, .language = language, .at_ms = at_ms };
	d->title = xstrdup("");
	d->id = xstrdup("");
}

static void entry_done(struct entry *e)
{
	for (size_t i = 0; i < e->n_facts; i++) {
		free(e->facts[i].key);
		free(e->facts[i].value);
	}
	free(e->facts);
	free(e->key);
	free(e->title);
	free(e->command);
	str_list_done(&e->lines);
	str_list_done(&e->mentions);
}

static void section_done(struct section *s)
{
	for (size_t i = 0; i < s->n; i++)
		entry_done(&s->entries[i]);
	free(s->entries);
	free(s->title);
}

void document_done(struct document *d)
{
	for (size_t i = 0; i < d->n_sections; i++)
		section_done(&d->sections[i]);
	free(d->sections);
	str_list_done(&d->lines);
	free(d->id);
	free(d->title);
	free(d->footer);
	free(d->html);
	*d = (struct document){ 0 };
}

void document_set_title(struct document *d, const char *title)
{
	replace(&d->title, title);
}

void document_set_id(struct document *d, const char *id)
{
	replace(&d->id, id);
}

void document_set_footer(struct document *d, const char *footer)
{
	replace(&d->footer, footer);
}

void document_add_line(struct document *d, const char *line)
{
	add_text(&d->lines, line);
}

struct section *document_add_section(struct document *d, const char *title)
{
	d->sections = xreallocarray(d->sections, d->n_sections + 1, sizeof(*d->sections));
	struct section *s = &d->sections[d->n_sections++];

	*s = (struct section){ .title = printable(title) };
	return s;
}

struct entry *section_add_entry(struct section *s, const char *title)
{
	s->entries = xreallocarray(s->entries, s->n + 1, sizeof(*s->entries));
	struct entry *e = &s->entries[s->n++];

	*e = (struct entry){ .key = xstrdup(""), .title = printable(title) };
	return e;
}

void entry_set_key(struct entry *e, const char *key)
{
	replace(&e->key, key);
}

void entry_set_command(struct entry *e, const char *command)
{
	replace(&e->command, command);
}

void entry_add_line(struct entry *e, const char *line)
{
	add_text(&e->lines, line);
}

void entry_add_mention(struct entry *e, const char *who)
{
	add_text(&e->mentions, who);
}

void entry_add_fact(struct entry *e, const char *key, const char *value)
{
	e->facts = xreallocarray(e->facts, e->n_facts + 1, sizeof(*e->facts));
	e->facts[e->n_facts++] = (struct fact){ xstrdup(key), printable(value) };
}

const char *entry_fact(const struct entry *e, const char *key)
{
	for (size_t i = 0; i < e->n_facts; i++)
		if (strcmp(e->facts[i].key, key) == 0)
			return e->facts[i].value;
	return NULL;
}

/* -- to JSON -- */

static void put_string(json_t *o, const char *key, const char *s)
{
	if (s && *s)
		(void)json_object_set_new(o, key, json_string(s));
}

static void put_list(json_t *o, const char *key, const struct str_list *l)
{
	if (l->n == 0)
		return;
	json_t *a = json_array();

	for (size_t i = 0; i < l->n; i++)
		(void)json_array_append_new(a, json_string(l->v[i]));
	(void)json_object_set_new(o, key, a);
}

static void put_integer(json_t *o, const char *key, int64_t v)
{
	if (v)
		(void)json_object_set_new(o, key, json_integer(v));
}

static json_t *entry_to(const struct entry *e)
{
	json_t *o = json_object(), *facts = json_object();

	put_string(o, "key", e->key);
	put_integer(o, "over", e->is_over);
	put_integer(o, "begin", e->begin_ms);
	put_integer(o, "end", e->end_ms);
	put_string(o, "title", e->title);
	put_list(o, "lines", &e->lines);
	put_string(o, "command", e->command);
	put_list(o, "mentions", &e->mentions);
	for (size_t i = 0; i < e->n_facts; i++)
		(void)json_object_set_new(facts, e->facts[i].key, json_string(e->facts[i].value));
	(void)json_object_set_new(o, "facts", facts);
	return o;
}

static json_t *section_to(const struct section *s)
{
	json_t *o = json_object(), *a = json_array();

	put_string(o, "title", s->title);
	for (size_t i = 0; i < s->n; i++)
		(void)json_array_append_new(a, entry_to(&s->entries[i]));
	(void)json_object_set_new(o, "entries", a);
	put_integer(o, "more", (int64_t)s->more);
	return o;
}

char *document_to_json(const struct document *d)
{
	json_t *o = json_object(), *a = json_array();

	(void)json_object_set_new(o, "kind", json_string(news_name(d->kind)));
	put_integer(o, "tone", d->tone);
	put_integer(o, "language", d->language);
	put_string(o, "id", d->id);
	put_integer(o, "at", d->at_ms);
	put_integer(o, "test", d->is_test);
	put_integer(o, "repeat", d->is_repeat);
	put_string(o, "title", d->title);
	put_list(o, "lines", &d->lines);
	for (size_t i = 0; i < d->n_sections; i++)
		(void)json_array_append_new(a, section_to(&d->sections[i]));
	(void)json_object_set_new(o, "sections", a);
	put_string(o, "footer", d->footer);
	put_string(o, "html", d->html);
	char *ret = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);

	json_decref(o);
	if (!ret)
		abort();
	return ret;
}

/* -- from JSON -- */

static const char *string_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static int64_t integer_of(const json_t *o, const char *key)
{
	return (int64_t)json_integer_value(json_object_get(o, key));
}

static void list_of(const json_t *o, const char *key, struct str_list *ret)
{
	const json_t *a = json_object_get(o, key), *v;
	size_t i;

	json_array_foreach (a, i, v)
		add_text(ret, json_string_value(v));
}

static void entry_from(const json_t *o, struct section *s)
{
	struct entry *e = section_add_entry(s, string_of(o, "title"));
	const char *key, *command = string_of(o, "command");
	json_t *v;

	entry_set_key(e, string_of(o, "key"));
	e->is_over = integer_of(o, "over") != 0;
	e->begin_ms = integer_of(o, "begin");
	e->end_ms = integer_of(o, "end");
	list_of(o, "lines", &e->lines);
	if (command)
		entry_set_command(e, command);
	list_of(o, "mentions", &e->mentions);
	json_object_foreach (json_object_get(o, "facts"), key, v)
		entry_add_fact(e, key, json_string_value(v));
}

static void section_from(const json_t *o, struct document *d)
{
	struct section *s = document_add_section(d, string_of(o, "title"));
	const json_t *a = json_object_get(o, "entries"), *v;
	size_t i;

	s->more = (uint64_t)integer_of(o, "more");
	json_array_foreach (a, i, v)
		entry_from(v, s);
}

static bool in_range(int64_t v, int64_t end)
{
	return v >= 0 && v < end;
}

int document_from_json(const char *json, size_t n, struct document *d)
{
	json_t *o = json_loadb(json, n, 0, NULL);
	const char *name = o ? string_of(o, "kind") : NULL;
	const int kind = name ? news_parse(STR_C(name)) : -1;
	const json_t *a, *v;
	size_t i;

	*d = (struct document){ 0 };
	if (kind < 0 || !in_range(integer_of(o, "tone"), TONE__MAX) ||
	    !in_range(integer_of(o, "language"), LANGUAGE__MAX)) {
		json_decref(o);
		return -EINVAL;
	}
	document_init(d, (enum news)kind, (enum language)integer_of(o, "language"), integer_of(o, "at"));
	d->tone = (enum tone)integer_of(o, "tone");
	replace(&d->id, string_of(o, "id"));
	d->is_test = integer_of(o, "test") != 0;
	d->is_repeat = integer_of(o, "repeat") != 0;
	document_set_title(d, string_of(o, "title"));
	list_of(o, "lines", &d->lines);
	a = json_object_get(o, "sections");
	json_array_foreach (a, i, v)
		section_from(v, d);
	if (string_of(o, "footer"))
		document_set_footer(d, string_of(o, "footer"));
	if (string_of(o, "html"))
		d->html = xstrdup(string_of(o, "html"));
	json_decref(o);
	return 0;
}

/* -- as text -- */

static void put_lines(FILE *f, const char *before, const struct str_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		(void)fprintf(f, "%s%s\n", before, l->v[i]);
}

static void put_section(FILE *f, const struct document *d, const struct section *s)
{
	(void)fputs("\n", f);
	if (*s->title)
		(void)fprintf(f, "%s\n", s->title);
	for (size_t i = 0; i < s->n; i++) {
		const struct entry *e = &s->entries[i];

		(void)fprintf(f, "- %s\n", e->title);
		put_lines(f, "  ", &e->lines);
		if (e->command)
			(void)fprintf(f, "  $ %s\n", e->command);
	}
	if (s->more > 0)
		(void)fprintf(f,
			      d->language == LANGUAGE_ZH ? "- …另有 %" PRIu64 " 项\n"
							 : "- … and %" PRIu64 " more\n",
			      s->more);
}

char *document_to_text(const struct document *d)
{
	char *ret = NULL;
	size_t size;
	FILE *f = open_memstream(&ret, &size);

	if (!f)
		abort();
	(void)fprintf(f, "%s\n", d->title);
	put_lines(f, "", &d->lines);
	for (size_t i = 0; i < d->n_sections; i++)
		put_section(f, d, &d->sections[i]);
	if (d->footer)
		(void)fprintf(f, "\n%s\n", d->footer);
	(void)fclose(f);
	return ret;
}
