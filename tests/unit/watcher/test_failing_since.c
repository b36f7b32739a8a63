/* test_failing_since.c - the clocks of failing revisions, the state of the lists. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/suite.h"
#include "watcher/guards/sync_state.h"
#include "watcher/controller/failing_since.h"

#define A STR_LIT("owner-a")
#define B STR_LIT("owner-b")
#define R STR_LIT("7d9c8b5f6d")

/* -- since -- */

static char written[1024];
static int room;

static int write_back(void *ctx, struct str owner, struct str revision, int64_t at_ms, int64_t attempted_ms)
{
	size_t n = strlen(written);

	(void)ctx;
	if (room-- == 0)
		return -EAGAIN;
	n += (size_t)snprintf(written + n, sizeof(written) - n, "%.*s/%.*s=%lld", STR_ARG(owner),
			      STR_ARG(revision), (long long)at_ms);
	if (attempted_ms)
		n += (size_t)snprintf(written + n, sizeof(written) - n, ",%lld", (long long)attempted_ms);
	(void)snprintf(written + n, sizeof(written) - n, " ");
	return 0;
}

static const char *flushed(struct failing_since *s)
{
	written[0] = '\0';
	room = 100;
	ck_assert_int_eq(failing_since_flush(s, write_back, NULL), 0);
	return written;
}

TEST(starts_once_and_never_resets)
{
	struct failing_since *s = failing_since_new();

	ck_assert_int_eq(failing_since_get(s, A, R), 0);
	ck_assert_int_eq(failing_since_failing(s, A, R, 1000), 1000);
	ck_assert_int_eq(failing_since_failing(s, A, R, 2000), 1000); /* ErrImagePull <-> ImagePullBackOff */
	ck_assert_str_eq(flushed(s), "owner-a/7d9c8b5f6d=1000 ");
	ck_assert_str_eq(flushed(s), "");
	/* Another owner, another revision: other clocks. */
	ck_assert_int_eq(failing_since_failing(s, B, R, 3000), 3000);
	ck_assert_int_eq(failing_since_failing(s, A, STR_LIT(""), 4000), 4000);
	ck_assert_int_eq(failing_since_get(s, A, R), 1000);
	ck_assert_uint_eq(failing_since_count(s), 3);
	failing_since_free(&s);
}

TEST(survives_churn_for_an_hour)
{
	struct failing_since *s = failing_since_new();

	(void)failing_since_failing(s, A, R, 1000);
	(void)flushed(s);
	failing_since_idle(s, A, R, 50000); /* its pods vanished */
	failing_since_idle(s, A, R, 90000); /* said again: the first one counts */
	failing_since_expire(s, 50000 + FAILING_SINCE_IDLE_MS - 1);
	ck_assert_int_eq(failing_since_failing(s, A, R, 999999), 1000);
	failing_since_expire(s, 50000 + 2 * FAILING_SINCE_IDLE_MS); /* fails again: not idle */
	ck_assert_int_eq(failing_since_get(s, A, R), 1000);
	failing_since_idle(s, A, R, 100000);
	failing_since_expire(s, 100000 + FAILING_SINCE_IDLE_MS);
	ck_assert_int_eq(failing_since_get(s, A, R), 0);
	ck_assert_str_eq(flushed(s), "owner-a/7d9c8b5f6d=0 ");
	ck_assert_uint_eq(failing_since_count(s), 0);
	failing_since_free(&s);
}

TEST(ends_when_a_pod_has_pulled)
{
	struct failing_since *s = failing_since_new();

	failing_since_clear(s, A, R); /* nothing to end */
	ck_assert_str_eq(flushed(s), "");
	(void)failing_since_failing(s, A, R, 1000);
	failing_since_clear(s, A, R);
	ck_assert_int_eq(failing_since_get(s, A, R), 0);
	ck_assert_int_eq(failing_since_failing(s, A, R, 5000), 5000);
	ck_assert_str_eq(flushed(s), "owner-a/7d9c8b5f6d=5000 ");
	failing_since_clear(s, A, R);
	ck_assert_str_eq(flushed(s), "owner-a/7d9c8b5f6d=0 ");
	ck_assert_int_eq(failing_since_failing(s, A, R, 7000), 7000);
	failing_since_free(&s);
}

TEST(remembers_across_a_restart)
{
	struct failing_since *s = failing_since_new();

	failing_since_load(s, A, R, 1000, 0, 10);
	failing_since_load(s, A, R, 2000, 0, 10); /* told twice: the earlier counts */
	failing_since_load(s, B, R, 1500, 1600, 10);
	ck_assert_str_eq(flushed(s), ""); /* the reporter knows */
	ck_assert_int_eq(failing_since_failing(s, A, R, 9000), 1000);
	/* No pod of B fails any more: forgotten an hour after the restart. */
	failing_since_expire(s, 10 + FAILING_SINCE_IDLE_MS);
	ck_assert_int_eq(failing_since_get(s, A, R), 1000);
	ck_assert_int_eq(failing_since_get(s, B, R), 0);
	failing_since_free(&s);
}

/* R18: the fresh attempt belongs to the clock: it is kept with it, and ends with it. */
TEST(fresh_attempts_are_kept_with_the_clock)
{
	struct failing_since *s = failing_since_new();

	failing_since_set_attempted(s, A, R, 1200); /* no clock runs */
	ck_assert_int_eq(failing_since_attempted(s, A, R), 0);
	(void)failing_since_failing(s, A, R, 1000);
	ck_assert_int_eq(failing_since_attempted(s, A, R), 0);
	failing_since_set_attempted(s, A, R, 1200);
	ck_assert_int_eq(failing_since_attempted(s, A, R), 1200);
	ck_assert_str_eq(flushed(s), "owner-a/7d9c8b5f6d=1000,1200 ");
	failing_since_clear(s, A, R);
	ck_assert_int_eq(failing_since_attempted(s, A, R), 0);
	ck_assert_str_eq(flushed(s), "owner-a/7d9c8b5f6d=0 ");
	(void)failing_since_failing(s, A, R, 5000);
	ck_assert_int_eq(failing_since_attempted(s, A, R), 0);
	failing_since_load(s, B, R, 1500, 1600, 10);
	ck_assert_int_eq(failing_since_attempted(s, B, R), 1600);
	failing_since_free(&s);
}

TEST(nothing_is_lost_without_room)
{
	struct failing_since *s = failing_since_new();

	(void)failing_since_failing(s, A, R, 1000);
	(void)failing_since_failing(s, B, R, 2000);
	written[0] = '\0';
	room = 1;
	ck_assert_int_eq(failing_since_flush(s, write_back, NULL), -EAGAIN);
	room = 100;
	ck_assert_int_eq(failing_since_flush(s, write_back, NULL), 0);
	ck_assert_str_eq(written, "owner-a/7d9c8b5f6d=1000 owner-b/7d9c8b5f6d=2000 ");
	failing_since_free(&s);
}

/* -- sync state -- */

TEST(sync_state_opens_late_and_closes_early)
{
	struct sync_state *g = sync_state_new(5000);
	uint64_t at;
	struct sync_state_synced sync;

	ck_assert(!sync_state_open(g, 0));
	sync_state_list(g, STR_LIT(""), 1);
	ck_assert(!sync_state_synced(g));
	sync = sync_state_sync(g, STR_LIT(""), 1000);
	ck_assert(sync.first);
	ck_assert_uint_eq(sync.list, 1);
	ck_assert(sync_state_synced(g));
	ck_assert_msg(!sync_state_open(g, 1000), "what the reporter remembers is missing");
	sync_state_remembered(g);
	ck_assert(sync_state_open(g, 1000));
	ck_assert(sync_state_namespace(g, STR_LIT("shop"), &at));
	ck_assert_uint_eq(at, 6000);
	ck_assert(sync_state_open(g, 1000 + SYNC_STATE_STALE_MS));
	ck_assert_msg(!sync_state_open(g, 1001 + SYNC_STATE_STALE_MS), "stale");
	sync_state_alive(g, 400000);
	ck_assert(sync_state_open(g, 400000));
	sync_state_list(g, STR_LIT(""), 2); /* a relist: partial */
	ck_assert(!sync_state_open(g, 400000));
	ck_assert(sync_state_synced(g));
	sync_state_list_failed(g, STR_LIT(""));
	ck_assert(sync_state_open(g, 400000));
	sync_state_list(g, STR_LIT(""), 3);
	sync = sync_state_sync(g, STR_LIT(""), 400000);
	ck_assert(!sync.first);
	ck_assert_uint_eq(sync.list, 3);
	ck_assert(sync_state_open(g, 400000));
	ck_assert(sync_state_namespace(g, STR_LIT("shop"), &at));
	ck_assert_uint_eq(at, 6000);
	sync_state_free(&g);
}

TEST(sync_state_by_namespace)
{
	struct sync_state *g = sync_state_new(0);
	uint64_t at;
	struct sync_state_synced sync;

	sync_state_remembered(g);
	sync_state_list(g, STR_LIT(""), 1); /* given up: forbidden */
	sync_state_list_failed(g, STR_LIT(""));
	sync_state_list(g, STR_LIT("a"), 2);
	sync_state_list(g, STR_LIT("b"), 3);
	sync = sync_state_sync(g, STR_LIT("a"), 10);
	ck_assert_uint_eq(sync.list, 2);
	ck_assert(sync.first && sync.narrowed);
	ck_assert(!sync_state_open(g, 10));
	sync_state_list_failed(g, STR_LIT("b"));
	ck_assert(sync_state_open(g, 10));
	ck_assert(sync_state_namespace(g, STR_LIT("a"), &at));
	ck_assert(!sync_state_namespace(g, STR_LIT("b"), &at));
	ck_assert(sync_state_watches(g, STR_LIT("b")));
	ck_assert(!sync_state_namespace(g, STR_LIT("c"), &at));
	ck_assert(!sync_state_watches(g, STR_LIT("c")));
	/* The whole cluster is allowed now; as long as its list is not complete, the namespaces count. */
	sync_state_list(g, STR_LIT(""), 4);
	sync_state_list_failed(g, STR_LIT(""));
	ck_assert(sync_state_open(g, 10));
	ck_assert(sync_state_namespace(g, STR_LIT("a"), &at));
	ck_assert(!sync_state_namespace(g, STR_LIT("c"), &at));
	sync_state_list(g, STR_LIT(""), 5);
	sync = sync_state_sync(g, STR_LIT(""), 20);
	ck_assert(sync.first && !sync.narrowed);
	ck_assert(sync_state_namespace(g, STR_LIT("c"), &at));
	ck_assert(sync_state_synced(g));
	sync_state_free(&g);
}

SUITE("watcher/failing_since");
