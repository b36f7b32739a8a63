/* unpack.h - reads msgpack from bytes that nobody vouches for. Every access is bounded and nothing is
 * allocated: msgpack-c's unpacker allocates what a hostile header asks for. Layer: base.  Threads: none. Each
 * function takes the next value and returns true. False: the value is of another kind, is cut off, or is not
 * in its shortest form (one value, one sequence of bytes); reading cannot go on then. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_UNPACK_H
#define BASE_UNPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* What is left to read. Init with the first byte and the one behind the last. */
struct unpacker {
	const uint8_t *p, *end;
};

bool unpack_u64(struct unpacker *u, uint64_t *ret);
bool unpack_i64(struct unpacker *u, int64_t *ret);
bool unpack_bool(struct unpacker *u, bool *ret);
/* False without having read anything when the next value is not nil. */
bool unpack_nil(struct unpacker *u);
/* *ret points into the bytes that are read. Which characters are in it is the caller's to check. */
bool unpack_text(struct unpacker *u, struct str *ret);
bool unpack_bytes(struct unpacker *u, struct str *ret);
/* How many values (pairs of values) follow. */
bool unpack_array(struct unpacker *u, uint64_t *ret_n);
bool unpack_map(struct unpacker *u, uint64_t *ret_n);

#endif
