/* test_restorable.c - show tells all that is known of an action; restore takes back scale-downs and nothing
 * else. */
// SPDX-License-Identifier: Apache-2.0
#include "model/duties.h"
#include "base/exit.h"
#include "reporter/history/query.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "tests/unit/reporter/history_world.h"

/* A scale-down of deployments.apps/shop/web from 3. */
static void scale_down(uint64_t id, struct msg *i, struct msg *r)
{
	*i = world_intent(id, 1, "u1");
	i->u.intent.duty = DUTY_IMAGE_PULL;
	test_set(i, intent.action_key, "rs-1");
	i->u.intent.action = ACTION_SCALE_DOWN;
	*r = world_record(id, OUTCOME_DONE);
	test_set(r, record.target, "deployments.apps/shop/web");
	test_set(r, record.target_uid, "d-1");
	test_set(r, record.request, "PATCH /apis/apps/v1/namespaces/shop/deployments/web/scale {}");
	SET_SAID(r->u.record.evidence, "node: gone");
	test_set(r, record.actor, "kubectl");
}

static struct msg find(uint64_t id, bool dry)
{
	const struct msg_ctl_restore q = { .conn = 5, .id = id, .dry = dry };
	struct msg m;

	query_restorable(w.db, w.h, &q, &m);
	uint8_t frame[IPC_FRAME_MAX];

	ck_assert_uint_gt(msg_encode(&m, frame), 0);
	return m;
}

TEST(scale_down_can_be_taken_back)
{
	struct msg m[2];

	scale_down(4, &m[0], &m[1]);
	world_write(m, 2);
	const struct msg a = find(4, true);

	ck_assert_int_eq(a.type, MSG_CTL_RESTORE_ROW);
	const struct msg_ctl_restore_row *r = &a.u.ctl_restore_row;

	ck_assert_uint_eq(r->conn, 5);
	ck_assert_uint_eq(r->cluster, 1);
	ck_assert_uint_eq(r->duty, DUTY_IMAGE_PULL);
	ck_assert_uint_eq(r->action, ACTION_RESTORE);
	ck_assert_uint_eq(r->origin, 4);
	ck_assert_str_eq(r->action_key, "rs-1"); /* so that nothing else is done to it meanwhile */
	ck_assert_str_eq(r->ns, "shop");
	ck_assert_str_eq(r->want_target, "deployments.apps/shop/web");
	ck_assert_str_eq(r->want_uid, "d-1");
	ck_assert_int_eq(r->want_replicas, 3);
}

/* One change that makes it nothing that can be taken back, and what is said then. */
static const struct {
	const char *text;
	uint64_t duty, action, outcome;
	int64_t replicas;
	enum { PLAIN, OBSERVED, OPEN, WITHOUT_UID } how;
} cases[] = {
	{ "a deleted pod cannot come back", DUTY_EVICTED, ACTION_DELETE, OUTCOME_DONE, -1, PLAIN },
	{ "a deleted pod cannot come back", DUTY_TERMINATING, ACTION_FORCE_DELETE, OUTCOME_DONE, -1, PLAIN },
	{ "a deleted pod cannot come back", DUTY_IMAGE_PULL, ACTION_FRESH_ATTEMPT, OUTCOME_DONE, -1, PLAIN },
	{ "is itself a restore", DUTY_IMAGE_PULL, ACTION_RESTORE, OUTCOME_DONE, 3, PLAIN },
	{ "dry run", DUTY_IMAGE_PULL, ACTION_SCALE_DOWN, OUTCOME_DONE, 3, OBSERVED },
	{ "has not ended", DUTY_IMAGE_PULL, ACTION_SCALE_DOWN, OUTCOME_DONE, 3, OPEN },
	{ "wrote nothing", DUTY_IMAGE_PULL, ACTION_SCALE_DOWN, OUTCOME_REFUSED, 3, PLAIN },
	{ "wrote nothing", DUTY_IMAGE_PULL, ACTION_SCALE_DOWN, OUTCOME_CONFLICT, 3, PLAIN },
	{ "did not scale", DUTY_IMAGE_PULL, ACTION_SCALE_DOWN, OUTCOME_DONE, -1, PLAIN },
	{ "did not scale", DUTY_IMAGE_PULL, ACTION_SCALE_DOWN, OUTCOME_DONE, 0, PLAIN },
	{ "did not scale", DUTY_IMAGE_PULL, ACTION_SCALE_DOWN, OUTCOME_DONE, 3, WITHOUT_UID },
};

TEST_LOOP(everything_else_says_why_it_cannot, 0, sizeof(cases) / sizeof(cases[0]))
{
	struct msg m[2];

	scale_down(7, &m[0], &m[1]);
	m[0].u.intent.duty = cases[_i].duty;
	m[0].u.intent.action = cases[_i].action;
	m[0].u.intent.observe = cases[_i].how == OBSERVED;
	m[1].u.record.outcome = cases[_i].outcome;
	m[1].u.record.replicas = cases[_i].replicas;
	if (cases[_i].how == WITHOUT_UID)
		m[1].u.record.target_uid[0] = '\0';
	world_write(m, cases[_i].how == OPEN ? 1 : 2);
	const struct msg a = find(7, false);

	ck_assert_int_eq(a.type, MSG_CTL_END);
	ck_assert_uint_eq(a.u.ctl_end.conn, 5);
	ck_assert_uint_eq(a.u.ctl_end.code, EXIT_CODE_FAILURE);
	ck_assert_msg(strstr(EN(a.u.ctl_end.why), cases[_i].text), "%s", EN(a.u.ctl_end.why));
	ck_assert_ptr_nonnull(strstr(EN(a.u.ctl_end.why), "action 7"));
}

TEST(unknown_number_and_removed_cluster_are_said)
{
	struct msg m[2];

	ck_assert_ptr_nonnull(strstr(EN_OF(find(99, false).u.ctl_end.why), "no action has this number"));
	scale_down(4, &m[0], &m[1]);
	world_write(m, 2);
	world_forget_staging();
	ck_assert_ptr_nonnull(strstr(EN_OF(find(4, false).u.ctl_end.why), "not configured"));
}

static size_t scaled_rows(uint64_t *ret_first)
{
	struct msg out[16];
	size_t n = 0;

	const size_t all = world_saved(1, false, out, 16);

	for (size_t i = 0; i < all; i++) {
		if (out[i].type != MSG_SCALED_ROW)
			continue;
		ck_assert_uint_eq(out[i].u.scaled_row.cluster, 1);
		ck_assert_uint_eq(out[i].u.scaled_row.duty, DUTY_IMAGE_PULL);
		if (n++ == 0)
			*ret_first = out[i].u.scaled_row.id;
	}
	return n;
}

/* What a watcher looks at: what was really scaled down, until it was really put back. */
TEST(what_may_come_back_is_given)
{
	struct msg m[6];
	uint64_t first = 0;

	scale_down(4, &m[0], &m[1]);
	scale_down(5, &m[2], &m[3]);
	m[2].u.intent.observe = true;
	scale_down(6, &m[4], &m[5]);
	m[5].u.record.outcome = OUTCOME_REFUSED;
	world_write(m, 6);
	ck_assert_uint_eq(scaled_rows(&first), 1);
	ck_assert_uint_eq(first, 4);

	for (int i = 0; i < 3; i++) { /* a dry run, one that failed, and the one that did it */
		m[0] = world_intent(10 + (uint64_t)i, 1, "u1");
		m[0].u.intent.action = ACTION_RESTORE;
		m[0].u.intent.origin = 4;
		m[0].u.intent.observe = i == 0;
		m[1] = world_record(10 + (uint64_t)i, i == 1 ? OUTCOME_FAILED : OUTCOME_DONE);
		world_write(m, 2);
		ck_assert_uint_eq(scaled_rows(&first), i < 2);
	}
}

/* A second cluster has nothing; a workload that was scaled down twice is at 0 once. */
TEST(what_is_at_zero_is_counted)
{
	struct msg_ctl_history_row rows[4];
	uint64_t counts[2] = { 9, 9 };
	struct msg m[8];
	size_t n = 0;

	scale_down(4, &m[0], &m[1]);
	scale_down(5, &m[2], &m[3]);
	scale_down(6, &m[4], &m[5]);
	test_set(&m[5], record.target_uid, "d-2");
	scale_down(7, &m[6], &m[7]);
	m[6].u.intent.observe = true;
	test_set(&m[7], record.target_uid, "d-3");
	world_write(m, 8);
	for (int restored = 0; restored < 2; restored++) {
		ck_assert_int_eq(history_count(w.h, DB_AT_ZERO_COUNTS, counts), 0);
		ck_assert_uint_eq(counts[0], 0);
		ck_assert_uint_eq(counts[1], restored ? 1 : 2);
		ck_assert_int_eq(recent_rows(w.db, RECENT_AT_ZERO, 4, rows, &n), 0);
		ck_assert_uint_eq(n, counts[1]);
		ck_assert_uint_eq(rows[0].id, 6);
		m[0] = world_intent(10, 1, "u1");
		m[0].u.intent.action = ACTION_RESTORE;
		m[0].u.intent.origin = 5;
		m[1] = world_record(10, OUTCOME_DONE);
		world_write(m, 2);
	}
	ck_assert_int_eq(history_count(w.h, DB_DONE_COUNTS, counts), 0);
	ck_assert_uint_eq(counts[1], 4);
}

static const char *shown(const struct msg *out, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (out[i].type == MSG_CTL_SHOW_ROW && strcmp(out[i].u.ctl_show_row.name, name) == 0)
			return facts_empty(&out[i].u.ctl_show_row.facts) ? out[i].u.ctl_show_row.value
									 : EN(out[i].u.ctl_show_row.facts);
	return "";
}

TEST(show_tells_evidence_request_and_answer)
{
	const struct msg_ctl_show q = { .id = 4 };
	struct msg m[3], out[64];

	scale_down(4, &m[0], &m[1]);
	m[2] = world_intent(6, 1, "u1");
	m[2].u.intent.action = ACTION_RESTORE;
	m[2].u.intent.origin = 4;
	world_write(m, 3);
	const size_t n = world_show(q.id, out, 64);

	ck_assert_str_eq(shown(out, n, "id"), "4");
	ck_assert_str_eq(shown(out, n, "cluster_name"), "staging");
	ck_assert_str_eq(shown(out, n, "evidence"), "3h past its deadline");
	ck_assert_str_eq(shown(out, n, "resource_version"), "42");
	ck_assert_str_eq(shown(out, n, "request"),
			 "PATCH /apis/apps/v1/namespaces/shop/deployments/web/scale {}");
	ck_assert_str_eq(shown(out, n, "http"), "200");
	ck_assert_str_eq(shown(out, n, "live_evidence"), "node: gone");
	ck_assert_str_eq(shown(out, n, "actor"), "kubectl");
	ck_assert_str_eq(shown(out, n, "replicas_before"), "3");
	ck_assert_str_eq(shown(out, n, "restored_by"), "6");
	ck_assert_int_eq(out[n - 1].type, MSG_CTL_END);
	ck_assert_uint_eq(out[n - 1].u.ctl_end.conn, 8);
	ck_assert_uint_eq(out[n - 1].u.ctl_end.code, 0);
}

TEST(show_of_an_open_or_unknown_action)
{
	struct msg_ctl_show q = { .id = 9 };
	const struct msg i = world_intent(9, 0, "u9");
	struct msg out[64];

	world_write(&i, 1);
	const size_t n = world_show(q.id, out, 64);

	ck_assert_str_eq(shown(out, n, "outcome"), "-1");
	ck_assert_str_eq(shown(out, n, "request"), "");
	q.id = 10;
	ck_assert_uint_eq(world_show(q.id, out, 64), 1);
	ck_assert_uint_eq(out[0].u.ctl_end.code, EXIT_CODE_FAILURE);
	ck_assert_ptr_nonnull(strstr(EN(out[0].u.ctl_end.why), "history"));
}

TEST_MAIN("reporter/restorable")
{
	tcase_add_checked_fixture(t, world_setup, world_teardown);
}
