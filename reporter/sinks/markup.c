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

struct text {
	char *s;
	size_t size;
	FILE *f;
};

static void begin(struct text *t)
{
	*t = (struct text){ 0 };
	t->f = markup_open(&t->s, &t->size);
}

static char *end(struct text *t)
{
	(void)fclose(t->f);
	return t->s;
}

void markup_put(FILE *f, char *s)
{
	(void)fputs(s, f);
	free(s);
}

/* -- texts -- */

static const char *const full_width[] = { "＜", "＞", "＊", "＿", "｀", "［", "］", "＃", "～", "＼" };
static const char *const full_width_first[] = { "－", "＋", "＝" };

const struct escapes markup_full_width = {
	.special = "<>*_`[]#~\\",
	.plain = full_width,
	.lookalike = true,
	.special_first = "-+=",
	.plain_first = full_width_first,
};

static const struct markup no_marks = { 0 };

static const char *as_plain(const char *special, const char *const *plain, char c)
{
	const char *mark = special && c ? strchr(special, c) : NULL;

	return mark ? plain[mark - special] : NULL;
}

static void put_plain(FILE *f, const struct markup *m, const char *s, size_t n)
{
	static const struct escapes none = { 0 };
	const struct escapes *e = m->escapes ? m->escapes : &none;

	for (size_t i = 0; i < n; i++) {
		const char *plain = i == 0 ? as_plain(e->special_first, e->plain_first, s[i]) : NULL;

		plain = plain ? plain : as_plain(e->special, e->plain, s[i]);
		if (plain)
			(void)fputs(plain, f);
		else
			(void)fputc(s[i], f);
	}
}

static void put_text(FILE *f, const struct markup *m, const struct sink_view *v, const char *s)
{
	const size_t n = strlen(s), cut = unicode_cut(s, n, v->text_max);

	put_plain(f, m, s, cut);
	if (cut < n)
		(void)fputs("…", f);
}

char *markup_text(const struct markup *m, const struct sink_view *v, const char *s)
{
	struct text t;

	begin(&t);
	put_text(t.f, m ? m : &no_marks, v, s);
	return end(&t);
}

char *markup_title(const struct sink_view *v)
{
	const char *s = v->doc->title;
	_cleanup_free_ char *title =
		v->doc->is_repeat ? xasprintf(phrase(NEWS_REPEAT, v->doc->language), s) : xstrdup(s);

	return markup_text(NULL, v, title);
}

/* A line that is to be copied is whole and as it is, or not there. In code a mark may not end it. */
static void put_command(FILE *f, const struct markup *m, const struct sink_view *v, const char *s)
{
	const bool as_code = m->code && !strpbrk(s, "`<>&"), lookalike = m->escapes && m->escapes->lookalike;

	if (strlen(s) > v->text_max || (!as_code && lookalike && strpbrk(s, m->escapes->special)))
		return;
	(void)fputs(m->line, f);
	if (as_code)
		(void)fprintf(f, "%s%s%s", m->code, s, m->code_end);
	else
		put_plain(f, m, s, strlen(s));
}

static void put_bold(FILE *f, const struct markup *m, const struct sink_view *v, const char *s)
{
	(void)fputs(m->bold, f);
	put_text(f, m, v, s);
	(void)fputs(m->bold_end, f);
}

static void put_lines(FILE *f, const struct markup *m, const struct sink_view *v, const struct str_list *l,
		      const char *before)
{
	for (size_t i = 0; i < l->n && i < v->lines_max; i++) {
		(void)fputs(before, f);
		before = m->line;
		put_text(f, m, v, l->v[i]);
	}
	if (l->n > v->lines_max)
		(void)fprintf(f, "%s…", m->line);
}

static void put_mentions(FILE *f, const struct markup *m, const struct sink_view *v, const struct str_list *l,
			 const char *before, bool trusted)
{
	for (size_t i = 0; i < l->n && i < v->lines_max; i++) {
		const char *who = l->v[i];

		(void)fputs(i == 0 ? before : " ", f);
		if (m->mention && strlen(who) <= v->text_max && m->mention(f, who, trusted))
			continue;
		(void)fputs("@ ", f);
		put_text(f, m, v, who);
	}
}

/* -- parts -- */

static bool tells_operator(const struct sink_view *v)
{
	return v->doc->tone == TONE_BAD || v->doc->tone == TONE_WARNING;
}

char *markup_head(const struct markup *m, const struct sink_view *v)
{
	const struct str_list *lines = &v->doc->lines;
	struct text t;

	begin(&t);
	put_lines(t.f, m, v, lines, "");
	if (tells_operator(v))
		put_mentions(t.f, m, v, &v->sink->mentions, lines->n > 0 ? m->line : "", true);
	return end(&t);
}

char *markup_entry(const struct markup *m, const struct sink_view *v, const struct entry *e)
{
	struct text t;

	begin(&t);
	(void)fputs(m->entry, t.f);
	put_bold(t.f, m, v, e->title);
	put_lines(t.f, m, v, &e->lines, m->line);
	if (e->command)
		put_command(t.f, m, v, e->command);
	put_mentions(t.f, m, v, &e->mentions, m->line, false);
	return end(&t);
}

char *markup_more(const struct markup *m, const struct sink_view *v, uint64_t n)
{
	_cleanup_free_ char *more = xasprintf(phrase(NEWS_MORE, v->doc->language), (int64_t)n);
	struct text t;

	begin(&t);
	if (n > 0) {
		(void)fputs("… ", t.f);
		put_plain(t.f, m ? m : &no_marks, more, strlen(more));
	}
	return end(&t);
}

char *markup_section(const struct markup *m, const struct sink_view *v, size_t i)
{
	const struct section *s = &v->doc->sections[i];
	const char *before = "";
	struct text t;

	begin(&t);
	if (*s->title) {
		put_bold(t.f, m, v, s->title);
		before = m->gap;
	}
	for (size_t k = 0; k < v->shown[i]; k++) {
		(void)fputs(before, t.f);
		before = m->gap;
		markup_put(t.f, markup_entry(m, v, &s->entries[k]));
	}
	if (sink_more(v, i) > 0) {
		(void)fputs(before, t.f);
		markup_put(t.f, markup_more(m, v, sink_more(v, i)));
	}
	return end(&t);
}

static void put_part(struct text *t, const struct markup *m, char *part)
{
	(void)fflush(t->f);
	if (*part && t->size > 0)
		(void)fprintf(t->f, "%s%s", m->gap, m->gap);
	markup_put(t->f, part);
}

char *markup_document(const struct markup *m, const struct sink_view *v)
{
	struct text t;

	begin(&t);
	put_part(&t, m, markup_head(m, v));
	for (size_t i = 0; i < v->sections; i++)
		put_part(&t, m, markup_section(m, v, i));
	put_part(&t, m, markup_more(m, v, sink_more_sections(v)));
	if (v->doc->footer)
		put_part(&t, m, markup_text(m, v, v->doc->footer));
	return end(&t);
}

/* -- names -- */

static void each(const struct sink_view *v, const struct str_list *l, bool trusted,
		 void (*fn)(void *ctx, const char *who, bool trusted), void *ctx)
{
	for (size_t i = 0; i < l->n && i < v->lines_max; i++)
		if (strlen(l->v[i]) <= v->text_max)
			fn(ctx, l->v[i], trusted);
}

void markup_each_mention(const struct sink_view *v, void (*fn)(void *ctx, const char *who, bool trusted),
			 void *ctx)
{
	if (tells_operator(v))
		each(v, &v->sink->mentions, true, fn, ctx);
	for (size_t i = 0; i < v->sections; i++)
		for (size_t k = 0; k < v->shown[i]; k++)
			each(v, &v->doc->sections[i].entries[k].mentions, false, fn, ctx);
}

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
