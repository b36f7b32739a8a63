/* html.h - writes HTML that is also well-formed XML, safe by construction: every text and every value of an
 * attribute is escaped and made printable (base/unicode.h) here, and what was opened is closed.
 * Layer: process (reporter), page.  Pure. Names of tags and attributes are literals of the caller. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_PAGE_HTML_H
#define REPORTER_PAGE_HTML_H

#include <stddef.h>
#include <stdint.h>

/* How deep elements may stand in one another. */
#define HTML_DEPTH_MAX 24u

struct html;

/* The begin of a page, up to the open <main>; language "en" or "zh", refresh_s 0 = it does not refresh. */
struct html *html_new_page(const char *language, const char *title, unsigned refresh_s);
/* Closes what is open and ends it; the text is the caller's. */
char *html_end(struct html **h, size_t *ret_size);

void html_open(struct html *h, const char *tag);
/* Of the element just opened, before its content. A value that is NULL leaves the attribute out. */
void html_attr(struct html *h, const char *name, const char *value);
void html_attr_f(struct html *h, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* NULL counts as "". */
void html_text(struct html *h, const char *s);
void html_text_f(struct html *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The innermost element. */
void html_close(struct html *h);

/* An element with a class (NULL = none) and a text, closed. */
void html_element(struct html *h, const char *tag, const char *class, const char *text);
/* An element with a class, open. */
void html_open_class(struct html *h, const char *tag, const char *class);

#endif
