/* phrases.c - see phrases.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/phrases.h"

static const char *const phrases[PHRASE__MAX][LANGUAGE__MAX] = {
#define PHRASE(ID, en, zh) [PHRASE_##ID] = { en, zh },
#include "model/phrases.def"
#undef PHRASE
};

const char *phrase_text(enum phrase p, enum language l)
{
	return (unsigned)p < PHRASE__MAX && (unsigned)l < LANGUAGE__MAX ? phrases[p][l] : "?";
}
