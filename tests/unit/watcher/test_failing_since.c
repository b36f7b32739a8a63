/* test_failing_since.c - the clocks of failing revisions, the state of the lists. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/suite.h"
#include "watcher/guards/sync_state.h"
#include "watcher/guards/workloads.h"

#define A          STR_LIT("owner-a")
#define B          STR_LIT("owner-b")
#define R          STR_LIT("7d9c8b5f6d")
#define KEY(owner) ((struct clock_key){ (owner), R, 0 })

/* -- since -- */

static struct workloads *tested;
static char written[1024];
static int room;

static int write_back(void *ctx, const struct msg *m)
{
	const struct msg_failing_since *f = &m->u.failing_since;
	size_t n = strlen(written);

	(void)ctx;
	if (room-- == 0)
		return -EAGAIN;
	ck_assert_int_eq(m->type, MSG_FAILING_SINCE);
	ck_assert_uint_eq(f->cluster, 3);
	ck_assert_uint_eq(f->duty, duty_of_workload(0));
	n += (size_t)snprintf(written + n, sizeof(written) - n, "%s/%s=%lld", f->owner, f->revision,
			      (long long)f->at);
	if (f->attempted)
		n += (size_t)snprintf(written + n, sizeof(written) - n, ",%lld", (long long)f->attempted);
	(void)snprintf(written + n, sizeof(written) - n, " ");
	return 0;
}

static const struct outlet outlet = { write_back, NULL };

static const char *flushed(void)
{
	written[0] = '\0';
	room = 100;
	ck_assert_int_eq(workloads_flush(tested, 3, &outlet), 0);
	return written;
}

static void begin(void)
{
	tested = workloads_new();
}

static void end(void)
{
	workloads_free(&tested);
}

static void load(const char *owner, int64_t at, int64_t attempted, int64_t boot)
{
	struct msg_failing_since_row row = {
		.duty = duty_of_workload(0), .revision = "7d9c8b5f6d", .at = at, .attempted = attempted
	};

	(void)snprintf(row.owner, sizeof(row.owner), "%s", owner);
	workloads_on_failing_since_row(tested, &row, boot);
}

static void expire(int64_t boot)
{
	workloads_expire(tested, &(struct clock_snapshot){ .boot = boot });
}

static int64_t since(struct str owner)
{
	return workloads_clock(tested, KEY(owner)).since;
}

static int64_t attempted(struct str owner)
{
	return workloads_clock(tested, KEY(owner)).attempted;
}

TEST(starts_once_and_never_resets)
{
	ck_assert_int_eq(since(A), 0);
	ck_assert_int_eq(workloads_fails(tested, KEY(A), 1000), 1000);
	ck_assert_int_eq(workloads_fails(tested, KEY(A), 2000), 1000); /* ErrImagePull <-> ImagePullBackOff */
	ck_assert_str_eq(flushed(), "owner-a/7d9c8b5f6d=1000 ");
	ck_assert_str_eq(flushed(), "");
	/* Another owner, another revision: other clocks. */
	ck_assert_int_eq(workloads_fails(tested, KEY(B), 3000), 3000);
	ck_assert_int_eq(workloads_fails(tested, (struct clock_key){ A, STR_LIT(""), 0 }, 4000), 4000);
	ck_assert_int_eq(since(A), 1000);
	ck_assert_uint_eq(workloads_clocks(tested), 3);
}

TEST(survives_churn_for_an_hour)
{
	(void)workloads_fails(tested, KEY(A), 1000);
	(void)flushed();
	workloads_idle(tested, KEY(A), 50000); /* its pods vanished */
	workloads_idle(tested, KEY(A), 90000); /* said again: the first one counts */
	expire(50000 + WORKLOADS_IDLE_MS - 1);
	ck_assert_int_eq(workloads_fails(tested, KEY(A), 999999), 1000);
	expire(50000 + 2 * WORKLOADS_IDLE_MS); /* fails again: not idle */
	ck_assert_int_eq(since(A), 1000);
	workloads_idle(tested, KEY(A), 100000);
	expire(100000 + WORKLOADS_IDLE_MS);
	ck_assert_int_eq(since(A), 0);
	ck_assert_str_eq(flushed(), "owner-a/7d9c8b5f6d=0 ");
	ck_assert_uint_eq(workloads_clocks(tested), 0);
}

TEST(ends_when_a_pod_has_pulled)
{
	workloads_works(tested, KEY(A)); /* nothing to end */
	ck_assert_str_eq(flushed(), "");
	(void)workloads_fails(tested, KEY(A), 1000);
	workloads_works(tested, KEY(A));
	ck_assert_int_eq(since(A), 0);
	ck_assert_int_eq(workloads_fails(tested, KEY(A), 5000), 5000);
	ck_assert_str_eq(flushed(), "owner-a/7d9c8b5f6d=5000 ");
	workloads_works(tested, KEY(A));
	ck_assert_str_eq(flushed(), "owner-a/7d9c8b5f6d=0 ");
	ck_assert_int_eq(workloads_fails(tested, KEY(A), 7000), 7000);
}

TEST(remembers_across_a_restart)
{
	load("owner-a", 1000, 0, 10);
	load("owner-a", 2000, 0, 10); /* told twice: the earlier counts */
	load("owner-b", 1500, 1600, 10);
	ck_assert_str_eq(flushed(), ""); /* the reporter knows */
	ck_assert_int_eq(workloads_fails(tested, KEY(A), 9000), 1000);
	/* A row makes nothing known to the supervisor: it hears that A fails from us, once. */
	ck_assert_str_eq(flushed(), "owner-a/7d9c8b5f6d=1000 ");
	ck_assert_int_eq(workloads_fails(tested, KEY(A), 9500), 1000);
	ck_assert_str_eq(flushed(), "");
	/* No pod of B fails any more: forgotten an hour after the restart. */
	expire(10 + WORKLOADS_IDLE_MS);
	ck_assert_int_eq(since(A), 1000);
	ck_assert_int_eq(since(B), 0);
}

/* R18: the fresh attempt belongs to the clock: it is kept with it, and ends with it. */
TEST(fresh_attempts_are_kept_with_the_clock)
{
	workloads_attempted(tested, workloads_find(tested, A, R), duty_of_workload(0),
			    1200); /* no clock runs */
	ck_assert_int_eq(attempted(A), 0);
	(void)workloads_fails(tested, KEY(A), 1000);
	ck_assert_int_eq(attempted(A), 0);
	workloads_attempted(tested, workloads_find(tested, A, R), duty_of_workload(0), 1200);
	ck_assert_int_eq(attempted(A), 1200);
	ck_assert_str_eq(flushed(), "owner-a/7d9c8b5f6d=1000,1200 ");
	workloads_works(tested, KEY(A));
	ck_assert_int_eq(attempted(A), 0);
	ck_assert_str_eq(flushed(), "owner-a/7d9c8b5f6d=0 ");
	(void)workloads_fails(tested, KEY(A), 5000);
	ck_assert_int_eq(attempted(A), 0);
	load("owner-b", 1500, 1600, 10);
	ck_assert_int_eq(attempted(B), 1600);
}

TEST(nothing_is_lost_without_room)
{
	(void)workloads_fails(tested, KEY(A), 1000);
	(void)workloads_fails(tested, KEY(B), 2000);
	written[0] = '\0';
	room = 1;
	ck_assert_int_eq(workloads_flush(tested, 3, &outlet), -EAGAIN);
	room = 100;
	ck_assert_int_eq(workloads_flush(tested, 3, &outlet), 0);
	ck_assert_str_eq(written, "owner-a/7d9c8b5f6d=1000 owner-b/7d9c8b5f6d=2000 ");
}

/* -- sync state -- */

TEST(sync_state_opens_late_and_closes_early)
{
	struct sync_state g = { .quiet_ms = 5000 };
	uint64_t at;
	struct sync_state_synced sync;

	ck_assert(!sync_state_open(&g, 0));
	sync_state_list(&g, STR_LIT(""), 1);
	ck_assert(!sync_state_synced(&g));
	sync = sync_state_sync(&g, STR_LIT(""), 1000);
	ck_assert(sync.first);
	ck_assert_uint_eq(sync.list, 1);
	ck_assert(sync_state_synced(&g));
	ck_assert_msg(!sync_state_open(&g, 1000), "what the reporter remembers is missing");
	g.remembered = true;
	ck_assert(sync_state_open(&g, 1000));
	ck_assert(sync_state_namespace(&g, STR_LIT("shop"), &at));
	ck_assert_uint_eq(at, 6000);
	ck_assert(sync_state_open(&g, 1000 + SYNC_STATE_STALE_MS));
	ck_assert_msg(!sync_state_open(&g, 1001 + SYNC_STATE_STALE_MS), "stale");
	g.last_byte = 400000;
	ck_assert(sync_state_open(&g, 400000));
	sync_state_list(&g, STR_LIT(""), 2); /* a relist: partial */
	ck_assert(!sync_state_open(&g, 400000));
	ck_assert(sync_state_synced(&g));
	sync_state_list_failed(&g, STR_LIT(""));
	ck_assert(sync_state_open(&g, 400000));
	sync_state_list(&g, STR_LIT(""), 3);
	sync = sync_state_sync(&g, STR_LIT(""), 400000);
	ck_assert(!sync.first);
	ck_assert_uint_eq(sync.list, 3);
	ck_assert(sync_state_open(&g, 400000));
	ck_assert(sync_state_namespace(&g, STR_LIT("shop"), &at));
	ck_assert_uint_eq(at, 6000);
	sync_state_done(&g);
}

TEST(sync_state_by_namespace)
{
	struct sync_state g = { 0 };
	uint64_t at;
	struct sync_state_synced sync;

	g.remembered = true;
	sync_state_list(&g, STR_LIT(""), 1); /* given up: forbidden */
	sync_state_list_failed(&g, STR_LIT(""));
	sync_state_list(&g, STR_LIT("a"), 2);
	sync_state_list(&g, STR_LIT("b"), 3);
	sync = sync_state_sync(&g, STR_LIT("a"), 10);
	ck_assert_uint_eq(sync.list, 2);
	ck_assert(sync.first && sync.narrowed);
	ck_assert(!sync_state_open(&g, 10));
	sync_state_list_failed(&g, STR_LIT("b"));
	ck_assert(sync_state_open(&g, 10));
	ck_assert(sync_state_namespace(&g, STR_LIT("a"), &at));
	ck_assert(!sync_state_namespace(&g, STR_LIT("b"), &at));
	ck_assert(sync_state_watches(&g, STR_LIT("b")));
	ck_assert(!sync_state_namespace(&g, STR_LIT("c"), &at));
	ck_assert(!sync_state_watches(&g, STR_LIT("c")));
	/* The whole cluster is allowed now; as long as its list is not complete, the namespaces count. */
	sync_state_list(&g, STR_LIT(""), 4);
	sync_state_list_failed(&g, STR_LIT(""));
	ck_assert(sync_state_open(&g, 10));
	ck_assert(sync_state_namespace(&g, STR_LIT("a"), &at));
	ck_assert(!sync_state_namespace(&g, STR_LIT("c"), &at));
	sync_state_list(&g, STR_LIT(""), 5);
	sync = sync_state_sync(&g, STR_LIT(""), 20);
	ck_assert(sync.first && !sync.narrowed);
	ck_assert(sync_state_namespace(&g, STR_LIT("c"), &at));
	ck_assert(sync_state_synced(&g));
	sync_state_done(&g);
}

TEST_MAIN("watcher/failing_since")
{
	tcase_add_checked_fixture(t, begin, end);
}
