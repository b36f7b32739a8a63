/* fnv.h - FNV-1a with 64 bits (RFC 9923; Fowler, Noll, Vo): a quick hash for a table, or to notice a change.
 * It resists nobody who chooses what is hashed: a signature is base/siphash.h. The value never changes: it
 * stands in annotations and in names of objects that a cluster keeps.  Layer: base.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_FNV_H
#define BASE_FNV_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The hash of nothing. */
#define FNV_START UINT64_C(14695981039346656037)

/* Go on from hash with n bytes: a chain of calls is one call with the bytes of all. */
static inline uint64_t fnv_bytes(uint64_t hash, const void *p, size_t n)
{
	const unsigned char *byte = p;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
	return hash;
}

static inline uint64_t fnv_text(uint64_t hash, const char *text)
{
	return fnv_bytes(hash, text, strlen(text));
}

#endif
