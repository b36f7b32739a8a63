/* test_reflect_watchlist.c - the reflector's decisions about WatchLists (client-go
 * reflector_watchlist_test.go) and what must never spin. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/suite.h"
#include "tests/unit/kube/core_sim.h"

TEST(wl02_generic_error_falls_back_for_the_round)
{
	SIM s = begin(false, 0);

	event(&s, CORE_START);
	then(&s, CORE_FAILED, LOST, CORE_LIST, "limit=500&resourceVersion=0");
	then_at(&s, CORE_PAGE, "1", SYNCED, CORE_WATCH, WATCH("1"));
	s.now += 60000;
	then(&s, CORE_EXPIRED, BACKOFF | WAIT, CORE_WATCHLIST,
	     WATCHLIST("&resourceVersion=1")); /* tried again */
}

TEST(wl06_busy_repeats_the_watchlist)
{
	SIM s = begin(false, 0);

	event(&s, CORE_START);
	for (int i = 0; i < 2; i++) {
		then(&s, CORE_BUSY, LOST | BACKOFF | WAIT, CORE_WATCHLIST, WATCHLIST(""));
	}
}

TEST(wl07_stopped_before_the_bookmark)
{
	SIM s = begin(false, 0);

	event(&s, CORE_START);
	reflect_core_observe_rv(&s.core, STR_C("7"), true);
	s.now += 5000;
	then(&s, CORE_ENDED, LOST, CORE_WATCHLIST, WATCHLIST("")); /* from scratch: 7 was never synced */
	reflect_core_observe_rv(&s.core, STR_C("7"), true);
	s.now += 5000;
	then(&s, CORE_ENDED, LOST | BACKOFF | WAIT, CORE_WATCHLIST,
	     WATCHLIST("")); /* a second time in a row: not in a loop */
}

TEST(wl08_stopped_after_sync)
{
	SIM s = watching("3");

	then(&s, CORE_ENDED, 0, CORE_WATCH, WATCH("3"));
}

TEST(wl09_expired_when_reopening)
{
	SIM s = watching("3");

	event(&s, CORE_ENDED);
	then(&s, CORE_EXPIRED, BACKOFF | WAIT, CORE_WATCHLIST, WATCHLIST("&resourceVersion=3"));
	then(&s, CORE_TOO_LARGE, LOST, CORE_WATCHLIST, WATCHLIST(""));
}

TEST(wl11_version_before_sync)
{
	SIM s = begin(false, 0);

	event(&s, CORE_START);
	reflect_core_observe_rv(&s.core, STR_C("1"), true);
	reflect_core_observe_rv(&s.core, STR_C("2"), false);
	ck_assert_str_eq(s.core.rv, "");
	feed(&s, CORE_SYNCED, "2", "", 0);
	ck_assert_str_eq(s.core.rv, "2");
	reflect_core_observe_rv(&s.core, STR_C("3"), true);
	ck_assert_str_eq(s.core.rv, "3");
}

/* A watch that began without a version gets synthetic ADDEDs in any order. */
TEST(wl11_unversioned_watch)
{
	SIM s = begin(true, 0);

	event(&s, CORE_START);
	feed(&s, CORE_PAGE, "", "", 0);
	ck_assert_int_eq(s.step.request, CORE_WATCH);
	reflect_core_observe_rv(&s.core, STR_C("9"), true);
	ck_assert_str_eq(s.core.rv, "");
	reflect_core_observe_rv(&s.core, STR_C("8"), false);
	reflect_core_observe_rv(&s.core, STR_C("10"), true);
	ck_assert_str_eq(s.core.rv, "10");
}

TEST(pg01_endless_tokens)
{
	SIM s = begin(true, 0);

	event(&s, CORE_START);
	feed(&s, CORE_PAGE, "1", "same", 0);
	feed(&s, CORE_PAGE, "1", "same", 0);
	ck_assert(s.step.list_lost && s.step.backoff);
}

TEST(denied_waits_without_a_second_try)
{
	SIM s = begin(false, 0);

	event(&s, CORE_START);
	then(&s, CORE_DENIED, BACKOFF | LOST | WAIT, CORE_WATCHLIST, WATCHLIST(""));
}

/* A server restored from a backup says nothing to a watch from a version that it has yet to reach. */
TEST(silence_twice_lists_any_version)
{
	SIM s = watching("100");

	s.now += 90000;
	then(&s, CORE_STALLED, 0, CORE_WATCH, WATCH("100"));
	s.now += 90000;
	then(&s, CORE_STALLED, BACKOFF | WAIT, CORE_WATCHLIST, WATCHLIST(""));
	feed(&s, CORE_SYNCED, "7", "", 0);
	for (int i = 0; i < 3; i++) { /* a word in between: a connection that died, no more */
		s.now += 90000;
		then(&s, CORE_STALLED, 0, CORE_WATCH, WATCH("7"));
		reflect_core_observe_rv(&s.core, STR_C("7"), false);
	}
}

TEST(a_silent_list_asks_for_any_version)
{
	SIM s = watching("100");

	then(&s, CORE_FAILED, BACKOFF | WAIT, CORE_WATCHLIST, WATCHLIST("&resourceVersion=100"));
	reflect_core_observe_rv(&s.core, STR_C("3"), true);
	s.now += 90000;
	then(&s, CORE_STALLED, LOST, CORE_WATCHLIST, WATCHLIST(""));
}

/* Any order of events: it never stops, never repeats itself at once for long, never forgets a list. */
TEST(random_events)
{
	uint64_t seed = 3;

	for (int run = 0; run < 300; run++) {
		SIM s = begin(run & 1, run & 2 ? 7 : 0);
		unsigned at_once = 0;

		event(&s, CORE_START);
		for (int i = 0; i < 200; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			const enum core_event e = (enum core_event)(CORE_PAGE + (seed >> 33) % 9);
			const bool list = s.core.request == CORE_LIST;

			if (s.step.wait_ms) {
				at_once = 0;
				wait_over(&s);
				continue;
			}
			/* Each event only where it can come from. */
			if ((e == CORE_PAGE && !list) || ((e == CORE_ENDED || e == CORE_STALLED) && list) ||
			    (e == CORE_SYNCED && s.core.request != CORE_WATCHLIST))
				continue;
			if (e == CORE_PAGE || e == CORE_SYNCED)
				at_once = 0;
			feed(&s, e, "5", e == CORE_PAGE && seed & 1 ? "t" : "", 10);
			ck_assert(s.step.wait_ms || s.step.request != CORE_NONE || e == CORE_SYNCED);
			ck_assert(!(s.step.list_lost && s.step.list_synced));
			ck_assert_uint_lt(++at_once, 8);
		}
	}
}

/* What a broken list has brought is newer than the version it was asked for. A list as of that version would
 * take it away again for a while. */
TEST(a_list_after_a_broken_one_is_not_older)
{
	SIM s = watching("10");

	then(&s, CORE_EXPIRED, BACKOFF | WAIT, CORE_WATCHLIST, WATCHLIST("&resourceVersion=10"));
	then(&s, CORE_BUSY, LOST | BACKOFF | WAIT, CORE_WATCHLIST,
	     WATCHLIST("&resourceVersion=10")); /* nothing came */
	reflect_core_observe_rv(&s.core, STR_C("12"), true);
	then(&s, CORE_BUSY, LOST | BACKOFF | WAIT, CORE_WATCHLIST, WATCHLIST(""));
	then(&s, CORE_FAILED, LOST, CORE_LIST, "limit=500");
	then_at(&s, CORE_PAGE, "13", SYNCED, CORE_WATCH, WATCH("13"));
	s.now += 60000;
	then(&s, CORE_EXPIRED, BACKOFF | WAIT, CORE_WATCHLIST, WATCHLIST("&resourceVersion=13"));
}

TEST(a_list_after_broken_pages_is_not_older)
{
	SIM s = listed("10");

	then(&s, CORE_EXPIRED, BACKOFF | WAIT, CORE_LIST, "resourceVersion=10");
	reflect_core_observe_rv(&s.core, STR_C("12"), true);
	then(&s, CORE_FAILED, LOST | BACKOFF | WAIT, CORE_LIST, "limit=500");
}

TEST_MAIN("kube/reflect_watchlist")
{
	tcase_set_timeout(t, 60);
}
