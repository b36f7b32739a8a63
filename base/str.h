/* str.h - bounded parsing and escaping of text from outside. The only place with strtol-like work.
 * Layer: base. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Borrowed bytes: not NUL-terminated, owned by whoever made them. */
struct str {
	const char *p;
	size_t n;
};

#define STR_OF(s)                                                                                            \
	{                                                                                                    \
		"" s, sizeof(s) - 1                                                                          \
	} /* initializer of a static table */
#define STR_LIT(s)  ((struct str)STR_OF(s))
#define STR_ARG(s)  (int)(s).n, (s).p /* for "%.*s" */
#define STR_C(cstr) ((struct str){ (cstr), strlen(cstr) })

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *cstr)
{
	return a.n == strlen(cstr) && (a.n == 0 || memcmp(a.p, cstr, a.n) == 0);
}

bool str_empty(struct str a);
/* The same as str_is(), in upper or lower case (ASCII). */
bool str_is_word(struct str a, const char *cstr);

/* A variable of the environment; NULL when it is not set or empty. */
const char *str_env(const char *name);

/* Say in dst (of at least one byte) why something failed, in text that may be shown; returns r. */
int str_fail(char *dst, size_t size, int r, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* A growing array of owned strings. Init with zeroes. */
struct str_list {
	char **v;
	size_t n;
};
void str_list_add(struct str_list *l, const char *s, size_t n);
/* Append copies of all strings of `from`. */
void str_list_add_all(struct str_list *l, const struct str_list *from);
bool str_list_has(const struct str_list *l, struct str s);
/* The same strings in the same order. */
bool str_list_equal(const struct str_list *a, const struct str_list *b);
void str_list_done(struct str_list *l);

/* True when text matches pattern, in which '*' means any characters, also none. */
bool str_glob(struct str pattern, struct str text);
/* True when one item of l, read as a pattern, matches s. */
bool str_list_globs(const struct str_list *l, struct str s);

/* Decimal integer, whole input, no sign for u64, optional '-' for i64. 0, -EINVAL (not a number) or -ERANGE.
 */
int str_to_u64(const char *s, size_t n, uint64_t *ret);
int str_to_i64(const char *s, size_t n, int64_t *ret);

/* Without the `blanks` at its begin and end. */
struct str str_trim(struct str s, const char *blanks);

/* Take off *rest and return what stands before the first `at`, which is dropped; all of it where there is
 * none. */
struct str str_cut(struct str *rest, char at);

/* What does not stand for itself may take so many times its bytes. */
#define STR_ESCAPED_MAX 6

/* Escape for inside a JSON string: quotes, backslash, bytes that are not UTF-8 (shown as \ufffd), and what is
 * not printable (base/unicode.h). Writes at most size - 1 bytes plus NUL, never half an escape. Returns the
 * bytes written. */
size_t str_escape_json(char *dst, size_t size, const char *s, size_t n);
/* The same for inside double quotes of YAML, which writes what is above U+FFFF in another way. */
size_t str_escape_yaml(char *dst, size_t size, const char *s, size_t n);

/* Without control characters: as the value of a header it does not end it. */
bool str_is_line(const char *s);
/* Copy for a terminal or a log: what is not printable and invalid UTF-8 become '?'; cut at a character
 * border. s may be dst. Returns bytes written. */
size_t str_copy_printable(char *dst, size_t size, const char *s, size_t n);

/* Levenshtein distance, for "did you mean"; inputs above 64 bytes count as SIZE_MAX. */
size_t str_distance(const char *a, const char *b);

/* 16 bytes as "8-4-4-4-12" hex text. */
void str_uuid_format(const uint8_t uuid[static 16], char ret[static 37]);

#endif
