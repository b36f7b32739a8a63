/* say.c - see say.h. */
// SPDX-License-Identifier: Apache-2.0
#include "docs/gen/say.h"

#include <string.h>

#include "base/cleanup.h"

static const struct {
	const char *english, *chinese;
} catalogue[] = {
#define Z(english, chinese) { english, chinese },
#include "docs/gen/zh.def"
#undef Z
};
_Static_assert(ARRAY_SIZE(catalogue) <= sizeof(((struct said *)0)->used), "enlarge used");

const char *say(struct said *s, const char *english)
{
	if (s->language == LANGUAGE_EN)
		return english;
	for (size_t i = 0; i < ARRAY_SIZE(catalogue); i++)
		if (strcmp(catalogue[i].english, english) == 0) {
			s->used[i] = true;
			return catalogue[i].chinese;
		}
	s->missing++;
	(void)fprintf(stderr, "docs/gen/zh.def has no Chinese for: %s\n", english);
	return english;
}

int said_all(const struct said *s)
{
	bool all = s->missing == 0;

	for (size_t i = 0; s->language != LANGUAGE_EN && i < ARRAY_SIZE(catalogue); i++)
		if (!s->used[i]) {
			all = false;
			(void)fprintf(stderr, "docs/gen/zh.def: nothing says any more: %s\n",
				      catalogue[i].english);
		}
	return all ? 0 : 1;
}
