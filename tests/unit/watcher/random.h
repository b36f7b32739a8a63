/* random.h - repeatable random numbers for the tests of this folder. OPC_TEST_SEED chooses another run. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_WATCHER_RANDOM_H
#define TEST_WATCHER_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static uint64_t random_state;

static inline void random_begin(const char *what)
{
	const char *env = getenv("OPC_TEST_SEED");

	random_state = 20261121;
	if (env)
		(void)str_to_u64(env, strlen(env), &random_state);
	printf("%s: OPC_TEST_SEED=%llu\n", what, (unsigned long long)random_state);
}

/* splitmix64 */
static inline uint64_t random_next(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* 0 to n - 1 */
static inline uint32_t random_below(uint32_t n)
{
	return (uint32_t)(random_next() % n);
}

#endif
