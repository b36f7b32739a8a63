/* repeatable.c - see repeatable.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/stage/repeatable.h"

#include <stdint.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static uint64_t row;

int clock_gettime(clockid_t id, struct timespec *ret)
{
	if (id != CLOCK_MONOTONIC && id != CLOCK_MONOTONIC_COARSE)
		return (int)syscall(SYS_clock_gettime, id, ret);
	const uint64_t us = clock_boot_us();

	*ret = (struct timespec){ (time_t)(us / 1000000), (long)(us % 1000000 * 1000) };
	return 0;
}

/* Numbers of a linear congruential generator (Knuth). */
ssize_t getrandom(void *ret, size_t n, unsigned flags)
{
	(void)flags;
	for (size_t i = 0; i < n; i++) {
		row = row * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		((uint8_t *)ret)[i] = (uint8_t)(row >> 56);
	}
	return (ssize_t)n;
}

void repeatable_begin(void)
{
	row = 0;
	clock_fake_set(INT64_C(1790000000000), 1000000);
}

void repeatable_end(void)
{
	clock_fake_clear();
}
