/* test_floors.c - what shows that a workload fails for less long than the watcher says. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "rules/floors.h"
#include "tests/suite.h"

#define SAID INT64_C(1000) /* by the watcher */

static const enum duty scaling[] = { DUTY_IMAGE_PULL, DUTY_CRASH_LOOP };

/* Which duty heeds which floor, when it is later than what is said. */
TEST_LOOP(each_floor_alone, 0, FLOOR__MAX)
{
	static const bool heeds[FLOOR__MAX][2] = {
		[FLOOR_WORKLOAD] = { true, true },     [FLOOR_REVISION] = { true, true },
		[FLOOR_UNAVAILABLE] = { true, false }, [FLOOR_WORKED] = { true, true },
		[FLOOR_SERVED] = { true, true },       [FLOOR_KNOWN] = { true, true },
		[FLOOR_WATCHED] = { true, true },
	};

	for (size_t d = 0; d < 2; d++) {
		struct floors f = { 0 };
		enum text why;

		ck_assert_int_eq(floors_since(&f, scaling[d], SAID, &why), SAID);
		ck_assert_int_eq(why, TEXT__MAX);
		floors_add(&f, (enum floor)_i, SAID);
		ck_assert_int_eq(floors_since(&f, scaling[d], SAID, &why), SAID);
		ck_assert_int_eq(why, TEXT__MAX);
		floors_add(&f, (enum floor)_i, SAID + 1);
		ck_assert_int_eq(floors_since(&f, scaling[d], SAID, &why), heeds[_i][d] ? SAID + 1 : SAID);
		ck_assert_int_eq(why < TEXT__MAX, heeds[_i][d]);
	}
}

/* Of each the latest, and of all the latest; an earlier one takes nothing back. */
TEST(the_latest_counts)
{
	struct floors f = { 0 };
	enum text why;

	floors_add(&f, FLOOR_WORKED, 3000);
	floors_add(&f, FLOOR_WORKED, 2000);
	floors_add(&f, FLOOR_REVISION, 2500);
	floors_add(&f, FLOOR_WORKLOAD, 0);
	ck_assert_int_eq(floors_since(&f, DUTY_IMAGE_PULL, SAID, &why), 3000);
	ck_assert_int_eq(floors_since(&f, DUTY_CRASH_LOOP, SAID, &why), 3000);
	ck_assert_int_eq(floors_since(&f, DUTY_IMAGE_PULL, 3001, &why), 3001);
	ck_assert_int_eq(why, TEXT__MAX);
}

/* A floor starts no clock: what nobody has seen failing does not fail since its workload was made. */
TEST_LOOP(no_floor_makes_known_what_is_not, -1, 1)
{
	struct floors f = { { 5, 5, 5, 5, 5, 5 } };
	enum text why;

	ck_assert_int_eq(floors_since(&f, DUTY_IMAGE_PULL, _i, &why), _i);
	ck_assert_int_eq(why, TEXT__MAX);
}

/* Duties that judge the pod alone have no use for it. */
TEST(other_duties_do_not_heed_it)
{
	struct floors f = { { 5000, 5000, 5000, 5000, 5000, 5000 } };
	enum text why;

	for (enum duty d = 0; d < DUTY__MAX; d++)
		ck_assert_int_eq(floors_since(&f, d, SAID, &why), duty_workload(d) >= 0 ? 5000 : SAID);
}

SUITE("rules/floors");
