/* test_due.c - what is told of pods that a duty is concerned with: due, waiting, blocked, refused; and how
 * long a write took. */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/clock.h"
#include "harness.h"
#include "tests/suite.h"

static size_t first; /* row of the last tell() */

static void tell(bool again, size_t rows)
{
	first = n_sent;
	ck_assert_int_eq(controller_tell_due(c, again), 0);
	ck_assert_msg(n_sent - first == rows, "%zu rows", n_sent - first);
}

static void row(size_t i, enum due_state state, const char *reason, uint64_t n)
{
	const struct msg *m = &sent[first + i];

	ck_assert_int_eq(m->type, MSG_DUE_ROW);
	ck_assert_uint_eq(m->u.due_row.cluster, 3);
	ck_assert_msg(m->u.due_row.state == state && strcmp(m->u.due_row.reason, reason) == 0 &&
			      m->u.due_row.n == n,
		      "state %d, %s, %d", (int)m->u.due_row.state, m->u.due_row.reason, (int)m->u.due_row.n);
}

TEST(what_goes_is_due_until_it_is_gone)
{
	const struct pod_facts p = ready_one(pod_evicted());

	tell(false, 1);
	row(0, DUE_NOW, "Evicted", 1);
	ck_assert_int_ge(sent[first].u.due_row.oldest, NOW);
	ck_assert_int_le(sent[first].u.due_row.oldest, clock_wall_ms());
	settle(OUTCOME_FAILED, 60000);
	tell(false, 0);
	tell(true, 1);
	row(0, DUE_NOW, "Evicted", 1);
	controller_delete(c, &p);
	run_all();
	tell(false, 1);
	row(0, DUE_NOW, "Evicted", 0);
}

TEST(what_a_guard_holds_is_blocked)
{
	policy.duty[DUTY_EVICTED].max_per_minute = 2;
	many(pod_evicted(), 10);
	tell(false, 2);
	row(0, DUE_NOW, "Evicted", 2);
	row(1, DUE_BLOCKED, "BudgetSpent", 8);
	settle_all(0, OUTCOME_DONE);
	nominated_at(60000, 4);
	tell(false, 2);
	row(0, DUE_NOW, "Evicted", 2);
	row(1, DUE_BLOCKED, "BudgetSpent", 6);
}

/* The budget that its own nomination has spent does not block it. */
TEST(what_is_on_its_way_is_not_blocked)
{
	struct pod_facts p;

	policy.duty[DUTY_EVICTED].max_per_day = 1;
	p = ready_one(pod_evicted());
	p.rv = STR_LIT("4712");
	event(&p);
	tell(false, 1);
	row(0, DUE_NOW, "Evicted", 1);
}

/* What a worker said counts until it says something else, however often it is asked meanwhile. */
TEST(what_a_worker_refuses_is_refused)
{
	(void)ready_one(pod_evicted());
	settle_as(OUTCOME_REFUSED, "HasHpa");
	tell(false, 1);
	row(0, DUE_REFUSED, "HasHpa", 1);
	nominated_at(31000, 2);
	tell(false, 0);
	settle_as(OUTCOME_FAILED, "ServerError");
	nominated_at(5000, 3);
	tell(false, 2);
	row(0, DUE_NOW, "Evicted", 1);
	row(1, DUE_REFUSED, "HasHpa", 0);
}

TEST_LOOP(what_a_supervisor_holds, 0, 3)
{
	static const struct {
		const char *reason, *told;
		enum due_state state;
	} cases[] = { { "WriteLimit", "WriteLimit", DUE_BLOCKED },
		      { "Paused", "Paused", DUE_BLOCKED },
		      { "Busy", "Evicted", DUE_NOW } };

	(void)ready_one(pod_evicted());
	settle_as(OUTCOME_REFUSED, cases[_i].reason);
	tell(true, 1);
	row(0, cases[_i].state, cases[_i].told, 1);
}

TEST_LOOP(what_is_announced_waits_and_what_would_be_done_does_not, 0, 2)
{
	static const enum outcome outcomes[] = { OUTCOME_ANNOUNCED, OUTCOME_WOULD };
	static const enum due_state states[] = { DUE_WAITING, DUE_WOULD };

	policy.mode = _i == 1 ? MODE_OBSERVE : MODE_ENFORCE;
	(void)ready_one(pod_evicted());
	settle_as(outcomes[_i], "Evicted");
	tell(true, 1);
	row(0, states[_i], "Evicted", 1);
	controller_judge_anew(c); /* other settings */
	controller_set_policy(c, &policy, 0);
	run_all();
	tell(true, 1);
	row(0, DUE_NOW, "Evicted", 1);
}

TEST(what_waits_and_what_is_refused)
{
	struct pod_facts p = pod_terminating(), q = sibling(&p, "web-2", UID_2);

	p.deletion += 3600000;
	q.n_finalizers = 1;
	q.finalizers[0] = STR_LIT("example.com/keep");
	const struct pod_facts both[] = { p, q };

	ready_with(both, 2);
	tell(false, 2);
	const size_t waits = sent[first].u.due_row.state == DUE_WAITING ? 0 : 1;

	ck_assert_uint_eq(sent[first + waits].u.due_row.state, DUE_WAITING);
	row(1 - waits, DUE_REFUSED, "HasFinalizers", 1);
	controller_delete(c, &p);
	controller_delete(c, &q);
	run_all();
	tell(false, 2);
	tell(true, 0);
}

/* Its time comes, and it will be left alone then. */
TEST(what_must_not_be_touched_does_not_wait)
{
	struct pod_facts p = pod_evicted();

	policy.duty[DUTY_EVICTED].hours_ms = 2 * (clock_wall_ms() - p.created);
	p.start_time = p.created;
	p.skip = true;
	(void)ready_one(p);
	tell(true, 1);
	row(0, DUE_REFUSED, "IgnoreAnnotation", 1);
}

TEST(a_healthy_pod_concerns_nobody)
{
	(void)ready_one(pod_healthy());
	tell(true, 0);
}

static void write_ends(enum outcome outcome, int64_t at)
{
	struct msg m = { .type = MSG_NOMINATION_RESULT };

	msg_copy_fields(&m, last(MSG_NOMINATE));
	m.u.nomination_result.outcome = outcome;
	m.u.nomination_result.at = at;
	controller_on_msg(c, &m);
	run_all();
}

/* From the event, not from the judgement, and until the worker was done, not until that was written down. */
TEST(a_write_is_timed)
{
	struct pod_facts p = pod_evicted();

	ready_with(NULL, 0);
	ck_assert_int_eq(controller_pod(c, &p), 0);
	clock_fake_advance(30);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	clock_fake_advance(500);
	write_ends(OUTCOME_DONE, clock_wall_ms() - 100);
	ck_assert_uint_eq(n_timed, 1);
	ck_assert_uint_eq(timed_us, 430000);
}

/* Neither is it since the event that what was blocked would have taken. */
TEST(a_wait_is_not_timed)
{
	policy.duty[DUTY_EVICTED].max_per_minute = 1;
	many(pod_evicted(), 2);
	write_ends(OUTCOME_DONE, clock_wall_ms());
	pass(60000);
	ck_assert_uint_eq(count(MSG_NOMINATE), 2);
	clock_fake_advance(20);
	write_ends(OUTCOME_DONE, clock_wall_ms());
	ck_assert_uint_eq(n_timed, 2);
	ck_assert_uint_eq(timed_us, 20000);
}

TEST_LOOP(nothing_written_is_nothing_timed, 0, 3)
{
	static const enum outcome outcomes[] = { OUTCOME_REFUSED, OUTCOME_UNCONFIRMED, OUTCOME_FAILED };

	(void)ready_one(pod_evicted());
	write_ends(outcomes[_i], clock_wall_ms());
	ck_assert_uint_eq(n_timed, 0);
}

/* Its controller looks within seconds, or is not at work. */
TEST(not_observed_is_asked_ever_more_seldom)
{
	uint64_t wait = 3 * S;

	(void)ready_one(pod_evicted());
	for (size_t round = 1; round < 7; round++, wait *= 2) {
		settle_with(OUTCOME_REFUSED, 3 * S, "NotObserved");
		nominated_after((int64_t)wait, round, round + 1);
	}
	for (size_t round = 7; round < 12; round++) {
		settle_with(OUTCOME_REFUSED, 3 * S, "NotObserved");
		pass(10 * MIN);
		ck_assert_uint_eq(count(MSG_NOMINATE), round + 1);
	}
}

TEST_MAIN("watcher/due")
{
	tcase_add_checked_fixture(t, begin, end);
}
