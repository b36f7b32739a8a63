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

const char *settings_fixed_difference(const struct settings *old, const struct settings *new)
{
	for (const struct setting *row = settings_table; row->path; row++)
		if ((row->flags & SETTING_FIXED) && !setting_equal(row, old, new))
			return row->path;
	return NULL;
}
