/* name_index.h - the row of a constant table by its name, without looking at every row: a hash table with
 * linear probing (Knuth, The Art of Computer Programming, volume 3, 6.4), filled at the first search.
 * Layer: base.  One thread. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_NAME_INDEX_H
#define BASE_NAME_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct name_index {
	struct str (*name)(size_t row); /* of each row another one */
	size_t rows;
	uint16_t *slots; /* 1 + row, 0 where none is; all 0 at first */
	size_t n_slots;  /* at least twice as many as rows */
	bool is_filled;  /* by the first search */
};

/* The row of that name; `rows` when there is none. */
size_t name_index_find(struct name_index *x, struct str name);

#endif
