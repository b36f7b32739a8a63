/* test_reverted.c - outages, workloads that come back, evict loops and fresh attempts: what the guards learn
 * from what happened before. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "harness.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

/* -- the breaker -- */

static void breaker_on(void)
{
	policy.breaker = (struct breaker_policy){
		.workloads = 5, .same_host = 5, .within_ms = 10 * MIN, .release_ms = 15 * MIN
	};
}

/* It pulled before, and the registry does not say what is wrong now. */
TEST(an_outage_holds_all_and_lets_go_by_itself)
{
	struct pod_facts p = pod_pull_failing(), healthy = pod_healthy();

	breaker_on();
	p.containers[0].image = STR_LIT("registry.example.com/shop/web:1");
	p.containers[0].restarts = 1;
	many(healthy, 6);
	feed(p, 6);
	nominated_at(HOURS + 1, 0);
	ck_assert_uint_eq(count(MSG_REFUSAL), 1);
	ck_assert_str_eq(last(MSG_REFUSAL)->u.refusal.reason, "BreakerOpen");
	ck_assert_ptr_nonnull(
		strstr(EN(last(MSG_REFUSAL)->u.refusal.evidence), "6 workloads began to fail together"));
	ck_assert_str_eq(last(MSG_SAVED)->u.saved.kind, "breaker");
	ck_assert_int_gt(last(MSG_SAVED)->u.saved.at, 0);
	ck_assert_ptr_nonnull(strstr(EN_OF(stats().blocked_by), "Breaker 6"));
	nominated_at(20 * HOUR, 0);
	feed(healthy, 3);
	pass(1000);
	nominated_at(15 * MIN - 1000 - 1, 0);
	pass(1000);
	ck_assert_uint_eq(count(MSG_NOMINATE), 3); /* those that still fail, and are not many */
	ck_assert_int_eq(last(MSG_SAVED)->u.saved.at, 0);
	ck_assert_uint_eq(count(MSG_REFUSAL), 1);
}

TEST(namespaces_that_are_not_served_are_no_outage)
{
	struct pod_facts p = pod_pull_failing(), mine;

	breaker_on();
	list_set(&policy.duty[DUTY_IMAGE_PULL].namespaces, "bank");
	many(p, 8);
	mine = nth(&p, 9);
	mine.ns = STR_LIT("bank");
	event(&mine);
	nominated_at(HOURS + 1, 1);
}

/* Nobody waits longer than a day for a registry. */
TEST(an_outage_of_a_day_is_none)
{
	struct pod_facts p = pod_pull_failing();

	breaker_on();
	p.containers[0].image = STR_LIT("registry.example.com/shop/web:1");
	p.containers[0].restarts = 1;
	many(pod_healthy(), 6);
	feed(p, 6);
	nominated_at(24 * HOUR - MIN, 0);
	pass(2 * MIN);
	ck_assert_uint_eq(count(MSG_NOMINATE), 6);
}

static void crashes_since(const struct pod_facts *p, int64_t at)
{
	struct msg_failing_since_row row = {
		.duty = DUTY_CRASH_LOOP, .at = at, .ready_at = at, .revision = "1"
	};

	memcpy(row.owner, p->owner.uid.p, p->owner.uid.n);
	HEAR(FAILING_SINCE_ROW, failing_since_row, row);
}

/* A chart of tags that do not exist, and wrecks that were there before we came: no outage, whatever they
 * share. */
TEST_LOOP(what_is_no_outage_goes, 0, 2)
{
	struct pod_facts p = pod_pull_failing();

	breaker_on();
	p.containers[0].image = STR_LIT("registry.example.com/shop/web:1");
	if (_i == 0)
		p.containers[0].message = STR_LIT("manifest unknown");
	many(p, 12);
	nominated_at(HOURS + 1, 12);
}

/* Their pods were replaced while nobody watched: the new ones do not show that their revision had been
 * pulled, the row does. */
TEST_LOOP(what_was_pulled_before_a_restart_is_part_of_an_outage, 0, 2)
{
	struct pod_facts p = pod_pull_failing();

	breaker_on();
	p.created = NOW - MIN;
	p.containers[0].image = STR_LIT("registry.example.com/shop/web:1");
	for (int i = 0; i < 12; i++) {
		struct msg_failing_since_row row = { .duty = DUTY_IMAGE_PULL,
						     .at = NOW - MIN,
						     .pulled = _i == 1 };
		const struct pod_facts q = nth(&p, i);

		memcpy(row.owner, q.owner.uid.p, q.owner.uid.n);
		memcpy(row.revision, q.revision.p, q.revision.n);
		HEAR(FAILING_SINCE_ROW, failing_since_row, row);
	}
	many(p, 12);
	nominated_at(HOURS + 1, _i == 1 ? 0 : 12);
}

/* It is written down with the clock as soon as a pod shows it. */
TEST(what_was_pulled_is_kept)
{
	struct pod_facts p = pod_pull_failing();

	struct pod_facts healthy = pod_healthy();

	many(healthy, 1);
	feed(p, 1);
	pass(1000);
	ck_assert(last(MSG_FAILING_SINCE)->u.failing_since.pulled);
	p = nth(&p, 2);
	event(&p);
	pass(1000);
	ck_assert(!last(MSG_FAILING_SINCE)->u.failing_since.pulled);
}

/* All of an outage are known before the first of them is judged. */
TEST(none_slips_through_at_the_start)
{
	struct pod_facts p = pod_crashing();

	breaker_on();
	policy.duty[DUTY_CRASH_LOOP].hours_ms = 0;
	controller_set_policy(c, &policy, 0); /* no quiet time in which they would be seen */
	for (int i = 0; i < 6; i++) {
		struct pod_facts q = nth(&p, i);

		crashes_since(&q, NOW - HOUR);
	}
	many(p, 6);
	nominated_at(MIN, 0);
}

TEST(an_open_breaker_survives_a_restart)
{
	struct pod_facts p = pod_crashing();
	struct msg_saved_row row = {
		.kind = "breaker", .key = "errImagePull", .at = NOW - HOUR, .count = 40
	};

	facts_finding(&row.evidence, TEXT_BREAKER);
	facts_count(&row.evidence, FACT_WORKLOADS, 40);
	facts_count(&row.evidence, FACT_LIMIT, 30);
	breaker_on();
	crashes_since(&p, NOW - HOUR);
	HEAR(SAVED_ROW, saved_row, row);
	ready_with(&p, 1);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	ck_assert_ptr_nonnull(strstr(EN_OF(stats().blocked_by), "40 workloads began"));
	pass(15 * MIN);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1); /* nothing of it is left */
}

/* -- reverts and escalation -- */

static void done(const struct pod_facts *p)
{
	settle(OUTCOME_DONE, 0);
	controller_delete(c, p);
	run_all();
}

static struct pod_facts returned(const struct pod_facts *p, int i)
{
	struct pod_facts q = nth(p, i);

	q.owner.uid = p->owner.uid;
	q.created = clock_wall_ms() / 1000 * 1000;
	return q;
}

TEST(a_workload_that_comes_back_is_held_longer_each_time)
{
	struct pod_facts p = ready_one(pod_pull_failing()), q;

	nominated_at(HOURS + 1, 1);
	done(&p);
	ck_assert_str_eq(last(MSG_SAVED)->u.saved.kind, "reverted");
	ck_assert_uint_eq(last(MSG_SAVED)->u.saved.count, 0);
	pass(5 * S); /* also while the first act's own wait is not over */
	q = returned(&p, 1);
	event(&q);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	ck_assert_str_eq(last(MSG_REFUSAL)->u.refusal.reason, "Reverted");
	ck_assert_uint_eq(last(MSG_SAVED)->u.saved.count, 1);
	ck_assert_uint_eq(stats().reverts, 1);
	nominated_after(10 * MIN, 1, 2);
	ck_assert_uint_eq(last(MSG_NOMINATE)->u.nominate.reverts, 1);
	done(&q);
	pass(MIN);
	q = returned(&p, 2);
	event(&q);
	nominated_after(20 * MIN, 2, 3);
	ck_assert_uint_eq(last(MSG_NOMINATE)->u.nominate.reverts, 2);
}

TEST(a_changed_template_is_no_revert)
{
	struct pod_facts p = ready_one(pod_pull_failing()), q;

	pass(HOURS + 1);
	done(&p);
	pass(MIN);
	q = returned(&p, 1);
	q.revision = STR_LIT("2");
	event(&q);
	nominated_at(HOURS + 1, 2);
	ck_assert_uint_eq(last(MSG_NOMINATE)->u.nominate.reverts, 0);
}

TEST(a_revert_survives_a_restart)
{
	struct pod_facts p = pod_pull_failing();
	struct msg_saved_row row = { .kind = "reverted", .at = 1, .until = NOW + HOUR, .count = 3 };

	(void)snprintf(row.key, sizeof(row.key), "%.*s/1", STR_ARG(p.owner.uid));
	fails_since(&p, NOW - HOUR);
	HEAR(SAVED_ROW, saved_row, row);
	ready_with(&p, 1);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	pass(HOUR);
	ck_assert_uint_eq(last(MSG_NOMINATE)->u.nominate.reverts, 3);
}

TEST(a_revert_is_forgotten_a_day_later)
{
	struct pod_facts p = ready_one(pod_pull_failing()), q;

	pass(HOURS + 1);
	done(&p);
	for (int i = 0; i < 25; i++)
		pass(HOUR);
	ck_assert_str_eq(last(MSG_SAVED)->u.saved.kind, "reverted");
	ck_assert_int_eq(last(MSG_SAVED)->u.saved.at, 0);
	q = returned(&p, 1);
	event(&q);
	pass(HOURS + 1);
	ck_assert_uint_eq(last(MSG_NOMINATE)->u.nominate.reverts, 0);
	ck_assert_uint_eq(count(MSG_NOMINATE), 2);
}

/* Nor does its number go to another workload, of which the end would then be told. */
TEST(a_revert_is_not_forgotten_while_an_action_is_open)
{
	struct pod_facts p = ready_one(pod_pull_failing()), q;

	pass(HOURS + 1);
	done(&p);
	pass(5 * S);
	q = returned(&p, 1);
	event(&q);
	pass(20 * MIN);
	ck_assert_uint_eq(last(MSG_NOMINATE)->u.nominate.reverts, 1);
	for (int i = 0; i < 26; i++)
		pass(HOUR);
	ck_assert_int_gt(last(MSG_SAVED)->u.saved.at, 0);
	done(&q);
	ck_assert_int_gt(last(MSG_SAVED)->u.saved.at, 1);
	ck_assert_uint_eq(last(MSG_SAVED)->u.saved.count, 1);
}

/* Evicted, replaced on the same node, evicted again: deleted all the same, but the newest stays to be looked
 * at. */
TEST(an_evict_loop_keeps_its_newest)
{
	struct pod_facts p = pod_evicted(), q;

	ready_with(NULL, 0);
	for (int i = 0; i < 3; i++) {
		q = returned(&p, i);
		event(&q);
		ck_assert_uint_eq(count(MSG_NOMINATE), (size_t)i + 1);
		pass(2 * S);
		done(&q);
		pass(3 * S);
	}
	q = returned(&p, 3);
	event(&q);
	ck_assert_uint_eq(count(MSG_NOMINATE), 3);
	ck_assert_uint_eq(count(MSG_REFUSAL), 1);
	ck_assert_str_eq(last(MSG_REFUSAL)->u.refusal.reason, "EvictLoop");
	ck_assert_str_eq(EN_OF(stats().blocked_by), "EvictLoop 1");
	pass(3 * S);
	p = returned(&p, 4);
	event(&p);
	ck_assert_uint_eq(count(MSG_NOMINATE), 4);
	ck_assert_str_eq(last(MSG_NOMINATE)->u.nominate.name, names[3]);
	ck_assert_str_eq(EN_OF(stats().blocked_by), "EvictLoop 1");
	ck_assert_uint_eq(count(MSG_REFUSAL), 1); /* told once */
	pass(HOUR);
	ck_assert_str_eq(last(MSG_NOMINATE)->u.nominate.name, names[4]);
}

/* Its second pod was deleted a second ago, and the third was made a moment before. */
TEST(an_evict_loop_survives_a_restart)
{
	struct pod_facts p = pod_evicted(), q;
	struct msg_saved_row row = {
		.kind = "evict-loop", .at = NOW - 5 * S, .until = NOW - 1 * S + HOUR, .count = 2
	};

	(void)snprintf(row.key, sizeof(row.key), "%.*s//%.*s", STR_ARG(p.owner.uid), STR_ARG(p.node));
	HEAR(SAVED_ROW, saved_row, row);
	ready_with(NULL, 0);
	q = returned(&p, 0);
	event(&q);
	pass(2 * S);
	done(&q);
	ck_assert_str_eq(last(MSG_SAVED)->u.saved.kind, "evict-loop");
	ck_assert_str_eq(last(MSG_SAVED)->u.saved.key, row.key);
	ck_assert_uint_eq(last(MSG_SAVED)->u.saved.count, 3);
	ck_assert_int_eq(last(MSG_SAVED)->u.saved.at, q.created);
	ck_assert_int_ge(last(MSG_SAVED)->u.saved.until, clock_wall_ms() + HOUR);
	pass(3 * S);
	q = returned(&p, 1);
	event(&q);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	ck_assert_str_eq(EN_OF(stats().blocked_by), "EvictLoop 1");
	pass(HOUR);
	ck_assert_uint_eq(count(MSG_NOMINATE), 2);
}

/* Nothing else may happen for half a minute, and then it is too late for whoever is killed. */
TEST(what_a_guard_learns_is_saved_at_once)
{
	struct pod_facts p = pod_evicted(), q;
	struct msg m = { .type = MSG_NOMINATION_RESULT };

	ready_with(NULL, 0);
	q = returned(&p, 0);
	event(&q);
	controller_delete(c, &q);
	run_all();
	ck_assert_uint_gt(controller_next(c), clock_boot_ms());
	msg_copy_fields(&m, last(MSG_NOMINATE));
	m.u.nomination_result.outcome = OUTCOME_DONE;
	controller_on_msg(c, &m);
	ck_assert_uint_le(controller_next(c), clock_boot_ms());
	run_all();
	ck_assert_uint_eq(last(MSG_SAVED)->u.saved.count, 1);
	ck_assert_uint_gt(controller_next(c), clock_boot_ms());
}

/* A list may take minutes, and nothing is judged meanwhile. */
TEST(what_a_guard_learns_during_a_list_is_saved_at_once)
{
	struct pod_facts p = pod_evicted(), q;
	struct msg m = { .type = MSG_NOMINATION_RESULT };

	ready_with(NULL, 0);
	q = returned(&p, 0);
	event(&q);
	controller_list(c, STR_LIT(""));
	run_all();
	msg_copy_fields(&m, last(MSG_NOMINATE));
	m.u.nomination_result.outcome = OUTCOME_DONE;
	controller_on_msg(c, &m);
	ck_assert_uint_le(controller_next(c), clock_boot_ms());
	run_all();
	ck_assert_uint_eq(last(MSG_SAVED)->u.saved.count, 1);
	ck_assert_uint_gt(controller_next(c), clock_boot_ms());
}

TEST(a_loop_is_not_forgotten_while_a_deletion_is_open)
{
	struct pod_facts p = pod_evicted(), q;

	ready_with(NULL, 0);
	q = returned(&p, 0);
	event(&q);
	for (int i = 0; i < 10; i++)
		pass(MIN);
	done(&q);
	ck_assert_str_eq(last(MSG_SAVED)->u.saved.kind, "evict-loop");
	ck_assert_uint_eq(last(MSG_SAVED)->u.saved.count, 1);
}

/* Asked for again when nobody has heard of it for long, it has one end all the same. */
TEST(a_loop_is_forgotten_after_a_deletion_that_was_asked_for_twice)
{
	struct pod_facts p = pod_evicted(), q;

	ready_with(NULL, 0);
	q = returned(&p, 0);
	event(&q);
	pass(MIN);
	q.rv = STR_LIT("99"); /* looked at again while it is open */
	event(&q);
	pass(15 * MIN);
	ck_assert_uint_ge(count(MSG_NOMINATE), 2);
	done(&q);
	pass(2 * HOUR);
	ck_assert_str_eq(last(MSG_SAVED)->u.saved.kind, "evict-loop");
	ck_assert_int_eq(last(MSG_SAVED)->u.saved.at, 0);
}

TEST(what_is_saved_of_an_evict_loop_is_forgotten_with_it)
{
	struct pod_facts p = pod_evicted(), q;

	ready_with(NULL, 0);
	q = returned(&p, 0);
	event(&q);
	pass(2 * S);
	done(&q);
	ck_assert_int_gt(last(MSG_SAVED)->u.saved.at, 0);
	pass(2 * HOUR);
	ck_assert_str_eq(last(MSG_SAVED)->u.saved.kind, "evict-loop");
	ck_assert_int_eq(last(MSG_SAVED)->u.saved.at, 0);
}

TEST(a_fresh_attempt_first)
{
	struct pod_facts p = pod_pull_failing(), q;

	policy.duty[DUTY_IMAGE_PULL].fresh_attempt_ms = 10 * S;
	ready_with(&p, 1);
	pass(HOURS + 1);
	ck_assert_uint_eq(last(MSG_NOMINATE)->u.nominate.action, ACTION_FRESH_ATTEMPT);
	pass(1000);
	controller_delete(c, &p); /* seen before its end is told */
	settle(OUTCOME_DONE, 0);
	q = returned(&p, 1);
	event(&q);
	ck_assert_int_eq(last(MSG_FAILING_SINCE)->u.failing_since.attempted, clock_wall_ms());
	nominated_after(10 * S + 1, 1, 2);
	ck_assert_uint_eq(last(MSG_NOMINATE)->u.nominate.action, ACTION_SCALE_DOWN);
	ck_assert_uint_eq(last(MSG_NOMINATE)->u.nominate.reverts, 0);
}

/* A Job counts a pod that is deleted as a failure, and may end by it. */
TEST(a_job_gets_no_fresh_attempt)
{
	struct pod_facts p = pod_pull_failing();

	policy.duty[DUTY_IMAGE_PULL].fresh_attempt_ms = 10 * S;
	policy.duty[DUTY_IMAGE_PULL].suspend_jobs = true;
	p.owner.kind = STR_LIT("Job");
	p.owner.api_version = STR_LIT("batch/v1");
	ready_with(&p, 1);
	pass(HOURS + 1);
	ck_assert_uint_eq(last(MSG_NOMINATE)->u.nominate.action, ACTION_SCALE_DOWN);
}

/* Of an action that was nominated before this watcher began, whose end comes now; early: before the history
 * has told what it holds, and its rows tell of the action. */
static void ended_from_before(const struct pod_facts *p, enum action_kind action, enum outcome outcome,
			      bool early)
{
	struct msg m = { .type = MSG_NOMINATION_RESULT,
			 .u.nomination_result = {
				 .duty = DUTY_IMAGE_PULL, .action = action, .outcome = outcome } };

	msg_set(&m, nomination_result.action_key, p->owner.uid.p, p->owner.uid.n);
	msg_set(&m, nomination_result.revision, p->revision.p, p->revision.n);
	sync_with(p, 1);
	run_all();
	if (early)
		controller_on_msg(c, &m);
	ready_with(p, 1);
	if (!early)
		controller_on_msg(c, &m);
	run_all();
}

static const struct end {
	enum action_kind action;
	enum outcome outcome;
	bool early, counts;
} ends[] = {
	{ ACTION_FRESH_ATTEMPT, OUTCOME_DONE, false, true },
	{ ACTION_FRESH_ATTEMPT, OUTCOME_UNCONFIRMED, false, false }, /* it may not have been deleted */
	{ ACTION_FRESH_ATTEMPT, OUTCOME_REFUSED, false, false },
	{ ACTION_FRESH_ATTEMPT, OUTCOME_DONE, true, false },
	{ ACTION_SCALE_DOWN, OUTCOME_DONE, false, false },
};

TEST_LOOP(an_attempt_of_an_earlier_life_counts, 0, ARRAY_SIZE(ends))
{
	struct pod_facts p = pod_pull_failing();

	policy.duty[DUTY_IMAGE_PULL].fresh_attempt_ms = 10 * S;
	ended_from_before(&p, ends[_i].action, ends[_i].outcome, ends[_i].early);
	nominated_at(HOURS + 1, 1);
	ck_assert_uint_eq(last(MSG_NOMINATE)->u.nominate.action,
			  ends[_i].counts ? ACTION_SCALE_DOWN : ACTION_FRESH_ATTEMPT);
}

static const struct end writes[] = {
	{ ACTION_SCALE_DOWN, OUTCOME_DONE, false, true },
	{ ACTION_SCALE_DOWN, OUTCOME_UNCONFIRMED, false, true },
	{ ACTION_SCALE_DOWN, OUTCOME_REFUSED, false, false },
	{ ACTION_SCALE_DOWN, OUTCOME_WOULD, false, false },
	{ ACTION_SCALE_DOWN, OUTCOME_DONE, true, false },
	{ ACTION_FRESH_ATTEMPT, OUTCOME_DONE, false, false },
	{ ACTION_RESTORE, OUTCOME_DONE, false, false },
};

TEST_LOOP(a_scale_down_of_an_earlier_life_is_reverted, 0, ARRAY_SIZE(writes))
{
	struct pod_facts p = pod_pull_failing(), q;

	ended_from_before(&p, writes[_i].action, writes[_i].outcome, writes[_i].early);
	pass(1000);
	q = returned(&p, 1);
	controller_delete(c, &p);
	event(&q);
	nominated_at(HOURS + 1, !writes[_i].counts);
	ck_assert_uint_eq(stats().reverts, writes[_i].counts);
	ck_assert_uint_eq(stats().blocked, writes[_i].counts);
}

/* It ends no workload. */
TEST(an_outage_does_not_hold_fresh_attempts)
{
	struct pod_facts p = pod_pull_failing();

	breaker_on();
	policy.duty[DUTY_IMAGE_PULL].fresh_attempt_ms = 10 * S;
	p.containers[0].image = STR_LIT("registry.example.com/shop/web:1");
	p.containers[0].restarts = 1;
	many(pod_healthy(), 6);
	feed(p, 6);
	nominated_at(HOURS + 1, 6);
	ck_assert_uint_eq(last(MSG_NOMINATE)->u.nominate.action, ACTION_FRESH_ATTEMPT);
}

TEST_MAIN("watcher/reverted")
{
	tcase_add_checked_fixture(t, begin, end);
}
