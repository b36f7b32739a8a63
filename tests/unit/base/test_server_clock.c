/* test_server_clock.c - a server's time, from its Date headers. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "base/server_clock.h"
#include "tests/suite.h"

TEST(server_time_from_dates)
{
	struct server_clock s = { 0 };

	ck_assert_int_eq(server_clock_now(&s, 777, 5), 777);
	/* The server is 10 s ahead; its Date is cut to the second, so the estimate starts up to a second low
	 * and only grows towards the truth. */
	server_clock_note(&s, 1000010000, 1000);
	ck_assert_int_eq(server_clock_now(&s, 1000000400, 1000), 1000010000);
	server_clock_note(&s, 1000011000, 1600);
	ck_assert_int_eq(server_clock_now(&s, 1000001000, 1600), 1000011000);
	server_clock_note(&s, 1000011000, 2500); /* arrived late: no news */
	ck_assert_int_eq(server_clock_now(&s, 1000002000, 2600), 1000012000);
	/* The local wall clock steps an hour back: nothing moves. */
	ck_assert_int_eq(server_clock_now(&s, 1000002000 - 3500000, 2600), 1000012000);
}

/* A Date of 12:00:00 read at 12:00:00.940: a clock that is right tells the wait to the millisecond. One that
 * is wrong never makes a wait shorter than it is: "now" is the earliest, "since" the latest it can have been.
 */
TEST(a_wait_is_never_shortened)
{
	for (int64_t error = -5000; error <= 5000; error += 1250) {
		struct server_clock first = { 0 }, second = { 0 };
		int64_t begin = 1000000940, after = begin + 6000;

		server_clock_note(&first, begin - 940, 1000);
		server_clock_note(&second, after - 940, 500); /* another life */
		int64_t since = server_clock_latest(&first, begin + error, 1000);
		int64_t later = after + 60; /* and another moment of the second */

		server_clock_note(&second, later, 560);
		int64_t now = server_clock_now(&second, later + error, 560);

		ck_assert_int_ge(since, begin);
		ck_assert_int_le(now, later);
		ck_assert_int_ge(now - since, error ? 5000 : 6060);
	}
}

TEST(one_odd_date_moves_nothing)
{
	struct server_clock s = { 0 };

	server_clock_note(&s, 1000000, 1000);
	server_clock_note(&s, 1000000 + 86400000, 2000);
	ck_assert_int_eq(server_clock_now(&s, 1001000, 2000), 1001000);
	server_clock_note(&s, 1002000, 3000);
	server_clock_note(&s, 1000, 4000);
	server_clock_note(&s, 1004000, 5000);
	ck_assert_int_eq(server_clock_now(&s, 1005000, 6000), 1005000);
	/* Two in a row do: the server's clock was set. */
	server_clock_note(&s, 506000, 7000);
	server_clock_note(&s, 507000, 8000);
	ck_assert_int_eq(server_clock_now(&s, 1007000, 8000), 507000);
	server_clock_note(&s, 2000000, 9000);
	server_clock_note(&s, 2001000, 10000);
	ck_assert_int_eq(server_clock_now(&s, 2001000, 10000), 2001000);
	/* But never more than an hour past the local clock. */
	ck_assert_int_eq(server_clock_now(&s, 2001000 - 86400000, 10000), 2001000 - 86400000 + 3600000);
}

/* More than an hour apart is not believed, whichever of the two is ahead. */
TEST(an_excess_has_two_sides)
{
	struct server_clock s = { 0 };
	const int64_t hour = 3600000, date = 1000000000;

	ck_assert_int_eq(server_clock_excess(&s, 0, 1000), 0);
	server_clock_note(&s, date, 1000);
	ck_assert_int_eq(server_clock_excess(&s, date - hour, 1000), 0);
	ck_assert_int_eq(server_clock_excess(&s, date - hour - 1, 1000), hour + 1);
	ck_assert_int_eq(server_clock_excess(&s, date + hour, 1000), 0);
	ck_assert_int_eq(server_clock_excess(&s, date + hour + 1, 1000), -hour - 1);
}

SUITE("base/server_clock");
