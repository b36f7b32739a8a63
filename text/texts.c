/* texts.c - see texts.h. */
// SPDX-License-Identifier: Apache-2.0
#include "text/texts.h"

#include "base/name_index.h"

static const struct {
	struct str code;
	const char *in[LANGUAGE__MAX];
} texts[TEXT__MAX] = {
#define T(ID, code, en, zh) [TEXT_##ID] = { STR_OF(code), { [LANGUAGE_EN] = en, [LANGUAGE_ZH] = zh } },
#include "text/texts.def"
#undef T
};

const char *text_code(enum text t)
{
	return texts[t].code.p;
}

static struct str code_of(size_t row)
{
	return texts[row].code;
}

enum text text_find(struct str code)
{
	static uint16_t slots[2 * TEXT__MAX];
	static struct name_index codes = { code_of, TEXT__MAX, slots, 2 * TEXT__MAX };

	return (enum text)name_index_find(&codes, code);
}

const char *text_in(enum text t, enum language l)
{
	return texts[t].in[l];
}
