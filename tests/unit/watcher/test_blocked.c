/* test_blocked.c - bins of pods that wait for the same: order, places that are kept, wakes, and nothing lost.
 */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watcher/guards/blocked.h"

static struct blocked *t;
static uint32_t out[4096];
static size_t n_out;

static void begin(void)
{
	t = blocked_new();
	n_out = 0;
}

static void end(void)
{
	blocked_free(&t);
}

static void take(void *ctx, uint32_t h)
{
	(void)ctx;
	out[n_out++] = h;
}

static void put(uint32_t h, const char *key, int64_t until)
{
	const struct block hold = { .guard = GUARD_BUDGET, .until = until };

	blocked_put(t, h, STR_C(key), &hold);
}

START_TEST(oldest_first_twice_as_many_each_time)
{
	uint64_t at;

	for (uint32_t h = 1; h <= 20; h++)
		put(h, "a", 100);
	ck_assert_uint_eq(blocked_count(t), 20);
	ck_assert_uint_eq(blocked_count_of(t, GUARD_BUDGET), 20);
	ck_assert(blocked_next(t, &at) && at == 100);
	blocked_take(t, 99, take, NULL);
	ck_assert_uint_eq(n_out, 0);
	blocked_take(t, 100, take, NULL);
	ck_assert_uint_eq(n_out, 1);
	ck_assert(!blocked_next(t, &at)); /* the one that is out says how it goes on */
	blocked_remove(t, 1);             /* it went */
	blocked_take(t, 100, take, NULL);
	ck_assert_uint_eq(n_out, 3);
	blocked_remove(t, 2);
	put(3, "a", 200); /* and this one is held again: the bin sleeps on */
	blocked_take(t, 199, take, NULL);
	ck_assert_uint_eq(n_out, 3);
	blocked_take(t, 200, take, NULL);
	ck_assert_uint_eq(n_out, 4);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(out[i], i + 1);
	ck_assert_uint_eq(out[3], 3); /* back at the front */
}
END_TEST

START_TEST(a_place_is_kept_and_given_up)
{
	uint32_t list[8];

	put(1, "a", 100);
	put(2, "a", 100);
	put(3, "a", 100);
	put(1, "a", 100); /* judged again by an event, still held for the same */
	ck_assert_uint_eq(blocked_list(t, list, 8), 3);
	ck_assert_uint_eq(list[0], 1);
	put(1, "b", 100); /* now for something else */
	ck_assert_uint_eq(blocked_list(t, list, 8), 3);
	ck_assert_uint_eq(blocked_count(t), 3);
	blocked_remove(t, 2);
	blocked_remove(t, 2);
	blocked_remove(t, 77);
	ck_assert(!blocked_lists(t, 2));
	ck_assert(blocked_lists(t, 3));
	ck_assert_uint_eq(blocked_count(t), 2);
	blocked_remove(t, 3);
	ck_assert(!blocked_has_bin(t, STR_LIT("a")));
	ck_assert(blocked_has_bin(t, STR_LIT("b")));
}
END_TEST

START_TEST(without_a_time_until_it_is_woken)
{
	uint64_t at;

	put(1, "a", 0);
	ck_assert(!blocked_next(t, &at));
	blocked_wake(t, GUARD_PAUSE, 50); /* another guard's */
	ck_assert(!blocked_next(t, &at));
	blocked_wake(t, GUARD_BUDGET, 50);
	blocked_take(t, 50, take, NULL);
	ck_assert_uint_eq(n_out, 1);
}
END_TEST

/* Whatever happens, every pod is in one bin, out of one, or free, and none is let out twice. */
START_TEST(property_nothing_is_lost)
{
	enum { FREE, IN, OUT };
	static int state[200];
	static const char *const keys[] = { "a", "b", "c" };
	int64_t now = 0;

	srandom(20261121);
	for (int step = 0; step < 200000; step++, now += random() % 3) {
		uint32_t h = 1 + (uint32_t)random() % 199, held = 0;

		if (random() % 2) {
			put(h, keys[random() % 3], now + random() % 20);
			state[h] = IN;
		} else if (random() % 4 == 0) {
			blocked_remove(t, h);
			state[h] = FREE;
		}
		n_out = 0;
		blocked_take(t, (uint64_t)now, take, NULL);
		for (size_t i = 0; i < n_out; i++) {
			ck_assert_int_eq(state[out[i]], IN);
			state[out[i]] = OUT;
		}
		if (step % 100)
			continue;
		for (uint32_t i = 1; i < 200; i++) {
			held += state[i] != FREE;
			ck_assert_int_eq(blocked_lists(t, i), state[i] == IN);
		}
		ck_assert_uint_eq(blocked_count(t), held);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("watcher/held");
	TCase *c = tcase_create("held");

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, begin, end);
	tcase_add_test(c, oldest_first_twice_as_many_each_time);
	tcase_add_test(c, a_place_is_kept_and_given_up);
	tcase_add_test(c, without_a_time_until_it_is_woken);
	tcase_add_test(c, property_nothing_is_lost);
	suite_add_tcase(s, c);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	const int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
