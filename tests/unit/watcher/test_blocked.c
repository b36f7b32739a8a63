/* test_blocked.c - bins of pods that wait for the same: order, places that are kept, wakes, and nothing lost.
 */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/suite.h"
#include "watcher/guards/blocked.h"

static struct blocked *tested;
static uint32_t out[4096];
static size_t n_out;

static void begin(void)
{
	tested = blocked_new();
	n_out = 0;
}

static void end(void)
{
	blocked_free(&tested);
}

static void take(void *ctx, uint32_t h)
{
	(void)ctx;
	out[n_out++] = h;
}

static void put(uint32_t h, const char *key, int64_t until)
{
	const struct block block = { .guard = GUARD_BUDGET, .until = until };

	blocked_put(tested, h, STR_C(key), &block);
}

TEST(oldest_first_twice_as_many_each_time)
{
	for (uint32_t h = 1; h <= 20; h++)
		put(h, "a", 100);
	ck_assert_uint_eq(blocked_count(tested), 20);
	ck_assert_uint_eq(blocked_count_of(tested, GUARD_BUDGET), 20);
	ck_assert_uint_eq(blocked_next(tested), 100);
	blocked_take(tested, 99, take, NULL);
	ck_assert_uint_eq(n_out, 0);
	blocked_take(tested, 100, take, NULL);
	ck_assert_uint_eq(n_out, 1);
	ck_assert_uint_eq(blocked_next(tested), UINT64_MAX); /* the one that is out says how it goes on */
	blocked_remove(tested, 1);                           /* it went */
	blocked_take(tested, 100, take, NULL);
	ck_assert_uint_eq(n_out, 3);
	blocked_remove(tested, 2);
	put(3, "a", 200); /* and this one is blocked again: the bin sleeps on */
	blocked_take(tested, 199, take, NULL);
	ck_assert_uint_eq(n_out, 3);
	blocked_take(tested, 200, take, NULL);
	ck_assert_uint_eq(n_out, 4);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(out[i], i + 1);
	ck_assert_uint_eq(out[3], 3); /* back at the front */
}

/* Whatever happens to a bin meanwhile: what is let out counts against a budget only when it was judged. */
TEST(the_next_batch_waits_for_the_whole_one_before)
{
	for (uint32_t h = 1; h <= 8; h++)
		put(h, "a", 100);
	blocked_take(tested, 100, take, NULL);
	blocked_remove(tested, 1);
	blocked_take(tested, 100, take, NULL);
	ck_assert_uint_eq(n_out, 3);
	blocked_remove(tested, 2); /* the one is judged, the other is not */
	ck_assert_uint_eq(blocked_next(tested), UINT64_MAX);
	blocked_wake(tested, GUARD_BUDGET, 100); /* the guard moves */
	ck_assert_uint_eq(blocked_next(tested), UINT64_MAX);
	blocked_take(tested, 1000, take, NULL);
	ck_assert_uint_eq(n_out, 3);
	put(9, "a", 100); /* another one comes */
	ck_assert_uint_eq(blocked_next(tested), UINT64_MAX);
	blocked_remove(tested, 5); /* and one that waits goes */
	ck_assert_uint_eq(blocked_next(tested), UINT64_MAX);
	blocked_remove(tested, 3);
	ck_assert_uint_eq(blocked_next(tested), 100);
	blocked_take(tested, 100, take, NULL);
	ck_assert_uint_gt(n_out, 3);
}

TEST(a_place_is_kept_and_given_up)
{
	uint32_t list[8];

	put(1, "a", 100);
	put(2, "a", 100);
	put(3, "a", 100);
	put(1, "a", 100); /* judged again by an event, still blocked for the same */
	ck_assert_uint_eq(blocked_list(tested, list, 8), 3);
	ck_assert_uint_eq(list[0], 1);
	put(1, "b", 100); /* now for something else */
	ck_assert_uint_eq(blocked_list(tested, list, 8), 3);
	ck_assert_uint_eq(blocked_count(tested), 3);
	blocked_remove(tested, 2);
	blocked_remove(tested, 2);
	blocked_remove(tested, 77);
	ck_assert(!blocked_lists(tested, 2));
	ck_assert(blocked_lists(tested, 3));
	ck_assert_uint_eq(blocked_count(tested), 2);
	blocked_remove(tested, 3);
	ck_assert(!blocked_has_bin(tested, STR_LIT("a")));
	ck_assert(blocked_has_bin(tested, STR_LIT("b")));
}

TEST(without_a_time_until_it_is_woken)
{
	put(1, "a", 0);
	ck_assert_uint_eq(blocked_next(tested), UINT64_MAX);
	blocked_wake(tested, GUARD_PAUSE, 50); /* another guard's */
	ck_assert_uint_eq(blocked_next(tested), UINT64_MAX);
	blocked_wake(tested, GUARD_BUDGET, 50);
	blocked_take(tested, 50, take, NULL);
	ck_assert_uint_eq(n_out, 1);
}

/* Whatever happens, every pod is in one bin, out of one, or free, and none is let out twice. */
TEST(property_nothing_is_lost)
{
	enum { FREE, IN, OUT };
	static int state[200];
	static const char *const keys[] = { "a", "b", "c" };
	int64_t now = 0;

	srandom(20261121);
	for (int step = 0; step < 200000; step++, now += random() % 3) {
		uint32_t h = 1 + (uint32_t)random() % 199, blocked = 0;

		if (random() % 2) {
			put(h, keys[random() % 3], now + random() % 20);
			state[h] = IN;
		} else if (random() % 4 == 0) {
			blocked_remove(tested, h);
			state[h] = FREE;
		}
		n_out = 0;
		blocked_take(tested, (uint64_t)now, take, NULL);
		for (size_t i = 0; i < n_out; i++) {
			ck_assert_int_eq(state[out[i]], IN);
			state[out[i]] = OUT;
		}
		if (step % 100)
			continue;
		for (uint32_t i = 1; i < 200; i++) {
			blocked += state[i] != FREE;
			ck_assert_int_eq(blocked_lists(tested, i), state[i] == IN);
		}
		ck_assert_uint_eq(blocked_count(tested), blocked);
	}
}

TEST_MAIN("watcher/blocked")
{
	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, begin, end);
}
