/* markup.c - see markup.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/sinks/markup.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "model/phrases.h"

FILE *markup_open(char **text, size_t *size)
{
	FILE *f = open_memstream(text, size);

	if (!f)
		abort();
	return f;
}

/* -- texts -- */

static void put_plain(FILE *f, const struct markup *m, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *mark = s[i] ? strchr(m->special, s[i]) : NULL;

		if (mark)
			(void)fputs(m->plain[mark - m->special], f);
		else
			(void)fputc(s[i], f);
	}
}

void markup_text(FILE *f, const struct markup *m, const char *s, size_t max)
{
	const size_t n = strlen(s), cut = unicode_cut(s, n, max);

	put_plain(f, m, s, cut);
	if (cut < n)
		(void)fputs("…", f);
}

/* A line that is to be copied is whole or not there. In code a mark may not end it. */
static void put_command(FILE *f, const struct markup *m, const struct sink_view *v, const char *s)
{
	if (strlen(s) > v->text_max)
		return;
	(void)fputs(m->line, f);
	if (m->code && !strpbrk(s, "`<>"))
		(void)fprintf(f, "%s%s%s", m->code, s, m->code_end);
	else
		put_plain(f, m, s, strlen(s));
}

static void put_bold(FILE *f, const struct markup *m, const char *s, size_t max)
{
	(void)fputs(m->bold, f);
	markup_text(f, m, s, max);
	(void)fputs(m->bold_end, f);
}

static void put_lines(FILE *f, const struct markup *m, const struct sink_view *v, const struct str_list *l,
		      const char *before)
{
	for (size_t i = 0; i < l->n && i < v->lines_max; i++) {
		(void)fputs(before, f);
		before = m->line;
		markup_text(f, m, l->v[i], v->text_max);
	}
	if (l->n > v->lines_max)
		(void)fprintf(f, "%s…", m->line);
}

static void put_mentions(FILE *f, const struct markup *m, const struct sink_view *v, const struct str_list *l,
			 const char *before, bool trusted)
{
	for (size_t i = 0; i < l->n && i < v->lines_max; i++) {
		(void)fputs(i == 0 ? before : " ", f);
		if (m->mention && strlen(l->v[i]) <= v->text_max && m->mention(f, l->v[i], trusted))
			continue;
		put_plain(f, m, "@", 1);
		markup_text(f, m, l->v[i], v->text_max);
	}
}

/* -- parts -- */

bool markup_head(FILE *f, const struct markup *m, const struct sink_view *v)
{
	const bool bad = v->doc->tone == TONE_BAD || v->doc->tone == TONE_WARNING;
	const struct str_list *who = &v->sink->mentions;

	put_lines(f, m, v, &v->doc->lines, "");
	if (bad)
		put_mentions(f, m, v, who, v->doc->lines.n > 0 ? m->line : "", true);
	return v->doc->lines.n > 0 || (bad && who->n > 0);
}

void markup_entry(FILE *f, const struct markup *m, const struct sink_view *v, const struct entry *e)
{
	(void)fputs(m->entry, f);
	put_bold(f, m, e->title, v->text_max);
	put_lines(f, m, v, &e->lines, m->line);
	if (e->command)
		put_command(f, m, v, e->command);
	put_mentions(f, m, v, &e->mentions, m->line, false);
}

void markup_more(FILE *f, const struct markup *m, const struct sink_view *v, uint64_t n)
{
	_cleanup_free_ char *more = xasprintf(phrase(NEWS_MORE, v->doc->language), (int64_t)n);

	(void)fputs("… ", f);
	put_plain(f, m, more, strlen(more));
}

void markup_section(FILE *f, const struct markup *m, const struct sink_view *v, size_t i)
{
	const struct section *s = &v->doc->sections[i];
	const char *before = "";

	if (*s->title) {
		put_bold(f, m, s->title, v->text_max);
		before = m->gap;
	}
	for (size_t k = 0; k < v->shown[i]; k++) {
		(void)fputs(before, f);
		before = m->gap;
		markup_entry(f, m, v, &s->entries[k]);
	}
	if (sink_more(v, i) > 0) {
		(void)fputs(before, f);
		markup_more(f, m, v, sink_more(v, i));
	}
}

/* -- names -- */

bool markup_is_name(const char *s, const char *also)
{
	const char *c = s;

	while (isascii((unsigned char)*c) && (isalnum((unsigned char)*c) || (*c && strchr(also, *c))))
		c++;
	return c > s && !*c;
}

bool markup_is_mail(const char *s)
{
	const char *at = strchr(s, '@');

	return at && at > s && at[1] && !strchr(at + 1, '@') && markup_is_name(s, ".-_+@");
}
