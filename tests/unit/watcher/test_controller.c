/* test_controller.c - when a pod is judged and nominated: lists, deadlines, clocks of failing revisions. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/clock.h"
#include "harness.h"
#include "tests/suite.h"

/* -- when nothing may be said yet -- */

TEST(quiet_until_synced_remembered_and_quiet_is_over)
{
	struct pod_facts p = pod_evicted();

	controller_list(c, STR_LIT(""));
	event(&p);
	ck_assert_uint_eq(n_sent, 0);
	controller_sync(c, STR_LIT(""));
	run_all();
	ck_assert_uint_eq(n_sent, 0);
	HEAR(SAVED_END, saved_end, { 0 });
	run_all();
	ck_assert_uint_eq(n_sent, 0);
	pass(QUIET_MS - 1);
	ck_assert_uint_eq(n_sent, 0);
	nominated_at(1, 1);
	const struct msg_nominate *n = &last(MSG_NOMINATE)->u.nominate;

	ck_assert_uint_eq(n->cluster, 3);
	ck_assert_uint_eq(n->duty, DUTY_EVICTED);
	ck_assert_str_eq(n->ns, "shop");
	ck_assert_str_eq(n->name, "web-1-abcde");
	ck_assert_str_eq(n->uid, "0b8f0f3e-0000-4000-8000-000000000001");
	ck_assert_str_eq(n->action_key, n->uid);
	ck_assert_str_eq(n->rv, "4711");
	ck_assert_str_eq(n->reason, "Evicted");
}

TEST(nothing_from_a_partial_list_or_a_stale_cache)
{
	struct pod_facts p = pod_evicted();

	ready_with(NULL, 0);
	controller_list(c, STR_LIT("")); /* a relist */
	event(&p);
	pass(1000);
	ck_assert_uint_eq(n_sent, 0);
	controller_list_failed(c, STR_LIT(""));
	clock_fake_advance(SYNC_STATE_STALE_MS + 2000); /* and then silence */
	run_all();
	ck_assert_uint_eq(n_sent, 0);
	controller_alive(c);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

TEST(a_relist_sweeps_only_when_complete)
{
	struct pod_facts p = pod_healthy(), q = sibling(&p, "web-1-other", UID_2);
	const struct pod_facts both[] = { p, q };

	ready_with(both, 2);
	controller_list(c, STR_LIT(""));
	ck_assert_int_eq(controller_pod(c, &p), 0);
	controller_list_failed(c, STR_LIT(""));
	ck_assert_uint_eq(store_count(controller_cluster(c)->store), 2);
	sync_with(&q, 1);
	ck_assert_uint_eq(store_count(controller_cluster(c)->store), 1);
	ck_assert_uint_ne(store_find(controller_cluster(c)->store, q.ns, q.name), 0);
}

/* -- deadlines -- */

TEST(a_stuck_pod_fires_at_its_second)
{
	struct pod_facts p = pod_terminating();

	ready_with(NULL, 0);
	p.deletion = clock_wall_ms() + 30 * S;
	event(&p);
	/* Due when now > deletion + HOURS; no event, no resync, only the timer. */
	ck_assert_uint_eq(controller_next(c), clock_boot_ms() + 30 * S + HOURS + 1);
	pass(30 * S);
	pass(HOURS);
	ck_assert_uint_eq(n_sent, 0);
	nominated_at(1, 1);
	ck_assert_int_eq(last(MSG_NOMINATE)->u.nominate.since, p.deletion);
}

TEST(a_deadline_goes_with_its_state)
{
	struct pod_facts p = pod_terminating();

	ready_with(NULL, 0);
	p.deletion = clock_wall_ms();
	event(&p);
	ck_assert_uint_ne(controller_next(c), UINT64_MAX);
	controller_delete(c, &p);
	run_all();
	ck_assert_uint_eq(controller_next(c), UINT64_MAX);
	pass(10 * HOURS);
	ck_assert_uint_eq(n_sent, 0);
}

TEST(the_servers_clock_counts)
{
	struct pod_facts p = pod_terminating();

	ready_with(NULL, 0);
	p.deletion = clock_wall_ms();
	event(&p);
	/* The server turns out to be 90 s ahead (two Dates say so): due 90 s earlier by our clock, without
	 * any event. */
	controller_server_date(c, clock_wall_ms() + 90 * S);
	controller_server_date(c, clock_wall_ms() + 90 * S);
	run_all();
	ck_assert_uint_eq(controller_next(c), clock_boot_ms() + HOURS - 90 * S + 1);
	clock_fake_advance(HOURS - 90 * S);
	run_all();
	ck_assert_uint_eq(n_sent, 0);
	clock_fake_advance(1);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

/* -- what is kept -- */

static struct pod_facts evicted_at(const char *name, const char *uid, int64_t at)
{
	struct pod_facts p = pod_evicted();

	p.name = STR_C(name);
	p.uid = STR_C(uid);
	p.disruption_at = at;
	return p;
}

/* The last to be evicted of an owner stays, until another one is: then that stays. Other owners have theirs.
 */
TEST(the_newest_of_an_owner_stays)
{
	struct pod_facts first = evicted_at("web-1-a", "0b8f0f3e-0000-4000-8000-0000000000a1", NOW - 3 * MIN),
			 second =
				 evicted_at("web-1-b", "0b8f0f3e-0000-4000-8000-0000000000a2", NOW - 2 * MIN),
			 other = evicted_at("api-1-a", "0b8f0f3e-0000-4000-8000-0000000000a3", NOW - MIN),
			 third = pod_healthy();

	policy.duty[DUTY_EVICTED].keep_newest = 1;
	other.owner.uid = STR_LIT("0b8f0f3e-0000-4000-8000-0000000000b1");
	third.name = STR_LIT("web-1-c");
	third.uid = STR_LIT("0b8f0f3e-0000-4000-8000-0000000000a4");
	const struct pod_facts all[] = { first, second, other, third };

	ready_with(all, 4);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	ck_assert_str_eq(last(MSG_NOMINATE)->u.nominate.name, "web-1-a");
	settle(OUTCOME_DONE, 0);
	controller_delete(c, &first);
	third = evicted_at("web-1-c", "0b8f0f3e-0000-4000-8000-0000000000a4", NOW);
	third.rv = STR_LIT("5000");
	event(&third);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 2);
	ck_assert_str_eq(last(MSG_NOMINATE)->u.nominate.name, "web-1-b");
}

/* -- image pull -- */

TEST(a_workload_is_nominated_once)
{
	struct pod_facts p = pod_pull_failing(), q = sibling(&p, "web-1-other", UID_2);
	const struct pod_facts both[] = { p, q };

	ready_with(both, 2);
	ck_assert_uint_eq(count(MSG_FAILING_SINCE), 1); /* one clock for both, begun now, not at creation */
	ck_assert_int_eq(last(MSG_FAILING_SINCE)->u.failing_since.at, NOW);
	nominated_after(HOURS - QUIET_MS + 1, 0, 1);
	ck_assert_str_eq(last(MSG_NOMINATE)->u.nominate.action_key, "0b8f0f3e-0000-4000-8000-00000000000a");
	ck_assert_int_eq(last(MSG_NOMINATE)->u.nominate.since, NOW);
	/* The supervisor knows it by the names that it was told when the clock began. */
	ck_assert_str_eq(last(MSG_NOMINATE)->u.nominate.action_key,
			 last(MSG_FAILING_SINCE)->u.failing_since.owner);
	ck_assert_str_ne(last(MSG_NOMINATE)->u.nominate.revision, "");
	ck_assert_str_eq(last(MSG_NOMINATE)->u.nominate.revision,
			 last(MSG_FAILING_SINCE)->u.failing_since.revision);
	/* Events, flips and time bring no second one while the first is open. */
	p.rv = STR_LIT("4712");
	p.containers[0].reason = STR_LIT("ErrImagePull");
	event(&p);
	nominated_at(5 * MIN, 1);
	ck_assert_uint_eq(count(MSG_FAILING_SINCE), 1);
}

TEST(a_ready_sibling_protects_and_its_end_is_noticed)
{
	struct pod_facts p = pod_pull_failing(), q = pod_healthy();

	q.name = STR_LIT("web-1-other");
	q.uid = STR_LIT(UID_2);
	const struct pod_facts both[] = { p, q };

	ready_with(both, 2);
	nominated_at(10 * HOURS, 0);
	ck_assert_uint_eq(count(MSG_FAILING_SINCE), 0); /* the revision can be pulled: no clock */
	controller_delete(c, &q);
	run_all();
	ck_assert_uint_eq(count(MSG_FAILING_SINCE), 1);
	nominated_after(HOURS + 1, 0, 1);
}

TEST(pulling_ends_the_clock)
{
	struct pod_facts p = pod_pull_failing(), healed = pod_healthy();

	ready_with(&p, 1);
	pass(HOURS / 2);
	event(&healed);
	ck_assert_uint_eq(count(MSG_FAILING_SINCE), 2);
	ck_assert_int_eq(last(MSG_FAILING_SINCE)->u.failing_since.at, 0);
	p.rv = STR_LIT("5000");
	event(&p);
	ck_assert_int_eq(last(MSG_FAILING_SINCE)->u.failing_since.at, clock_wall_ms());
	nominated_after(HOURS + 1, 0, 1);
}

TEST(the_clock_survives_churn_and_restart)
{
	struct pod_facts p = pod_pull_failing(), next = sibling(&p, "web-1-next", UID_2);
	const int64_t since = NOW - HOURS + 60 * S;

	sync_with(&p, 1);
	fails_since(&p, since);
	HEAR(SAVED_END, saved_end, { 0 });
	run_all();
	ck_assert_uint_eq(count(MSG_FAILING_SINCE), 1); /* the supervisor takes it from us alone */
	ck_assert_int_eq(last(MSG_FAILING_SINCE)->u.failing_since.at, since);
	controller_delete(c, &p); /* its only pod goes, another one comes */
	run_all();
	pass(30 * S);
	event(&next);
	nominated_after(30 * S + 1, 0, 1);
	ck_assert_str_eq(last(MSG_NOMINATE)->u.nominate.uid, UID_2);
	ck_assert_int_eq(last(MSG_NOMINATE)->u.nominate.since, since);
}

/* By the override of its namespace no pod of the workload fails, also between its event and its judgement. */
TEST_LOOP(an_override_by_labels_of_the_namespace, 0, 2)
{
	const struct pod_facts ns = { .name = STR_LIT("shop"),
				      .n_labels = 1,
				      .labels = { { STR_LIT("team"), _i ? STR_LIT("b") : STR_LIT("a") } } };
	struct policy_override o = { .name = (char[]){ "o" } };
	struct pod_facts p = pod_pull_failing();
	const struct store *store = controller_cluster(c)->store;

	memcpy(o.duty, policy.duty, sizeof(o.duty));
	o.duty[DUTY_IMAGE_PULL].status = (struct str_list){ 0 };
	list_set(&o.duty[DUTY_IMAGE_PULL].status, "InvalidImageName");
	list_set(&o.namespaces, "label:team=a");
	policy.overrides = &o;
	policy.n_overrides = 1;
	controller_set_policy(c, &policy, QUIET_MS);
	controller_reset_namespaces(c);
	controller_list_namespaces(c);
	controller_namespace(c, &ns);
	controller_sync_namespaces(c);
	ready_with(&p, 1);
	p.rv = STR_LIT("4712");
	ck_assert_int_eq(controller_pod(c, &p), 0);
	ck_assert_int_eq(cluster_failing_by(store_mark(store, store_find(store, p.ns, p.name))) >= 0, _i);
	run_all();
	ck_assert_int_eq(cluster_failing_by(store_mark(store, store_find(store, p.ns, p.name))) >= 0, _i);
	policy.n_overrides = 0;
	policy.overrides = NULL;
	controller_set_policy(c, &policy, QUIET_MS);
	str_list_done(&o.duty[DUTY_IMAGE_PULL].status);
	str_list_done(&o.namespaces);
}

TEST_MAIN("watcher/controller")
{
	tcase_add_checked_fixture(t, begin, end);
}
