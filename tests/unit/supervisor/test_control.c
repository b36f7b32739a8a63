/* test_control.c - what an operator asks over the control socket, and what becomes of it: as it was asked,
 * within limits, and beside what the supervisor counts of the workers' own writes. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "tests/facts_en.h"
#include "world.h"

static int operator_fd = -1;

static void ask(const struct msg *m)
{
	uint8_t bytes[IPC_FRAME_MAX];
	const size_t n = msg_encode(m, bytes);

	if (operator_fd < 0)
		operator_fd = stage_connect(w.s);
	ck_assert_int_eq(send(operator_fd, bytes, n, 0), (ssize_t)n);
	stage_run(w.s);
}

static void hang_up(void)
{
	if (operator_fd >= 0)
		(void)close(operator_fd);
	operator_fd = -1;
	tear_down();
}

/* Answers to questions that ended with that reason, since the operator last listened. */
static unsigned answered(const char *reason)
{
	uint8_t bytes[IPC_FRAME_MAX];
	const char *field;
	unsigned n = 0;
	ssize_t len;

	while ((len = recv(operator_fd, bytes, sizeof(bytes), 0)) > 0)
		for (ssize_t at = 0, used; at < len; at += used) {
			struct msg m;

			used = msg_decode(ROLE_SUPERVISOR, ROLE_CLI, PH_RUN, bytes + at, (size_t)(len - at),
					  &m, &field);
			ck_assert_int_gt(used, 0);
			n += m.type == MSG_CTL_DRY_RUN_RESULT &&
			     strcmp(m.u.ctl_dry_run_result.reason, reason) == 0;
		}
	return n;
}

/* CTL_ENDs with that code on that connection, since it was last read. */
static unsigned ends(int fd, uint64_t code)
{
	uint8_t bytes[IPC_FRAME_MAX];
	const char *field;
	unsigned n = 0;
	struct msg m;
	ssize_t len;

	while ((len = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		for (ssize_t at = 0, used; at < len; at += used) {
			used = msg_decode(ROLE_SUPERVISOR, ROLE_CLI, PH_RUN, bytes + at, (size_t)(len - at),
					  &m, &field);
			ck_assert_int_gt(used, 0);
			n += m.type == MSG_CTL_END && m.u.ctl_end.code == code;
		}
	return n;
}

/* What the only CTL_END on that connection says. */
static const char *refused(int fd)
{
	uint8_t bytes[IPC_FRAME_MAX];
	const char *field;
	struct msg m;
	const ssize_t len = recv(fd, bytes, sizeof(bytes), 0);

	ck_assert_int_eq(msg_decode(ROLE_SUPERVISOR, ROLE_CLI, PH_RUN, bytes, (size_t)len, &m, &field), len);
	ck_assert_int_eq(m.type, MSG_CTL_END);
	ck_assert_uint_ne(m.u.ctl_end.code, EXIT_CODE_OK);
	return EN(m.u.ctl_end.why);
}

/* Processes of that cluster in what a `status` is answered with. */
static unsigned shown(const char *cluster)
{
	uint8_t bytes[IPC_FRAME_MAX];
	const char *field;
	unsigned n = 0;
	struct msg m;
	ssize_t len;

	ask(&(struct msg){ .type = MSG_CTL_STATUS });
	while ((len = recv(operator_fd, bytes, sizeof(bytes), 0)) > 0)
		for (ssize_t at = 0, used; at < len; at += used) {
			used = msg_decode(ROLE_SUPERVISOR, ROLE_CLI, PH_RUN, bytes + at, (size_t)(len - at),
					  &m, &field);
			ck_assert_int_gt(used, 0);
			n += m.type == MSG_CHILD_STATS && strcmp(m.u.child_stats.cluster_name, cluster) == 0;
		}
	return n;
}

/* The reporter heard of so many. */
static unsigned told(const char *cluster)
{
	unsigned n = 0;

	for (unsigned i = 0; i < count(MSG_CHILD_STATS); i++)
		n += strcmp(heard(MSG_CHILD_STATS, i)->u.child_stats.cluster_name, cluster) == 0;
	return n;
}

static void second_cluster(enum stage_second is)
{
	w.o.second = is;
	w.o.edition++;
	stage_reload(w.s, &w.o);
}

TEST(a_cluster_that_has_left_is_shown_no_more)
{
	open_history();
	second_cluster(STAGE_WAITS);
	ck_assert_uint_eq(shown("second"), 2);
	for (int i = 0; i < 20; i++)
		stage_pass(w.s, 1000);
	ck_assert_uint_gt(told("second"), 0);
	second_cluster(STAGE_HAS_LEFT);
	ck_assert_uint_eq(lifecycle_generation(stage_supervisor(w.s)->root)->n_wanted, 1);
	ck_assert_uint_eq(shown("second"), 0);
	ck_assert_uint_eq(shown("test"), 3);
	forget();
	for (int i = 0; i < 20; i++)
		stage_pass(w.s, 1000);
	ck_assert_uint_eq(told("second"), 0);
	ck_assert_uint_gt(told("test"), 0);
	second_cluster(STAGE_WAITS);
	ck_assert_uint_eq(shown("second"), 2);
	w.o = (struct stage_options){ 0 };
}

static bool is_closed(int fd)
{
	char c;

	return recv(fd, &c, 1, 0) == 0;
}

static void ask_on(int fd, const struct msg *m)
{
	uint8_t bytes[IPC_FRAME_MAX];
	const size_t n = msg_encode(m, bytes);

	ck_assert_int_eq(send(fd, bytes, n, MSG_NOSIGNAL), (ssize_t)n);
	stage_run(w.s);
}

static struct msg row_of(uint64_t id)
{
	struct msg m = { .type = MSG_CTL_RESTORE_ROW };
	struct msg_ctl_restore_row *r = &m.u.ctl_restore_row;

	r->conn = heard(MSG_CTL_RESTORE, 0)->u.ctl_restore.conn;
	r->duty = DUTY_IMAGE_PULL;
	r->action = ACTION_RESTORE;
	r->origin = id;
	r->want_replicas = 3;
	strcpy(r->ns, "shop");
	strcpy(r->name, "web-1");
	strcpy(r->uid, "pod-1");
	strcpy(r->action_key, "rs-1");
	strcpy(r->reason, "Restored");
	strcpy(r->want_target, "deployments.apps/shop/web");
	strcpy(r->want_uid, "d-1");
	stage_sign(w.s, &m);
	return m;
}

static void ask_restore(bool dry)
{
	struct msg m = { .type = MSG_CTL_RESTORE, .u.ctl_restore = { .id = 7, .dry = dry } };

	strcpy(m.u.ctl_restore.by, "ann");
	ask(&m);
}

/* Who asked for a restore, as the history will have it: the name that was given, and the kernel's word. */
static void check_by(const struct facts *evidence, const char *name)
{
	_cleanup_free_ char *want = *name ? xasprintf("%s (uid %u)", name, (unsigned)getuid())
					  : xasprintf("uid %u", (unsigned)getuid());
	struct fact_value by;

	ck_assert(facts_find(evidence, FACT_BY, &by));
	ck_assert(str_is(by.text, want));
}

/* The history says what was taken, and the worker what would be done. */
static void looked(const struct msg *row, enum outcome outcome)
{
	struct msg m = { .type = MSG_CTL_DRY_RUN_RESULT,
			 .u.ctl_dry_run_result = { .id = 7, .outcome = outcome, .replicas = -1 } };

	say(ROLE_REPORTER, row);
	ck_assert_uint_eq(count(MSG_INTENT), 0);
	ck_assert(heard(MSG_CTL_DRY_RUN, 0)->u.ctl_dry_run.by_operator);
	strcpy(m.u.ctl_dry_run_result.reason, outcome == OUTCOME_WOULD ? "Restored" : "NotOurZero");
	ck_assert(stage_say(w.s, ROLE_WORKER, w.asked_worker, &m));
	stage_run(w.s);
}

/* Who asks what would be done has not asked for it. */
TEST(a_question_is_not_made_an_order_by_the_history)
{
	open_history();
	ask_restore(true);
	const struct msg row = row_of(7);

	looked(&row, OUTCOME_WOULD);
	ck_assert_uint_eq(count(MSG_INTENT), 0);
	ck_assert_uint_eq(answered("Restored"), 1);
	say(ROLE_REPORTER, &row);
	ck_assert_uint_eq(count(MSG_INTENT), 0);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 2);
}

/* The attack: a row for no action, while another question of that operator is open. */
TEST(a_row_of_no_number_answers_nothing)
{
	const struct msg show = { .type = MSG_CTL_SHOW, .u.ctl_show.id = 7 };

	open_history();
	ask_restore(true);
	struct msg row = row_of(7);

	say(ROLE_REPORTER, &row);
	ask(&show);
	row.u.ctl_restore_row.origin = 0;
	say(ROLE_REPORTER, &row);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 2);
	ck_assert_uint_eq(count(MSG_CTL_DRY_RUN), 1);
}

/* The attack: the question was answered with the workload that it names, the order with another. */
TEST(an_order_grants_what_the_dry_run_showed)
{
	open_history();
	ask_restore(true);
	struct msg row = row_of(7);

	looked(&row, OUTCOME_WOULD);
	ask_restore(false);
	ck_assert_uint_eq(count(MSG_CTL_RESTORE), 1); /* the history has no say in it any more */
	const struct msg_intent *i = &heard(MSG_INTENT, 0)->u.intent;

	ck_assert(i->by_operator && i->vouched);
	check_by(&i->evidence, "ann");
	ck_assert_str_eq(i->want_target, "deployments.apps/shop/web");
	ck_assert_str_eq(i->want_uid, "d-1");
	ck_assert_int_eq(i->want_replicas, 3);
	row.u.ctl_restore_row.want_replicas = 500;
	strcpy(row.u.ctl_restore_row.want_target, "deployments.apps/bank/web");
	stage_sign(w.s, &row);
	say(ROLE_REPORTER, &row);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 2);
	ck_assert_uint_eq(open_leases(), 1);
	ck_assert_int_eq(heard(MSG_INTENT, count(MSG_INTENT) - 1)->u.intent.want_replicas, 3);
}

/* Without a dry run on this connection the supervisor has one made itself. */
TEST(an_order_is_carried_out_once)
{
	open_history();
	ask_restore(false);
	const struct msg row = row_of(7);

	looked(&row, OUTCOME_WOULD);
	ck_assert_uint_eq(answered("Restored"), 0); /* the end is the answer */
	ck_assert_uint_eq(count(MSG_INTENT), 1);
	ck_assert(heard(MSG_INTENT, 0)->u.intent.by_operator);
	say(ROLE_REPORTER, &row);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 2);
	ck_assert_uint_eq(open_leases(), 1);
}

static struct msg by_mark(bool dry)
{
	struct msg m = { .type = MSG_CTL_RESTORE,
			 .u.ctl_restore = {
				 .id = 7, .dry = dry, .duty = DUTY_IMAGE_PULL, .want_replicas = 3 } };

	strcpy(m.u.ctl_restore.want_target, "deployments.apps/shop/web");
	strcpy(m.u.ctl_restore.want_uid, "d-1");
	return m;
}

static void say_looked(enum outcome outcome)
{
	struct msg m = { .type = MSG_CTL_DRY_RUN_RESULT,
			 .u.ctl_dry_run_result = { .id = 7, .outcome = outcome, .replicas = -1 } };

	strcpy(m.u.ctl_dry_run_result.reason, outcome == OUTCOME_WOULD ? "Restored" : "NotMarked");
	ck_assert(stage_say(w.s, ROLE_WORKER, w.asked_worker, &m));
	stage_run(w.s);
}

/* The history is not asked, what is ordered is looked at anew, and it is of no action of this history. */
TEST(by_the_mark_a_worker_looks_each_time)
{
	struct msg m = by_mark(true);

	open_history();
	ask(&m);
	ck_assert_uint_eq(count(MSG_CTL_RESTORE), 0);
	const struct msg_ctl_dry_run *d = &heard(MSG_CTL_DRY_RUN, 0)->u.ctl_dry_run;

	ck_assert(d->by_operator && !d->vouched);
	check_by(&d->evidence, "");
	ck_assert_uint_eq(d->origin, 0);
	ck_assert_uint_eq(d->action, ACTION_RESTORE);
	ck_assert_str_eq(d->ns, "shop");
	ck_assert_str_eq(d->name, "web");
	ck_assert_str_eq(d->action_key, "d-1");
	say_looked(OUTCOME_WOULD);
	ck_assert_uint_eq(answered("Restored"), 1);
	ck_assert_uint_eq(count(MSG_INTENT), 0);
	m = by_mark(false);
	ask(&m);
	ck_assert_uint_eq(count(MSG_CTL_DRY_RUN), 2);
	ck_assert_uint_eq(count(MSG_INTENT), 0);
	say_looked(OUTCOME_WOULD);
	ck_assert_uint_eq(count(MSG_INTENT), 1);
	const struct msg_intent *i = &heard(MSG_INTENT, 0)->u.intent;

	ck_assert(i->by_operator && !i->vouched && i->origin == 0);
	ck_assert_int_eq(i->want_replicas, 3);
	ck_assert_str_eq(i->want_uid, "d-1");
}

/* What stands behind a question changes nothing of it. */
TEST(a_question_is_not_made_an_order_by_the_next)
{
	struct msg m = by_mark(false);

	open_history();
	ask_restore(true);
	ask(&m);
	const struct msg row = row_of(7);

	looked(&row, OUTCOME_WOULD);
	ck_assert_uint_eq(count(MSG_INTENT), 0);
}

TEST_LOOP(by_a_mark_that_the_worker_does_not_find, 0, 5)
{
	static const char *const no_targets[] = { "web", "deployments.apps//web", "deployments.apps/shop/" };
	struct msg m = by_mark(false);

	open_history();
	if (_i == 1)
		strcpy(m.u.ctl_restore.cluster_name, "nowhere");
	else if (_i > 1)
		strcpy(m.u.ctl_restore.want_target, no_targets[_i - 2]);
	ask(&m);
	if (_i == 0)
		say_looked(OUTCOME_REFUSED);
	ck_assert_uint_eq(count(MSG_CTL_DRY_RUN), _i == 0);
	ck_assert_uint_eq(count(MSG_INTENT), 0);
}

TEST(what_a_worker_refuses_is_not_ordered)
{
	open_history();
	ask_restore(false);
	const struct msg row = row_of(7);

	looked(&row, OUTCOME_REFUSED);
	ck_assert_uint_eq(answered("NotOurZero"), 1);
	ck_assert_uint_eq(count(MSG_INTENT), 0);
	ask_restore(false);
	ck_assert_uint_eq(count(MSG_CTL_RESTORE), 2); /* it is looked up anew */
	ck_assert_uint_eq(count(MSG_INTENT), 0);
}

/* What has hung up was shown nothing. */
TEST(what_was_shown_is_of_one_connection)
{
	open_history();
	ask_restore(true);
	const struct msg row = row_of(7);

	looked(&row, OUTCOME_WOULD);
	(void)close(operator_fd);
	operator_fd = -1;
	stage_run(w.s);
	ask_restore(false);
	ck_assert_uint_eq(count(MSG_CTL_RESTORE), 2);
	ck_assert_uint_eq(count(MSG_INTENT), 0);
}

/* The worker has to know: without a signature the mark on the workload alone counts. */
TEST_LOOP(a_row_that_was_not_signed_is_not_vouched_for, 0, 2)
{
	open_history();
	ask_restore(true);
	struct msg row = row_of(7);

	if (_i == 1)
		row.u.ctl_restore_row.want_replicas = 500;
	say(ROLE_REPORTER, &row);
	ck_assert(heard(MSG_CTL_DRY_RUN, 0)->u.ctl_dry_run.vouched == (_i == 0));
}

/* By the supervisor itself, from the intent to the row of the history. */
TEST(the_end_of_a_scale_down_is_signed)
{
	struct msg m = nomination(1), r = result_of(1, OUTCOME_DONE), row = { .type = MSG_CTL_RESTORE_ROW };

	open_history();
	m.u.nominate.duty = DUTY_IMAGE_PULL;
	m.u.nominate.action = ACTION_SCALE_DOWN;
	say(ROLE_WATCHER, &m);
	acknowledge(1);
	r.u.result.replicas = 3;
	strcpy(r.u.result.target, "deployments.apps/default/web");
	strcpy(r.u.result.target_uid, "d-1");
	ck_assert(stage_say(w.s, ROLE_WORKER, w.holders[1], &r));
	stage_run(w.s);
	msg_copy_fields(&row, heard(MSG_INTENT, 0));
	row.u.ctl_restore_row.origin = 1;
	row.u.ctl_restore_row.want_replicas = 3;
	strcpy(row.u.ctl_restore_row.want_target, "deployments.apps/default/web");
	strcpy(row.u.ctl_restore_row.want_uid, "d-1");
	stage_sign(w.s, &row);
	ck_assert_str_eq(row.u.ctl_restore_row.mac, only_record()->mac);
}

TEST(questions_to_workers_have_a_limit)
{
	struct msg m = { .type = MSG_CTL_DRY_RUN };
	const struct msg n = nomination(1);

	open_history();
	msg_copy_fields(&m, &n);
	for (uint64_t i = 1; i <= 4200; i++) {
		m.u.ctl_dry_run.id = i;
		ask(&m);
	}
	ck_assert_uint_eq(answered("Busy"), 4200 - 4096);
}

/* -- no operator waits in vain, or locks another one out -- */

static const struct msg show = { .type = MSG_CTL_SHOW, .u.ctl_show.id = 7 };
static const struct msg pause_all = { .type = MSG_CTL_PAUSE,
				      .u.ctl_pause = { .duty = DUTY_ALL, .on = true } };

/* Of the reporter, a watcher, a worker. */
TEST_LOOP(the_death_of_a_child_answers_what_it_was_asked, 0, 4)
{
	static const struct msg questions[] = {
		{ .type = MSG_CTL_SHOW, .u.ctl_show.id = 7 },
		{ .type = MSG_CTL_REPORT },
		{ .type = MSG_CTL_RESTORE, .u.ctl_restore = { .id = 7 } },
		{ .type = MSG_CTL_PLAN },
	};
	const enum role asked = _i < 3 ? ROLE_REPORTER : ROLE_WATCHER;

	open_history();
	ask(&questions[_i]);
	ask(&questions[_i]);
	ck_assert_uint_eq(ends(operator_fd, EXIT_CODE_UNAVAILABLE), 0);
	stage_die(w.s, asked, 0);
	ck_assert_uint_eq(ends(operator_fd, EXIT_CODE_UNAVAILABLE), 2);
	stage_die(w.s, asked, 0); /* its successor was asked nothing */
	ck_assert_uint_eq(ends(operator_fd, EXIT_CODE_UNAVAILABLE), 0);
}

/* An order dies with the reporter that was asked: its successor cannot answer it. */
TEST(a_restore_ends_with_the_history_that_was_asked)
{
	const struct msg order = { .type = MSG_CTL_RESTORE, .u.ctl_restore.id = 7 };

	open_history();
	ask(&order);
	const struct msg row = row_of(7);

	stage_die(w.s, ROLE_REPORTER, 0);
	open_history();
	ask(&show);
	say(ROLE_REPORTER, &row);
	ck_assert_uint_eq(count(MSG_CTL_DRY_RUN), 0);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 3);
}

#define MANY 100

TEST(idle_operators_make_room)
{
	int idle[MANY];

	open_history();
	for (size_t i = 0; i < MANY; i++) {
		idle[i] = stage_connect(w.s);
		stage_pass(w.s, 1);
	}
	ask(&(struct msg){ .type = MSG_CTL_STATUS });
	ck_assert_uint_eq(ends(operator_fd, EXIT_CODE_OK), 1);
	ck_assert_uint_eq(ends(idle[0], EXIT_CODE_TEMPORARY), 1); /* the oldest goes, and hears why */
	ck_assert(is_closed(idle[0]));
	ck_assert_uint_eq(ends(idle[MANY - 1], EXIT_CODE_TEMPORARY), 0);
	ck_assert(!is_closed(idle[MANY - 1]));
	for (size_t i = 0; i < MANY; i++)
		(void)close(idle[i]);
}

/* Every place is taken by one that waits for the history. */
TEST(a_pause_gets_through_always)
{
	int waiting[MANY];
	size_t busy = 0;

	open_history();
	for (size_t i = 0; i < MANY; i++) {
		waiting[i] = stage_connect(w.s);
		ask_on(waiting[i], &show);
		busy += ends(waiting[i], EXIT_CODE_TEMPORARY);
		stage_pass(w.s, 1);
	}
	ck_assert_uint_eq(busy, MANY - 8);
	ck_assert_uint_eq(count(MSG_CTL_SHOW), 8);
	ask(&pause_all);
	say(ROLE_REPORTER, heard(MSG_PAUSE, count(MSG_PAUSE) - 1));
	ck_assert_uint_eq(ends(operator_fd, EXIT_CODE_OK), 1);
	forget();
	nominate(1);
	ck_assert_uint_eq(count(MSG_INTENT), 0);
	for (size_t i = 0; i < MANY; i++)
		(void)close(waiting[i]);
}

/* Who wants less than what somebody else has paused hears whose pause that is, and it stays. */
TEST(a_shorter_pause_does_not_replace_a_longer_one)
{
	struct msg longer = pause_all, shorter = pause_all;

	facts_quoted(&longer.u.ctl_pause.why, FACT_WHY, STR_LIT("incident 17"));
	shorter.u.ctl_pause.until = clock_wall_ms() + 3600000;
	open_history();
	ask(&shorter);
	ask(&longer); /* until resumed */
	say(ROLE_REPORTER, heard(MSG_PAUSE, count(MSG_PAUSE) - 1));
	ck_assert_uint_eq(ends(operator_fd, EXIT_CODE_OK), 2);
	forget();
	ask(&shorter);
	ck_assert_uint_eq(count(MSG_PAUSE), 0);
	ck_assert_str_eq(refused(operator_fd),
			 "a pause that lasts longer is in force, by uid 0: incident 17; "
			 "`ops-pod-cleaner resume` ends it");
	ask(&longer); /* the same again is no less */
	ck_assert_uint_ge(count(MSG_PAUSE), 1);
}

/* A worker has its grant when the operator pauses: "paused" means that nothing is written any more. */
TEST_LOOP(a_pause_is_confirmed_when_nothing_is_under_way, 0, 4)
{
	struct msg pause = pause_all;

	open_history();
	nominate(1);
	acknowledge(1);
	ck_assert_uint_eq(count(MSG_GRANT), 1);
	if (_i == 2) /* that is something else */
		pause.u.ctl_pause.duty = DUTY_IMAGE_PULL;
	ask(&pause);
	say(ROLE_REPORTER, heard(MSG_PAUSE, count(MSG_PAUSE) - 1));
	ck_assert_uint_eq(ends(operator_fd, EXIT_CODE_OK), _i == 2);
	if (_i == 0)
		end_lease(1, OUTCOME_DONE);
	else if (_i == 1)
		stage_pass(w.s, 9000);
	else if (_i == 3)
		stage_die(w.s, ROLE_REPORTER, 0); /* it is written down, and no answer comes of that */
	stage_pass(w.s, 1500);
	ck_assert_uint_eq(ends(operator_fd, EXIT_CODE_OK), _i < 2);
}

/* One that waits for an answer is not idle. */
TEST_LOOP(an_idle_connection_is_closed, 0, 2)
{
	open_history();
	ask(_i ? &show : &(struct msg){ .type = MSG_CTL_STATUS });
	(void)ends(operator_fd, EXIT_CODE_OK);
	for (int i = 0; i < 61; i++)
		stage_pass(w.s, 10000);
	ck_assert(is_closed(operator_fd) == (_i == 0));
}

/* -- what is counted of writes -- */

static void limited(uint64_t per_minute)
{
	stage_free(&w.s);
	w.o.writes_per_minute = per_minute;
	start();
	open_history();
	forget();
}

static void write_one(unsigned number)
{
	const size_t before = count(MSG_GRANT);

	nominate(number);
	acknowledge(heard(MSG_INTENT, count(MSG_INTENT) - 1)->u.intent.id);
	if (count(MSG_GRANT) > before)
		end_lease(heard(MSG_GRANT, before)->u.grant.id, OUTCOME_DONE);
}

TEST(what_operators_order_is_not_counted)
{
	limited(1);
	const struct msg order = { .type = MSG_CTL_RESTORE, .u.ctl_restore.id = 7 };

	ask(&order);
	const struct msg row = row_of(7);

	looked(&row, OUTCOME_WOULD);
	acknowledge(heard(MSG_INTENT, 0)->u.intent.id);
	end_lease(heard(MSG_GRANT, 0)->u.grant.id, OUTCOME_DONE);
	write_one(1);
	ck_assert_uint_eq(count(MSG_GRANT), 2);
	write_one(2); /* the limit itself holds */
	ck_assert_uint_eq(count(MSG_GRANT), 2);
}

/* A count that only memory holds is forgotten by a crash. */
TEST(what_cannot_be_counted_on_disk_is_not_written)
{
	limited(1000);
	_cleanup_free_ char *file = xasprintf("%s/supervisor.state", w.dir);
	_cleanup_free_ char *in_it = xasprintf("%s/x", file);

	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(mkdir(file, 0700), 0); /* nothing takes its place */
	ck_assert_int_eq(mkdir(in_it, 0700), 0);
	write_one(1);
	ck_assert_uint_eq(count(MSG_GRANT), 1);
	write_one(2);
	ck_assert_uint_eq(count(MSG_GRANT), 1);
	ck_assert_int_eq(rmdir(in_it), 0);
	ck_assert_int_eq(rmdir(file), 0);
	stage_pass(w.s, 1000);
	write_one(3);
	ck_assert_uint_eq(count(MSG_GRANT), 2);
}

TEST_MAIN("supervisor/control")
{
	tcase_add_checked_fixture(t, set_up, hang_up);
	tcase_set_timeout(t, 60);
}
