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

/* FNV-1a. The operator chooses the values: nobody makes two of them collide. */
static uint64_t hash_value(const struct setting *row, const struct settings *s)
{
	uint64_t h = setting_is_number(row->kind) ? (uint64_t)setting_get_number(row, s) : 0;
	const char *text = setting_is_text(row->kind) ? *(char *const *)setting_member_const(row, s) : NULL;

	for (h ^= UINT64_C(14695981039346656037); text && *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return h;
}

const char *settings_fixed_key(const struct settings *s, size_t i, uint64_t *ret_hash)
{
	const struct setting *row = settings_table;

	while (row->path && (!(row->flags & SETTING_FIXED) || i-- > 0))
		row++;
	if (row->path)
		*ret_hash = hash_value(row, s);
	return row->path;
}
