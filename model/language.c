/* language.c - see language.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/language.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/unicode.h"

static const char *const names[LANGUAGE__MAX] = { [LANGUAGE_EN] = "en", [LANGUAGE_ZH] = "zh" };

const char *language_name(enum language l)
{
	return (unsigned)l < LANGUAGE__MAX ? names[l] : "?";
}

/* The language of that name, or -1. */
static int find(struct str name)
{
	for (int l = 0; l < LANGUAGE__MAX; l++)
		if (str_eq(name, STR_C(names[l])))
			return l;
	return -1;
}

/* language[_territory][.codeset][@modifier] */
static enum language language_of_name(const char *locale)
{
	const size_t n = strcspn(locale, "_.@");
	const char *codeset = strchr(locale, '.');
	const int l = find((struct str){ locale, n });

	if (codeset && strncasecmp(codeset, ".UTF-8", 6) != 0 && strncasecmp(codeset, ".UTF8", 5) != 0)
		return LANGUAGE_EN;
	return l < 0 ? LANGUAGE_EN : (enum language)l;
}

enum language language_of_locale(const char *lc_all, const char *lc_messages, const char *lang)
{
	const char *const order[] = { lc_all, lc_messages, lang };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		if (order[i] && *order[i])
			return language_of_name(order[i]);
	return LANGUAGE_EN;
}

enum language language_of_environment(void)
{
	return language_of_locale(getenv("LC_ALL"), getenv("LC_MESSAGES"), getenv("LANG"));
}

/* The blocks of Han characters that are written today. */
static bool is_han(uint32_t c)
{
	return (c >= 0x3400 && c <= 0x4dbf) || (c >= 0x4e00 && c <= 0x9fff) || (c >= 0xf900 && c <= 0xfaff) ||
	       (c >= 0x20000 && c <= 0x3fffd);
}

enum language language_of_text(const char *text)
{
	size_t left = strlen(text);

	while (left) {
		uint32_t c;
		const size_t len = unicode_take(text, left, &c);

		if (is_han(c))
			return LANGUAGE_ZH;
		text += len ? len : 1;
		left -= len ? len : 1;
	}
	return LANGUAGE_EN;
}
