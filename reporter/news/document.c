/* document.c - see document.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/news/document.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/unicode.h"
#include "base/url_template.h"
#include "base/xalloc.h"
#include "config/settings.h"
#include "text/templates.h"

/* -- making one -- */

static char *printable(const char *s)
{
	const size_t n = s ? strlen(s) : 0;
	char *ret = xmalloc(n + 1);

	(void)str_copy_printable(ret, n + 1, s ? s : "", n);
	return ret;
}

void document_set(char **text, const char *s)
{
	char *copy = printable(s);

	free(*text);
	*text = copy;
}

void document_add(struct str_list *lines, const char *s)
{
	_cleanup_free_ char *copy = printable(s);

	str_list_add(lines, copy, strlen(copy));
}

void document_addf(struct str_list *lines, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *text = xvasprintf(fmt, ap);

	va_end(ap);
	document_add(lines, text);
}

void document_init(struct document *d, enum news kind, enum language language, int64_t at_ms)
{
	*d = (struct document){ .kind = kind, .tone = TONE_INFO, .language = language, .at_ms = at_ms };
	d->title = xstrdup("");
	d->id = xstrdup("");
}

static void free_pairs(struct entry_fact *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].key);
		free(v[i].value);
	}
	free(v);
}

static void entry_done(struct entry *e)
{
	free_pairs(e->facts, e->n_facts);
	free_pairs(e->links, e->n_links);
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

void entry_set_key(struct entry *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *key = xvasprintf(fmt, ap);

	va_end(ap);
	document_set(&e->key, key);
}

void entry_add_fact(struct entry *e, const char *key, const char *value)
{
	e->facts = xreallocarray(e->facts, e->n_facts + 1, sizeof(*e->facts));
	e->facts[e->n_facts++] = (struct entry_fact){ xstrdup(key), printable(value) };
}

void entry_add_number(struct entry *e, const char *key, int64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRId64, value);
	entry_add_fact(e, key, text);
}

void entry_add_contact(struct entry *e, const struct facts *about)
{
	struct fact_value v;

	if (!facts_find(about, FACT_CONTACT, &v))
		return;
	_cleanup_free_ char *who = xstrndup(v.text.p, v.text.n);

	document_add(&e->mentions, who);
	entry_add_fact(e, "contact", who);
}

void entry_add_link(struct entry *e, const char *key, const char *url)
{
	struct str at;

	if (!url || url_template_check(url, NULL, 0, &at) != URL_TEMPLATE_OK)
		return;
	e->links = xreallocarray(e->links, e->n_links + 1, sizeof(*e->links));
	e->links[e->n_links++] = (struct entry_fact){ xstrdup(key), printable(url) };
}

const char *entry_fact(const struct entry *e, const char *key)
{
	for (size_t i = 0; i < e->n_facts; i++)
		if (strcmp(e->facts[i].key, key) == 0)
			return e->facts[i].value;
	return NULL;
}

/* -- the operator's links -- */

/* A fact that is empty is none: the link of another namespace would be shown. */
static const char *value_of(const void *ctx, struct str key)
{
	const struct entry *e = ctx;

	for (size_t i = 0; i < e->n_facts; i++)
		if (str_eq(key, STR_C(e->facts[i].key)) && e->facts[i].value[0])
			return e->facts[i].value;
	return NULL;
}

static void add_one(struct entry *e, const char *key, const char *template)
{
	_cleanup_free_ char *url = template ? url_template_fill(template, value_of, e) : NULL;

	entry_add_link(e, key, url);
}

void document_add_links(struct document *d, const struct link_settings *links)
{
	for (size_t i = 0; links && i < d->n_sections; i++) {
		for (size_t k = 0; k < d->sections[i].n; k++) {
			struct entry *e = &d->sections[i].entries[k];

			if (e->is_over)
				continue;
			add_one(e, "page", links->page);
			add_one(e, "runbook", links->runbook);
		}
	}
}

/* -- to JSON -- */

static const struct document_part all = { SIZE_MAX, NULL, SIZE_MAX, SIZE_MAX, SIZE_MAX };
static const char *const tones[TONE__MAX] = {
	[TONE_GOOD] = "good",
	[TONE_INFO] = "info",
	[TONE_WARNING] = "warning",
	[TONE_BAD] = "bad",
};

static json_t *text_to(size_t max, const char *s)
{
	const size_t n = strlen(s ? s : ""), cut = unicode_cut(s ? s : "", n, max);

	if (cut == n)
		return json_string(s ? s : "");
	_cleanup_free_ char *text = xasprintf("%.*s…", (int)cut, s);

	return json_string(text);
}

static json_t *list_to(const struct document_part *p, size_t max, const struct str_list *l)
{
	json_t *a = json_array();

	for (size_t i = 0; i < l->n && i < p->lines_max; i++)
		(void)json_array_append_new(a, text_to(max, l->v[i]));
	if (l->n > p->lines_max)
		(void)json_array_append_new(a, json_string("…"));
	return a;
}

/* Unix ms; null = unknown. */
static json_t *time_to(int64_t ms)
{
	char text[RFC3339_MAX];

	if (ms == 0)
		return json_null();
	rfc3339_format(ms, true, text);
	return json_string(text);
}

/* A link that is cut leads elsewhere. */
static json_t *links_to(const struct document_part *p, const struct entry *e)
{
	json_t *links = json_object();

	for (size_t i = 0; i < e->n_links; i++)
		if (strlen(e->links[i].value) <= p->text_max)
			(void)json_object_set_new(links, e->links[i].key, json_string(e->links[i].value));
	return links;
}

static json_t *entry_to(const struct document_part *p, const struct entry *e)
{
	const bool fits = e->command && strlen(e->command) <= p->text_max;
	json_t *facts = json_object();

	for (size_t i = 0; i < e->n_facts && i < p->lines_max; i++)
		if (strlen(e->facts[i].key) <= p->text_max)
			(void)json_object_set_new(facts, e->facts[i].key,
						  text_to(p->text_max, e->facts[i].value));
	return json_pack("{s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "key",
			 text_to(p->text_max, e->key), "over", (int)e->is_over, "begin", time_to(e->begin_ms),
			 "end", time_to(e->end_ms), "title", text_to(p->title_max, e->title), "lines",
			 list_to(p, p->text_max, &e->lines), "command",
			 fits ? json_string(e->command) : json_null(), "mentions",
			 list_to(p, p->text_max, &e->mentions), "facts", facts, "links", links_to(p, e));
}

static json_t *section_to(const struct document_part *p, const struct section *s, size_t shown)
{
	json_t *a = json_array();

	for (size_t i = 0; i < shown; i++)
		(void)json_array_append_new(a, entry_to(p, &s->entries[i]));
	return json_pack("{s:o, s:o, s:I}", "title", text_to(p->title_max, s->title), "entries", a, "more",
			 (json_int_t)(s->more + (s->n - shown)));
}

json_t *document_value(const struct document *d, const struct document_part *part)
{
	const struct document_part *p = part ? part : &all;
	json_t *a = json_array();
	uint64_t more = 0;

	for (size_t i = 0; i < d->n_sections; i++) {
		const struct section *s = &d->sections[i];

		if (i < p->sections)
			(void)json_array_append_new(a, section_to(p, s, p->shown ? p->shown[i] : s->n));
		else
			more += s->more + s->n;
	}
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:b, s:b, s:o, s:o, s:o, s:I, s:o}",
			 "apiVersion", "ops-pod-cleaner.io/v1", "kind", "Message", "id", d->id, "news",
			 news_name(d->kind), "tone", tones[d->tone], "language", language_name(d->language),
			 "time", time_to(d->at_ms), "test", (int)d->is_test, "repeat", (int)d->is_repeat,
			 "title", text_to(p->title_max, d->title), "lines",
			 list_to(p, p->title_max, &d->lines), "sections", a, "moreSections", (json_int_t)more,
			 "footer", text_to(p->title_max, d->footer));
}

char *document_to_json(const struct document *d)
{
	json_t *o = document_value(d, NULL);

	if (d->html)
		(void)json_object_set_new(o, "html", json_string(d->html));
	char *ret = json_dumps(o, JSON_COMPACT);

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

static bool is_set(const json_t *o, const char *key)
{
	return json_is_true(json_object_get(o, key));
}

/* Unix ms; 0 = unknown. */
static int64_t time_of(const json_t *o, const char *key)
{
	const char *s = string_of(o, key);
	int64_t ms = 0;

	return s && rfc3339_parse(s, strlen(s), &ms) == 0 ? ms : 0;
}

static void list_of(const json_t *o, const char *key, struct str_list *ret)
{
	const json_t *a = json_object_get(o, key), *v;
	size_t i;

	json_array_foreach (a, i, v)
		document_add(ret, json_string_value(v));
}

static void entry_from(const json_t *o, struct section *s)
{
	struct entry *e = section_add_entry(s, string_of(o, "title"));
	const char *key, *command = string_of(o, "command");
	json_t *v;

	document_set(&e->key, string_of(o, "key"));
	e->is_over = is_set(o, "over");
	e->begin_ms = time_of(o, "begin");
	e->end_ms = time_of(o, "end");
	list_of(o, "lines", &e->lines);
	if (command)
		document_set(&e->command, command);
	list_of(o, "mentions", &e->mentions);
	json_object_foreach (json_object_get(o, "facts"), key, v)
		entry_add_fact(e, key, json_string_value(v));
	json_object_foreach (json_object_get(o, "links"), key, v)
		entry_add_link(e, key, json_string_value(v));
}

static void section_from(const json_t *o, struct document *d)
{
	struct section *s = document_add_section(d, string_of(o, "title"));
	const json_t *a = json_object_get(o, "entries"), *v;
	size_t i;

	s->more = (uint64_t)json_integer_value(json_object_get(o, "more"));
	json_array_foreach (a, i, v)
		entry_from(v, s);
}

/* -1 = there is none of that name. */
static int parse_tone(const char *s)
{
	int tone = TONE__MAX - 1;

	while (tone >= 0 && !(s && strcmp(s, tones[tone]) == 0))
		tone--;
	return tone;
}

static int parse_language(const char *s)
{
	int l = LANGUAGE__MAX - 1;

	while (l >= 0 && !(s && strcmp(s, language_name((enum language)l)) == 0))
		l--;
	return l;
}

int document_from_json(const char *json, size_t n, struct document *d)
{
	json_t *o = json_loadb(json, n, 0, NULL);
	const char *news = string_of(o, "news"), *footer = string_of(o, "footer");
	const int kind = news ? news_parse(STR_C(news)) : -1;
	const int tone = parse_tone(string_of(o, "tone"));
	const int language = parse_language(string_of(o, "language"));
	const json_t *v;
	size_t i;

	*d = (struct document){ 0 };
	if (kind < 0 || tone < 0 || language < 0) {
		json_decref(o);
		return -EINVAL;
	}
	document_init(d, (enum news)kind, (enum language)language, time_of(o, "time"));
	d->tone = (enum tone)tone;
	document_set(&d->id, string_of(o, "id"));
	d->is_test = is_set(o, "test");
	d->is_repeat = is_set(o, "repeat");
	document_set(&d->title, string_of(o, "title"));
	list_of(o, "lines", &d->lines);
	json_array_foreach (json_object_get(o, "sections"), i, v)
		section_from(v, d);
	if (footer && *footer)
		document_set(&d->footer, footer);
	if (string_of(o, "html"))
		d->html = xstrdup(string_of(o, "html"));
	json_decref(o);
	return 0;
}

/* -- as text -- */

char *document_to_text(const struct document *d)
{
	const struct template_target target = { d->language, ESCAPE_NONE, false };
	json_t *data = document_value(d, NULL);
	char *ret = template_render(template_find(STR_C("text"), d->language), &target, data, NULL);

	json_decref(data);
	return ret ? ret : xstrdup(d->title);
}
