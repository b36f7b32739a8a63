/* siphash.h - SipHash-2-4 with 128 bits of output (Aumasson, Bernstein): a keyed hash of short texts that
 * serves as their signature. Who does not know the key can only guess it.  Layer: base.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define SIPHASH_KEY_SIZE 16
#define SIPHASH_TEXT_MAX 33

/* 32 lower-case hexadecimal digits. */
void siphash_text(const uint8_t key[static SIPHASH_KEY_SIZE], const void *p, size_t n,
		  char ret[static SIPHASH_TEXT_MAX]);

#endif
