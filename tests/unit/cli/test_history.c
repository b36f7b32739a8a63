/* test_history.c - `history --follow` prints each change of each action once, and nothing that was not asked
 * for. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/cleanup.h"
#include "cli/commands/command.h"
#include "cli/view/output.h"
#include "tests/suite.h"
#include "tests/unit/cli/instance.h"

#define QUESTIONS 4

/* An action: when it began, before the test; the questions from which on it is in the history, and has ended.
 */
static const struct action {
	uint64_t id;
	int64_t minutes_ago;
	unsigned begun, ended;
} actions[] = {
	{ 1, 60, 0, 3 }, /* open for long: its worker died, and it waits for the end of a pause */
	{ 2, 10, 0, 0 }, { 3, 1, 0, 2 }, { 4, 0, 2, 3 }, { 5, 0, 3, QUESTIONS },
};

static int64_t begin_ms;

static void send_action(const struct instance_call *call, const struct action *a, bool ended)
{
	struct msg m = { .type = MSG_CTL_HISTORY_ROW,
			 .u.ctl_history_row = { .id = a->id,
						.intent_at = begin_ms - a->minutes_ago * MINUTE_MS,
						.result_at = ended ? begin_ms : 0,
						.outcome = ended ? OUTCOME_DONE : OUTCOME_OPEN,
						.replicas = -1 } };

	msg_set(&m, ctl_history_row.cluster_name, "c", 1);
	msg_set(&m, ctl_history_row.ns, "shop", 4);
	msg_set(&m, ctl_history_row.name, "web", 3);
	msg_set(&m, ctl_history_row.uid, "u", 1);
	msg_set(&m, ctl_history_row.reason, "Evicted", 7);
	instance_send(call, &m);
}

/* As the reporter: newest first, by when they began. */
static void answer(const struct instance_call *call, unsigned nth)
{
	const struct msg_ctl_history *asked = &call->request.u.ctl_history;
	uint64_t left = asked->limit;

	for (size_t i = ARRAY_SIZE(actions); i-- > 0 && left > 0;) {
		const struct action *a = &actions[i];

		const bool ended = nth >= a->ended, changed = asked->changed && ended;

		if (nth < a->begun || (!changed && begin_ms - a->minutes_ago * MINUTE_MS < asked->since) ||
		    !(asked->outcomes >> (ended ? (int)OUTCOME_DONE : (int)OUTCOME__MAX) & 1))
			continue;
		send_action(call, a, ended);
		left--;
	}
	instance_end(call, EXIT_CODE_OK);
}

/* "ID OUTCOME; " of each line of the file. */
static void read_rows(const char *path, char ret[static 512])
{
	char line[1024];
	FILE *f = fopen(path, "re");

	ck_assert_ptr_nonnull(f);
	for (size_t n = 0; fgets(line, sizeof(line), f);) {
		unsigned id = 0;
		char outcome[16] = "";

		ck_assert_int_eq(sscanf(line, "{\"id\":%u", &id), 1);
		ck_assert_int_eq(sscanf(strstr(line, "\"outcome\":"), "\"outcome\":\"%15[a-z]", outcome), 1);
		n += (size_t)snprintf(ret + n, 512 - n, "%u %s; ", id, outcome);
	}
	(void)fclose(f);
}

static const struct {
	int64_t minutes, count; /* --since and -n, 0 = not written */
	int64_t outcome;        /* -2 = not written */
	const char *rows;
} cases[] = {
	{ 0, 0, -2, "1 open; 2 done; 3 open; 3 done; 4 open; 1 done; 4 done; 5 open; " },
	{ 5, 0, -2, "3 open; 3 done; 4 open; 4 done; 5 open; " },
	{ 0, 1, -2, "3 open; 3 done; 4 open; 1 done; 4 done; 5 open; " },
	{ 0, 0, OUTCOME_DONE, "2 done; 3 done; 1 done; 4 done; " },
	{ 5, 0, OUTCOME_DONE, "3 done; 4 done; " },
};

TEST_LOOP(what_is_followed_is_printed_once, 0, ARRAY_SIZE(cases))
{
	struct options o = { .output = OUTPUT_JSON, .follow = 1, .duty = -1, .by = -1 };
	char path[128], folder[SUITE_PATH_MAX], rows[512] = "";

	begin_ms = clock_wall_ms();
	o.since_ms = cases[_i].minutes ? begin_ms - cases[_i].minutes * MINUTE_MS : 0;
	o.count = cases[_i].count;
	o.outcome = (int)cases[_i].outcome;
	instance_start(path, QUESTIONS, answer);
	o.socket = path;
	suite_folder(folder);
	char *file = suite_file(folder, "out", "");

	ck_assert_ptr_nonnull(freopen(file, "we", stdout));
	ck_assert_int_eq(command_history(&o), EXIT_CODE_UNAVAILABLE); /* the instance is gone */
	(void)fflush(stdout);
	read_rows(file, rows);
	ck_assert_str_eq(rows, cases[_i].rows);
	free(file);
}

/* An hour before now is no time that a message takes. */
TEST(a_host_whose_clock_was_never_set_can_follow)
{
	struct options o = { .output = OUTPUT_JSON, .follow = 1, .duty = -1, .by = -1, .outcome = -1 };
	char path[128];

	clock_fake_set(1000, 1000);
	instance_start(path, QUESTIONS, answer);
	o.socket = path;
	ck_assert_int_eq(command_history(&o), EXIT_CODE_UNAVAILABLE); /* the instance is gone */
	clock_fake_clear();
}

TEST_MAIN("cli/history")
{
	tcase_set_timeout(t, 60);
}
