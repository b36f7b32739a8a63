/* test_reflect_core.c - the reflector's decisions about lists and watches, case by case as client-go's own
 * tests have them (tools/cache/reflector_test.go). */
// SPDX-License-Identifier: Apache-2.0
#include "tests/suite.h"
#include "tests/unit/kube/core_sim.h"

TEST(re01_watchlist_first)
{
	SIM s = begin(false, 0);

	then(&s, CORE_START, 0, CORE_WATCHLIST, WATCHLIST(""));
	feed(&s, CORE_SYNCED, "7", "", 0);
	ck_assert(s.step.list_synced);
	ck_assert_int_eq(s.step.request, CORE_NONE);
	ck_assert_int_eq(s.core.request, CORE_WATCH);
}

TEST(re01_legacy_list_then_watch)
{
	SIM s = begin(true, 0);

	then(&s, CORE_START, 0, CORE_LIST, "limit=500&resourceVersion=0");
	then_at(&s, CORE_PAGE, "1", SYNCED, CORE_WATCH, WATCH("1"));
}

TEST(re02_last_event_counts_even_if_smaller)
{
	SIM s = watching("10");

	reflect_core_observe_rv(&s.core, STR_C("55"), false);
	reflect_core_observe_rv(&s.core, STR_C("32"), false);
	then(&s, CORE_ENDED, 0, CORE_WATCH, WATCH("32"));
}

TEST(re03_very_short_watch)
{
	SIM s = listed("10");

	then(&s, CORE_ENDED, 0, CORE_WATCH, WATCH("10")); /* long enough */
	s.now += 999;
	event(&s, CORE_ENDED); /* at once, with nothing */
	ck_assert(s.step.backoff);
	ck_assert_uint_eq(s.step.wait_ms, 800);
	ck_assert(!s.step.list_lost);
	wait_over(&s);
	expect(&s, CORE_LIST, "resourceVersion=10");
}

TEST(re03_streams_with_little_do_not_spin)
{
	SIM s = listed("10");

	for (int i = 0; i < 3; i++) {
		event(&s, CORE_ENDED);
		if (s.step.wait_ms)
			wait_over(&s);
		ck_assert_int_eq(s.step.request, CORE_WATCH);
		reflect_core_observe_rv(&s.core, STR_C("11"), false);
		s.now += 5;
	}
	then(&s, CORE_ENDED, BACKOFF | WAIT, CORE_WATCH, WATCH("11")); /* no relist */
}

TEST(re04_list_errors_begin_new_rounds)
{
	SIM s = begin(true, 0);

	event(&s, CORE_START);
	for (int i = 0; i < 5; i++) {
		then(&s, CORE_FAILED, LOST | BACKOFF | WAIT, CORE_LIST, "limit=500&resourceVersion=0");
	}
}

TEST(re05_backoff_sequence)
{
	static const uint64_t bases[] = { 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000, 30000 };
	SIM s = watching("5");

	for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
		s.random = 0;

		event(&s, CORE_BUSY);
		ck_assert_uint_eq(s.step.wait_ms, bases[i]);
		s.now += s.step.wait_ms;
		then(&s, CORE_START, 0, CORE_WATCH, WATCH("5"));
	}
	s.random = 0.5;
	event(&s, CORE_BUSY);
	ck_assert_uint_eq(s.step.wait_ms, 45000);
	s.now += 45000;
	s.random = 0;
	event(&s, CORE_START);
	s.now += 120001; /* quiet: begins anew */
	event(&s, CORE_BUSY);
	ck_assert_uint_eq(s.step.wait_ms, 800);
}

TEST(re06_too_many_requests_does_not_relist)
{
	SIM s = listed("10");

	event(&s, CORE_ENDED);
	for (int i = 0; i < 4; i++) {
		then(&s, CORE_BUSY, BACKOFF | WAIT, CORE_WATCH, WATCH("10"));
	}
}

TEST(re06_retry_after_repeats_the_same_page)
{
	SIM s = begin(true, 4);

	event(&s, CORE_START);
	feed(&s, CORE_PAGE, "9", "C1", 0);
	for (int i = 0; i < 10; i++) {
		feed(&s, CORE_RETRY, "", "", 2000);
		ck_assert_uint_eq(s.step.wait_ms, 2000);
		ck_assert(!s.step.list_lost && !s.step.backoff);
		wait_over(&s);
		expect(&s, CORE_LIST, "continue=C1&limit=4");
	}
	feed(&s, CORE_RETRY, "", "", 2000); /* the eleventh */
	ck_assert(s.step.list_lost && s.step.backoff);
	wait_over(&s);
	expect(&s, CORE_LIST, "limit=4&resourceVersion=0");
}

TEST(re07_internal_error_relists)
{
	SIM s = listed("10");

	then(&s, CORE_FAILED, BACKOFF | WAIT, CORE_LIST, "resourceVersion=10");
}

TEST(re08_page_size)
{
	SIM s = begin(true, 4);

	then(&s, CORE_START, 0, CORE_LIST, "limit=4&resourceVersion=0");
	then_page(&s, "10", "C1", 0, CORE_LIST, "continue=C1&limit=4");
	ck_assert(!s.step.list_synced && !s.step.list_lost);
	then_page(&s, "10", "C2/+=", 0, CORE_LIST, "continue=C2%2F%2B%3D&limit=4");
	then_at(&s, CORE_PAGE, "10", SYNCED, CORE_WATCH, WATCH("10"));
}

/* A later page is as old as the first: what happened since the first is missed by a watch from a newer one.
 */
TEST(re08_the_list_has_the_version_of_its_first_page)
{
	SIM s = begin(true, 4);

	event(&s, CORE_START);
	then_page(&s, "10", "C1", 0, CORE_LIST, "continue=C1&limit=4");
	then_page(&s, "12", "C2", 0, CORE_LIST, "continue=C2&limit=4");
	then_at(&s, CORE_PAGE, "14", SYNCED, CORE_WATCH, WATCH("10"));
}

TEST(re08_no_limit_beside_a_known_version)
{
	SIM s = listed("10");

	then(&s, CORE_FAILED, BACKOFF | WAIT, CORE_LIST, "resourceVersion=10");
}

TEST(re08_server_without_watch_cache_keeps_paging)
{
	SIM s = begin(true, 0);

	event(&s, CORE_START);
	then_page(&s, "10", "C1", 0, CORE_LIST, "continue=C1&limit=500");
	feed(&s, CORE_PAGE, "10", "", 0);
	s.now += 60000;
	then(&s, CORE_FAILED, BACKOFF | WAIT, CORE_LIST, "limit=500&resourceVersion=10");
}

TEST(re09_expired_version)
{
	SIM s = listed("10");

	then(&s, CORE_EXPIRED, BACKOFF | WAIT, CORE_LIST,
	     "resourceVersion=10"); /* of the watch: a new round from the last version */
	then(&s, CORE_EXPIRED, LOST, CORE_LIST, "limit=500"); /* of the list: at once, any version */
	then_at(&s, CORE_PAGE, "20", SYNCED, CORE_WATCH, WATCH("20"));
	s.now += 60000;
	then(&s, CORE_FAILED, BACKOFF | WAIT, CORE_LIST, "resourceVersion=20"); /* trusted again */
}

TEST(re09_expired_token_full_list)
{
	SIM s = begin(true, 4);

	event(&s, CORE_START);
	feed(&s, CORE_PAGE, "10", "", 0);
	s.now += 60000;
	then(&s, CORE_FAILED, BACKOFF | WAIT, CORE_LIST, "limit=4&resourceVersion=10");
	then_page(&s, "10", "C1", 0, CORE_LIST, "continue=C1&limit=4");
	then(&s, CORE_EXPIRED, LOST, CORE_LIST, "resourceVersion=10");
	then_at(&s, CORE_PAGE, "11", SYNCED, CORE_WATCH, WATCH("11"));
}

TEST(re09_too_large)
{
	SIM s = listed("20");

	then(&s, CORE_FAILED, BACKOFF | WAIT, CORE_LIST, "resourceVersion=20");
	then(&s, CORE_TOO_LARGE, LOST, CORE_LIST, "limit=500");
	then_at(&s, CORE_PAGE, "5", SYNCED, CORE_WATCH, WATCH("5"));
}

TEST(re09_refusing_any_version_does_not_spin)
{
	SIM s = begin(false, 0);

	then(&s, CORE_START, 0, CORE_WATCHLIST, WATCHLIST(""));
	then(&s, CORE_EXPIRED, LOST, CORE_LIST, "limit=500&resourceVersion=0");
	then(&s, CORE_EXPIRED, LOST, CORE_LIST, "limit=500");
	then(&s, CORE_EXPIRED, LOST | BACKOFF | WAIT, CORE_WATCHLIST, WATCHLIST(""));
}

TEST(re10_watch_timeout)
{
	SIM s = begin(false, 0);

	event(&s, CORE_START);
	ck_assert_uint_eq(s.step.timeout_s, 300);
	s.random = 0.99999999;
	feed(&s, CORE_ENDED, "", "", 0);
	event(&s, CORE_BUSY);
	wait_over(&s);
	ck_assert_uint_ge(s.step.timeout_s, 300);
	ck_assert_uint_lt(s.step.timeout_s, 600);
}

TEST(re11_every_kind_of_event_moves_the_version)
{
	static const char *const versions[] = { "10", "20", "30", "40" };
	SIM s = watching("1");

	for (size_t i = 0; i < 4; i++) {
		reflect_core_observe_rv(&s.core, STR_C(versions[i]), i == 0);
		ck_assert_str_eq(s.core.rv, versions[i]);
	}
}

TEST_MAIN("kube/reflect_core")
{
	tcase_set_timeout(t, 60);
}
