/* say.h - the texts of a generated page in its language, by the catalogue zh.def. */
// SPDX-License-Identifier: Apache-2.0
#ifndef DOCS_GEN_SAY_H
#define DOCS_GEN_SAY_H

#include <stdbool.h>
#include <stdio.h>

#include "model/actions.h"

/* Which of the catalogue's texts the page has said. */
struct said {
	enum language language;
	FILE *out;
	bool used[256];
	size_t missing;
};

/* The text for what is written in English: itself, or its Chinese; a text that has none is named on stderr
 * and counted. */
const char *say(struct said *s, const char *english);
/* 0 when every text had its Chinese and every row of the catalogue was said; else 1, named on stderr. */
int said_all(const struct said *s);

#endif
