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

static bool is_json_mark(char c)
{
	return (unsigned char)c < 0x20 || c == '"' || c == '\\';
}

static void write_bytes(FILE *f, bool json, const char *s, size_t n)
{
	for (const char *const end = s + n; s < end; s++) {
		const char *begin = s;

		while (s < end && !(json && is_json_mark(*s)))
			s++;
		(void)fwrite(begin, 1, (size_t)(s - begin), f);
		if (s == end)
			break;
		if ((unsigned char)*s < 0x20)
			(void)fprintf(f, "\\u%04x", (unsigned char)*s);
		else
			(void)fprintf(f, "\\%c", *s);
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
	const char *const begin = s.p, *kept = s.p; /* what goes out as it is begins there */

	for (size_t n; s.n > 0; s.p += n, s.n -= n) {
		uint32_t c;

		n = unicode_take(s.p, s.n, &c);
		const bool shown = n > 0 && (as != ESCAPE_HTML || unicode_is_printable(c));
		const char *plain = !shown ? "?" : n == 1 ? plain_of(&marks[as], *s.p, s.p == begin) : NULL;

		n = n ? n : 1;
		if (!plain)
			continue;
		write_bytes(f, json, kept, (size_t)(s.p - kept));
		write_bytes(f, json, plain, strlen(plain));
		kept = s.p + n;
	}
	write_bytes(f, json, kept, (size_t)(s.p - kept));
}

bool escape_keeps(enum escape as, const char *s)
{
	return !marks[as].lookalike || !strpbrk(s, marks[as].special);
}
