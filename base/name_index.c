/* name_index.c - see name_index.h. */
// SPDX-License-Identifier: Apache-2.0
#include "base/name_index.h"

#include "base/fnv.h"

/* Its slot, or the empty one where it would stand. */
static uint16_t *find_slot(const struct name_index *x, struct str name)
{
	size_t i = fnv_bytes(FNV_START, name.p, name.n) % x->n_slots;

	while (x->slots[i] && !str_eq(name, x->name(x->slots[i] - 1u)))
		i = (i + 1) % x->n_slots;
	return &x->slots[i];
}

static void fill(struct name_index *x)
{
	for (size_t row = 0; row < x->rows; row++)
		*find_slot(x, x->name(row)) = (uint16_t)(row + 1);
	x->is_filled = true;
}

size_t name_index_find(struct name_index *x, struct str name)
{
	if (!x->is_filled)
		fill(x);
	const uint16_t slot = *find_slot(x, name);

	return slot ? slot - 1u : x->rows;
}
