/* hostile.h - text that must reach nobody's screen as it is, and whether any of it did. By lists of its own:
 * the program's predicate is what is tested with it. Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_HOSTILE_H
#define TESTS_HOSTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* One of each kind, between plain text. */
#define HOSTILE                                                                                              \
	"a"                                                                                                  \
	"\x1b[2J\b\x7f"    /* C0, DEL */                                                                     \
	"\xc2\x9b"         /* U+009B, which begins a sequence as ESC [ does */                               \
	"\xc2\x85"         /* next line */                                                                   \
	"\xc2\xad"         /* soft hyphen */                                                                 \
	"\xd8\x9c"         /* Arabic letter mark */                                                          \
	"\xe2\x80\x8b"     /* zero width space */                                                            \
	"\xe2\x80\xa8"     /* line separator */                                                              \
	"\xe2\x80\xa9"     /* paragraph separator */                                                         \
	"\xe2\x80\xae"     /* right-to-left override */                                                      \
	"\xe2\x81\xa6"     /* left-to-right isolate */                                                       \
	"\xef\xbb\xbf"     /* zero width no-break space */                                                   \
	"\xf3\xa0\x81\x81" /* tag: A */                                                                      \
	"\xcd\xb8"         /* U+0378, not assigned */                                                        \
	"\xef\xbf\xbf"     /* U+FFFF, no character */                                                        \
	"\xe3\x85\xa4"     /* Hangul filler: a letter without a look */                                      \
	"\xe2\xa0\x80"     /* braille pattern without a dot */                                               \
	"\xef\xb8\x8f"     /* variation selector */                                                          \
	"\xee\x80\x80"     /* U+E000, private use */                                                         \
	"\xff"             /* no UTF-8: never a byte of it, */                                               \
	"\xc0\xaf"         /* overlong, */                                                                   \
	"\xed\xa0\x80"     /* a surrogate, */                                                                \
	"\xf4\x90\x80\x80" /* too high, */                                                                   \
	"\xe9\x87"         /* cut off */                                                                     \
	"z"

/* Is nothing of it in the text? Line feeds may be. */
static inline bool hostile_is_gone(const char *text)
{
	static const char *const never[] = {
		"\x1b",         "\b",           "\x7f",         "\xc2\x9b",     "\xc2\x85",
		"\xc2\xad",     "\xd8\x9c",     "\xe2\x80\x8b", "\xe2\x80\xa8", "\xe2\x80\xa9",
		"\xe2\x80\xae", "\xe2\x81\xa6", "\xef\xbb\xbf", "\xf3\xa0\x81", "\xcd\xb8",
		"\xef\xbf\xbf", "\xff",         "\xc0",         "\xed\xa0",     "\xf4\x90",
		"\xe9\x87z",    "\xe3\x85\xa4", "\xe2\xa0\x80", "\xef\xb8\x8f", "\xee\x80\x80",
	};

	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		if (strstr(text, never[i]))
			return false;
	return true;
}

#endif
