/* test_worker_pool.c - which workers run, and which of them act. */
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "build_id.h"
#include "model/reasons.h"
#include "supervisor/actions/dry_run.h"
#include "supervisor/actions/worker_pool.h"
#include "tests/unit/supervisor/dispatch_world.h"

static void begin_on_demand(uint64_t least, uint64_t most)
{
	begin_with(1, least, most, false);
	for (uint64_t i = least; i < most; i++)
		child_event(child_of(ROLE_WORKER, 0, i), FSM_EV_REST);
}

static struct child *becomes_ready(struct child *c)
{
	struct msg hello = { .type = MSG_HELLO, .u.hello = { .proto = IPC_PROTO, .pid = 1 } };

	ck_assert_int_eq(child_info(c)->state, FSM_STARTING);
	msg_set(&hello, hello.build, OPC_BUILD_ID, strlen(OPC_BUILD_ID));
	says(c, &hello);
	says(c, &(struct msg){ .type = MSG_READY, .u.ready.generation = 1 });
	worker_pool_on_ready(&supervisor, c);
	return c;
}

static unsigned count_in(enum fsm_state state)
{
	unsigned n = 0;

	for (size_t i = 0; i < children_count(root.children); i++)
		n += child_info(children_get(root.children, i))->state == state;
	return n;
}

/* Its start and the write of the intent go side by side. */
TEST(the_first_nomination_starts_one_worker)
{
	begin_on_demand(0, 8);
	ck_assert_uint_eq(count_in(FSM_RESTING), 8);
	nominate(0, 1);
	ck_assert_uint_eq(count_in(FSM_STARTING), 1);
	is_written(1);
	ck_assert_uint_eq(was_sent(becomes_ready(child_of(ROLE_WORKER, 0, 0)), MSG_GRANT, NULL), 1);
	for (unsigned i = 2; i < 100; i++)
		nominate(0, i);
	/* No more than processors, however much there is to do. */
	ck_assert_uint_eq(count_in(FSM_STARTING) + 1, (unsigned)sysconf(_SC_NPROCESSORS_ONLN) < 8
							      ? (unsigned)sysconf(_SC_NPROCESSORS_ONLN)
							      : 8);
}

TEST(who_has_nothing_to_do_rests_after_five_minutes)
{
	begin_on_demand(1, 3);
	struct child *always = gets_ready(ROLE_WORKER, 0, 0), *w;

	for (unsigned i = 1; i <= 8; i++)
		nominate(0, i);
	w = becomes_ready(child_of(ROLE_WORKER, 0, 1));
	forget();
	for (unsigned i = 0; i < 299; i++) {
		clock_fake_advance(1000);
		dispatch_tick(&supervisor, clock_boot_ms());
	}
	ck_assert_int_eq(child_info(w)->state, FSM_READY);
	clock_fake_advance(1000);
	dispatch_tick(&supervisor, clock_boot_ms());
	ck_assert_int_eq(child_info(w)->state, FSM_LEAVING);
	ck_assert_int_eq(child_info(always)->state, FSM_READY);
	ck_assert_uint_eq(was_sent(w, MSG_DRAIN, NULL), 1);
	const struct spawned *p = process_of(w)->process;

	p->ops->on_death(p->ctx, &(siginfo_t){ .si_code = CLD_EXITED, .si_status = 0 });
	ck_assert_int_eq(child_info(w)->state, FSM_RESTING);
	struct msg stats;

	child_stats(w, &stats);
	ck_assert_uint_eq(stats.u.child_stats.restarts, 0); /* it is no failure */
}

/* A run of all ticks takes a moment, for which its time is too old. */
TEST(what_was_given_during_a_tick_is_not_overdue)
{
	struct msg question = { .type = MSG_CTL_DRY_RUN,
				.u.ctl_dry_run = { .id = 7, .duty = DUTY_EVICTED, .action = ACTION_DELETE } };
	struct msg intent;

	begin_on_demand(0, 1);
	supervisor.idle = dry_run_on_idle;
	nominate(0, 1);
	ck_assert_uint_eq(was_sent(NULL, MSG_INTENT, &intent), 1);
	msg_copy_fields(&question, &intent);
	struct child *w = becomes_ready(child_of(ROLE_WORKER, 0, 0));

	dry_run_on_ctl_dry_run(&supervisor, &question);
	ck_assert_uint_eq(was_sent(w, MSG_CTL_DRY_RUN, NULL), 1);
	dry_run_tick(&supervisor, clock_boot_ms() - 1);
	ck_assert(!process_of(w)->killed);
	worker_pool_tick(&supervisor, clock_boot_ms() - 1);
	ck_assert_int_eq(child_info(w)->state, FSM_READY);
	clock_fake_advance(30001);
	dry_run_tick(&supervisor, clock_boot_ms());
	ck_assert(process_of(w)->killed);
}

/* Two workers' settings that only a late start meets do not end those that run. */
TEST(a_late_worker_that_cannot_start_ends_nobody)
{
	begin_on_demand(0, 1);
	nominate(0, 1);
	const struct spawned *p = process_of(child_of(ROLE_WORKER, 0, 0))->process;

	p->ops->on_death(p->ctx, &(siginfo_t){ .si_code = CLD_EXITED, .si_status = 78 });
	ck_assert_int_eq(child_info(child_of(ROLE_WORKER, 0, 0))->state, FSM_BACKOFF);
}

static const struct child *asked;
static unsigned n_asked;

static void deliver(struct supervisor *s, struct child *worker, const struct msg *m)
{
	(void)s;
	ck_assert_int_eq(m->type, MSG_INSPECT);
	asked = worker;
	n_asked++;
}

static struct msg inspection(void)
{
	struct msg m = { .type = MSG_INSPECT, .u.inspect.inspection = 1 };

	msg_set(&m, inspect.ns, "shop", 4);
	msg_set(&m, inspect.pod, "web", 3);
	msg_set(&m, inspect.container, "app", 3);
	return m;
}

TEST(questions_wait_for_the_first_worker)
{
	begin_on_demand(0, 2);
	const struct msg m = inspection();

	n_asked = 0;
	worker_pool_ask(&supervisor, 0, &m, deliver);
	worker_pool_ask(&supervisor, 0, &m, deliver);
	ck_assert_uint_eq(n_asked, 0);
	const struct child *w = becomes_ready(child_of(ROLE_WORKER, 0, 0));

	ck_assert_uint_eq(n_asked, 2);
	ck_assert_ptr_eq(asked, w);
	worker_pool_ask(&supervisor, 0, &m, deliver); /* at once */
	ck_assert_uint_eq(n_asked, 3);
}

TEST(questions_end_where_no_worker_starts)
{
	begin_on_demand(0, 1);
	const struct msg m = inspection();

	n_asked = 0;
	worker_pool_ask(&supervisor, 0, &m, deliver);
	clock_fake_advance(9999);
	dispatch_tick(&supervisor, clock_boot_ms());
	ck_assert_uint_eq(n_asked, 0);
	clock_fake_advance(1);
	dispatch_tick(&supervisor, clock_boot_ms());
	ck_assert_uint_eq(n_asked, 1);
	ck_assert_ptr_null(asked);
}

/* A server that answers 429 gets half as many at once, and those beyond take nothing more. */
TEST(a_throttled_cluster_uses_fewer_workers)
{
	begin_on_demand(0, 2);
	for (unsigned i = 1; i <= 8; i++)
		nominate(0, i);
	struct child *first = becomes_ready(child_of(ROLE_WORKER, 0, 0)),
		     *second = becomes_ready(child_of(ROLE_WORKER, 0, 1));

	ck_assert(worker_pool_may_act(&supervisor, second));
	dispatch_tick(&supervisor, clock_boot_ms());
	worker_pool_note_end(&supervisor, 0, 5, 429);
	clock_fake_advance(1000);
	dispatch_tick(&supervisor, clock_boot_ms());
	ck_assert(worker_pool_may_act(&supervisor, first));
	ck_assert(!worker_pool_may_act(&supervisor, second));
	is_written(1);
	ck_assert_uint_eq(was_sent(first, MSG_GRANT, NULL), 1);
	is_written(2);
	ck_assert_uint_eq(was_sent(second, MSG_GRANT, NULL), 0);
}

TEST_MAIN("supervisor/worker_pool")
{
	tcase_add_checked_fixture(t, NULL, tear_down);
}
