/* test_crash_clock.c - since when a workload crashes: when that begins and ends, what is counted and measured
 * meanwhile, and which of its pods speak. */
// SPDX-License-Identifier: Apache-2.0
#include "harness.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

static int64_t at; /* by the clock of the test */

static void wait_for(int64_t ms)
{
	pass(ms);
	at += ms;
}

static void begin_all(void)
{
	begin();
	at = NOW;
	policy.duty[DUTY_CRASH_LOOP].hours_ms = HOUR;
}

/* Down after its n-th restart, its last run was `ran` long. */
static struct pod_facts down(struct pod_facts p, int32_t n, int64_t ran)
{
	struct container_facts *k = &p.containers[0];

	p.ready = false;
	k->state = CONTAINER_WAITING;
	k->reason = STR_LIT("CrashLoopBackOff");
	k->restarts = n;
	k->started_at = 0;
	k->last_finished_at = at;
	k->last_started_at = at - ran;
	return p;
}

static struct pod_facts up(struct pod_facts p, int32_t n, bool ready)
{
	struct container_facts *k = &p.containers[0];

	p.ready = ready;
	k->state = CONTAINER_RUNNING;
	k->reason = STR_LIT("");
	k->restarts = n;
	k->started_at = at;
	return p;
}

/* So long a crash every five minutes, Ready for `ready` ms of them. */
static void loop(const struct pod_facts *p, int32_t *n, int64_t ms, int64_t ready)
{
	for (int64_t spent = 0; spent < ms; spent += 5 * MIN) {
		struct pod_facts q = up(*p, ++*n, true);

		if (ready) {
			event(&q);
			wait_for(ready);
		}
		q = down(*p, *n, ready ? ready : S);
		event(&q);
		wait_for(5 * MIN - ready);
	}
}

/* The first that is seen of it is a pod that has restarted 100 times by then. */
TEST(restarts_before_it_was_seen_do_not_count)
{
	struct pod_facts p = down(pod_crashing(), 100, S), q;

	ready_with(&p, 1);
	wait_for(HOUR + MIN);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	q = down(p, 104, S);
	event(&q);
	wait_for(S);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	q = down(p, 105, S);
	event(&q);
	wait_for(S);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	ck_assert_int_eq(last(MSG_NOMINATE)->u.nominate.restarts_before, 100);
	ck_assert_int_eq(last(MSG_NOMINATE)->u.nominate.ready_ms, 0);
}

/* One that began before the fifth restart, and is told to the reporter with what was counted by then. */
TEST(it_begins_with_the_first_loop)
{
	struct pod_facts p = down(pod_crashing(), 1, S), q;

	ready_with(&p, 1);
	wait_for(HOUR - MIN);
	ck_assert_int_gt(last(MSG_FAILING_SINCE)->u.failing_since.at, 0);
	ck_assert_int_eq(last(MSG_FAILING_SINCE)->u.failing_since.restarts, 1);
	q = down(p, 6, S);
	event(&q);
	wait_for(30 * S);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	wait_for(31 * S);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

/* A replica that is killed once an hour serves. */
TEST(a_run_of_ten_minutes_begins_it_anew)
{
	struct pod_facts p = down(pod_crashing(), 1, S), q;
	int32_t n = 1;

	ready_with(&p, 1);
	for (int i = 0; i < 8; i++) {
		q = up(p, ++n, true);
		event(&q);
		wait_for(50 * MIN);
		q = down(p, n, 50 * MIN);
		event(&q);
		wait_for(5 * MIN);
	}
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	loop(&p, &n, HOUR + 5 * MIN, 0);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

/* The same without anybody having been there: the container's own times tell. */
TEST(a_long_run_that_nobody_saw)
{
	struct pod_facts p = down(pod_crashing(), 1, S), q;
	int32_t n = 1;

	ready_with(&p, 1);
	loop(&p, &n, 35 * MIN, 0);
	q = down(p, n + 6, 20 * MIN);
	q.containers[0].last_started_at -= MIN; /* it was over before this is heard */
	q.containers[0].last_finished_at -= MIN;
	event(&q);
	wait_for(50 * MIN);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
}

TEST(ready_for_a_tenth_works)
{
	struct pod_facts p = down(pod_crashing(), 1, S);
	int32_t n = 1;

	ready_with(&p, 1);
	loop(&p, &n, 3 * HOUR, 60 * S);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	ck_assert_str_eq(last(MSG_REFUSAL)->u.refusal.reason, "ReadyInBetween");
	ck_assert_int_gt(last(MSG_FAILING_SINCE)->u.failing_since.ready_ms, 6 * MIN);
	loop(&p, &n, 2 * HOUR, S); /* it is over with that */
	ck_assert_uint_ge(count(MSG_NOMINATE), 1);
	ck_assert_int_lt(last(MSG_NOMINATE)->u.nominate.ready_ms, 6 * MIN);
}

TEST(ready_for_a_moment_does_not)
{
	struct pod_facts p = down(pod_crashing(), 1, S);
	int32_t n = 1;

	ready_with(&p, 1);
	loop(&p, &n, HOUR + 5 * MIN, 10 * S);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	ck_assert_int_gt(last(MSG_NOMINATE)->u.nominate.ready_ms, MIN);
}

/* Another of its pods is Ready all the while, at last the whole loop begins anew. */
TEST(a_pod_that_is_ready_ends_it)
{
	struct pod_facts p = down(pod_crashing(), 1, S), other = sibling(&p, "web-b", UID_2), q;
	int32_t n = 1;

	ready_with(&p, 1);
	loop(&p, &n, HOUR / 2, 0);
	q = up(other, 0, true);
	event(&q);
	wait_for(20 * MIN);
	ck_assert_int_eq(last(MSG_FAILING_SINCE)->u.failing_since.at, 0);
	controller_delete(c, &q);
	loop(&p, &n, 55 * MIN, 0);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	loop(&p, &n, 10 * MIN, 0);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

/* Out of step, never all down in one instant. */
TEST(six_pods_out_of_step)
{
	static const char *const names_of[] = { "web-a", "web-b", "web-c", "web-d", "web-e" };
	static const char *const uids_of[] = { "0b8f0f3e-0000-4000-8000-0000000000a1",
					       "0b8f0f3e-0000-4000-8000-0000000000a2",
					       "0b8f0f3e-0000-4000-8000-0000000000a3",
					       "0b8f0f3e-0000-4000-8000-0000000000a4",
					       "0b8f0f3e-0000-4000-8000-0000000000a5" };
	struct pod_facts pods[6], q;

	pods[0] = down(pod_crashing(), 20, S);
	for (int i = 1; i < 6; i++)
		pods[i] = sibling(&pods[0], names_of[i - 1], uids_of[i - 1]);
	ready_with(pods, 6);
	for (int i = 0; i < 90; i++) {
		const int k = i % 6;

		q = down(pods[(k + 3) % 6], 20 + i / 6 + 1, 2 * MIN);
		event(&q);
		q = up(pods[k], 20 + i / 6 + 2, false);
		event(&q);
		wait_for(MIN);
	}
	ck_assert_uint_ge(count(MSG_NOMINATE), 1);
}

/* What was counted before a restart is counted after it. */
TEST(it_survives_a_restart)
{
	struct pod_facts p = down(pod_crashing(), 104, S), q;
	struct msg_failing_since_row row = { .duty = DUTY_CRASH_LOOP,
					     .at = NOW - 2 * HOUR,
					     .restarts = 100,
					     .ready_ms = 20 * MIN,
					     .ready_at = NOW };

	memcpy(row.owner, p.owner.uid.p, p.owner.uid.n);
	memcpy(row.revision, p.revision.p, p.revision.n);
	HEAR(FAILING_SINCE_ROW, failing_since_row, row);
	ready_with(&p, 1);
	wait_for(MIN);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	q = down(p, 105, S);
	event(&q);
	wait_for(MIN);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	ck_assert_str_eq(last(MSG_REFUSAL)->u.refusal.reason, "ReadyInBetween");
	wait_for(50 * MIN);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	ck_assert_int_eq(last(MSG_NOMINATE)->u.nominate.restarts_before, 100);
}

/* Its clock is two days old, and the program did not run: a pod that looped all the while has restarted many
 * times since; one that has hardly restarted rested, whatever its last run was. */
TEST_LOOP(a_rest_that_nobody_saw, 0, 3)
{
	struct pod_facts p = pod_crashing(), q;
	struct msg_failing_since_row row = { .duty = DUTY_CRASH_LOOP,
					     .at = NOW - 48 * HOUR,
					     .restarts = _i == 2 ? 5 : 100,
					     .ready_at = NOW - 47 * HOUR };

	memcpy(row.owner, p.owner.uid.p, p.owner.uid.n);
	memcpy(row.revision, p.revision.p, p.revision.n);
	p.created = _i == 2 ? NOW - 2 * HOUR : NOW - 50 * HOUR; /* of a younger one nothing follows */
	HEAR(FAILING_SINCE_ROW, failing_since_row, row);
	q = down(p, _i == 0 ? 106 : _i == 1 ? 600 : 12, S);
	ready_with(&q, 1);
	wait_for(MIN);
	ck_assert_uint_eq(count(MSG_NOMINATE), _i > 0);
	if (_i > 0)
		return;
	wait_for(HOUR);
	q = down(p, 118, S);
	event(&q);
	wait_for(S);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	ck_assert_int_eq(last(MSG_NOMINATE)->u.nominate.restarts_before, 106);
}

/* Never scheduled, it speaks for nobody; one that runs does. */
TEST(a_pod_that_proves_nothing_does_not_count)
{
	struct pod_facts p = pod_pull_failing(), silent = sibling(&p, "web-b", UID_2),
			 runs = sibling(&p, "web-c", UID_3), pods[2];

	silent.n_containers = 0;
	pods[0] = p;
	pods[1] = silent;
	ready_with(pods, 2);
	runs.phase = STR_LIT("Running");
	runs.containers[0].state = CONTAINER_RUNNING;
	runs.containers[0].reason = STR_LIT("");
	event(&runs);
	wait_for(2 * HOURS);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	controller_delete(c, &runs);
	wait_for(1);
	wait_for(HOURS + 1);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	ck_assert_ptr_nonnull(strstr(EN(last(MSG_NOMINATE)->u.nominate.evidence), "prove nothing 1"));
}

/* Neither duty takes the other's part. */
TEST(one_crashes_and_one_cannot_pull)
{
	struct pod_facts p = down(pod_crashing(), 5, S), pulls = pod_pull_failing(), other, q;

	other = sibling(&p, "web-b", UID_2);
	other.containers[0] = pulls.containers[0];
	q = p;
	ready_with((struct pod_facts[]){ p, other }, 2);
	for (int i = 0; i < 30; i++) {
		q = down(p, 6 + i, S);
		event(&q);
		wait_for(5 * MIN);
	}
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	ck_assert_str_eq(last(MSG_REFUSAL)->u.refusal.reason, "FailsInTwoWays");
}

TEST_MAIN("watcher/crash_clock")
{
	tcase_add_checked_fixture(t, begin_all, end);
}
