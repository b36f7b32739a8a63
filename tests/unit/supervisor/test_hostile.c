/* test_hostile.c - a supervisor against children that somebody else controls: they say what their role may
 * say, at any time and in any number. Each case is an attack; beside it stands the same message at its right
 * moment. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "supervisor/operator/pauses.h"
#include "world.h"
#include "tests/facts_en.h"

/* -- numbers -- */

TEST(a_worker_counts_for_its_own_cluster)
{
	struct msg m = { .type = MSG_REQUESTS, .u.requests = { .verb = API_GET, .code = 200, .n = 1 } };

	open_history();
	say(ROLE_WORKER, &m);
	ck_assert_uint_eq(count(MSG_REQUESTS), 1);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_WORKER, 0), 1);
	m.u.requests.cluster = 1;
	say(ROLE_WORKER, &m);
	ck_assert_uint_eq(count(MSG_REQUESTS), 1);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_WORKER, 0), 2);
}

/* Who owns a worker does not have people look for a full disk. */
TEST_LOOP(a_trouble_is_said_by_the_role_that_has_it, 0, TROUBLE__MAX)
{
	static const enum role roles[] = { ROLE_WATCHER, ROLE_WORKER, ROLE_REPORTER };
	const char *finder = trouble_desc((enum trouble)_i)->finder;
	struct msg m = { .type = MSG_TROUBLE, .u.trouble.trouble = (uint64_t)_i };

	open_history();
	m.u.trouble.particulars = quoting("x");
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		say(roles[i], &m);
		ck_assert_uint_eq(stage_lives(w.s, roles[i], 0),
				  strcmp(finder, role_name(roles[i])) == 0 ? 1 : 2);
	}
}

/* Under two keys two workers would delete one pod at the same time; a workload is the key of its pods. */
TEST_LOOP(a_pod_is_nominated_under_its_own_uid, 0, 2)
{
	struct msg m = nomination(1);

	open_history();
	m.u.nominate.duty = _i == 0 ? DUTY_EVICTED : DUTY_IMAGE_PULL;
	strcpy(m.u.nominate.action_key, "another");
	say(ROLE_WATCHER, &m);
	ck_assert_uint_eq(open_leases(), (unsigned)_i);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_WATCHER, 0), _i == 0 ? 2 : 1);
}

/* It knows nothing of what the one before it was told. */
TEST(a_new_reporter_has_the_watcher_asked)
{
	open_history();
	forget();
	stage_die(w.s, ROLE_REPORTER, 0);
	ck_assert_uint_eq(count(MSG_DUE_GET), 1);
}

/* -- what the history keeps -- */

TEST(an_intent_that_we_signed_is_taken_up_after_our_death)
{
	open_history();
	nominate(1);
	const struct msg open = open_of(heard(MSG_INTENT, 0));

	ck_assert_uint_eq(strlen(open.u.open_intent.mac), 32);
	start_again();
	forget();
	say(ROLE_REPORTER, &open);
	open_history();
	ck_assert_uint_eq(count(MSG_GRANT), 1);
	ck_assert(heard(MSG_GRANT, 0)->u.grant.verify_first);
	ck_assert_uint_eq(count(MSG_RECORD), 0);
}

/* After a restart the history offers that one: nothing is done. */
static void come_back_with(const struct msg *open)
{
	start_again();
	forget();
	say(ROLE_REPORTER, open);
	open_history();
	ck_assert_uint_eq(count(MSG_GRANT), 0);
	ck_assert_uint_eq(open_leases(), 0);
}

/* Each member that is changed, and no signature at all. */
TEST_LOOP(an_invented_intent_is_not_carried_out, 0, 6)
{
	open_history();
	nominate(1);
	struct msg open = open_of(heard(MSG_INTENT, 0));
	struct msg_open_intent *i = &open.u.open_intent;

	switch (_i) {
	case 0:
		strcpy(i->mac, "");
		break;
	case 1:
		strcpy(i->uid, "uid-2");
		break;
	case 2:
		i->since = 1;
		break;
	case 3:
		i->id++;
		break;
	case 4:
		i->action = ACTION_SCALE_DOWN;
		break;
	default:
		i->mac[0] = i->mac[0] == '0' ? '1' : '0';
	}
	come_back_with(&open);
	ck_assert_uint_eq(only_record()->id, i->id); /* its row ends */
	ck_assert_uint_eq(only_record()->outcome, OUTCOME_UNCONFIRMED);
	ck_assert_str_eq(only_record()->reason, "IntentNotOurs");
}

/* Names of clusters are looked up by the index that it says: the last one is one too many. */
TEST_LOOP(an_intent_of_no_cluster_is_not_carried_out, 0, 2)
{
	open_history();
	nominate(1);
	struct msg open = open_of(heard(MSG_INTENT, 0));

	open.u.open_intent.cluster = _i == 0 ? 1 : CLUSTERS_MAX;
	come_back_with(&open);
	ck_assert_str_eq(only_record()->reason, "IntentNotOurs");
	ck_assert_str_eq(EN(only_record()->detail), "it names a cluster that is not configured");
}

TEST(an_intent_that_ended_long_ago_is_not_carried_out_again)
{
	open_history();
	nominate(1);
	const struct msg open = open_of(heard(MSG_INTENT, 0));

	acknowledge(1);
	end_lease(1, OUTCOME_DONE);
	ck_assert_uint_eq(open_leases(), 0);
	stage_pass(w.s, 61000); /* by then our own file knows that it has ended */
	start_again();
	forget();
	say(ROLE_REPORTER, &open);
	open_history();
	ck_assert_uint_eq(count(MSG_GRANT), 0);
	ck_assert_uint_eq(only_record()->id, 1);
}

TEST(a_history_that_comes_back_opens_nothing_that_we_closed)
{
	open_history();
	nominate(1);
	const struct msg open = open_of(heard(MSG_INTENT, 0));

	acknowledge(1);
	end_lease(1, OUTCOME_DONE);
	stage_die(w.s, ROLE_REPORTER, 0);
	forget();
	say(ROLE_REPORTER, &open);
	open_history();
	ck_assert_uint_eq(count(MSG_GRANT), 0);
	ck_assert_uint_eq(open_leases(), 0);
}

TEST(open_intents_come_once_a_life_and_before_their_end)
{
	open_history();
	nominate(1);
	const struct msg open = open_of(heard(MSG_INTENT, 0)), end = end_of(9);

	say(ROLE_REPORTER, &open);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 2);
	say(ROLE_REPORTER, &end);
	say(ROLE_REPORTER, &end);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 3);
}

/* 150,000 of them were 150,000 leases. */
TEST(invented_intents_take_no_memory)
{
	struct msg open = { .type = MSG_OPEN_INTENT };
	struct msg m = nomination(1);

	msg_copy_fields(&open, &m);
	for (unsigned i = 1; i <= 20000; i++) {
		open.u.open_intent.id = i;
		(void)snprintf(open.u.open_intent.action_key, sizeof(open.u.open_intent.action_key), "k%u",
			       i);
		while (!stage_say(w.s, ROLE_REPORTER, 0, &open))
			stage_run(w.s);
	}
	stage_run(w.s);
	ck_assert_uint_eq(open_leases(), 0);
}

TEST_LOOP(ids_at_their_end_do_not_end_the_supervisor, 0, 2)
{
	const struct msg end = end_of(_i ? LEASE_ID_MAX : (UINT64_C(1) << 40) + 2);

	say(ROLE_REPORTER, &end);
	nominate(1);
	ck_assert_uint_eq(heard(MSG_INTENT, 0)->u.intent.id, 1); /* it is not believed */
	acknowledge(1);
	ck_assert_uint_eq(count(MSG_GRANT), 1);
}

TEST(an_acknowledgement_of_what_was_not_sent_breaks_the_protocol)
{
	open_history();
	nominate(1);
	stage_die(w.s, ROLE_REPORTER, 0);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 2);
	acknowledge(1); /* it was sent again */
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 2);
	open_history();
	ck_assert_uint_eq(count(MSG_GRANT), 1);
	const struct msg ack = { .type = MSG_RECORD_ACK, .u.record_ack.id = 1 };

	say(ROLE_REPORTER, &ack); /* nothing was recorded: it has not ended */
	ck_assert_uint_eq(open_leases(), 1);
}

/* A history that was lost, or says so: two ends of one number would both be signed. */
TEST(a_history_that_says_it_is_new_gets_no_number_twice)
{
	open_history();
	for (unsigned i = 1; i <= 3; i++) {
		nominate(i);
		acknowledge(i);
		end_lease(i, OUTCOME_DONE);
	}
	stage_pass(w.s, 61000);
	start_again();
	forget();
	open_history();
	nominate(4);
	ck_assert_uint_eq(heard(MSG_INTENT, 0)->u.intent.id, 4);
}

/* -- an accusation -- */

TEST(what_a_killed_child_has_queued_does_not_count)
{
	struct msg m[3] = { nomination(1), nomination(2), nomination(3) };

	open_history();
	m[0].u.nominate.cluster = 1; /* another one than its own */
	ck_assert(stage_say_all(w.s, ROLE_WATCHER, 0, m, 3));
	stage_run(w.s);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_WATCHER, 0), 2);
	ck_assert_uint_eq(count(MSG_INTENT), 0);
	ck_assert(stage_say_all(w.s, ROLE_WATCHER, 0, m + 1, 2)); /* the next life of it */
	stage_run(w.s);
	ck_assert_uint_eq(count(MSG_INTENT), 2);
}

TEST(what_a_hung_child_has_queued_does_not_count_but_results)
{
	const struct msg m = nomination(2), done = result_of(1, OUTCOME_DONE);

	open_history();
	nominate(1);
	acknowledge(1);
	ck_assert_uint_eq(count(MSG_GRANT), 1);
	forget();
	for (int i = 0; i < 20; i++) {
		clock_fake_advance(1000);
		lifecycle_tick(stage_supervisor(w.s)->root);
	}
	for (uint64_t n = 0; n < STAGE_WORKERS; n++)
		ck_assert(stage_say(w.s, ROLE_WORKER, n, &done));
	ck_assert(stage_say(w.s, ROLE_WATCHER, 0, &m));
	clock_fake_advance(1000);
	lifecycle_tick(stage_supervisor(w.s)->root); /* none has sent a heartbeat */
	stage_run(w.s);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_WATCHER, 0), 2);
	ck_assert_uint_eq(count(MSG_INTENT), 0);
	ck_assert_uint_eq(count(MSG_GRANT), 0);
	ck_assert_uint_eq(only_record()->outcome, OUTCOME_DONE);
}

/* -- limits and pauses that are the supervisor's own -- */

/* One after the other is done; how many were granted? */
static size_t do_many(unsigned from, unsigned n)
{
	forget();
	for (unsigned i = from; i < from + n; i++) {
		const size_t before = count(MSG_INTENT);

		nominate(i);
		if (count(MSG_INTENT) == before)
			continue;
		const uint64_t id = heard(MSG_INTENT, before)->u.intent.id;

		const size_t granted = count(MSG_GRANT);

		acknowledge(id);
		if (count(MSG_GRANT) > granted)
			end_lease(id, OUTCOME_DONE);
	}
	return count(MSG_GRANT);
}

TEST(a_watcher_without_budgets_is_limited_all_the_same)
{
	w.o.writes_per_minute = 5;
	w.o.writes_per_hour = 8;
	start_again();
	open_history();
	ck_assert_uint_eq(do_many(0, 20), 5);
	ck_assert_str_eq(
		heard(MSG_NOMINATION_RESULT, count(MSG_NOMINATION_RESULT) - 1)->u.nomination_result.reason,
		"WriteLimit");
	stage_pass(w.s, 60000);
	ck_assert_uint_eq(do_many(20, 20), 3); /* of the hour */
	stage_pass(w.s, 3600000);
	ck_assert_uint_eq(do_many(40, 20), 5);
}

/* Whoever sets the clock back does not get another minute for it. */
TEST(a_clock_that_goes_back_keeps_what_was_counted)
{
	w.o.writes_per_minute = 5;
	start_again();
	open_history();
	ck_assert_uint_eq(do_many(0, 9), 5);
	clock_fake_set(clock_wall_ms() - 3600000, clock_boot_ms());
	ck_assert_uint_eq(do_many(10, 9), 0);
	stage_pass(w.s, 60000);
	ck_assert_uint_eq(do_many(20, 9), 5);
}

TEST(only_what_was_written_is_counted)
{
	w.o.writes_per_minute = 1;
	start_again();
	open_history();
	for (unsigned i = 1; i < 5; i++) {
		nominate(i);
		acknowledge(heard(MSG_INTENT, i - 1)->u.intent.id);
		end_lease(heard(MSG_INTENT, i - 1)->u.intent.id, OUTCOME_REFUSED);
	}
	ck_assert_uint_eq(count(MSG_GRANT), 4);
}

TEST(what_is_under_way_is_within_the_limit)
{
	w.o.writes_per_minute = 3;
	start_again();
	open_history();
	for (unsigned i = 1; i < 9; i++) {
		nominate(i);
		acknowledge(i);
	}
	ck_assert_uint_eq(count(MSG_GRANT), 3);
}

TEST(the_limit_survives_our_death)
{
	w.o.writes_per_hour = 20;
	start_again();
	open_history();
	ck_assert_uint_eq(do_many(0, 15), 15);
	start_again();
	const struct msg end = end_of(16), synced = { .type = MSG_WATCH_STATS, .u.watch_stats.synced = true };

	say(ROLE_REPORTER, &end);
	ck_assert_uint_le(do_many(20, 15), 5);
	stage_pass(w.s, 3600000);
	say(ROLE_WATCHER, &synced); /* whether the hour is over, the API server knows */
	ck_assert_uint_eq(do_many(40, 15), 15);
}

/* So many names as there is room for, none of which is configured any more. */
TEST(clusters_of_earlier_lives_leave_room_to_count)
{
	w.o.writes_per_minute = 5;
	start_again();
	struct own_state *own = stage_supervisor(w.s)->own;

	own->n_counts = 0;
	for (unsigned i = 0; i < CLUSTERS_MAX; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "gone-%u", i);
		ck_assert_ptr_nonnull(own_state_count(own, name));
	}
	ck_assert_int_eq(own_state_save(own), 0);
	start_again();
	open_history();
	ck_assert_uint_eq(do_many(0, 20), 5);
}

static void pause_all(bool on)
{
	struct msg m = { .type = MSG_CTL_PAUSE, .u.ctl_pause = { .duty = DUTY_ALL, .on = on } };

	pauses_on_ctl_pause(stage_supervisor(w.s), &m);
	stage_run(w.s);
}

TEST(a_pause_survives_a_history_that_forgets_it)
{
	open_history();
	pause_all(true);
	start_again();
	open_history(); /* it says of no pause */
	ck_assert_uint_eq(do_many(1, 1), 0);
	pause_all(false);
	ck_assert_uint_eq(do_many(1, 1), 1);
	start_again();
	const struct msg end = end_of(9);

	say(ROLE_REPORTER, &end);
	ck_assert_uint_eq(do_many(2, 1), 1);
}

/* There is no file of ours yet: what the history of the version before holds is taken over, once. */
TEST(pauses_of_the_version_before_are_taken_over)
{
	struct msg row = { .type = MSG_PAUSE, .u.pause = { .duty = DUTY_ALL, .on = true, .at = 1 } };

	strcpy(row.u.pause.by, "somebody");
	say(ROLE_REPORTER, &row);
	open_history();
	ck_assert_uint_eq(do_many(1, 1), 0);
	start_again();
	open_history(); /* this history does not know of it */
	ck_assert_uint_eq(do_many(1, 1), 0);
	pause_all(false);
	start_again();
	say(ROLE_REPORTER, &row); /* and this one has not heard that it is over */
	open_history();
	ck_assert_uint_eq(do_many(1, 1), 1);
}

static char *state_file(void)
{
	return xasprintf("%s/" OWN_STATE_FILE, w.dir);
}

/* Cut off anywhere, or one bit anywhere is another. */
TEST_LOOP(a_damaged_file_pauses_everything, 0, 40)
{
	_cleanup_free_ char *path = state_file();
	struct stat st;

	open_history();
	stage_free(&w.s);
	ck_assert_int_eq(stat(path, &st), 0);
	const long at = st.st_size * (_i / 2) / 20;

	if (_i % 2 == 0) {
		ck_assert_int_eq(truncate(path, at), 0);
	} else {
		FILE *f = fopen(path, "r+");

		ck_assert_ptr_nonnull(f);
		ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
		const int c = fgetc(f);

		ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
		(void)fputc(c ^ 1, f);
		(void)fclose(f);
	}
	start();
	open_history();
	ck_assert_uint_eq(do_many(1, 1), 0);
	pause_all(false);
	ck_assert_uint_eq(do_many(1, 1), 1);
}

/* -- leadership -- */

/* A watcher that says so once leads as long as a Lease lasts, and not for ever. */
TEST(a_word_about_the_lease_ends_with_the_lease)
{
	const struct msg leader = { .type = MSG_LEADER,
				    .u.leader = { .leading = true, .valid_until = UINT64_MAX } };

	w.o.election = true;
	start_again();
	open_history();
	ck_assert_uint_eq(do_many(1, 1), 0);
	say(ROLE_WATCHER, &leader);
	ck_assert_uint_eq(do_many(2, 1), 1);
	stage_pass(w.s, 16000);
	ck_assert_uint_eq(do_many(3, 1), 0);
}

/* -- a look at what a report shows -- */

TEST(a_look_goes_to_a_worker_of_its_cluster_and_back)
{
	struct msg inspection = { .type = MSG_INSPECT, .u.inspect = { .cluster = 0, .inspection = 7 } };
	struct msg inspected = { .type = MSG_INSPECTED,
				 .u.inspected = { .cluster = 0, .inspection = 7, .found = true } };

	open_history();
	forget();
	msg_set(&inspection, inspect.ns, "shop", 4);
	msg_set(&inspection, inspect.pod, "web-1", 5);
	msg_set(&inspection, inspect.container, "app", 3);
	say(ROLE_REPORTER, &inspection);
	ck_assert_uint_eq(count(MSG_INSPECT), 1);
	say(ROLE_WORKER, &inspected);
	ck_assert_uint_eq(count(MSG_INSPECTED), 1);
	ck_assert(heard(MSG_INSPECTED, 0)->u.inspected.found);
	/* Of a cluster without a worker: the report goes on without. */
	inspection.u.inspect.cluster = 7;
	say(ROLE_REPORTER, &inspection);
	ck_assert_uint_eq(count(MSG_INSPECT), 1);
	ck_assert_uint_eq(count(MSG_INSPECTED), 2);
	ck_assert(!heard(MSG_INSPECTED, 1)->u.inspected.found);
}

TEST(a_worker_looks_into_its_own_cluster_alone)
{
	const struct msg inspected = { .type = MSG_INSPECTED,
				       .u.inspected = { .cluster = 7, .inspection = 7, .found = true } };

	open_history();
	forget();
	say(ROLE_WORKER, &inspected);
	ck_assert_uint_eq(count(MSG_INSPECTED), 0);
}

/* -- who we are -- */

/* The name of a host and a process id are not enough: two containers may have both in common. */
TEST(a_life_has_a_number_that_its_children_keep_and_no_other_has)
{
	const uint64_t mine = heard(MSG_SETTINGS, 0)->u.settings.instance;

	open_history();
	ck_assert_uint_gt(count(MSG_SETTINGS), 1);
	for (size_t i = 0; i < count(MSG_SETTINGS); i++)
		ck_assert_uint_eq(heard(MSG_SETTINGS, i)->u.settings.instance, mine);
	forget();
	stage_die(w.s, ROLE_WATCHER, 0);
	ck_assert_uint_eq(heard(MSG_SETTINGS, 0)->u.settings.instance, mine);
	forget();
	start_again();
	ck_assert_uint_ne(heard(MSG_SETTINGS, 0)->u.settings.instance, mine);
}

/* -- what an operator is told -- */

static void ask(int fd, const struct msg *m)
{
	uint8_t bytes[IPC_FRAME_MAX];
	const size_t n = msg_encode(m, bytes);

	ck_assert_int_eq(send(fd, bytes, n, 0), (ssize_t)n);
	stage_run(w.s);
}

/* How many messages of that type the operator has got since he last listened. */
static unsigned told(int fd, enum msg_type type)
{
	uint8_t bytes[IPC_FRAME_MAX];
	const char *field;
	unsigned n = 0;
	ssize_t len;

	while ((len = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		for (ssize_t at = 0, used; at < len; at += used) {
			struct msg m;

			used = msg_decode(ROLE_SUPERVISOR, ROLE_CLI, PH_RUN, bytes + at, (size_t)(len - at),
					  &m, &field);
			ck_assert_int_gt(used, 0);
			n += m.type == type;
		}
	return n;
}

/* Numbers of connections are small and grow by one: whoever wants to guess one can. */
TEST(who_was_not_asked_answers_no_operator)
{
	const struct msg show = { .type = MSG_CTL_SHOW, .u.ctl_show.id = 7 };
	struct msg end = { .type = MSG_CTL_END }, row = { .type = MSG_CTL_SHOW_ROW };
	struct msg access = { .type = MSG_CTL_ACCESS_ROW, .u.ctl_access_row = { .known = true } };
	_cleanup_close_ int fd = stage_connect(w.s);

	open_history();
	ask(fd, &show);
	end.u.ctl_end.conn = heard(MSG_CTL_SHOW, 0)->u.ctl_show.conn;
	access.u.ctl_access_row.conn = row.u.ctl_show_row.conn = end.u.ctl_end.conn;
	strcpy(row.u.ctl_show_row.name, "evidence");
	say(ROLE_WATCHER, &end);
	ck_assert_uint_eq(told(fd, MSG_CTL_END), 0);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_WATCHER, 0), 2);
	say(ROLE_WORKER, &access);
	ck_assert_uint_eq(told(fd, MSG_CTL_ACCESS_ROW), 0);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_WORKER, 0), 2);
	/* By the one that was asked, and to the end. */
	say(ROLE_REPORTER, &row);
	ck_assert_uint_eq(told(fd, MSG_CTL_SHOW_ROW), 1);
	say(ROLE_REPORTER, &end);
	ck_assert_uint_eq(told(fd, MSG_CTL_END), 1);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 1);
	say(ROLE_REPORTER, &end);
	ck_assert_uint_eq(told(fd, MSG_CTL_END), 0);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 2);
}

TEST(an_answer_to_an_operator_who_has_left_is_no_offence)
{
	const struct msg show = { .type = MSG_CTL_SHOW, .u.ctl_show.id = 7 };
	struct msg end = { .type = MSG_CTL_END };
	const int fd = stage_connect(w.s);

	open_history();
	ask(fd, &show);
	end.u.ctl_end.conn = heard(MSG_CTL_SHOW, 0)->u.ctl_show.conn;
	(void)close(fd);
	stage_run(w.s);
	say(ROLE_REPORTER, &end);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 1);
}

/* Whoever lives after it was not asked. */
TEST(what_a_dead_child_was_asked_its_successor_does_not_answer)
{
	const struct msg show = { .type = MSG_CTL_SHOW, .u.ctl_show.id = 7 };
	struct msg end = { .type = MSG_CTL_END };
	_cleanup_close_ int fd = stage_connect(w.s);

	open_history();
	ask(fd, &show);
	end.u.ctl_end.conn = heard(MSG_CTL_SHOW, 0)->u.ctl_show.conn;
	stage_die(w.s, ROLE_REPORTER, 0);
	stage_run(w.s);
	ck_assert_uint_eq(told(fd, MSG_CTL_END), 1); /* its death is the answer */
	say(ROLE_REPORTER, &end);
	ck_assert_uint_eq(told(fd, MSG_CTL_END), 0);
}

TEST_MAIN("supervisor/hostile")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 60);
}
