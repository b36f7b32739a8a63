/* test_replicas.c - of replicas that share clusters: who is told which replica should lead where, and how a
 * cluster is given away with nothing under way. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <string.h>

#include "base/clock.h"
#include "tests/unit/supervisor/dispatch_world.h"
#include "supervisor/actions/replicas.h"

#define VIEW_MS 15000u

static void members(uint64_t cluster, const char *live, uint64_t valid_until)
{
	struct msg m = { .type = MSG_MEMBERS,
			 .u.members = { .cluster = cluster, .valid_until = valid_until } };

	msg_set(&m, members.own, "a", 1);
	msg_set(&m, members.live, live, strlen(live));
	replicas_on_members(&supervisor, &m);
}

/* Which replica the cluster's watcher was last told; NULL = none was. */
static const char *told(uint64_t cluster)
{
	static struct msg m;

	return was_sent(child_of(ROLE_WATCHER, cluster, 0), MSG_PREFERRED, &m) ? m.u.preferred.replica : NULL;
}

static bool is_home(uint64_t cluster)
{
	struct msg m;

	return was_sent(child_of(ROLE_WATCHER, cluster, 0), MSG_PREFERRED, &m) > 0 && m.u.preferred.home;
}

static void loaded(void)
{
	replicas_on_loaded(&supervisor);
}

TEST(the_first_cluster_is_home)
{
	begin(3, 1, true);
	loaded();
	ck_assert(is_home(0) && !is_home(1) && !is_home(2));
	ck_assert_str_eq(told(0), "");
}

TEST(or_the_one_that_is_configured)
{
	begin(3, 1, true);
	strcpy(root.generation->all.home, "c2");
	loaded();
	ck_assert(!is_home(0) && is_home(2));
}

TEST(without_an_election_or_others_there_is_nothing_to_share)
{
	begin(3, 1, false);
	loaded();
	ck_assert_ptr_null(told(0));
	tear_down();
	begin(1, 1, true);
	loaded();
	members(0, "a\nb\n", NOW_MS + 8000);
	ck_assert_ptr_null(told(0));
}

TEST(each_cluster_is_told_its_replica_once)
{
	size_t of_a = 0;

	begin(4, 1, true);
	loaded();
	forget();
	for (int i = 0; i < 3; i++)
		members(0, "a\nb\n", NOW_MS + 8000);
	for (uint64_t c = 0; c < 4; c++) {
		ck_assert_uint_eq(was_sent(child_of(ROLE_WATCHER, c, 0), MSG_PREFERRED, NULL), 1);
		of_a += strcmp(told(c), "a") == 0;
	}
	ck_assert_uint_eq(of_a, 2);
	clock_fake_advance(1000);
	members(0, "a\n", NOW_MS + 8000);
	for (uint64_t c = 0; c < 4; c++)
		ck_assert_str_eq(told(c), "a");
}

TEST(only_the_home_cluster_is_heard)
{
	begin(3, 1, true);
	loaded();
	members(1, "evil\n", NOW_MS + 8000);
	ck_assert_str_eq(told(0), "");
	ck_assert_ptr_null(told(1));
}

/* Nor longer than VIEW_MS, whatever a watcher says. */
TEST(who_lives_is_not_believed_for_ever)
{
	begin(2, 1, true);
	loaded();
	members(0, "a\n", UINT64_MAX);
	replicas_tick(&supervisor, NOW_MS + VIEW_MS);
	ck_assert_str_eq(told(1), "a");
	clock_fake_advance(VIEW_MS + 1);
	replicas_tick(&supervisor, NOW_MS + VIEW_MS + 1);
	ck_assert_str_eq(told(1), "");
	clock_fake_advance(1000);
	members(0, "a\n", NOW_MS + 2 * VIEW_MS);
	ck_assert_str_eq(told(1), "a");
}

/* A home watcher that says something else all the time keeps nobody busy. */
TEST(it_is_not_shared_out_anew_all_the_time)
{
	begin(2, 1, true);
	loaded();
	forget();
	for (int i = 0; i < 100; i++)
		members(0, i % 2 ? "b\n" : "a\n", NOW_MS + 8000);
	ck_assert_uint_eq(was_sent(NULL, MSG_PREFERRED, NULL), 2);
	replicas_tick(&supervisor, NOW_MS + 999);
	ck_assert_str_eq(told(1), "a");
	replicas_tick(&supervisor, NOW_MS + 1000);
	ck_assert_str_eq(told(1), "b");
}

/* What is wrong with a cluster is notified of by one of those who share it, and by each while nobody is known
 * to. */
TEST(another_is_preferred_while_it_lives)
{
	begin(2, 1, true);
	loaded();
	ck_assert(!replicas_prefers_another(&supervisor, 1));
	members(0, "b\n", NOW_MS + 8000);
	ck_assert(replicas_prefers_another(&supervisor, 0) && replicas_prefers_another(&supervisor, 1));
	leads(1, true, NOW_MS + 10000);
	ck_assert(replicas_prefers_another(&supervisor, 0) && !replicas_prefers_another(&supervisor, 1));
	leads(1, false, 0);
	ck_assert(replicas_prefers_another(&supervisor, 1));
	clock_fake_advance(8001);
	replicas_tick(&supervisor, NOW_MS + 8001);
	ck_assert(!replicas_prefers_another(&supervisor, 1));
	members(0, "a\n", NOW_MS + 20000);
	clock_fake_advance(1000);
	replicas_tick(&supervisor, NOW_MS + 9001);
	ck_assert(!replicas_prefers_another(&supervisor, 1));
}

TEST(a_new_watcher_is_told)
{
	begin(2, 1, true);
	loaded();
	members(0, "a\n", NOW_MS + 8000);
	forget();
	replicas_on_watcher_ready(&supervisor, 0);
	ck_assert(is_home(0));
	ck_assert_str_eq(told(0), "a");
}

/* -- giving a cluster away -- */

static void yields(uint64_t cluster)
{
	struct msg m = { .type = MSG_LEADER,
			 .u.leader = { .cluster = cluster,
				       .leading = true,
				       .yielding = true,
				       .valid_until = NOW_MS + 10000 } };

	if (replicas_on_leader(&supervisor, &m))
		dispatch_cluster(&supervisor, cluster);
}

static size_t let_go(uint64_t cluster)
{
	return was_sent(child_of(ROLE_WATCHER, cluster, 0), MSG_LET_GO, NULL);
}

TEST(with_nothing_under_way_it_goes_at_once)
{
	begin(2, 1, true);
	leads(0, true, NOW_MS + 10000);
	yields(0);
	ck_assert_uint_eq(let_go(0), 1);
	ck_assert_uint_eq(let_go(1), 0);
}

/* Whatever a watcher says; and what it said does not hold when its Lease is over. */
TEST(nothing_yields_without_an_election_or_a_lease)
{
	for (int election = 0; election < 2; election++) {
		begin(1, 1, election);
		yields(0);
		ck_assert(replicas_is_yielding(&supervisor, 0) == election);
		clock_fake_advance(10000);
		ck_assert(!replicas_is_yielding(&supervisor, 0));
		tear_down();
	}
	begin(1, 1, false);
}

TEST(what_is_under_way_ends_first)
{
	begin(2, 1, true);
	struct child *worker = gets_ready(ROLE_WORKER, 0, 0);

	leads(0, true, NOW_MS + 10000);
	nominate(0, 1);
	is_written(1);
	ck_assert_uint_eq(was_sent(worker, MSG_GRANT, NULL), 1);
	yields(0);
	ck_assert_uint_eq(let_go(0), 0);
	nominate(0, 2); /* nothing is begun */
	ck_assert_uint_eq(was_sent(NULL, MSG_INTENT, NULL), 1);
	ends(worker, 1, OUTCOME_DONE);
	ck_assert_uint_ge(let_go(0), 1);
}

/* It is refused, so that no row stays open where nobody acts. */
TEST(what_only_waits_is_refused)
{
	struct msg m;

	begin(2, 1, true);
	leads(0, true, NOW_MS + 10000);
	nominate(0, 1);
	is_written(1);
	yields(0);
	ck_assert_uint_eq(was_sent(NULL, MSG_RECORD, &m), 1);
	ck_assert_str_eq(m.u.record.reason, "NotLeader");
	ck_assert_uint_eq(let_go(0), 0);
	dispatch_on_record_ack(&supervisor, child_of(ROLE_REPORTER, 0, 0),
			       &(struct msg){ .type = MSG_RECORD_ACK, .u.record_ack.id = 1 });
	ck_assert_uint_eq(let_go(0), 1);
}

/* It may have been written: it is looked after as long as the Lease allows. */
TEST(what_is_in_doubt_is_looked_at)
{
	struct msg m;

	begin(2, 2, true);
	struct child *first = gets_ready(ROLE_WORKER, 0, 0), *second = gets_ready(ROLE_WORKER, 0, 1);

	leads(0, true, NOW_MS + 10000);
	nominate(0, 1);
	is_written(1);
	struct child *at_work = was_sent(first, MSG_GRANT, NULL) ? first : second;

	yields(0);
	dies(at_work);
	dispatch_on_worker_dead(&supervisor, at_work);
	ck_assert_uint_eq(was_sent(at_work == first ? second : first, MSG_GRANT, &m), 1);
	ck_assert(m.u.grant.verify_first);
	ck_assert_uint_le(m.u.grant.valid_until, NOW_MS + 10000);
	ck_assert_uint_eq(let_go(0), 0);
}

TEST_MAIN("supervisor/replicas")
{
	tcase_add_checked_fixture(t, NULL, tear_down);
}
