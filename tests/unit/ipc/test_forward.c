/* test_forward.c - whom messages are for: what follows from ipc/messages.def, against what is meant. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <string.h>

#include "ipc/msg.h"
#include "tests/suite.h"

#define CHILDREN_SAY (R_REPORTER | R_WATCHER | R_WORKER)

static const struct {
	enum msg_type type;
	enum role to;
} forwarded[] = {
	{ MSG_REFUSAL, ROLE_REPORTER },
	{ MSG_FAILING_SINCE, ROLE_REPORTER },
	{ MSG_SAVED_GET, ROLE_REPORTER },
	{ MSG_SAVED, ROLE_REPORTER },
	{ MSG_DIGEST_ROW, ROLE_REPORTER },
	{ MSG_DIGEST_END, ROLE_REPORTER },
	{ MSG_FAILING_SINCE_ROW, ROLE_WATCHER },
	{ MSG_SAVED_END, ROLE_WATCHER },
	{ MSG_SAVED_ROW, ROLE_WATCHER },
	{ MSG_ACTION_ROW, ROLE_WATCHER },
	{ MSG_UNSETTLED_ROW, ROLE_WATCHER },
	{ MSG_SETTLED_ACK, ROLE_WATCHER },
	{ MSG_SCALED_ROW, ROLE_WATCHER },
	{ MSG_SETTLED, ROLE_REPORTER },
	{ MSG_DIGEST_GET, ROLE_WATCHER },
	{ MSG_CTL_HISTORY_ROW, ROLE_CLI },
	{ MSG_CTL_EXPLAIN_ROW, ROLE_CLI },
	{ MSG_CTL_PLAN_ROW, ROLE_CLI },
	{ MSG_CTL_PLAN_SEEN, ROLE_CLI },
	{ MSG_CTL_SHOW_ROW, ROLE_CLI },
	{ MSG_CTL_QUOTE_ROW, ROLE_CLI },
	{ MSG_CTL_END, ROLE_CLI },
	{ MSG_CTL_ACCESS_ROW, ROLE_CLI },
	{ MSG_CTL_MARKED_ROW, ROLE_CLI },
	{ MSG_INSPECT, ROLE_WORKER },
	{ MSG_INSPECTED, ROLE_REPORTER },
	{ MSG_DUE_ROW, ROLE_REPORTER },
	{ MSG_REQUESTS, ROLE_REPORTER },
	{ MSG_TIMING, ROLE_REPORTER },
	{ MSG_CTL_TEXT, ROLE_CLI },
	{ MSG_CTL_SINK_ROW, ROLE_CLI },
	{ MSG_CTL_TALLY_ROW, ROLE_CLI },
};

static enum role meant(enum msg_type type)
{
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		if (forwarded[i].type == type)
			return forwarded[i].to;
	return ROLE_SUPERVISOR;
}

TEST(what_children_say_has_one_receiver)
{
	for (unsigned type = 0; type < MSG__MAX; type++)
		if (msg_desc((enum msg_type)type)->from & CHILDREN_SAY)
			ck_assert_msg(msg_receiver((enum msg_type)type) == meant((enum msg_type)type), "%s",
				      msg_desc((enum msg_type)type)->name);
}

/* Forwarded to a watcher or an operator, a message must say to which of them. */
TEST(what_is_forwarded_says_to_which)
{
	for (unsigned type = 0; type < MSG__MAX; type++) {
		const struct msg m = { .type = (enum msg_type)type };
		const enum role to = msg_receiver(m.type);
		const bool asked = msg_desc(m.type)->from & (CHILDREN_SAY | R_CLI);

		if (asked && (to == ROLE_WATCHER || to == ROLE_CLI))
			ck_assert_msg(msg_get_u64(&m, to == ROLE_CLI ? "conn" : "cluster", 99) == 0, "%s",
				      msg_desc(m.type)->name);
		ck_assert(!asked || to != ROLE__MAX);
	}
}

TEST(members_are_read_and_written)
{
	struct msg m = { .type = MSG_CTL_EXPLAIN };

	strcpy(m.u.ctl_explain.cluster_name, "prod");
	msg_set_u64(&m, "cluster", 3);
	msg_set_u64(&m, "conn", 7);
	ck_assert_uint_eq(msg_get_u64(&m, "cluster", 99), 3);
	ck_assert_uint_eq(m.u.ctl_explain.conn, 7);
	ck_assert_str_eq(msg_cluster_name(&m), "prod");
	m = (struct msg){ .type = MSG_CTL_STATUS };
	msg_set_u64(&m, "cluster", 3);
	ck_assert_uint_eq(msg_get_u64(&m, "cluster", 99), 99);
	ck_assert_str_eq(msg_cluster_name(&m), "");
}

SUITE("ipc/forward");
