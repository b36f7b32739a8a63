/* templates.h - what people read, as templates: text/templates/NAME.mustache, and the rows of text/words.def,
 * which are partials in the language of the reader. All of them are part of the program. Layer: text. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TEXT_TEMPLATES_H
#define TEXT_TEMPLATES_H

#include "model/language.h"
#include "text/escape.h"
#include "text/mustache.h"

struct json_t;

/* The reader of a rendering, and the form that values are escaped for. {{{name}}} leaves out the marks of
 * `escape`, never those of HTML and of JSON: no template can write a value that ends the element or the
 * string that it stands in. */
struct template_target {
	enum language language;
	enum escape escape;
	bool is_json; /* the template is JSON: values stand inside of its strings */
};

/* Return the template or word of that name; NULL = there is none. It lives as long as the process. */
const struct mustache *template_find(struct str name, enum language l);
/* Render m. Returns the text, which the caller frees; NULL above the limits of mustache.h. */
char *template_render(const struct mustache *m, const struct template_target *t, const struct json_t *data,
		      size_t *ret_size);
/* Render m, a template of JSON. It may have a comma behind the last element of a list or an object, and a
 * string may go on in the next line: the line's end and the blanks that begin the next line are not part of
 * it. Blanks around a whole string are dropped. Returns the value, a new reference; NULL when it is too
 * large, or no JSON. */
struct json_t *template_render_json(const struct mustache *m, const struct template_target *t,
				    const struct json_t *data);

/* A value for a template: s made printable (base/str.h), NULL counts as "". A new reference. */
struct json_t *template_text(const char *s);

#endif
