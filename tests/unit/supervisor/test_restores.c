/* test_restores.c - replicas that come back without an operator: what each child may say on the way, and what
 * it cannot have. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "tests/stage/stage.h"
#include "tests/suite.h"
#include "tests/facts_en.h"

#define HEARD_MAX 256

static struct {
	char folder[SUITE_PATH_MAX];
	char *dir;
	struct stage *s;
	struct stage_options o;
	struct msg heard[HEARD_MAX];
	uint64_t asked_worker, granted_worker;
	size_t n;
} w;

static void on_msg(void *ctx, enum role role, uint64_t number, const struct msg *m)
{
	(void)ctx;
	(void)role;
	if (m->type == MSG_CTL_DRY_RUN)
		w.asked_worker = number;
	if (m->type == MSG_GRANT)
		w.granted_worker = number;
	if (w.n < HEARD_MAX)
		w.heard[w.n++] = *m;
}

static size_t count(enum msg_type type)
{
	size_t n = 0;

	for (size_t i = 0; i < w.n; i++)
		n += w.heard[i].type == type;
	return n;
}

static const struct msg *last(enum msg_type type)
{
	for (size_t i = w.n; i-- > 0;)
		if (w.heard[i].type == type)
			return &w.heard[i];
	ck_abort_msg("%s was not sent", msg_desc(type)->name);
}

static void say_by(enum role role, uint64_t number, const struct msg *m)
{
	ck_assert(stage_say(w.s, role, number, m));
	stage_run(w.s);
}

static void say(enum role role, const struct msg *m)
{
	say_by(role, 0, m);
}

static void start(void)
{
	w.n = 0;
	w.o.dir = w.dir;
	w.o.on_msg = on_msg;
	w.s = stage_new(&w.o);
}

static void open_history(void)
{
	say(ROLE_REPORTER, &(struct msg){ .type = MSG_OPEN_END, .u.open_end.next_id = 20 });
}

static void set_up(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	suite_folder(w.folder);
	w.dir = xasprintf("%s/state", w.folder);
	w.o = (struct stage_options){ 0 };
	clock_fake_set(INT64_C(1790000000000), 1000000);
	start();
	open_history();
}

static void tear_down(void)
{
	stage_free(&w.s);
	free(w.dir);
}

static void ask(uint64_t id)
{
	say(ROLE_WATCHER, &(struct msg){ .type = MSG_RESTORE_ASK, .u.restore_ask.id = id });
}

static struct msg row_of(uint64_t id)
{
	struct msg m = { .type = MSG_CTL_RESTORE_ROW };
	struct msg_ctl_restore_row *r = &m.u.ctl_restore_row;

	r->conn = last(MSG_CTL_RESTORE)->u.ctl_restore.conn;
	r->duty = DUTY_IMAGE_PULL;
	r->action = ACTION_RESTORE;
	r->origin = id;
	r->want_replicas = 3;
	strcpy(r->ns, "shop");
	strcpy(r->name, "web-1");
	strcpy(r->uid, "pod-1");
	strcpy(r->action_key, "rs-1");
	strcpy(r->reason, "Corrected");
	strcpy(r->want_target, "deployments.apps/shop/web");
	strcpy(r->want_uid, "d-1");
	stage_sign(w.s, &m);
	return m;
}

static void looked(uint64_t id, enum outcome outcome, const char *reason)
{
	struct msg m = { .type = MSG_CTL_DRY_RUN_RESULT,
			 .u.ctl_dry_run_result = { .id = id, .outcome = outcome, .replicas = -1 } };

	strcpy(m.u.ctl_dry_run_result.reason, reason);
	say_by(ROLE_WORKER, w.asked_worker, &m);
}

static void ended(uint64_t id, enum outcome outcome, const char *reason)
{
	const struct msg_restore_end *e = &last(MSG_RESTORE_END)->u.restore_end;

	ck_assert_uint_eq(e->id, id);
	ck_assert_uint_eq(e->outcome, outcome);
	ck_assert_str_eq(e->reason, reason);
}

static void nothing_was_begun(void)
{
	ck_assert_uint_eq(count(MSG_INTENT), 0);
	ck_assert_uint_eq(count(MSG_PREFETCH), 0);
	ck_assert_uint_eq(count(MSG_GRANT), 0);
}

/* As far as the intent. */
static void corrected(uint64_t id)
{
	ask(id);
	const struct msg row = row_of(id);

	ck_assert(!last(MSG_CTL_RESTORE)->u.ctl_restore.by_operator);
	say(ROLE_REPORTER, &row);
	ck_assert_uint_eq(last(MSG_CTL_DRY_RUN)->u.ctl_dry_run.origin, id);
	ck_assert(!last(MSG_CTL_DRY_RUN)->u.ctl_dry_run.by_operator);
	ck_assert(last(MSG_CTL_DRY_RUN)->u.ctl_dry_run.vouched);
	nothing_was_begun();
	looked(id, OUTCOME_WOULD, "Corrected");
	ck_assert_uint_eq(count(MSG_INTENT), 1);
}

/* A history that is not there cannot say what was taken, nor keep what is put back. */
TEST(nothing_is_put_back_without_a_history)
{
	struct msg no = { .type = MSG_NO_HISTORY };

	stage_die(w.s, ROLE_REPORTER, 0);
	stage_run(w.s);
	no.u.no_history.why = quoting("history.db: is damaged");
	say(ROLE_REPORTER, &no);
	ask(7);
	ck_assert_uint_eq(count(MSG_CTL_RESTORE), 0);
	ended(7, OUTCOME_REFUSED, "Busy");
	open_history();
	corrected(7);
}

TEST(the_whole_way)
{
	struct msg m = { .type = MSG_INTENT_ACK, .u.intent_ack = { .id = 20, .written = true } };

	corrected(7);
	say(ROLE_REPORTER, &m);
	const struct msg_grant *g = &last(MSG_GRANT)->u.grant;

	ck_assert(!g->by_operator && g->vouched);
	ck_assert_uint_eq(g->origin, 7);
	ck_assert_int_eq(g->want_replicas, 3);
	m = (struct msg){ .type = MSG_RESULT,
			  .u.result = { .id = 20, .outcome = OUTCOME_DONE, .replicas = 0 } };
	strcpy(m.u.result.reason, "Corrected");
	say_by(ROLE_WORKER, w.granted_worker, &m);
	ck_assert_uint_eq(count(MSG_RESTORE_END), 0); /* before it is on disk */
	say(ROLE_REPORTER, &(struct msg){ .type = MSG_RECORD_ACK, .u.record_ack.id = 20 });
	ended(7, OUTCOME_DONE, "Corrected");
	ask(8); /* there is room for the next */
	ck_assert_uint_eq(last(MSG_CTL_RESTORE)->u.ctl_restore.id, 8);
}

TEST(a_look_alone_writes_nothing)
{
	ask(7);
	const struct msg row = row_of(7);

	ask(8); /* one at a time */
	ended(8, OUTCOME_REFUSED, "Busy");
	say(ROLE_REPORTER, &row);
	looked(7, OUTCOME_REFUSED, "TemplateUnchanged");
	ended(7, OUTCOME_REFUSED, "TemplateUnchanged");
	nothing_was_begun();
}

/* A watcher that says more than a number, and a history that says what nobody asked for. */
TEST(a_nominated_restore_breaks_the_protocol)
{
	const unsigned lives = stage_lives(w.s, ROLE_WATCHER, 0);
	struct msg m = { .type = MSG_NOMINATE }, row;

	ask(7);
	row = row_of(7);
	msg_copy_fields(&m, &row);
	say(ROLE_WATCHER, &m);
	ck_assert_uint_gt(stage_lives(w.s, ROLE_WATCHER, 0), lives);
	nothing_was_begun();
}

/* The attack: a history that invents what was taken, changes it, or answers with another action's. Without
 * an operator the mark on the workload is not enough. */
TEST_LOOP(a_row_that_the_supervisor_has_not_signed, 0, 4)
{
	ask(7);
	struct msg row = row_of(7);
	struct msg_ctl_restore_row *r = &row.u.ctl_restore_row;

	if (_i == 0)
		r->mac[0] = '\0';
	if (_i == 1)
		r->want_replicas = 500;
	if (_i == 2)
		strcpy(r->want_target, "deployments.apps/bank/web");
	if (_i == 3) {
		row = row_of(8);
		r->origin = 7;
	}
	say(ROLE_REPORTER, &row);
	ck_assert_uint_eq(count(MSG_CTL_DRY_RUN), 0);
	nothing_was_begun();
	ended(7, OUTCOME_REFUSED, "OriginNotSigned");
}

TEST_LOOP(rows_that_nobody_asked_for, 0, 4)
{
	const unsigned lives = stage_lives(w.s, ROLE_REPORTER, 0);

	ask(7);
	struct msg row = row_of(7);
	struct msg_ctl_restore_row *r = &row.u.ctl_restore_row;

	if (_i == 0)
		r->origin = 8;
	if (_i == 1)
		r->cluster = 1;
	if (_i == 2)
		r->action = ACTION_SCALE_DOWN;
	say(ROLE_REPORTER, &row);
	if (_i == 3) /* the same once more */
		say(ROLE_REPORTER, &row);
	ck_assert_uint_gt(stage_lives(w.s, ROLE_REPORTER, 0), lives);
	ck_assert_uint_eq(count(MSG_CTL_DRY_RUN), _i == 3);
	nothing_was_begun();
	if (_i < 3)
		ended(7, OUTCOME_REFUSED, "Busy");
}

/* What the supervisor signed itself, and yet: nobody knows any more whether it should be. */
TEST(one_that_our_death_left_open_is_not_done_again)
{
	struct msg m = { .type = MSG_OPEN_INTENT };

	corrected(7);
	msg_copy_fields(&m, last(MSG_INTENT));
	stage_free(&w.s);
	start();
	say(ROLE_REPORTER, &m);
	open_history();
	nothing_was_begun();
	ck_assert_uint_eq(last(MSG_RECORD)->u.record.id, 20);
	ck_assert_uint_eq(last(MSG_RECORD)->u.record.outcome, OUTCOME_UNCONFIRMED);
	ck_assert_str_eq(last(MSG_RECORD)->u.record.reason, "RestoreCutOff");
}

TEST_LOOP(not_where_nothing_is_written, 0, 2)
{
	stage_free(&w.s);
	w.o.observe = _i == 0;
	w.o.election = _i == 1;
	start();
	open_history();
	ask(7);
	ck_assert_uint_eq(count(MSG_CTL_RESTORE), 0);
	ended(7, OUTCOME_REFUSED, _i == 0 ? "RestoreOff" : "NotLeader");
}

/* There is nothing to take back; or nobody knows just now. */
TEST_LOOP(a_history_without_it, 0, 2)
{
	struct msg m = { .type = MSG_CTL_END };

	ask(7);
	m.u.ctl_end.conn = last(MSG_CTL_RESTORE)->u.ctl_restore.conn;
	m.u.ctl_end.code = _i == 0 ? 1 : 75;
	say(ROLE_REPORTER, &m);
	if (_i == 0)
		ended(7, OUTCOME_GONE, "NotMarked");
	else
		ended(7, OUTCOME_REFUSED, "Busy");
	nothing_was_begun();
}

TEST_MAIN("supervisor/restores")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
}
