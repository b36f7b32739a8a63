/* chinese.h - what a Chinese reader is told holds no sentence of ours in English. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_UNIT_CONFIG_CHINESE_H
#define TESTS_UNIT_CONFIG_CHINESE_H

#include <check.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/phrases.h"

/* Names and values stay: only whole rows are looked for, of more than a word. */
static inline void assert_chinese(const char *text)
{
	static const char *const rows[] = {
#define PHRASE(ID, en, zh) en,
#include "model/phrases_config.def"
#include "model/phrases_libraries.def"
#undef PHRASE
	};

	ck_assert_msg(language_of_text(text) == LANGUAGE_ZH, "%s", text);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strchr(rows[i], '%') && strlen(rows[i]) > 5 && strchr(rows[i], ' '))
			ck_assert_msg(!strstr(text, rows[i]), "\"%s\" in: %s", rows[i], text);
}

#endif
