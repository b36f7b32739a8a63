/* random.h - numbers that nobody can guess, from getrandom(2): the one place that a simulation replaces.
 * Layer: base. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stddef.h>

/* Fill p with n random bytes, at most 256. Ends the process when the kernel has none. */
void random_bytes(void *p, size_t n);

#endif
