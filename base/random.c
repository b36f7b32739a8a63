/* random.c - see random.h. */
// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <stdlib.h>
#include <sys/random.h>

void random_bytes(void *p, size_t n)
{
	if (getrandom(p, n, 0) != (ssize_t)n)
		abort();
}
