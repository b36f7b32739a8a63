/* deadline.h - when each key is due: a heap with an index, so that a deadline can be moved and
 * cancelled. Layer: watcher.  Threads: none.  Pure: time is whatever the caller counts in.  16 bytes a
 * deadline. Keys are small numbers (handles): the index is as long as the largest key ever set. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CACHE_DEADLINE_H
#define WATCHER_CACHE_DEADLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct deadlines {
	uint64_t *at;
	uint32_t *key;
	uint32_t n, cap;
	uint32_t *index; /* by key: index in the heap + 1, 0 = not armed */
	uint32_t cap_index;
};

/* Zero-initialised is empty. */
void deadlines_done(struct deadlines *d);
/* Arm key, or move it, earlier or later. key >= 1. */
void deadlines_set(struct deadlines *d, uint32_t key, uint64_t at);
/* Arm key, or move it to `at` when that is earlier. */
void deadlines_set_earlier(struct deadlines *d, uint32_t key, uint64_t at);
/* Not armed: nothing happens. */
void deadlines_cancel(struct deadlines *d, uint32_t key);
bool deadlines_armed(const struct deadlines *d, uint32_t key, uint64_t *ret_at);
/* When the earliest is; UINT64_MAX when there is none. */
uint64_t deadlines_next(const struct deadlines *d);
/* Take the earliest when it is due at `now`; equal ones come in no particular order. */
bool deadlines_pop(struct deadlines *d, uint64_t now, uint32_t *ret_key);
size_t deadlines_bytes(const struct deadlines *d);

#endif
