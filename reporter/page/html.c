/* html.c - see html.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/page/html.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "reporter/page/style.h"

struct html {
	FILE *f;
	char *text;
	size_t size;
	const char *open[HTML_DEPTH_MAX];
	unsigned depth;
	bool in_tag; /* the last tag may get more attributes */
};

static void put_escaped(struct html *h, const char *s)
{
	static const char *const escapes[128] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;",
	};
	size_t left = strlen(s), n;
	uint32_t c;

	for (; left > 0; s += n, left -= n) {
		n = unicode_take(s, left, &c);
		if (n == 0 || !unicode_is_printable(c)) {
			(void)fputc('?', h->f);
			n = n ? n : 1;
		} else if (c < 128 && escapes[c]) {
			(void)fputs(escapes[c], h->f);
		} else {
			(void)fwrite(s, 1, n, h->f);
		}
	}
}

static void end_tag(struct html *h)
{
	if (h->in_tag)
		(void)fputc('>', h->f);
	h->in_tag = false;
}

static struct html *html_new(void)
{
	struct html *h = xcalloc(1, sizeof(*h));

	h->f = open_memstream(&h->text, &h->size);
	if (!h->f)
		abort();
	return h;
}

char *html_end(struct html **h, size_t *ret_size)
{
	struct html *p = TAKE_PTR(*h);

	while (p->depth > 0)
		html_close(p);
	(void)fputc('\n', p->f);
	(void)fclose(p->f);
	char *ret = p->text;

	if (ret_size)
		*ret_size = p->size;
	free(p);
	return ret;
}

void html_open(struct html *h, const char *tag)
{
	if (h->depth == HTML_DEPTH_MAX)
		abort();
	end_tag(h);
	(void)fprintf(h->f, "<%s", tag);
	h->open[h->depth++] = tag;
	h->in_tag = true;
}

void html_attr(struct html *h, const char *name, const char *value)
{
	if (!value)
		return;
	if (!h->in_tag)
		abort();
	(void)fprintf(h->f, " %s=\"", name);
	put_escaped(h, value);
	(void)fputc('"', h->f);
}

void html_attr_f(struct html *h, const char *name, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *value = xvasprintf(fmt, ap);

	va_end(ap);
	html_attr(h, name, value);
}

void html_text(struct html *h, const char *s)
{
	end_tag(h);
	put_escaped(h, s ? s : "");
}

void html_text_f(struct html *h, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *text = xvasprintf(fmt, ap);

	va_end(ap);
	html_text(h, text);
}

void html_close(struct html *h)
{
	if (h->depth == 0)
		abort();
	const char *tag = h->open[--h->depth];

	if (strcmp(tag, "meta") == 0) {
		(void)fputs("/>", h->f);
		h->in_tag = false;
		return;
	}
	end_tag(h);
	(void)fprintf(h->f, "</%s>", tag);
}

void html_open_class(struct html *h, const char *tag, const char *class)
{
	html_open(h, tag);
	html_attr(h, "class", class);
}

void html_element(struct html *h, const char *tag, const char *class, const char *text)
{
	html_open_class(h, tag, class);
	html_text(h, text);
	html_close(h);
}

static void put_meta(struct html *h, const char *kind, const char *name, const char *content)
{
	html_open(h, "meta");
	html_attr(h, kind, name);
	html_attr(h, "content", content);
	html_close(h);
}

struct html *html_new_page(const char *language, const char *title, unsigned refresh_s)
{
	struct html *h = html_new();

	(void)fputs("<!DOCTYPE html>\n", h->f);
	html_open(h, "html");
	html_attr(h, "lang", language);
	html_open(h, "head");
	html_open(h, "meta");
	html_attr(h, "charset", "utf-8");
	html_close(h);
	put_meta(h, "name", "viewport", "width=device-width, initial-scale=1");
	put_meta(h, "name", "color-scheme", "light dark");
	if (refresh_s > 0) {
		_cleanup_free_ char *seconds = xasprintf("%u", refresh_s);

		put_meta(h, "http-equiv", "refresh", seconds);
	}
	html_element(h, "title", NULL, title);
	/* As it is: its hash is in the policy of the page. */
	html_open(h, "style");
	end_tag(h);
	(void)fputs(style_sheet(), h->f);
	html_close(h);
	html_close(h);
	html_open(h, "body");
	html_open(h, "main");
	return h;
}
