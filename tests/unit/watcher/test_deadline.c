/* test_deadline.c - the heap against an array that is searched. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <malloc.h>

#include "random.h"
#include "tests/suite.h"
#include "watcher/cache/deadline.h"

#define KEYS 500u
#ifdef __SANITIZE_ADDRESS__ /* ten times as slow */
#define MANY 100000u
#else
#define MANY 1000000u
#endif

static uint64_t model_min(const uint64_t at[static KEYS])
{
	uint64_t min = UINT64_MAX;

	for (uint32_t k = 1; k < KEYS; k++)
		if (at[k] && at[k] < min)
			min = at[k];
	return min;
}

TEST(against_an_array)
{
	struct deadlines d = { 0 };
	uint64_t at[KEYS] = { 0 }, now = 1, got;
	uint32_t key, n = 0;

	random_begin("deadline");
	for (uint32_t i = 0; i < 50000; i++) {
		uint32_t k = 1 + random_below(KEYS - 1);
		uint64_t t = now + random_below(1000);

		switch (random_below(5)) {
		case 0:
		case 1:
			deadlines_set(&d, k, t);
			n += !at[k];
			at[k] = t;
			break;
		case 2:
			deadlines_set_earlier(&d, k, t);
			n += !at[k];
			at[k] = !at[k] || t < at[k] ? t : at[k];
			break;
		case 3:
			deadlines_cancel(&d, k);
			n -= at[k] != 0;
			at[k] = 0;
			break;
		default:
			now += random_below(20);
			while (deadlines_pop(&d, now, &key)) {
				ck_assert_uint_eq(at[key], model_min(at));
				ck_assert_uint_le(at[key], now);
				at[key] = 0;
				n--;
			}
			ck_assert_uint_gt(model_min(at), now);
		}
		ck_assert_uint_eq(d.n, n);
		ck_assert_uint_eq(deadlines_next(&d), n ? model_min(at) : UINT64_MAX);
		ck_assert_int_eq(deadlines_armed(&d, k, &got), at[k] != 0);
		if (at[k])
			ck_assert_uint_eq(got, at[k]);
	}
	deadlines_done(&d);
}

/* What the allocator has handed out; 0 where it does not say (AddressSanitizer's). */
static size_t allocated(void)
{
	const struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

TEST(a_million_are_small)
{
	const size_t before = allocated();
	struct deadlines d = { 0 };
	uint64_t last = 0;
	uint32_t key;

	random_begin("deadline size");
	for (uint32_t k = 1; k <= MANY; k++)
		deadlines_set(&d, k, 1 + random_below(1000000000));
	printf("%zu bytes a deadline by the module, %zu by the allocator\n", deadlines_bytes(&d) / MANY,
	       (allocated() - before) / MANY);
	ck_assert_uint_le(deadlines_bytes(&d), 64 * MANY);
	ck_assert_uint_le(allocated() - before, 64 * MANY);
	for (uint32_t k = 0; k < MANY; k++) {
		const uint64_t at = deadlines_next(&d);

		ck_assert_uint_ge(at, last);
		last = at;
		ck_assert(deadlines_pop(&d, at, &key));
	}
	ck_assert_uint_eq(d.n, 0);
	deadlines_done(&d);
}

/* Moving and cancelling costs no room: what is armed is what counts. */
TEST(a_million_move)
{
	struct deadlines d = { 0 };

	random_begin("deadline moves");
	for (uint32_t k = 1; k <= MANY / 10; k++)
		deadlines_set(&d, k, 1 + random_below(1000000));
	const size_t room = deadlines_bytes(&d);

	for (uint32_t i = 0; i < MANY; i++) {
		const uint32_t k = 1 + random_below(MANY / 10);

		if (random_below(4) == 0)
			deadlines_cancel(&d, k);
		else
			deadlines_set(&d, k, 1 + random_below(1000000));
	}
	ck_assert_uint_eq(deadlines_bytes(&d), room);
	deadlines_done(&d);
}

TEST_MAIN("watcher/deadline")
{
	tcase_set_timeout(t, 60);
}
