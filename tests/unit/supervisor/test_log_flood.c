/* test_log_flood.c - what a child says, without end, does not fill the log: whatever line its messages lead
 * to, it has a quota, and how many were left out is told. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "supervisor/actions/end_log.h"
#include "world.h"
#include "tests/facts_en.h"

static int file = -1, standard_error = -1;

static void begin(void)
{
	set_up();
	file = memfd_create("log", MFD_CLOEXEC);
	standard_error = dup(STDERR_FILENO);
	ck_assert_int_ge(dup2(file, STDERR_FILENO), 0);
	open_history(); /* all children run */
	stage_pass(w.s, 10000);
	log_set_level(LOG_LEVEL_INFO);
}

static void end(void)
{
	(void)dup2(standard_error, STDERR_FILENO);
	(void)close(standard_error);
	(void)close(file);
	tear_down();
}

/* Of the log so far. */
static size_t lines_with(const char *text)
{
	static char all[4 << 20];
	const ssize_t len = pread(file, all, sizeof(all) - 1, 0);
	size_t n = 0;

	ck_assert_int_ge(len, 0);
	all[len] = '\0';
	for (const char *p = all; (p = strstr(p, text)); p++)
		n++;
	return n;
}

static void flood(enum role role, const struct msg *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		say(role, m);
}

TEST_LOOP(a_flood_ends_at_its_quota_and_is_counted, 0, 3)
{
	static const enum role roles[] = { ROLE_REPORTER, ROLE_WATCHER, ROLE_WORKER };
	const struct msg drained = { .type = MSG_DRAINED, .u.drained.left = 1 };

	flood(roles[_i], &drained, 3 * LOG_QUOTA_BURST);
	ck_assert_uint_eq(lines_with("gave up what it had left"), LOG_QUOTA_BURST);
	for (int i = 0; i < 10; i++)
		stage_pass(w.s, 1000);
	ck_assert_uint_eq(lines_with("\"lines_left_out\":400"), 1);
	flood(roles[_i], &drained, LOG_QUOTA_BURST);
	ck_assert_uint_eq(lines_with("gave up what it had left"), LOG_QUOTA_BURST + 10);
	ck_assert_uint_eq(lines_with("lines_left_out"), 1); /* once a minute */
	ck_assert_uint_eq(stage_lives(w.s, roles[_i], 0), 1);
}

/* Another one's lines are its own affair, and a kill is told however much was told before. */
TEST(a_flood_hides_nothing_of_others_and_no_kill)
{
	const struct msg drained = { .type = MSG_DRAINED, .u.drained.left = 1 };
	struct msg restore = nomination(1);

	restore.u.nominate.action = ACTION_RESTORE;
	flood(ROLE_WATCHER, &drained, 2 * LOG_QUOTA_BURST);
	say(ROLE_WORKER, &drained);
	ck_assert_uint_eq(lines_with("gave up what it had left"), LOG_QUOTA_BURST + 1);
	say(ROLE_WATCHER, &restore);
	ck_assert_uint_eq(lines_with("it broke the protocol"), 1);
}

/* They are looked at once a second, so each could have a line a second. */
TEST(troubles_that_come_and_go_have_a_quota)
{
	static const struct {
		enum role role;
		enum trouble trouble;
	} all[] = { { ROLE_WATCHER, TROUBLE_LEASE },
		    { ROLE_WATCHER, TROUBLE_ANOTHER_INSTANCE },
		    { ROLE_WORKER, TROUBLE_EVENTS } };

	for (unsigned i = 0; i < 400; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(all); k++) {
			struct msg m = { .type = MSG_TROUBLE, .u.trouble.trouble = all[k].trouble };

			if (i % 2)
				m.u.trouble.particulars = quoting("x");
			say(all[k].role, &m);
		}
		stage_pass(w.s, 1000);
	}
	ck_assert_uint_gt(lines_with("\"trouble\":"), LOG_QUOTA_BURST);
	ck_assert_uint_lt(lines_with("\"trouble\":"), LOG_QUOTA_BURST + 450);
	ck_assert_uint_ge(lines_with("more troubles come and go"), 1);
}

/* What ended with nothing to do is counted, what was written has its line. */
TEST(ends_without_a_write_are_summed)
{
	for (unsigned i = 1; i <= 9; i++) {
		nominate(i);
		acknowledge(i);
		end_lease(i, i % 3 == 0 ? OUTCOME_DONE : i % 3 == 1 ? OUTCOME_REFUSED : OUTCOME_GONE);
	}
	ck_assert_uint_eq(lines_with("action ended"), 3);
	stage_pass(w.s, END_LOG_SUM_MS);
	ck_assert_uint_eq(lines_with("\"refused\":3,\"gone\":3,\"conflict\":0"), 1);
	stage_pass(w.s, END_LOG_SUM_MS);
	ck_assert_uint_eq(lines_with("actions ended"), 1);
}

/* A log that one cluster fills shows what the others wrote. */
TEST(failures_have_a_quota_and_writes_have_none)
{
	for (unsigned i = 1; i <= 2 * LOG_QUOTA_BURST; i++) {
		nominate(i);
		acknowledge(i);
		end_lease(i, i > LOG_QUOTA_BURST + 50 ? OUTCOME_DONE : OUTCOME_FAILED);
	}
	ck_assert_uint_eq(lines_with("\"outcome\":\"failed\""), LOG_QUOTA_BURST);
	ck_assert_uint_eq(lines_with("\"outcome\":\"done\""), LOG_QUOTA_BURST - 50);
	stage_pass(w.s, END_LOG_SUM_MS);
	ck_assert_uint_eq(lines_with("\"lines_left_out\":50"), 1);
}

TEST_MAIN("supervisor/log_flood")
{
	tcase_add_checked_fixture(t, begin, end);
}
