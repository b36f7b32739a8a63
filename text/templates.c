/* templates.c - see templates.h. A template is parsed when it is asked for the first time, and kept. */
// SPDX-License-Identifier: Apache-2.0
#include "text/templates.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "text/template_files.h" /* generated: template_files[] */

enum word {
#define WORD(ID, ...) WORD_##ID,
#include "text/words.def"
#undef WORD
	WORD__MAX
};

static const struct {
	const char *name, *text[LANGUAGE__MAX];
} words[WORD__MAX] = {
#define WORD(ID, en, zh) { #ID, { en, zh } },
#include "text/words.def"
#undef WORD
};

static struct mustache *parsed_files[ARRAY_SIZE(template_files)];
static struct mustache *parsed_words[WORD__MAX][LANGUAGE__MAX];

static const struct mustache *parse_once(struct mustache **place, struct str text)
{
	struct mustache_error e;

	if (!*place && mustache_parse(text, place, &e) < 0)
		abort(); /* tests/unit/text parses all of them */
	return *place;
}

const struct mustache *template_find(struct str name, enum language l)
{
	for (size_t i = 0; i < ARRAY_SIZE(template_files); i++)
		if (str_is(name, template_files[i].name))
			return parse_once(
				&parsed_files[i],
				(struct str){ (const char *)template_files[i].text, template_files[i].size });
	for (size_t i = 0; i < WORD__MAX; i++)
		if (str_is(name, words[i].name))
			return parse_once(&parsed_words[i][l], STR_C(words[i].text[l]));
	return NULL;
}

/* -- rendering -- */

static void write_value(const void *ctx, FILE *f, struct str value, bool plain)
{
	const struct template_target *t = ctx;

	escape_write(f, plain && t->escape != ESCAPE_HTML ? ESCAPE_NONE : t->escape, t->is_json, value);
}

static const struct mustache *find_partial(const void *ctx, struct str name)
{
	const struct template_target *t = ctx;

	return template_find(name, t->language);
}

char *template_render(const struct mustache *m, const struct template_target *t, const struct json_t *data,
		      size_t *ret_size)
{
	const struct mustache_target target = { write_value, find_partial, t };
	char *text = NULL;
	size_t size = 0;

	(void)mustache_render(m, data, &target, &text, ret_size ? ret_size : &size);
	return text;
}

/* -- JSON -- */

static char *skip_blanks(char *s)
{
	return s + strspn(s, " \t\r\n");
}

/* Make JSON of what the header allows beside it, in place. */
static void make_strict(char *s)
{
	bool in_string = false;
	char *w = s;

	while (*s) {
		if (!in_string && *s == ',' && strchr("]}", *skip_blanks(s + 1))) {
			s++;
		} else if (in_string && *s == '\n') {
			s += strspn(s, "\r\n\t ");
		} else if (in_string && *s == '\\' && s[1]) {
			*w++ = *s++;
			*w++ = *s++;
		} else {
			in_string = in_string != (*s == '"');
			*w++ = *s++;
		}
	}
	*w = '\0';
}

static void trim_string(json_t *s)
{
	const struct str whole = { json_string_value(s), json_string_length(s) },
			 text = str_trim(whole, " \n");

	if (text.n < whole.n) {
		_cleanup_free_ char *copy = xstrndup(text.p, text.n);

		(void)json_string_set(s, copy);
	}
}

static void trim_strings(json_t *v)
{
	const char *key;
	json_t *member;
	size_t i;

	if (json_is_string(v))
		trim_string(v);
	json_array_foreach (v, i, member)
		trim_strings(member);
	json_object_foreach (v, key, member)
		trim_strings(member);
}

json_t *template_render_json(const struct mustache *m, const struct template_target *t, const json_t *data)
{
	_cleanup_free_ char *text = template_render(m, t, data, NULL);

	if (!text)
		return NULL;
	make_strict(text);
	json_t *v = json_loads(text, 0, NULL);

	trim_strings(v);
	return v;
}

json_t *template_text(const char *s)
{
	const size_t n = s ? strlen(s) : 0;
	_cleanup_free_ char *copy = xmalloc(n + 1);

	(void)str_copy_printable(copy, n + 1, s ? s : "", n);
	return json_string(copy);
}
