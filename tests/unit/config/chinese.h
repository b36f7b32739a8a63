/* chinese.h - what a Chinese reader is told holds no sentence of ours in English. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_UNIT_CONFIG_CHINESE_H
#define TESTS_UNIT_CONFIG_CHINESE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/diag.h"

/* Names and values stay: only whole rows are looked for, of more than a word. */
static inline void assert_chinese(const char *text)
{
	static const char *const rows[] = {
#define PHRASE(ID, en, zh) en,
#include "model/phrases_config.def"
#undef PHRASE
	};

	ck_assert_msg(language_of_text(text) == LANGUAGE_ZH, "%s", text);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strchr(rows[i], '%') && strlen(rows[i]) > 5 && strchr(rows[i], ' '))
			ck_assert_msg(!strstr(text, rows[i]), "\"%s\" in: %s", rows[i], text);
}

/* The words of a sentence, until the next call. */
static inline const char *words(const char *sentence, enum language l)
{
	static char text[SENTENCE_MAX];
	_cleanup_free_ char *made = sentence_text(sentence, l);

	(void)snprintf(text, sizeof(text), "%s", made);
	return text;
}

/* Make each text the line of a Chinese reader. */
static inline void diags_in_chinese(struct diags *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->v[i].text);
		d->v[i].text = diag_text(&d->v[i], LANGUAGE_ZH);
	}
}

#endif
