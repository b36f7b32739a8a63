/* test_known_since.c - since when the supervisor counts a workload as failing, against a watcher and a
 * history that say of a fresh failure that it is old. Beside each attack stands what an honest watcher says.
 */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "world.h"

#define SLACK_MS 2000 /* KNOWN_SLACK_MS */

/* By a watcher that says it has failed for ever. */
static struct msg forged(const char *owner, const char *revision)
{
	struct msg m = nomination(1);

	m.u.nominate.duty = DUTY_IMAGE_PULL;
	m.u.nominate.action = ACTION_SCALE_DOWN;
	m.u.nominate.since = 1;
	strcpy(m.u.nominate.action_key, owner);
	strcpy(m.u.nominate.revision, revision);
	return m;
}

static void name_failing(const char *owner, const char *revision, bool fails)
{
	struct msg m = { .type = MSG_FAILING_SINCE,
			 .u.failing_since = { .duty = DUTY_IMAGE_PULL, .at = fails } };

	strcpy(m.u.failing_since.owner, owner);
	strcpy(m.u.failing_since.revision, revision);
	say(ROLE_WATCHER, &m);
}

/* What the worker is told, now and while it reads ahead. */
static int64_t known_of(const char *owner, const char *revision)
{
	const struct msg m = forged(owner, revision);

	forget();
	say(ROLE_WATCHER, &m);
	const struct msg_prefetch *p = &heard(MSG_PREFETCH, 0)->u.prefetch;

	acknowledge(heard(MSG_INTENT, 0)->u.intent.id);
	const struct msg_grant *g = &heard(MSG_GRANT, 0)->u.grant;

	ck_assert_int_eq(p->known_since, g->known_since);
	ck_assert_str_eq(g->revision, revision);
	ck_assert_str_eq(p->revision, revision);
	const int64_t since = g->known_since;

	end_lease(g->id, OUTCOME_REFUSED);
	return since;
}

TEST(a_failure_is_known_since_it_was_named)
{
	open_history();
	name_failing("rs-1", "r1", true);
	const int64_t then = clock_wall_ms() - SLACK_MS;

	stage_pass(w.s, HOUR_MS);
	name_failing("rs-1", "r1", true); /* once more changes nothing */
	ck_assert_int_eq(known_of("rs-1", "r1"), then);
	ck_assert_int_eq(known_of("rs-1", "r1"), then); /* refused, and nominated again */
}

/* The attack: what nobody has named, or another revision or owner than was named, has begun just now.
 * Nominated it is named. */
TEST_LOOP(what_was_not_named_has_begun_just_now, 0, 3)
{
	static const char *const what[][2] = { { "rs-2", "r1" }, { "rs-1", "r2" }, { "rs-1", "" } };
	const char *owner = what[_i][0], *revision = what[_i][1];

	open_history();
	name_failing("rs-1", "r1", true);
	stage_pass(w.s, HOUR_MS);
	const int64_t now = clock_wall_ms();

	ck_assert_int_eq(known_of(owner, revision), now);
	stage_pass(w.s, HOUR_MS);
	ck_assert_int_eq(known_of(owner, revision), now);
}

TEST(what_has_healed_begins_anew_however_old_it_is_said_to_be)
{
	open_history();
	name_failing("rs-1", "r1", true);
	stage_pass(w.s, HOUR_MS);
	name_failing("rs-1", "r1", false);
	ck_assert_int_eq(known_of("rs-1", "r1"), clock_wall_ms());
}

TEST(what_is_known_survives_our_death)
{
	const struct msg end = end_of(9);

	open_history();
	stage_pass(w.s, 1000); /* what else is kept is on disk */
	name_failing("rs-1", "r1", true);
	const int64_t then = clock_wall_ms() - SLACK_MS;

	stage_pass(w.s, 1000);
	start_again();
	say(ROLE_REPORTER, &end);
	stage_pass(w.s, HOUR_MS);
	ck_assert_int_eq(known_of("rs-1", "r1"), then);
}

/* So many names as there is room for, none of which is configured any more. */
TEST(clusters_of_earlier_lives_leave_room)
{
	struct own_state *own = stage_supervisor(w.s)->own;

	for (unsigned i = 0; i < CLUSTERS_MAX; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "gone-%u", i);
		const struct failing_since_key key = { name, DUTY_IMAGE_PULL, "rs-1", "r1" };

		ck_assert(failing_since_add(own->known, &key, 1));
	}
	ck_assert_int_eq(own_state_save(own), 0);
	start_again();
	open_history();
	name_failing("rs-1", "r1", true);
	const int64_t then = clock_wall_ms() - SLACK_MS;

	stage_pass(w.s, HOUR_MS);
	ck_assert_int_eq(known_of("rs-1", "r1"), then);
}

static int64_t watched_since_of(const char *owner)
{
	(void)known_of(owner, "r1");
	const int64_t since = heard(MSG_GRANT, 0)->u.grant.watched_since;

	ck_assert_int_eq(heard(MSG_PREFETCH, 0)->u.prefetch.watched_since, since);
	return since;
}

/* It was stopped for a day, or its state is that of a day ago. */
TEST(what_was_known_before_a_break)
{
	const struct msg end = end_of(9);
	const struct msg_grant *g;

	open_history();
	name_failing("rs-1", "r1", true);
	const int64_t then = clock_wall_ms() - SLACK_MS;

	stage_pass(w.s, 1000);
	ck_assert_int_eq(watched_since_of("rs-1"), 0);
	stage_pass(w.s, 1000);
	clock_fake_advance(24 * HOUR_MS);
	start_again();
	say(ROLE_REPORTER, &end);
	const int64_t back = clock_wall_ms() - SLACK_MS;

	ck_assert_int_eq(watched_since_of("rs-1"), back);
	ck_assert_int_eq(known_of("rs-1", "r1"), then);
	stage_pass(w.s, 1000);
	start_again(); /* a break is remembered */
	say(ROLE_REPORTER, &end);
	ck_assert_int_eq(watched_since_of("rs-1"), back);
	g = &heard(MSG_GRANT, 0)->u.grant;
	ck_assert_int_ge(g->known_since, then);
}

/* Without a word of what fails: a cluster that is in step is watched. */
TEST_LOOP(a_watcher_that_is_in_step_makes_no_break, 0, 2)
{
	const struct msg stats = { .type = MSG_WATCH_STATS, .u.watch_stats = { .synced = _i == 0 } };

	open_history();
	name_failing("rs-1", "r1", true);
	for (int i = 0; i < 3; i++) {
		say(ROLE_WATCHER, &stats);
		stage_pass(w.s, HOUR_MS - 1000);
	}
	const int64_t since = watched_since_of("rs-1");

	ck_assert_int_eq(since, _i == 0 ? 0 : clock_wall_ms() - SLACK_MS);
}

/* The attack: the reporter alone names what may fail one day, as old as it likes. */
TEST(rows_of_the_history_make_nothing_known)
{
	const struct msg get = { .type = MSG_SAVED_GET };
	struct msg row = { .type = MSG_FAILING_SINCE_ROW,
			   .u.failing_since_row = { .duty = DUTY_IMAGE_PULL, .at = 1 } };

	open_history();
	strcpy(row.u.failing_since_row.owner, "rs-1");
	strcpy(row.u.failing_since_row.revision, "r1");
	say(ROLE_WATCHER, &get);
	say(ROLE_REPORTER, &row);
	stage_pass(w.s, HOUR_MS);
	ck_assert_int_eq(known_of("rs-1", "r1"), clock_wall_ms());
	say(ROLE_REPORTER, &row); /* nor does it take away what the watcher named */
	row.u.failing_since_row.at = 0;
	say(ROLE_REPORTER, &row);
	const int64_t then = clock_wall_ms();

	stage_pass(w.s, HOUR_MS);
	ck_assert_int_eq(known_of("rs-1", "r1"), then);
}

/* The history does not keep the revision: what was named last counts. */
TEST(an_open_intent_counts_as_known)
{
	const struct msg m = forged("rs-1", "r1");

	open_history();
	name_failing("rs-1", "r1", true);
	const int64_t then = clock_wall_ms() - SLACK_MS;

	stage_pass(w.s, HOUR_MS);
	say(ROLE_WATCHER, &m);
	const struct msg open = open_of(heard(MSG_INTENT, 0));

	start_again();
	forget();
	say(ROLE_REPORTER, &open);
	open_history();
	ck_assert(heard(MSG_GRANT, 0)->u.grant.verify_first);
	ck_assert_str_eq(heard(MSG_GRANT, 0)->u.grant.revision, "r1");
	ck_assert_int_eq(heard(MSG_GRANT, 0)->u.grant.known_since, then);
}

/* Named by a clock that was a day ahead, it would be a day until it counts as known. Nobody has looked at the
 * clock since. */
TEST(a_clock_that_goes_back_makes_nothing_newer)
{
	open_history();
	name_failing("rs-1", "r1", true);
	clock_fake_set(clock_wall_ms() - 24 * HOUR_MS, clock_boot_ms());
	const int64_t then = clock_wall_ms() - SLACK_MS;

	ck_assert_int_eq(known_of("rs-1", "r1"), then);
	stage_pass(w.s, HOUR_MS);
	ck_assert_int_eq(known_of("rs-1", "r1"), then);
}

/* A host that was a day behind when the failure was named: it is no day older for that. */
TEST_LOOP(a_clock_that_is_set_makes_nothing_older, 0, 2)
{
	open_history();
	name_failing("rs-1", "r1", true);
	clock_fake_set(clock_wall_ms() + (_i ? -24 : 24) * HOUR_MS, clock_boot_ms());
	stage_pass(w.s, 1000);
	ck_assert_int_eq(known_of("rs-1", "r1"), clock_wall_ms() - 1000 - SLACK_MS);
	stage_pass(w.s, HOUR_MS);
	ck_assert_int_eq(known_of("rs-1", "r1"), clock_wall_ms() - HOUR_MS - 1000 - SLACK_MS);
}

TEST(duties_of_pods_alone_ask_for_no_such_time)
{
	open_history();
	nominate(1);
	acknowledge(1);
	ck_assert_int_eq(heard(MSG_GRANT, 0)->u.grant.known_since, 0);
	ck_assert_int_eq(heard(MSG_PREFETCH, 0)->u.prefetch.known_since, 0);
}

/* A watcher that names more than there is room for displaces nothing, and what it names last is never known.
 */
TEST(inventions_do_not_displace_what_is_known)
{
	char owner[16];

	open_history();
	name_failing("rs-1", "r1", true);
	const int64_t then = clock_wall_ms() - SLACK_MS;

	for (unsigned i = 0; i < FAILING_SINCE_MAX + 10; i++) {
		(void)snprintf(owner, sizeof(owner), "x-%u", i);
		name_failing(owner, "r1", true);
	}
	stage_pass(w.s, HOUR_MS);
	ck_assert_int_eq(known_of("rs-1", "r1"), then);
	ck_assert_int_eq(known_of(owner, "r1"), clock_wall_ms());
}

TEST_MAIN("supervisor/known_since")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 60);
}
