/* test_control_socket.c - which messages may be sent over the read-only socket: those that only look. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "supervisor/operator/control_socket.h"
#include "tests/suite.h"

/* Of all that a command may send; what is new is refused until it has a row. */
TEST(only_what_looks_is_taken)
{
	static const enum msg_type looks[] = { MSG_CTL_STATUS,  MSG_CTL_SINKS, MSG_CTL_HISTORY,
					       MSG_CTL_SHOW,    MSG_CTL_PLAN,  MSG_CTL_EXPLAIN,
					       MSG_CTL_DRY_RUN, MSG_CTL_MARKED };

	for (int type = 0; type < MSG__MAX; type++) {
		const struct msg m = { .type = (enum msg_type)type, .u.ctl_report.ask = REPORT_ASK_TEST };
		bool expected = false;

		for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
			expected = expected || looks[i] == m.type;
		ck_assert_int_eq(control_only_reads(&m), expected);
	}
}

TEST(a_report_is_shown_and_not_sent)
{
	struct msg m = { .type = MSG_CTL_REPORT, .u.ctl_report.ask = REPORT_ASK_PREVIEW };

	ck_assert(control_only_reads(&m));
	m.u.ctl_report.ask = REPORT_ASK_NOW;
	ck_assert(control_only_reads(&m));
	m.u.ctl_report.ask = REPORT_ASK_TEST;
	ck_assert(!control_only_reads(&m));
}

/* A folder that is open to its group alone was made so; any other has no second socket. */
TEST_LOOP(which_folders_have_one, 0, 6)
{
	static const struct {
		mode_t mode;
		const char *socket;
		bool has;
	} cases[] = { { 0710, "control.sock", true },  { 0750, "control.sock", true },
		      { 0700, "control.sock", false }, { 0755, "control.sock", false },
		      { 0711, "control.sock", false }, { 0710, "c.sock", false } };
	char folder[SUITE_PATH_MAX];
	gid_t group = (gid_t)-1;

	suite_folder(folder);
	ck_assert_int_eq(chmod(folder, cases[_i].mode), 0);
	_cleanup_free_ char *path = xconcat(folder, "/", cases[_i].socket, NULL);
	_cleanup_free_ char *reader = control_socket_reader(path, &group);

	ck_assert_int_eq(reader != NULL, cases[_i].has);
	if (!reader)
		return;
	ck_assert_uint_eq(group, getegid());
	ck_assert_ptr_nonnull(strstr(reader, "/read.sock"));
}

SUITE("supervisor/control_socket");
