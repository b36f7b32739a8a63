/* escape.c - see escape.h. */
// SPDX-License-Identifier: Apache-2.0
#include "text/escape.h"

#include <string.h>

#include "base/unicode.h"

struct marks {
	const char *special;   /* characters that are marks ... */
	const char *plain[16]; /* ... and how each is written instead */
	const char *first;     /* marks as the first character of a text alone */
	const char *plain_first[3];
	bool lookalike; /* `plain` is another character */
};

static const struct marks marks[ESCAPE__MAX] = {
	[ESCAPE_NONE] = { .special = "", .first = "" },
	[ESCAPE_HTML] = { .special = "<>&\"'",
			  .plain = { "&lt;", "&gt;", "&amp;", "&quot;", "&#39;" },
			  .first = "" },
	[ESCAPE_FULL_WIDTH] = { .special = "<>*_`[]#~\\",
				.plain = { "＜", "＞", "＊", "＿", "｀", "［", "］", "＃", "～", "＼" },
				.first = "-+=",
				.plain_first = { "－", "＋", "＝" },
				.lookalike = true },
	[ESCAPE_LARK] = { .special = "<>*~_`[]()#!\\&$",
			  .plain = { "&#60;", "&#62;", "&#42;", "&#126;", "&#95;", "&#96;", "&#91;", "&#93;",
				     "&#40;", "&#41;", "&#35;", "&#33;", "&#92;", "&#38;", "&#36;" },
			  .first = "-+=",
			  .plain_first = { "&#45;", "&#43;", "&#61;" } },
	[ESCAPE_SLACK] = { .special = "&<>*_~`",
			   .plain = { "&amp;", "&lt;", "&gt;", "∗", "＿", "∼", "ˋ" },
			   .first = "",
			   .lookalike = true },
};

static void write_bytes(FILE *f, bool json, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const unsigned char c = (unsigned char)s[i];

		if (!json || (c >= 0x20 && c != '"' && c != '\\'))
			(void)fputc(c, f);
		else if (c == '"' || c == '\\')
			(void)fprintf(f, "\\%c", c);
		else
			(void)fprintf(f, "\\u%04x", c);
	}
}

static const char *plain_of(const struct marks *m, char c, bool first)
{
	const char *mark = first && c ? strchr(m->first, c) : NULL;

	if (mark)
		return m->plain_first[mark - m->first];
	mark = c ? strchr(m->special, c) : NULL;
	return mark ? m->plain[mark - m->special] : NULL;
}

void escape_write(FILE *f, enum escape as, bool json, struct str s)
{
	const char *const begin = s.p;

	for (size_t n; s.n > 0; s.p += n, s.n -= n) {
		uint32_t c;

		n = unicode_take(s.p, s.n, &c);
		const bool shown = n > 0 && (as != ESCAPE_HTML || unicode_is_printable(c));
		const char *plain = !shown ? "?" : n == 1 ? plain_of(&marks[as], *s.p, s.p == begin) : NULL;

		n = n ? n : 1;
		write_bytes(f, json, plain ? plain : s.p, plain ? strlen(plain) : n);
	}
}

bool escape_keeps(enum escape as, const char *s)
{
	return !marks[as].lookalike || !strpbrk(s, marks[as].special);
}
