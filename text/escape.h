/* escape.h - texts of others in the markup of a target: each character that the target would take for a mark
 * is written as it says that the character is meant, or, where it says nothing, as another character of the
 * same look. Layer: text.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TEXT_ESCAPE_H
#define TEXT_ESCAPE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/str.h"

enum escape {
	ESCAPE_NONE,       /* nothing is a mark */
	ESCAPE_HTML,       /* entities; what is not printable is '?' */
	ESCAPE_FULL_WIDTH, /* Markdown without escapes (DingTalk, WeCom): full-width characters */
	ESCAPE_LARK,       /* Markdown of Feishu and Lark: numeric entities */
	ESCAPE_SLACK,      /* mrkdwn: entities, and characters of the same look */
	ESCAPE__MAX
};

/* Write s. json: what is written stands inside a string of JSON. */
void escape_write(FILE *f, enum escape as, bool json, struct str s);
/* Return true when s can be copied as it is out of what escape_write() makes: no character of it becomes
 * another one of the same look. */
bool escape_keeps(enum escape as, const char *s);

#endif
