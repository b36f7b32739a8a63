/* test_answers.c - answers that another replica recorded are those that it got; what is cut off is said. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "cli/instance/answers.h"
#include "cli/instance/ctl.h"
#include "tests/suite.h"

#define NOW_MS UINT64_C(1000000)
#define ROWS   3

static char folder[SUITE_PATH_MAX], path[SUITE_PATH_MAX + 16];

static struct msg leader(bool leading, uint64_t valid_until)
{
	struct msg m = { .type = MSG_LEADER, .u.leader = { .leading = leading, .valid_until = valid_until } };

	msg_set(&m, leader.holder, "a-1_7", 5);
	return m;
}

/* As `status --answers` prints them to a file, behind the lines of kubectl-ops_pod_cleaner. */
static void record(void)
{
	const struct msg rows[ROWS] = { leader(true, NOW_MS + 1),
					leader(true, NOW_MS),
					{ .type = MSG_CTL_END, .u.ctl_end.code = 3 } };

	clock_fake_set(1700000000000, NOW_MS);
	suite_folder(folder);
	(void)snprintf(path, sizeof(path), "%s/answers", folder);
	ck_assert_ptr_nonnull(freopen(path, "we", stdout));
	printf("ops-pod-cleaner replica a-0\nops-pod-cleaner replica a-1\n");
	(void)fflush(stdout);
	answers_record();
	for (size_t i = 0; i < ROWS; i++)
		answers_keep(&rows[i]);
	ck_assert(answers_are_joined());
	printf("not for another program\n");
	ck_assert_int_eq(answers_print(), 0);
	answers_keep(&rows[0]); /* no more */
}

static int read_them(void)
{
	FILE *f = fopen(path, "re");

	ck_assert_ptr_nonnull(f);
	const int code = answers_read(f);

	(void)fclose(f);
	return code;
}

/* CLOCK_BOOTTIME is another one where they are read. */
TEST(are_read_as_they_were_recorded)
{
	struct msg m;

	record();
	ck_assert_int_eq(read_them(), EXIT_CODE_OK);
	clock_fake_set(1700000000000, 5 * NOW_MS);
	ck_assert_uint_eq(answers_count(), 1);
	ck_assert_str_eq(answers_replica(0), "a-0");
	ck_assert_str_eq(answers_socket("/run/s", 0), "/run/s");
	ck_assert_str_eq(answers_socket("/run/s", 1), "a-1");
	ck_assert_ptr_null(answers_socket("/run/s", 2));
	ck_assert_ptr_null(answers_find("a-1")); /* a path of that name */
	struct answers *a = answers_find(answers_socket(NULL, 1));

	ck_assert_int_eq(answers_next(a, &m), 0);
	ck_assert(m.u.leader.leading && m.u.leader.valid_until > 5 * NOW_MS);
	ck_assert_str_eq(m.u.leader.holder, "a-1_7");
	ck_assert_int_eq(answers_next(a, &m), 0);
	ck_assert(!m.u.leader.leading);
	ck_assert_int_eq(answers_next(a, &m), 0);
	ck_assert_uint_eq(m.u.ctl_end.code, 3);
	ck_assert_int_eq(answers_next(a, &m), -ENODATA);
}

TEST(are_asked_as_an_instance)
{
	const struct msg ask = { .type = MSG_CTL_STATUS };

	record();
	ck_assert_int_eq(read_them(), EXIT_CODE_OK);
	ck_assert_int_eq(ctl_ask(answers_socket(NULL, 1), &ask, 1000, NULL, NULL), 3);
	ck_assert_int_eq(ctl_ask(answers_socket(NULL, 1), &ask, 1000, NULL, NULL), EXIT_CODE_UNAVAILABLE);
}

static const struct {
	const char *text;
	size_t cut; /* bytes off the end of what is recorded, where there is no text */
	int code;
	size_t count;
} streams[] = {
	{ "", 0, EXIT_CODE_USAGE, 0 },
	{ "replica a-0\n", 0, EXIT_CODE_USAGE, 0 },
	{ "ops-pod-cleaner replica a-0\n", 0, EXIT_CODE_OK, 0 },
	{ "ops-pod-cleaner replica a-0\nops-pod-cleaner answers 1 0\n", 0, EXIT_CODE_OK, 0 },
	{ "ops-pod-cleaner replica a-0\nops-pod-cleaner replica a-1\n", 0, EXIT_CODE_UNAVAILABLE, 0 },
	{ "ops-pod-cleaner replica a-0\nops-pod-cleaner replica a-1\nops-pod-cleaner replica a-2\n"
	  "ops-pod-cleaner answers 1 2\nxy",
	  0, EXIT_CODE_UNAVAILABLE, 1 },
	{ "ops-pod-cleaner replica a-0\nops-pod-cleaner replica a-1\nops-pod-cleaner answers 2 2\nxy", 0,
	  EXIT_CODE_UNAVAILABLE, 0 },
	{ "ops-pod-cleaner replica a-0\nops-pod-cleaner replica a-1\nops-pod-cleaner answers 1 "
	  "99999999999999\n",
	  0, EXIT_CODE_UNAVAILABLE, 0 },
	{ NULL, 0, EXIT_CODE_OK, 1 },
	{ NULL, 1, EXIT_CODE_UNAVAILABLE, 0 },
	{ NULL, 40, EXIT_CODE_UNAVAILABLE, 0 },
};

TEST_LOOP(what_is_missing_is_said, 0, ARRAY_SIZE(streams))
{
	if (streams[_i].text) {
		suite_folder(folder);
		(void)snprintf(path, sizeof(path), "%s/answers", folder);
		free(suite_file(folder, "answers", streams[_i].text));
	} else {
		record();
		const int fd = open(path, O_WRONLY | O_CLOEXEC);

		ck_assert_int_eq(ftruncate(fd, lseek(fd, 0, SEEK_END) - (off_t)streams[_i].cut), 0);
		(void)close(fd);
	}
	ck_assert_int_eq(read_them(), streams[_i].code);
	ck_assert_uint_eq(answers_count(), streams[_i].count);
}

TEST(what_cannot_be_decoded_is_an_error)
{
	struct msg m;

	suite_folder(folder);
	(void)snprintf(path, sizeof(path), "%s/answers", folder);
	free(suite_file(
		folder, "answers",
		"ops-pod-cleaner replica a-0\nops-pod-cleaner replica a-1\nops-pod-cleaner answers 1 2\nxy"));
	ck_assert_int_eq(read_them(), EXIT_CODE_OK);
	ck_assert_int_eq(answers_next(answers_find(answers_socket(NULL, 1)), &m), -EBADMSG);
}

/* An eighth other replica is the last one. */
TEST(not_more_than_can_share)
{
	char text[1024] = "";

	for (int i = 0; i < 10; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
			       "ops-pod-cleaner replica a-%d\n%s", i,
			       i ? "ops-pod-cleaner answers 1 0\n" : "");
	suite_folder(folder);
	(void)snprintf(path, sizeof(path), "%s/answers", folder);
	free(suite_file(folder, "answers", text));
	(void)read_them();
	ck_assert_uint_eq(answers_count(), ANSWERS_MAX);
}

TEST_MAIN("cli/answers")
{
	tcase_add_checked_fixture(t, NULL, clock_fake_clear);
}
