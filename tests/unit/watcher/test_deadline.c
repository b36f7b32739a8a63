/* test_deadline.c - the heap against an array that is searched. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "random.h"
#include "watcher/deadline.h"

#define KEYS 500u

static uint64_t model_min(const uint64_t at[static KEYS])
{
	uint64_t min = UINT64_MAX;

	for (uint32_t k = 1; k < KEYS; k++)
		if (at[k] && at[k] < min)
			min = at[k];
	return min;
}

START_TEST(against_an_array)
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
		ck_assert_int_eq(deadlines_next(&d, &got), n > 0);
		if (n)
			ck_assert_uint_eq(got, model_min(at));
		ck_assert_int_eq(deadlines_armed(&d, k, &got), at[k] != 0);
		if (at[k])
			ck_assert_uint_eq(got, at[k]);
	}
	deadlines_done(&d);
}
END_TEST

START_TEST(a_million_are_small)
{
	struct deadlines d = { 0 };
	uint64_t last = 0;
	uint32_t key;

	random_begin("deadline size");
	for (uint32_t k = 1; k <= 1000000; k++)
		deadlines_set(&d, k, 1 + random_below(1000000000));
	ck_assert_uint_le(deadlines_bytes(&d) / 1000000, 64);
	for (uint32_t k = 0; k < 1000000; k++) {
		uint64_t at;

		ck_assert(deadlines_next(&d, &at));
		ck_assert_uint_ge(at, last);
		last = at;
		ck_assert(deadlines_pop(&d, at, &key));
	}
	ck_assert_uint_eq(d.n, 0);
	deadlines_done(&d);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("watcher/deadline");
	TCase *t = tcase_create("deadline");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, against_an_array);
	tcase_add_test(t, a_million_are_small);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
