/* settings.c - see settings.h; the blobs are in blob.c. */
// SPDX-License-Identifier: Apache-2.0
#include "config/settings.h"

#include <stddef.h>
#include <string.h>

#include "config/table.h"

void settings_init(struct settings *s)
{
	*s = (struct settings){ 0 };
}

void settings_done(struct settings *s)
{
	for (const struct setting *row = settings_table; row->path; row++)
		if (row->off + row->size <= sizeof(*s) && row->kind != SET_SECTION)
			setting_clear(row, s);
	settings_init(s);
}

static bool text_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool member_equal(const struct setting *row, const struct settings *a, const struct settings *b)
{
	const void *pa = setting_member_const(row, a), *pb = setting_member_const(row, b);

	if (setting_is_number(row->kind))
		return setting_get_number(row, a) == setting_get_number(row, b);
	if (setting_is_text(row->kind))
		return text_equal(*(char *const *)pa, *(char *const *)pb);
	if (setting_is_list(row->kind)) {
		const struct str_list *la = pa, *lb = pb;

		for (size_t i = 0; i < la->n && i < lb->n; i++)
			if (strcmp(la->v[i], lb->v[i]) != 0)
				return false;
		return la->n == lb->n;
	}
	return true;
}

const char *settings_fixed_difference(const struct settings *old, const struct settings *new)
{
	for (const struct setting *row = settings_table; row->path; row++)
		if ((row->flags & SETTING_FIXED) && !member_equal(row, old, new))
			return row->path;
	return NULL;
}
