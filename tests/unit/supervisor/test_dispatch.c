/* test_dispatch.c - who gets a grant, for how long, and what becomes of a child that never answers. */
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "build_id.h"
#include "model/reasons.h"
#include "tests/unit/supervisor/dispatch_world.h"

#define GRANT_MS  UINT64_C(20000)
#define LEASE_MS  UINT64_C(30000)
#define LEADER_MS UINT64_C(15000) /* the longest Lease */

/* -- the end -- */

/* A scale-down may end with the deletion of its pod, which the watcher follows as any other. */
TEST(the_watcher_hears_that_its_pod_was_deleted)
{
	static const struct {
		uint64_t action;
		const char *target_uid;
		bool on_pod;
	} rows[] = { { ACTION_DELETE, "", true },
		     { ACTION_SCALE_DOWN, "workload", false },
		     { ACTION_SCALE_DOWN, "", false },
		     { ACTION_SCALE_DOWN, "uid-3", true } };

	begin(1, 1, false);
	struct child *worker = gets_ready(ROLE_WORKER, 0, 0), *watcher = child_of(ROLE_WATCHER, 0, 0);

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct msg m = { .type = MSG_NOMINATE,
				 .u.nominate = { .duty = rows[i].action == ACTION_DELETE ? DUTY_EVICTED
											 : DUTY_IMAGE_PULL,
						 .action = rows[i].action } };
		struct msg result = { .type = MSG_RESULT,
				      .u.result = { .id = i + 1, .outcome = OUTCOME_UNCONFIRMED } };
		struct msg_nominate *n = &m.u.nominate;

		(void)snprintf(n->uid, sizeof(n->uid), "uid-%u", i);
		(void)snprintf(n->action_key, sizeof(n->action_key), "uid-%u", i);
		strcpy(n->name, "pod");
		strcpy(n->ns, "default");
		strcpy(n->reason, "Evicted");
		strcpy(result.u.result.reason, "Evicted");
		strcpy(result.u.result.target_uid, rows[i].target_uid);
		dispatch_on_nominate(&supervisor, watcher, &m);
		is_written(i + 1);
		dispatch_on_result(&supervisor, worker, &result);
		dispatch_on_record_ack(&supervisor, child_of(ROLE_REPORTER, 0, 0),
				       &(struct msg){ .type = MSG_RECORD_ACK, .u.record_ack.id = i + 1 });
		ck_assert_uint_eq(was_sent(watcher, MSG_NOMINATION_RESULT, &m), i + 1);
		ck_assert_int_eq(m.u.nomination_result.on_pod, rows[i].on_pod);
		ck_assert_uint_eq(m.u.nomination_result.outcome, OUTCOME_UNCONFIRMED);
	}
}

/* -- leadership -- */

/* A write may start until the grant ends, and from the end of the Lease on another replica may write. */
TEST(a_grant_ends_with_the_lease_of_the_leader)
{
	begin(1, 1, true);
	struct child *worker = gets_ready(ROLE_WORKER, 0, 0);
	struct msg m;

	leads(0, true, NOW_MS + 7000);
	nominate(0, 1);
	is_written(1);
	ck_assert_uint_eq(was_sent(worker, MSG_GRANT, &m), 1);
	ck_assert_uint_eq(m.u.grant.valid_until, NOW_MS + 7000);
	leads(0, true, NOW_MS + 60000);
	nominate(0, 2);
	is_written(2);
	ck_assert_uint_eq(was_sent(worker, MSG_GRANT, &m), 2);
	ck_assert_uint_eq(m.u.grant.valid_until, NOW_MS + LEADER_MS); /* whatever a watcher says */
}

TEST(nothing_is_granted_without_the_lease_of_the_leader)
{
	begin(1, 1, true);
	struct child *worker = gets_ready(ROLE_WORKER, 0, 0);

	nominate(0, 1);
	is_written(1);
	ck_assert_uint_eq(was_sent(worker, MSG_GRANT, NULL), 0); /* nobody has said who leads */
	leads(0, false, NOW_MS + 60000);
	ck_assert_uint_eq(was_sent(worker, MSG_GRANT, NULL), 0);
	leads(0, true, NOW_MS); /* over already */
	ck_assert_uint_eq(was_sent(worker, MSG_GRANT, NULL), 0);
	leads(0, true, NOW_MS + 1);
	ck_assert_uint_eq(was_sent(worker, MSG_GRANT, NULL), 1);
}

/* -- holders -- */

TEST(an_overdue_holder_is_killed_and_its_death_releases)
{
	begin(1, 2, false);
	struct child *first = gets_ready(ROLE_WORKER, 0, 0), *second;
	struct msg m;

	nominate(0, 1);
	is_written(1);
	ck_assert_uint_eq(was_sent(first, MSG_GRANT, &m), 1);
	ck_assert_uint_eq(m.u.grant.valid_until, NOW_MS + GRANT_MS);
	second = gets_ready(ROLE_WORKER, 0, 1);
	clock_fake_advance(LEASE_MS);
	dispatch_tick(&supervisor, clock_boot_ms());
	ck_assert(!process_of(first)->killed); /* not a moment before */
	clock_fake_advance(1);
	dispatch_tick(&supervisor, clock_boot_ms());
	ck_assert(process_of(first)->killed);
	ck_assert_uint_eq(was_sent(second, MSG_GRANT, NULL), 0); /* time releases nothing */
	dies(first);
	ck_assert_uint_eq(was_sent(second, MSG_GRANT, &m), 1);
	ck_assert(m.u.grant.verify_first);
}

/* The first may have sent the DELETE, and each of the others have died over the look after it. */
TEST(what_every_worker_died_over_may_have_been_written)
{
	struct msg m;

	begin(1, 1, false);
	nominate(0, 1);
	is_written(1);
	for (int i = 0; i < 5; i++) {
		ck_assert_uint_eq(was_sent(NULL, MSG_RECORD, NULL), 0);
		dies(gets_ready(ROLE_WORKER, 0, 0));
		ck_assert_uint_eq(was_sent(NULL, MSG_GRANT, NULL), (size_t)i + 1);
	}
	ck_assert_uint_eq(was_sent(NULL, MSG_RECORD, &m), 1);
	ck_assert_uint_eq(m.u.record.outcome, OUTCOME_UNCONFIRMED);
	ck_assert_str_eq(m.u.record.reason, reason_code(REASON_WORKER_DIED));
}

/* -- clusters -- */

TEST(a_worker_works_for_its_own_cluster)
{
	begin(2, 1, false);
	struct child *other = gets_ready(ROLE_WORKER, 1, 0), *first;
	struct msg m;

	nominate(0, 1);
	is_written(1);
	ck_assert_uint_eq(was_sent(other, MSG_PREFETCH, NULL), 0);
	ck_assert_uint_eq(was_sent(other, MSG_GRANT, NULL), 0);
	nominate(1, 2);
	is_written(2);
	ck_assert_uint_eq(was_sent(other, MSG_GRANT, &m), 1);
	ck_assert_uint_eq(m.u.grant.id, 2);
	ck_assert_uint_eq(m.u.grant.cluster, 1);
	first = gets_ready(ROLE_WORKER, 0, 0);
	ck_assert_uint_eq(was_sent(first, MSG_GRANT, &m), 1);
	ck_assert_uint_eq(m.u.grant.id, 1);
	/* Nor does it end what is another's. */
	m = (struct msg){ .type = MSG_RESULT, .u.result = { .id = 1, .replicas = -1 } };
	strcpy(m.u.result.reason, "Evicted");
	says(other, &m);
	ck_assert(process_of(other)->killed);
	ck_assert_uint_eq(was_sent(NULL, MSG_RECORD, NULL), 0);
}

/* -- what ends a child -- */

TEST(a_child_of_another_build_is_killed)
{
	begin(1, 1, false);
	const struct child *worker = says_hello(ROLE_WORKER, 0, 0, "0.0.0-other");

	ck_assert(process_of(worker)->killed);
}

TEST(a_descriptor_that_rides_along_ends_its_sender)
{
	begin(1, 1, false);
	const struct child *worker = gets_ready(ROLE_WORKER, 0, 0);
	const struct spawned *p = process_of(worker)->process;
	const int fd = dup(STDERR_FILENO);

	p->ops->channel.on_msg(p->ctx, p->channel, &(struct msg){ .type = MSG_HEARTBEAT }, fd);
	ck_assert(process_of(worker)->killed);
	ck_assert_int_lt(fcntl(fd, F_GETFD), 0); /* and it is closed */
}

TEST(a_child_that_is_silent_is_killed)
{
	begin(1, 2, false);
	struct child *worker = gets_ready(ROLE_WORKER, 0, 0),
		     *slow = says_hello(ROLE_WORKER, 0, 1, OPC_BUILD_ID);

	clock_fake_advance(10000);
	child_tick(slow, clock_boot_ms());
	ck_assert(!process_of(slow)->killed);
	says(worker, &(struct msg){ .type = MSG_HEARTBEAT });
	clock_fake_advance(1);
	child_tick(slow, clock_boot_ms());
	ck_assert(process_of(slow)->killed); /* not READY in time */
	clock_fake_advance(19999);
	child_tick(worker, clock_boot_ms());
	ck_assert(!process_of(worker)->killed);
	clock_fake_advance(1);
	child_tick(worker, clock_boot_ms());
	ck_assert(process_of(worker)->killed);
}

/* It was stopped itself, with the machine or by its disk: what was said meanwhile is not read yet. */
TEST(a_child_is_not_silent_while_the_supervisor_stands_still)
{
	begin(1, 1, false);
	const struct child *worker = gets_ready(ROLE_WORKER, 0, 0);
	struct child *c = child_of(ROLE_WORKER, 0, 0);

	clock_fake_advance(3600000);
	child_excuse(c, 3599000, clock_boot_ms());
	child_tick(c, clock_boot_ms());
	ck_assert(!process_of(worker)->killed);
	says(worker, &(struct msg){ .type = MSG_HEARTBEAT });
	child_excuse(c, 5000, clock_boot_ms()); /* what came a moment ago came no later */
	child_tick(c, clock_boot_ms());
	ck_assert(!process_of(worker)->killed);
	clock_fake_advance(20001);
	child_tick(c, clock_boot_ms());
	ck_assert(process_of(worker)->killed);
}

/* -- room -- */

TEST(leases_have_an_end)
{
	begin(1, 1, false);
	struct child *watcher = child_of(ROLE_WATCHER, 0, 0);
	struct msg m;

	for (unsigned i = 0; i <= LEASES_MAX; i++)
		nominate(0, i);
	ck_assert_uint_le(lease_table_count(supervisor.leases), LEASES_MAX);
	ck_assert_uint_ge(was_sent(watcher, MSG_NOMINATION_RESULT, &m), 1);
	ck_assert_uint_eq(m.u.nomination_result.outcome, OUTCOME_REFUSED);
	ck_assert_str_eq(m.u.nomination_result.reason, reason_code(REASON_BUSY));
	ck_assert_uint_gt(m.u.nomination_result.retry_ms, 0);
}

/* Whoever nominates what is never written: 8192 at once, then a hundred a second. */
TEST(what_writes_nothing_has_a_rate)
{
	begin(2, 1, false);
	struct child *watcher = child_of(ROLE_WATCHER, 0, 0), *worker = gets_ready(ROLE_WORKER, 0, 0);
	const struct lease_end {
		uint64_t outcome;
		size_t opened;
	} rows[] = {
		{ OUTCOME_REFUSED, LEASES_MAX }, { OUTCOME_REFUSED, 100 }, /* a second later */
		{ OUTCOME_DONE, 3000 }, /* after a long time; such can go on and on */
		{ OUTCOME_DONE, 3000 },          { OUTCOME_DONE, 3000 },   { OUTCOME_DONE, 3000 },
	};
	uint64_t id = 0;

	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		const size_t n = rows[row].outcome == OUTCOME_DONE ? 3000 : LEASES_MAX + 100;
		const uint64_t before = id;

		for (size_t i = 0; i < n; i++) {
			const size_t refused = was_sent(watcher, MSG_NOMINATION_RESULT, NULL);

			nominate(0, (unsigned)i);
			if (was_sent(watcher, MSG_NOMINATION_RESULT, NULL) == refused)
				ends(worker, ++id, rows[row].outcome);
			forget();
		}
		ck_assert_uint_eq(id - before, rows[row].opened);
		nominate(1, 1); /* another cluster has its own */
		ck_assert_uint_eq(was_sent(NULL, MSG_INTENT, NULL), row == 0);
		if (row == 0)
			id++;
		forget();
		clock_fake_advance(row == 0 ? 1000 : row == 1 ? 3600000 : 0);
	}
}

/* A cluster with a storm: its INTENTs go out as others come back, and those of another cluster between them.
 */
TEST(intents_of_a_storm_take_turns)
{
	begin(2, 1, false);
	struct child *reporter = child_of(ROLE_REPORTER, 0, 0);
	struct msg m;

	for (unsigned key = 0; key < 2 * INTENTS_SENT_MAX; key++)
		nominate(0, key);
	ck_assert_uint_eq(was_sent(reporter, MSG_INTENT, NULL), INTENTS_SENT_MAX);
	nominate(1, 1);
	ck_assert_uint_eq(was_sent(reporter, MSG_INTENT, &m), INTENTS_SENT_MAX + 1);
	ck_assert_uint_eq(m.u.intent.cluster, 1);
	for (uint64_t id = 1; id <= INTENTS_SENT_MAX; id++) {
		is_written(id);
		ck_assert_uint_eq(was_sent(reporter, MSG_INTENT, &m), INTENTS_SENT_MAX + 1 + id);
		ck_assert_uint_eq(m.u.intent.id, INTENTS_SENT_MAX + id);
	}
	forget();
	dispatch_on_reporter_ready(
		&supervisor); /* a new one, which knows none of those that were not acknowledged */
	ck_assert_uint_eq(was_sent(reporter, MSG_INTENT, NULL), INTENTS_SENT_MAX + 1);
}

TEST(a_duty_that_is_off_is_not_nominated_for)
{
	begin(1, 1, false);
	struct msg m;

	root.generation->all.duties = ~(UINT64_C(1) << DUTY_EVICTED);
	nominate(0, 1);
	ck_assert_uint_eq(was_sent(NULL, MSG_INTENT, NULL), 0);
	ck_assert_uint_eq(was_sent(child_of(ROLE_WATCHER, 0, 0), MSG_NOMINATION_RESULT, &m), 1);
	ck_assert_str_eq(m.u.nomination_result.reason, "DutyDisabled");
	root.generation->all.duties = UINT64_C(1) << DUTY_EVICTED;
	nominate(0, 1);
	ck_assert_uint_eq(was_sent(NULL, MSG_INTENT, NULL), 1);
}

/* New settings have it no more: what waits and nobody has begun is ended with its reason, what is at work
 * goes on, nothing is taken any more. The other cluster goes on. */
TEST(a_cluster_that_leaves_begins_nothing)
{
	struct msg m;

	begin(2, 1, false);
	struct child *worker = gets_ready(ROLE_WORKER, 0, 0), *other = gets_ready(ROLE_WORKER, 1, 0);

	for (unsigned key = 1; key <= WORKER_LEASES_MAX + 1; key++) {
		nominate(0, key);
		is_written(key);
	}
	ck_assert_uint_eq(was_sent(worker, MSG_GRANT, &m), WORKER_LEASES_MAX);
	root.leaving = 1;
	forget();
	dispatch_tick(&supervisor, NOW_MS);
	ck_assert_uint_eq(was_sent(NULL, MSG_RECORD, &m), 1);
	ck_assert_uint_eq(m.u.record.id, WORKER_LEASES_MAX + 1);
	ck_assert_str_eq(m.u.record.reason, "ClusterRemoved");
	ck_assert_uint_eq(lease_table_count_of(supervisor.leases, 0), WORKER_LEASES_MAX + 1);
	nominate(0, 100);
	ck_assert_uint_eq(was_sent(child_of(ROLE_WATCHER, 0, 0), MSG_NOMINATION_RESULT, &m), 1);
	ck_assert_str_eq(m.u.nomination_result.reason, "Busy");
	ends(worker, 1, OUTCOME_DONE);
	ck_assert_uint_eq(was_sent(worker, MSG_GRANT, NULL), 0);
	nominate(1, 200);
	is_written(WORKER_LEASES_MAX + 2);
	ck_assert_uint_eq(was_sent(other, MSG_GRANT, NULL), 1);
}

TEST_MAIN("supervisor/dispatch")
{
	tcase_add_checked_fixture(t, NULL, tear_down);
}
