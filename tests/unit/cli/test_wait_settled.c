/* test_wait_settled.c - with which exit code a cluster is given up. The instance is a script. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <string.h>

#include "base/exit.h"
#include "base/cleanup.h"
#include "cli/instance/start.h"
#include "tests/suite.h"
#include "tests/unit/cli/instance.h"
#include "tests/facts_en.h"

static const struct {
	uint64_t http;
	const char *error;
	int code;
	const char *process; /* of that cluster died of it so often that it is started seldom */
} failing[] = {
	{ 401, "the API server refuses the credential", EXIT_CODE_CREDENTIAL },
	{ 503, "HTTP 503", EXIT_CODE_UNAVAILABLE },
	/* The number of a refused credential in a name, a port or a time is none. */
	{ 0, "Failed to connect to api-401.example port 401 after 401 ms", EXIT_CODE_UNAVAILABLE },
	{ 503, "401 of 503", EXIT_CODE_UNAVAILABLE },
	{ 0, "signal 11 (SEGV)", EXIT_CODE_UNAVAILABLE, "prod" },
	{ 0, "signal 11 (SEGV)", EXIT_CODE_UNAVAILABLE, "" },
};
static size_t at;

static void answer(const struct instance_call *c, unsigned nth)
{
	struct msg m = { .type = MSG_CTL_CLUSTER };

	(void)nth;
	strcpy(m.u.ctl_cluster.cluster_name, "prod");
	instance_send(c, &m);
	m = (struct msg){ .type = MSG_WATCH_STATS,
			  .u.watch_stats = { .failing = true, .http = failing[at].http } };
	m.u.watch_stats.error = quoting(failing[at].error);
	if (!failing[at].process)
		instance_send(c, &m);
	m = (struct msg){ .type = MSG_CHILD_STATS,
			  .u.child_stats = { .role = "watcher", .state = "degraded" } };
	m.u.child_stats.error = quoting(failing[at].error);
	if (failing[at].process) {
		strcpy(m.u.child_stats.cluster_name, failing[at].process);
		instance_send(c, &m);
	}
	instance_end(c, EXIT_CODE_OK);
}

TEST_LOOP(only_the_status_tells_of_a_refused_credential, 0, ARRAY_SIZE(failing))
{
	const struct wait_limits limits = { 0 };
	struct wait_lost lost = { 0 };
	struct ctl *c = NULL;
	char path[128];

	at = (size_t)_i;
	instance_start(path, 1, answer);
	ck_assert_int_eq(ctl_open(path, &c), EXIT_CODE_OK);
	ck_assert_int_eq(wait_settled(c, &limits, &lost), failing[at].code);
	ck_assert(lost.is[0]);
	ctl_close(&c);
}

TEST_MAIN("cli/wait_settled")
{
	tcase_set_timeout(t, 60);
}
