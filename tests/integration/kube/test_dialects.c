/* test_dialects.c - every way of listing and watching, and every way it can go wrong, one by one, with the
 * real reflector on apisim. Each test ends when the mirror is what the server lists. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "http/global.h"
#include "tests/integration/kube/mirror.h"
#include "tests/suite.h"

#define BACKOFF_MS 2
static const struct reflector_config plain = { .backoff_base_ms = BACKOFF_MS };
static const struct reflector_config in_pages = { .backoff_base_ms = BACKOFF_MS,
						  .no_watchlist = true,
						  .page_size = 7 };
static const char *const forty[] = { "--fill", "40", NULL };
static const char *const empty[] = { NULL };

TEST(dialect_watchlist)
{
	struct mirror m;

	mirror_start(&m, forty, &plain);
	while (!m.synced)
		mirror_turn(&m, 10);
	ck_assert_int_eq(mirror_requests(&m, "list"), 0);
	ck_assert_int_eq(mirror_requests(&m, "watch"), 1);
	mirror_create(&m, "default", "later", 0);
	mirror_settle(&m, "watchlist");
	ck_assert_int_eq(mirror_requests(&m, "watch"), 1);
	ck_assert_uint_eq(m.troubles, 0);
	mirror_stop(&m);
}

/* A server with a watch cache gives all at once to who asks for "any version in memory"; pages come when
 * that was refused. */
static const char any_version_expired[] =
	"{\"verb\":\"list\",\"resource\":\"pods\",\"status\":410,\"reason\":\"Expired\"}";

/* In pages by choice, and because the server does not know WatchList (422). */
TEST_LOOP(dialect_pages, 0, 2)
{
	static const char *const refusing[] = { "--fill", "40", "--no-watchlist", NULL };
	const struct reflector_config config = { .backoff_base_ms = BACKOFF_MS, .page_size = 7 };
	struct mirror m;

	mirror_start(&m, refusing, _i ? &config : &in_pages);
	mirror_settle(&m, "all at once");
	mirror_sim(&m, "/_sim/faults", any_version_expired);
	const json_int_t asked = mirror_requests(&m, "list");

	mirror_again(&m, _i ? &config : &in_pages);
	while (!m.synced)
		mirror_turn(&m, 10);
	ck_assert_int_eq(mirror_requests(&m, "list"), asked + 1 + 6); /* refused, 5 x 7 + 5 */
	ck_assert_uint_eq(json_object_size(m.pods), 40);
	mirror_create(&m, "default", "later", 0);
	mirror_settle(&m, "pages");
	mirror_stop(&m);
}

/* The history is forgotten between two pages: the continue token is worth nothing any more. */
TEST(dialect_expired_between_pages)
{
	struct mirror m;

	mirror_start(&m, forty, &in_pages);
	mirror_settle(&m, "at first");
	const json_int_t asked = mirror_requests(&m, "list");

	mirror_sim(&m, "/_sim/faults", any_version_expired);
	mirror_sim(&m, "/_sim/faults",
		   "{\"verb\":\"list\",\"resource\":\"pods\",\"after\":2,\"delayMs\":500}");
	mirror_again(&m, &in_pages);
	while (json_object_size(m.pods) < 14)
		mirror_turn(&m, 5);
	mirror_create(&m, "default", "meanwhile", 0);
	mirror_sim(&m, "/_sim/compact", NULL);
	ck_assert(!m.synced);
	while (!m.synced)
		mirror_turn(&m, 5);
	ck_assert_uint_eq(m.failed, 1); /* given up, and begun anew as one full list */
	ck_assert_int_eq(mirror_requests(&m, "list"), asked + 1 + 3 + 1);
	ck_assert_uint_eq(json_object_size(m.pods), 41);
	mirror_settle(&m, "after a compaction");
	mirror_stop(&m);
}

TEST(dialect_retry_after)
{
	struct mirror m;

	mirror_start(&m, empty, &plain);
	mirror_settle(&m, "at first");
	const json_int_t asked = mirror_requests(&m, "watch");
	const uint64_t before = clock_boot_ms();

	mirror_sim(
		&m, "/_sim/faults",
		"{\"verb\":\"watch\",\"resource\":\"pods\",\"status\":429,\"retryAfter\":\"1\",\"count\":2}");
	mirror_again(&m, &plain);
	mirror_settle(&m, "two times Retry-After");
	ck_assert_uint_ge(clock_boot_ms() - before, 1900);
	ck_assert_int_eq(mirror_requests(&m, "watch"), asked + 3);
	ck_assert_uint_eq(m.troubles, 2);
	mirror_stop(&m);
}

TEST(dialect_storm_of_refusals)
{
	static const char *const rules[] = {
		"{\"verb\":\"watch\",\"resource\":\"pods\",\"status\":429,\"count\":10}",
		"{\"verb\":\"watch\",\"resource\":\"pods\",\"status\":500,\"count\":10}",
		"{\"verb\":\"watch\",\"resource\":\"pods\",\"dropResponse\":true,\"count\":10}",
		"{\"verb\":\"watch\",\"resource\":\"pods\",\"garbage\":true,\"count\":5}",
		"{\"verb\":\"list\",\"resource\":\"pods\",\"status\":503,\"count\":10}",
		"{\"verb\":\"list\",\"resource\":\"pods\",\"status\":429,\"count\":10}",
		"{\"verb\":\"list\",\"resource\":\"pods\",\"garbage\":true,\"count\":5}",
	};
	struct mirror m;

	mirror_start(&m, forty, &plain);
	mirror_settle(&m, "before the storm");
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		mirror_sim(&m, "/_sim/faults", rules[i]);
	mirror_sim(&m, "/_sim/close-watches", NULL);
	for (int i = 0; i < 12000 && m.troubles < 35; i++)
		mirror_turn(&m, 5);
	ck_assert_uint_ge(m.troubles, 35);
	ck_assert_int_eq(mirror_request(&m, "DELETE", "/_sim/faults", NULL, NULL), 200);
	mirror_create(&m, "default", "in-the-storm", 0);
	mirror_settle(&m, "after the storm");
	mirror_stop(&m);
}

/* Streams that end at once: nothing is lost, and the server is not asked in a loop. */
TEST(dialect_watch_ends_at_once)
{
	const struct reflector_config config = { 0 };
	struct mirror m;

	mirror_start(&m, forty, &config);
	mirror_settle(&m, "at first");
	mirror_sim(&m, "/_sim/faults",
		   "{\"verb\":\"watch\",\"resource\":\"pods\",\"cutAfterBytes\":0,\"count\":-1}");
	mirror_sim(&m, "/_sim/close-watches", NULL);
	mirror_create(&m, "default", "meanwhile", 0);
	const uint64_t before = clock_boot_ms();
	const json_int_t asked = mirror_requests(&m, "watch") + mirror_requests(&m, "list");

	while (clock_boot_ms() < before + 2500)
		mirror_turn(&m, 50);
	const json_int_t more = mirror_requests(&m, "watch") + mirror_requests(&m, "list") - asked;

	ck_assert_int_ge(more, 1);
	ck_assert_int_le(more, 12);
	ck_assert_int_eq(mirror_request(&m, "DELETE", "/_sim/faults", NULL, NULL), 200);
	mirror_settle(&m, "when watches last again");
	mirror_stop(&m);
}

/* Nobody hangs up, but nothing comes any more, not even bookmarks. */
TEST(dialect_half_open)
{
	static const char *const flags[] = { "--fill", "40", "--bookmark-period", "50", NULL };
	const struct reflector_config config = { .backoff_base_ms = BACKOFF_MS, .stalled_ms = 600 };
	struct mirror m;

	mirror_start(&m, flags, &config);
	mirror_settle(&m, "at first");
	mirror_turn(&m, 200); /* a bookmark was seen: from now on silence means something */
	const json_int_t before = mirror_requests(&m, "watch");

	mirror_sim(&m, "/_sim/pause-watches?ms=2000", NULL);
	mirror_create(&m, "default", "unheard-of", 0);
	while (mirror_requests(&m, "watch") == before)
		mirror_turn(&m, 20);
	mirror_settle(&m, "with a new watch");
	mirror_stop(&m);
}

/* The server comes back at the same place with another history, as from a backup: versions begin anew, below
 * the known ones, and a watch from a known one would hear nothing until they are reached. */
TEST_LOOP(dialect_server_restart, 0, 2)
{
	static const char *const often[] = { "--fill", "40", "--bookmark-period", "50", NULL };
	static const char *const fewer[] = { "--fill", "3", "--fill-seed", "7", "--bookmark-period",
					     "50",     NULL };
	struct mirror m;

	const struct reflector_config config = { .backoff_base_ms = BACKOFF_MS,
						 .stalled_ms = 1200,
						 /* longer than a "very short watch" */ .no_watchlist = !_i,
						 .page_size = 7 };

	mirror_start(&m, often, &config);
	for (int i = 0; i < 20; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "more-%d", i);
		mirror_create(&m, "default", name, 0);
	}
	mirror_settle(&m, "before");
	mirror_turn(&m, 200);
	inside_reset(m.server, fewer);
	mirror_settle(&m, "after");
	ck_assert_uint_eq(json_object_size(m.pods), 3);
	mirror_stop(&m);
}

/* Whatever the number of bytes after which the way breaks off: the next try brings all of it. */
TEST_LOOP(dialect_cut_after_every_byte, 0, 2)
{
	const struct reflector_config *config = _i ? &plain : &in_pages;
	struct mirror m;
	unsigned cuts = 0;

	mirror_start(&m, empty, config);
	mirror_create(&m, "default", "one", 0);
	mirror_create(&m, "default", "two", 0);
	mirror_settle(&m, "at first");
	for (int n = 0; n < 5000; n++) {
		char rule[128];

		(void)snprintf(rule, sizeof(rule),
			       "{\"verb\":\"%s\",\"resource\":\"pods\",\"cutAfterBytes\":%d}",
			       _i ? "watch" : "list", n);
		mirror_sim(&m, "/_sim/faults", rule);
		mirror_again(&m, config);
		const unsigned failed = m.failed;

		while (!m.synced)
			mirror_turn(&m, 1);
		ck_assert_uint_eq(json_object_size(m.pods), 2);
		if (m.failed == failed && n > 0)
			break; /* what brings them all is shorter than n */
		cuts++;
	}
	ck_assert_uint_gt(cuts, 300);
	ck_assert_uint_lt(cuts, 5000);
	ck_assert_int_eq(mirror_request(&m, "DELETE", "/_sim/faults", NULL, NULL), 200);
	mirror_create(&m, "default", "three", 0);
	mirror_settle(&m, "in the end");
	mirror_stop(&m);
}

/* Noise of one, fifteen and seventeen megabytes in one frame, and a pod as large as a server stores one. */
TEST(dialect_large_frames)
{
	struct mirror m;

	mirror_start(&m, forty, &plain);
	mirror_settle(&m, "at first");
	mirror_sim(&m, "/_sim/giant-event?bytes=1000000", NULL);
	mirror_sim(&m, "/_sim/giant-event?bytes=15000000", NULL);
	mirror_sim(&m, "/_sim/giant-event?bytes=17000000", NULL);
	mirror_create(&m, "default", "large", 1400000);
	mirror_create(&m, "default", "small", 0);
	mirror_settle(&m, "large frames");
	ck_assert_uint_ge(m.bad, 1);
	ck_assert_uint_eq(m.lists, 1); /* the same stream all the way */
	ck_assert_int_eq(mirror_requests(&m, "watch"), 1);
	mirror_again(&m, &in_pages);
	mirror_settle(&m, "the large one in a list");
	mirror_stop(&m);
}

/* TestHammerController: much at once, with watches that end in between. */
TEST(si09_hammer)
{
	struct mirror m;

	mirror_start(&m, forty, &plain);
	for (int i = 0; i < 1500; i++) {
		char path[96], name[16];

		(void)snprintf(name, sizeof(name), "p-%d", i % 97);
		(void)snprintf(path, sizeof(path), "/api/v1/namespaces/default/pods/%s", name);
		if (i / 97 % 2)
			(void)mirror_request(&m, "DELETE", path, "{\"gracePeriodSeconds\":0}", NULL);
		else
			mirror_create(&m, "default", name, 0);
		if (i % 100 == 99)
			mirror_sim(&m, "/_sim/close-watches", NULL);
	}
	mirror_settle(&m, "after the hammer");
	mirror_stop(&m);
}

TEST_MAIN("integration/dialects")
{
	tcase_set_timeout(t, 120);
	http_global_init();
}
