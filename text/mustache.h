/* mustache.h - Mustache templates (mustache.github.io): values, sections, inverted sections, partials,
 * comments, and the rule of lines that hold one tag alone. No lambdas, no set delimiters, no inheritance.
 * Data is a value of jansson: null, false, 0, "" and an empty list are false; a number is written in decimal,
 * true and false by name, a list or an object as nothing. Layer: text.  Pure. Cases:
 * tests/unit/text/mustache_cases.json. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TEXT_MUSTACHE_H
#define TEXT_MUSTACHE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/str.h"

struct json_t;
struct mustache;

/* Sections and partials within one another; a template that goes deeper, as by including itself, is not
 * rendered. */
#define MUSTACHE_DEPTH_MAX 32u
/* Bytes of template and values that one rendering may write, before they are escaped, and tags that it may
 * follow. */
#define MUSTACHE_BYTES_MAX ((size_t)32 << 20)
#define MUSTACHE_STEPS_MAX ((size_t)16 << 20)

/* The target of a rendering: how values are escaped, and which partials there are. */
struct mustache_target {
	/* Write a value. plain: of {{{name}}} or {{&name}}, else of {{name}}. */
	void (*write)(const void *ctx, FILE *f, struct str value, bool plain);
	/* Return the template of {{>name}}; NULL = there is none, and nothing is written. */
	const struct mustache *(*find)(const void *ctx, struct str name);
	const void *ctx;
};

enum mustache_fault {
	MUSTACHE_UNCLOSED_TAG,
	MUSTACHE_BAD_TAG, /* no name, one with a space in it, or set delimiters */
	MUSTACHE_UNCLOSED_SECTION,
	MUSTACHE_NO_SECTION, /* an end without a begin, or of another section */
};
struct mustache_error {
	enum mustache_fault fault;
	size_t line; /* from 1 */
};

/* Parse a template, which is copied. Returns 0; -EINVAL and *ret_error when it is no template. */
int mustache_parse(struct str text, struct mustache **ret, struct mustache_error *ret_error);
/* Accepts NULL. */
void mustache_free(struct mustache **m);
/* Call fn with the name of each partial that m includes. */
void mustache_each_partial(const struct mustache *m, void (*fn)(void *ctx, struct str name), void *ctx);

/* Render data. Returns 0 and the text, which the caller frees; -ELOOP above MUSTACHE_DEPTH_MAX, -E2BIG above
 * the other limits. */
int mustache_render(const struct mustache *m, const struct json_t *data, const struct mustache_target *target,
		    char **ret, size_t *ret_size);

#endif
