/* test_subreaper.c - the dead that a supervisor finds beside its own. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <sys/wait.h>
#include <unistd.h>

#include "world.h"

static pid_t dead_process(void)
{
	const pid_t pid = fork();
	siginfo_t si;

	if (pid == 0)
		_exit(0);
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT), 0);
	return pid;
}

static bool is_reaped(pid_t pid)
{
	siginfo_t si;

	return waitid(P_PID, (id_t)pid, &si, WEXITED | WNOHANG | WNOWAIT) < 0;
}

/* How a child of ours died is what its restart is decided by. */
TEST(strangers_are_reaped_and_our_own_dead_are_not)
{
	const pid_t stranger = dead_process(), ours = dead_process();

	w.o.worker_pid = ours;
	start_again();
	open_history();
	stage_pass(w.s, 1000);
	ck_assert(is_reaped(stranger));
	ck_assert(!is_reaped(ours));
	w.o.worker_pid = 0;
	start_again();
	open_history();
	stage_pass(w.s, 1000); /* it is nobody's now */
	ck_assert(is_reaped(ours));
}

TEST_MAIN("supervisor/subreaper")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
}
