/* texts.c - see texts.h. */
// SPDX-License-Identifier: Apache-2.0
#include "text/texts.h"

static const struct {
	const char *code, *in[LANGUAGE__MAX];
} texts[TEXT__MAX] = {
#define T(ID, code, en, zh) [TEXT_##ID] = { code, { [LANGUAGE_EN] = en, [LANGUAGE_ZH] = zh } },
#include "text/texts.def"
#undef T
};

const char *text_code(enum text t)
{
	return texts[t].code;
}

enum text text_find(struct str code)
{
	enum text t = 0;

	while (t < TEXT__MAX && !str_is(code, texts[t].code))
		t++;
	return t;
}

const char *text_in(enum text t, enum language l)
{
	return texts[t].in[l];
}
