/* R23: a workload was scaled to 0 and its pods do not leave. */
// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

#include <stdio.h>

#include "base/clock.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "watcher/guards/in_flight.h"

static size_t told(void)
{
	size_t n = 0;

	for (size_t i = 0; i < n_sent; i++)
		n += sent[i].type == MSG_REFUSAL && strcmp(sent[i].u.refusal.reason, "PodsDoNotLeave") == 0;
	return n;
}

/* Nominated again and again, each time it already wants 0. Boot time since `from` when it was told, 0 =
 * never. */
static uint64_t until_told(uint64_t from, uint64_t for_ms)
{
	while (clock_boot_ms() - from < for_ms) {
		const size_t before = count(MSG_NOMINATE);

		pass(10 * S);
		if (count(MSG_NOMINATE) > before)
			settle_as(OUTCOME_GONE, "AlreadyZero");
		if (told())
			return clock_boot_ms() - from;
	}
	return 0;
}

TEST(pods_that_stay_are_told_once)
{
	uint64_t from;

	(void)ready_one(pod_pull_failing());
	nominated_at(HOURS + S, 1);
	from = clock_boot_ms();
	settle_as(OUTCOME_DONE, "CannotPullImage");
	ck_assert_uint_gt(until_told(from, 3600000), SCALED_DOWN_MS);
	ck_assert_str_eq(last(MSG_REFUSAL)->u.refusal.name, "web-1-abcde");
	ck_assert_uint_eq(last(MSG_REFUSAL)->u.refusal.duty, DUTY_IMAGE_PULL);
	ck_assert_ptr_nonnull(strstr(EN(last(MSG_REFUSAL)->u.refusal.evidence),
				     "for longer than 10m, and 1 is still there"));
	for (int i = 0; i < 20; i++) {
		const size_t before = count(MSG_NOMINATE);

		pass(10 * MIN);
		if (count(MSG_NOMINATE) > before)
			settle_as(OUTCOME_GONE, "AlreadyZero");
	}
	ck_assert_uint_eq(told(), 1);
}

TEST(pods_that_leave_are_not)
{
	struct pod_facts p = ready_one(pod_pull_failing());

	pass(HOURS + S);
	settle_as(OUTCOME_DONE, "CannotPullImage");
	controller_delete(c, &p);
	pass(HOUR);
	ck_assert_uint_eq(told(), 0);
}

TEST(both_sides_of_the_border)
{
	struct in_flight *f = in_flight_new();
	const struct str a = STR_LIT("a"), b = STR_LIT("b");

	ck_assert(!in_flight_pods_stay(f, a, 900)); /* nothing of it was nominated */
	in_flight_nominated(f, a, STR_LIT("1"), 1, 1, 1000, 1000);
	in_flight_nominated(f, b, STR_LIT("1"), 2, 2, 1000, 1000);
	in_flight_scaled_down(f, a, 1000);
	ck_assert(!in_flight_pods_stay(f, a, 1000 + SCALED_DOWN_MS));
	ck_assert(in_flight_pods_stay(f, a, 1001 + SCALED_DOWN_MS));
	ck_assert(!in_flight_pods_stay(f, a, 1002 + SCALED_DOWN_MS));
	/* scaled down anew: all the time again */
	in_flight_scaled_down(f, a, 2 * SCALED_DOWN_MS);
	ck_assert(!in_flight_pods_stay(f, a, 3 * SCALED_DOWN_MS));
	ck_assert(in_flight_pods_stay(f, a, 3 * SCALED_DOWN_MS + 1));
	/* somebody else scaled it down; first heard of now */
	ck_assert(!in_flight_pods_stay(f, b, 4 * SCALED_DOWN_MS));
	ck_assert(in_flight_pods_stay(f, b, 5 * SCALED_DOWN_MS + 1));
	/* not heard of for long: that was another time */
	ck_assert(!in_flight_pods_stay(f, a, 100 * SCALED_DOWN_MS));
	in_flight_free(&f);
}

/* However many there are at a time, each is watched. */
TEST(a_thousand_workloads)
{
	struct in_flight *f = in_flight_new();
	char name[16];

	for (unsigned i = 0; i < 1000; i++) {
		(void)snprintf(name, sizeof(name), "u%u", i);
		in_flight_nominated(f, STR_C(name), STR_LIT("1"), i + 1, i + 1, 1000, 1000);
		in_flight_scaled_down(f, STR_C(name), 1000 + i);
	}
	ck_assert(in_flight_pods_stay(f, STR_LIT("u0"), 2000 + SCALED_DOWN_MS));
	ck_assert(in_flight_pods_stay(f, STR_LIT("u999"), 2000 + SCALED_DOWN_MS));
	in_flight_free(&f);
}

TEST_MAIN("watcher/pods_stay")
{
	tcase_add_checked_fixture(t, begin, end);
}
