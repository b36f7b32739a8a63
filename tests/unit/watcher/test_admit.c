/* test_admit.c - what is due meets the guards: blocked, visible, told once, never dropped, and cheap while it
 * waits. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/clock.h"
#include "harness.h"
#include "tests/suite.h"
#include "tests/facts_en.h"

/* -- budgets -- */

TEST(over_budget_waits_and_is_told_once)
{
	policy.duty[DUTY_EVICTED].max_per_minute = 2;
	many(pod_evicted(), 10);
	ck_assert_uint_eq(count(MSG_NOMINATE), 2);
	ck_assert_uint_eq(count(MSG_REFUSAL), 1);
	ck_assert_str_eq(last(MSG_REFUSAL)->u.refusal.reason, "BudgetSpent");
	ck_assert_uint_eq(stats().blocked, 8);
	ck_assert_str_eq(EN_OF(stats().blocked_by), "Budget 8");
	settle_all(0, OUTCOME_DONE);
	ck_assert_uint_eq(count(MSG_NOMINATE), 2);
	for (size_t i = 2; i < 10; i += 2) {
		nominated_after(60000, i, i + 2);
		settle_all(n_sent - 2, OUTCOME_DONE);
	}
	ck_assert_uint_eq(count(MSG_REFUSAL), 1);
	ck_assert_uint_eq(stats().blocked, 0);
	ck_assert_str_eq(EN_OF(stats().blocked_by), "");
	for (int i = 0, k = 0; i < (int)n_sent; i++) /* oldest first */
		if (sent[i].type == MSG_NOMINATE)
			ck_assert_str_eq(sent[i].u.nominate.name, names[k++]);
}

TEST(what_was_refused_live_is_given_back)
{
	policy.duty[DUTY_EVICTED].max_per_day = 1;
	many(pod_evicted(), 3);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	settle_all(0, OUTCOME_REFUSED);
	nominated_at(1000, 2);
	settle_all(n_sent - 1, OUTCOME_UNCONFIRMED); /* it may have been written */
	nominated_at(5000, 2);
}

TEST(what_could_not_be_sent_is_given_back)
{
	struct pod_facts p = pod_evicted();

	policy.duty[DUTY_EVICTED].max_per_day = 1;
	ready_with(NULL, 0);
	room = 0;
	event(&p);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	room = SENT_MAX;
	controller_on_room(c);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	ck_assert_uint_eq(count(MSG_REFUSAL), 0);
}

/* It is open: its end is still to come. */
TEST(what_could_not_be_asked_for_again_is_spent)
{
	struct pod_facts p = pod_evicted(), q;

	policy.duty[DUTY_EVICTED].max_per_day = 2;
	p = ready_one(p);
	p.rv = STR_LIT("99"); /* looked at again while it is open */
	pass(1000);
	event(&p);
	room = 0;
	pass(15 * MIN);
	room = SENT_MAX;
	settle(OUTCOME_DONE, 0);
	controller_delete(c, &p);
	pass(1000);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	for (int i = 1; i < 3; i++) {
		q = nth(&p, i);
		event(&q);
	}
	ck_assert_uint_eq(count(MSG_NOMINATE), 2);
}

/* A reporter dies in the midst of its answer, and the next one begins anew. */
TEST(what_is_told_twice_is_spent_once)
{
	struct msg_action_row act = { .duty = DUTY_EVICTED, .at = NOW, .ns = "shop" };
	const struct pod_facts p = pod_evicted();

	policy.duty[DUTY_EVICTED].max_per_day = 2;
	HEAR(ACTION_ROW, action_row, act);
	HEAR(SAVED_END, saved_end, { .failed = true });
	HEAR(ACTION_ROW, action_row, act);
	ready_with(&p, 1);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

TEST(many_that_wait_cost_nothing)
{
	uint64_t before;

	policy.duty[DUTY_EVICTED].max_per_minute = 1;
	many(pod_evicted(), 300);
	settle_all(0, OUTCOME_DONE);
	pass(2000);
	before = judged();
	for (int i = 0; i < 10; i++) {
		size_t from = n_sent;

		pass(60000);
		settle_all(from, OUTCOME_DONE);
	}
	ck_assert_uint_eq(count(MSG_NOMINATE), 11);
	/* One that goes, one or two that look whether more may, for each minute. */
	ck_assert_uint_le(judged() - before, 60);
	ck_assert_uint_gt(controller_next(c), clock_boot_ms());
}

TEST(a_namespace_that_is_spent_does_not_hold_others)
{
	struct pod_facts p = pod_evicted(), pods[4];

	policy.duty[DUTY_EVICTED].max_per_namespace_hour = 1;
	for (int i = 0; i < 4; i++) {
		pods[i] = nth(&p, i);
		if (i >= 2)
			pods[i].ns = STR_LIT("bank");
	}
	ready_with(pods, 4);
	ck_assert_uint_eq(count(MSG_NOMINATE), 2);
	ck_assert_uint_eq(count(MSG_REFUSAL), 2);
	ck_assert_uint_eq(stats().blocked, 2);
}

/* 20 % of 10 pods are 2, and what was spent is kept for the next life. */
TEST(a_share_of_the_namespace)
{
	struct pod_facts p = pod_evicted();
	struct msg row = { .type = MSG_SAVED_ROW };

	policy.duty[DUTY_EVICTED].max_percent_namespace = 20;
	many(p, 10);
	ck_assert_uint_eq(count(MSG_NOMINATE), 2);
	settle_all(0, OUTCOME_DONE);
	const struct msg_saved *m = &last(MSG_SAVED)->u.saved;

	ck_assert_str_eq(m->kind, "share");
	ck_assert_str_eq(m->key, "ns/0/shop");
	ck_assert_uint_eq(m->count, 2);
	msg_copy_fields(&row, last(MSG_SAVED));
	end();
	begin();
	policy.duty[DUTY_EVICTED].max_percent_namespace = 20;
	controller_on_msg(c, &row);
	many(p, 10);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
}

/* What is saved may come from anywhere: a share of no name is left out. */
TEST(a_share_of_no_name)
{
	const struct msg_saved_row row = {
		.kind = "share", .key = "node/0/", .at = NOW, .until = NOW + HOUR, .count = 1
	};

	HEAR(SAVED_ROW, saved_row, row);
	many(pod_evicted(), 2);
	ck_assert_uint_eq(count(MSG_NOMINATE), 2);
}

/* A life may end at any instant: what an act spends is told before the act is asked for, and taken back when
 * nothing was written. */
TEST(a_share_is_told_before_it_is_spent)
{
	uint64_t told = 0, asked = 0;

	policy.duty[DUTY_EVICTED].max_percent_namespace = 20;
	many(pod_evicted(), 10);
	for (size_t i = 0; i < n_sent; i++) {
		if (sent[i].type == MSG_SAVED)
			told = sent[i].u.saved.count;
		else if (sent[i].type == MSG_NOMINATE)
			ck_assert_uint_eq(told, ++asked);
	}
	ck_assert_uint_eq(asked, 2);
	settle_all(0, OUTCOME_CONFLICT);
	ck_assert_uint_eq(last(MSG_SAVED)->u.saved.count, 0);
}

TEST(acts_of_an_earlier_life_count)
{
	const struct msg_action_row row = { .duty = DUTY_EVICTED, .ns = "shop", .at = NOW - 59 * MIN };

	policy.duty[DUTY_EVICTED].max_per_hour = 1;
	HEAR(ACTION_ROW, action_row, row);
	many(pod_evicted(), 2);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	nominated_after(MIN - QUIET_MS, 0, 1);
}

/* Dry runs spend budgets of their own, also in the same life and in an earlier one. */
TEST_LOOP(dry_runs_hold_no_write_up, 0, 2)
{
	const struct msg_action_row row = { .duty = DUTY_EVICTED, .ns = "shop", .at = NOW, .observe = true };

	policy.duty[DUTY_EVICTED].max_per_hour = 1;
	policy.duty[DUTY_EVICTED].max_percent_namespace = 1;
	if (_i == 0)
		HEAR(ACTION_ROW, action_row, row);
	else
		policy.mode = MODE_OBSERVE;
	controller_set_policy(c, &policy, QUIET_MS);
	many(pod_evicted(), 2);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	if (_i == 0)
		return;
	settle(OUTCOME_WOULD, 0);
	nominated_at(MIN, 1); /* a dry run keeps to the budget */
	policy.mode = MODE_ENFORCE;
	controller_judge_anew(c);
	controller_set_policy(c, &policy, QUIET_MS);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 2);
}

/* It may be written now, however long ago it was asked for. */
TEST(an_open_act_of_an_earlier_life_counts_from_now)
{
	const struct msg_action_row row = { .duty = DUTY_EVICTED, .ns = "shop", .at = 0 };

	policy.duty[DUTY_EVICTED].max_per_hour = 1;
	HEAR(ACTION_ROW, action_row, row);
	many(pod_evicted(), 2);
	nominated_after(HOUR - QUIET_MS, 0, 1);
}

/* -- window, pause, leadership, clocks -- */

TEST(outside_of_the_window)
{
	int64_t opens = NOW / HOUR * HOUR + HOUR; /* 15:00 */

	list_set(&policy.duty[DUTY_EVICTED].windows, "0 15 * * 1 for 30m");
	many(pod_evicted(), 20);
	ck_assert_uint_eq(stats().blocked, 20);
	ck_assert_str_eq(EN_OF(stats().blocked_by), "Window 20");
	nominated_after(opens - clock_wall_ms(), 0, 20);
	/* The reporter is not bothered with what is only late. */
	ck_assert_uint_eq(count(MSG_REFUSAL), 0);
	settle_all(0, OUTCOME_FAILED);
	pass(30 * MIN);
	n_sent = 0;
	nominated_at(30 * MIN, 0);
	str_list_done(&policy.duty[DUTY_EVICTED].windows);
}

static struct msg_pause a_pause(const char *cluster, int duty, bool on, int64_t until)
{
	struct msg_pause m = { .duty = duty, .on = on, .at = NOW, .until = until, .by = "ada" };

	m.why = quoting("release");

	(void)snprintf(m.cluster_name, sizeof(m.cluster_name), "%s", cluster);
	return m;
}

TEST(paused_by_a_person)
{
	const struct msg_pause other = a_pause("west", -1, true, 0), all = a_pause("", -1, true, 0),
			       duty = a_pause("east", DUTY_EVICTED, true, NOW + HOUR),
			       no_duty = a_pause("east", DUTY_TERMINATING, true, 0),
			       resume = a_pause("", -1, false, 0);

	controller_set_place(c, "east", NULL, 0);
	HEAR(PAUSE, pause, other);
	HEAR(PAUSE, pause, no_duty);
	HEAR(PAUSE, pause, all);
	HEAR(PAUSE, pause, all);
	many(pod_evicted(), 5);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	ck_assert_str_eq(EN_OF(stats().blocked_by), "Pause 5");
	HEAR(PAUSE, pause, duty);
	HEAR(PAUSE, pause, resume);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 5); /* "resume" without more takes all back */
	HEAR(PAUSE, pause, duty);
	settle_all(0, OUTCOME_FAILED);
	n_sent = 0;
	nominated_after(NOW + HOUR - clock_wall_ms(), 0, 5);
}

TEST(a_pause_of_another_cluster_is_none)
{
	const struct msg_pause other = a_pause("west", -1, true, 0);

	controller_set_place(c, "east", NULL, 0);
	HEAR(PAUSE, pause, other);
	many(pod_evicted(), 5);
	ck_assert_uint_eq(count(MSG_NOMINATE), 5);
}

TEST(only_the_leader_acts)
{
	controller_set_leader(c, false, "other-1");
	many(pod_evicted(), 5);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	ck_assert_str_eq(EN_OF(stats().blocked_by), "Leader 5");
	controller_set_leader(c, true, "");
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 5);
}

TEST(clocks_that_differ_too_much)
{
	controller_server_date(c, NOW + 2 * HOUR);
	controller_server_date(c, NOW + 2 * HOUR);
	many(pod_evicted(), 2);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	ck_assert_str_eq(EN_OF(stats().blocked_by), "Clock 2");
	controller_server_date(c, clock_wall_ms());
	controller_server_date(c, clock_wall_ms());
	nominated_at(MIN, 2);
}

/* It judges and spends nothing; what is blocked is blocked. */
TEST(what_only_plans_nominates_nothing)
{
	policy.plans_only = true;
	policy.duty[DUTY_EVICTED].max_per_hour = 3;
	many(pod_evicted(), 3);
	pass(HOUR);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	ck_assert_uint_eq(stats().queue, 0);
	ck_assert_uint_eq(stats().blocked, 0);
	policy.plans_only = false;
	controller_set_policy(c, &policy, QUIET_MS);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 3);
}

TEST(start_up_is_quiet_and_says_so)
{
	struct pod_facts p = nth(&(struct pod_facts){ 0 }, 0);

	p = pod_evicted();
	sync_with(&p, 1);
	HEAR(SAVED_END, saved_end, { 0 });
	run_all();
	ck_assert_str_eq(EN_OF(stats().blocked_by), "Quiet 1");
	nominated_at(QUIET_MS, 1);
}

TEST_MAIN("watcher/admit")
{
	tcase_add_checked_fixture(t, begin, end);
}
