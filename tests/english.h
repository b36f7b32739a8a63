/* english.h - whether a text that was told in Chinese still holds words of English.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_ENGLISH_H
#define TESTS_ENGLISH_H

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "text/facts_text.h"

#define ENGLISH_NAMES "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/"

/* A word in small letters, and no part of a name: its length. */
static inline size_t english_word(const char *from, const char *p)
{
	const size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz'");
	const bool begins = p == from || !strchr("abcdefghijklmnopqrstuvwxyz." ENGLISH_NAMES, p[-1]);

	return begins && (p[n] == '\0' || !strchr(ENGLISH_NAMES, p[n])) ? n : 0;
}

/* What a role may: a verb of the API before its resource. */
static inline bool english_is_verb(const char *p, size_t n)
{
	static const char *const verbs[] = { "get", "list", "delete", "patch" };

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strlen(verbs[i]) == n && strncmp(verbs[i], p, n) == 0)
			return true;
	return false;
}

/* Where two words of English stand beside one another; NULL: nowhere. */
static inline const char *english_left(const char *text)
{
	for (const char *p = text; *p; p++) {
		const size_t n = english_word(text, p);

		if (n > 0 && p[n] == ' ' && english_word(text, p + n + 1) > 0 && !english_is_verb(p, n))
			return p;
	}
	return NULL;
}

/* Facts in which nothing is quoted are told in Chinese without a rest. */
static inline void english_told_facts(const struct facts *f)
{
	char *zh = facts_render_in(f, LANGUAGE_ZH);

	ck_assert_msg(!english_left(zh), "%s", zh);
	free(zh);
}

#endif
