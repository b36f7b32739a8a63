/* test_ctl.c - a question to the instance ends within its time, however the answer comes. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <time.h>

#include "base/exit.h"
#include "cli/instance/ctl.h"
#include "tests/suite.h"
#include "tests/unit/cli/instance.h"

#define LIMIT_MS 200

static const struct msg question = { .type = MSG_CTL_SINKS };
static unsigned rows;

static void on_row(void *ctx, const struct msg *m)
{
	(void)ctx;
	rows += m->type == MSG_CTL_TEXT;
}

static void send_rows(const struct instance_call *call, unsigned n, long pause_ns)
{
	const struct msg row = { .type = MSG_CTL_TEXT };
	const struct timespec pause = { 0, pause_ns };

	for (unsigned i = 0; i < n; i++) {
		instance_send(call, &row);
		(void)nanosleep(&pause, NULL);
	}
	instance_end(call, 7);
}

static void answer_at_once(const struct instance_call *call, unsigned nth)
{
	(void)nth;
	send_rows(call, 3, 0);
}

/* A row well within the limit after each other, for ten times as long. */
static void answer_slowly(const struct instance_call *call, unsigned nth)
{
	(void)nth;
	send_rows(call, 40, LIMIT_MS / 4 * 1000000L);
}

/* The next row is always there already, for many times as long. */
static void answer_for_ever(const struct instance_call *call, unsigned nth)
{
	struct timespec begin, now;

	(void)nth;
	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		const struct msg row = { .type = MSG_CTL_TEXT };

		instance_send(call, &row);
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - begin.tv_sec < 5);
	instance_end(call, 7);
}

TEST(the_answer_of_the_instance_counts)
{
	char path[128];

	instance_start(path, 1, answer_at_once);
	ck_assert_int_eq(ctl_ask(path, &question, 20000, on_row, NULL), 7);
	ck_assert_uint_eq(rows, 3);
}

TEST(the_limit_is_of_the_whole_answer)
{
	static void (*const answers[])(const struct instance_call *, unsigned) = { answer_slowly,
										   answer_for_ever };

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		char path[128];

		instance_start(path, 1, answers[i]);
		ck_assert_int_eq(ctl_ask(path, &question, LIMIT_MS, on_row, NULL), EXIT_CODE_UNAVAILABLE);
	}
}

TEST(no_instance)
{
	ck_assert_int_eq(ctl_ask("/nowhere/control", &question, LIMIT_MS, on_row, NULL),
			 EXIT_CODE_UNAVAILABLE);
}

TEST_MAIN("cli/ctl")
{
	tcase_set_timeout(t, 60);
}
