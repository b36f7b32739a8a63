/* test_scaled_down.c - what was scaled down is looked at, one after the other, until that is over. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "harness.h"
#include "tests/suite.h"
#include "watcher/controller/scaled_down.h"

#define EVERY (5 * 60 * S)

static void setup(void)
{
	begin();
	policy.restore_ms = EVERY;
	policy.duty[DUTY_IMAGE_PULL].restore = RESTORE_WHEN_TEMPLATE_CHANGES;
}

static void ends(uint64_t id, enum outcome outcome, const char *reason)
{
	struct msg m = { .type = MSG_RESTORE_END, .u.restore_end = { .id = id, .outcome = outcome } };

	msg_set(&m, restore_end.reason, reason, strlen(reason));
	controller_on_msg(c, &m);
	run_all();
}

static void asked(size_t n, uint64_t id)
{
	ck_assert_uint_eq(count(MSG_RESTORE_ASK), n);
	if (n)
		ck_assert_uint_eq(last(MSG_RESTORE_ASK)->u.restore_ask.id, id);
}

/* A workload was scaled down just now, by action 7. */
static void scaled(enum outcome outcome)
{
	struct pod_facts p = ready_one(pod_pull_failing());
	struct msg m = { .type = MSG_NOMINATION_RESULT };

	nominated_at(HOURS + 1, 1);
	msg_copy_fields(&m, last(MSG_NOMINATE));
	m.u.nomination_result.id = 7;
	m.u.nomination_result.outcome = outcome;
	msg_set(&m, nomination_result.reason, "CannotPullImage", 15);
	controller_on_msg(c, &m);
	controller_delete(c, &p);
	run_all();
}

TEST(looked_at_until_it_is_back)
{
	scaled(OUTCOME_DONE);
	asked(0, 0);
	pass(EVERY - 1);
	asked(0, 0);
	pass(EVERY / 10 + 1);
	asked(1, 7);
	ends(7, OUTCOME_REFUSED, "TemplateUnchanged");
	pass(EVERY - 1);
	asked(1, 7);
	pass(EVERY / 10 + 1);
	asked(2, 7);
	ends(7, OUTCOME_DONE, "Corrected");
	pass(10 * EVERY);
	asked(2, 7);
}

TEST_LOOP(what_ends_the_looking, 0, 10)
{
	static const struct {
		enum outcome outcome;
		const char *reason;
		bool over;
	} rows[] = {
		{ OUTCOME_REFUSED, "NotZeroAnymore", true },
		{ OUTCOME_REFUSED, "NotOurZero", true },
		{ OUTCOME_REFUSED, "NotMarked", true },
		{ OUTCOME_REFUSED, "OwnerUidDiffers", true },
		{ OUTCOME_GONE, "WorkloadGone", true },
		{ OUTCOME_REFUSED, "Paused", false },
		{ OUTCOME_REFUSED, "Busy", false },
		{ OUTCOME_FAILED, "NetworkError", false },
		{ OUTCOME_UNCONFIRMED, "ProbablyDone", false },
		{ OUTCOME_REFUSED, "RestoreOff", false },
	};

	scaled(_i % 2 ? OUTCOME_DONE : OUTCOME_UNCONFIRMED);
	pass(EVERY + EVERY / 10);
	asked(1, 7);
	ends(7, rows[_i].outcome, rows[_i].reason);
	pass(EVERY + EVERY / 10);
	asked(rows[_i].over ? 1 : 2, 7);
}

TEST_LOOP(nothing_to_look_at, 0, 3)
{
	if (_i == 0)
		policy.duty[DUTY_IMAGE_PULL].restore = RESTORE_NEVER;
	if (_i == 1)
		policy.mode = MODE_OBSERVE;
	scaled(_i == 2 ? OUTCOME_REFUSED : OUTCOME_DONE);
	pass(10 * EVERY);
	asked(0, 0);
}

/* What the history holds is looked at soon, one at a time, and an answer that never comes blocks nothing. */
TEST(after_a_restart)
{
	struct msg row = { .type = MSG_SCALED_ROW, .u.scaled_row = { .duty = DUTY_IMAGE_PULL } };

	for (row.u.scaled_row.id = 3; row.u.scaled_row.id < 6; row.u.scaled_row.id++) {
		controller_on_msg(c, &row);
		controller_on_msg(c, &row);
	}
	run_all();
	asked(0, 0); /* nothing is done before the first list */
	ready_with(NULL, 0);
	asked(1, 3);
	pass(60 * S);
	asked(1, 3);
	ends(3, OUTCOME_REFUSED, "NotMarked");
	ck_assert_uint_eq(count(MSG_RESTORE_ASK), 2);
	pass(119 * S);
	ck_assert_uint_eq(count(MSG_RESTORE_ASK), 2);
	pass(1 * S);
	ck_assert_uint_eq(count(MSG_RESTORE_ASK), 3);
}

/* The setting is turned on: at once. */
TEST(by_a_reload)
{
	policy.duty[DUTY_IMAGE_PULL].restore = RESTORE_NEVER;
	scaled(OUTCOME_DONE);
	pass(EVERY / 2);
	asked(0, 0);
	policy.duty[DUTY_IMAGE_PULL].restore = RESTORE_WHEN_TEMPLATE_CHANGES;
	controller_judge_anew(c);
	controller_set_policy(c, &policy, QUIET_MS);
	run_all();
	asked(1, 7);
}

/* The newest stay on the list. */
TEST(the_list_is_bounded)
{
	struct msg row = { .type = MSG_SCALED_ROW, .u.scaled_row = { .duty = DUTY_IMAGE_PULL } };
	size_t n = 0;

	for (uint64_t id = SCALED_DOWN_MAX + 10; id > 0; id--) {
		row.u.scaled_row.id = id;
		controller_on_msg(c, &row);
	}
	ready_with(NULL, 0);
	for (; count(MSG_RESTORE_ASK) > n; n++)
		ends(last(MSG_RESTORE_ASK)->u.restore_ask.id, OUTCOME_GONE, "WorkloadGone");
	ck_assert_uint_eq(n, SCALED_DOWN_MAX);
}

TEST_MAIN("watcher/scaled_down")
{
	tcase_add_checked_fixture(t, setup, end);
}
