/* phrases.c - see phrases.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/phrases.h"

#include <string.h>

static const char *const phrases[PHRASE__MAX][LANGUAGE__MAX] = {
#define PHRASE(ID, en, zh) [PHRASE_##ID] = { en, zh },
#include "model/phrases.def"
#undef PHRASE
};

enum phrase phrase_find(const char *en, size_t n)
{
	enum phrase p = 0;

	while (p < PHRASE__MAX &&
	       (strncmp(phrases[p][LANGUAGE_EN], en, n) != 0 || phrases[p][LANGUAGE_EN][n] != '\0'))
		p++;
	return p;
}

const char *phrase_text(enum phrase p, enum language l)
{
	return (unsigned)p < PHRASE__MAX && (unsigned)l < LANGUAGE__MAX ? phrases[p][l] : "?";
}
