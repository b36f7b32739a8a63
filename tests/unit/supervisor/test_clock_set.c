/* test_clock_set.c - what the supervisor itself holds, pauses and its limit of writes, when the clock of this
 * host is set. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "supervisor/operator/pauses.h"
#include "world.h"

#define HOUR INT64_C(3600000)

static unsigned nominated;

static void set_clock(int64_t step)
{
	clock_fake_set(clock_wall_ms() + step, clock_boot_ms());
}

/* So many are nominated; how many of them are written? */
static size_t do_some(size_t n)
{
	forget();
	while (n-- > 0) {
		const size_t intents = count(MSG_INTENT), granted = count(MSG_GRANT);

		nominate(++nominated);
		if (count(MSG_INTENT) == intents)
			continue;
		const uint64_t id = heard(MSG_INTENT, intents)->u.intent.id;

		acknowledge(id);
		if (count(MSG_GRANT) > granted)
			end_lease(id, OUTCOME_DONE);
	}
	return count(MSG_GRANT);
}

static void pause_cluster(const char *cluster)
{
	struct msg m = { .type = MSG_CTL_PAUSE,
			 .u.ctl_pause = { .duty = DUTY_ALL, .on = true, .until = clock_wall_ms() + HOUR } };

	msg_text(&m, ctl_pause.cluster_name, cluster);
	open_history();
	pauses_on_ctl_pause(stage_supervisor(w.s), &m);
	stage_run(w.s);
}

static void pause_for_an_hour(void)
{
	pause_cluster("");
}

static void say_stats(bool host_ahead)
{
	const struct msg m = { .type = MSG_WATCH_STATS,
			       .u.watch_stats = { .synced = true, .host_ahead = host_ahead } };

	say(ROLE_WATCHER, &m);
}

static const int64_t steps[] = { -48 * HOUR, -2 * HOUR, 62 * HOUR / 60, 2 * HOUR, 48 * HOUR };

/* Also where the clock was set a moment before somebody pauses. The watcher and the history are told when it
 * ends by the clock that was set. */
TEST_LOOP(a_pause_lasts_as_long_as_it_was_asked_for, 0, 2 * (int)ARRAY_SIZE(steps))
{
	const int64_t step = steps[_i / 2];

	if (_i % 2)
		set_clock(-step);
	pause_for_an_hour();
	set_clock(step);
	ck_assert_uint_eq(do_some(1), 0);
	stage_pass(w.s, 1000);
	ck_assert_uint_eq(count(MSG_PAUSE), 2);
	ck_assert_int_eq(heard(MSG_PAUSE, 1)->u.pause.until, clock_wall_ms() - 1000 + HOUR);
	stage_pass(w.s, HOUR - 2000);
	ck_assert_uint_eq(do_some(1), 0);
	stage_pass(w.s, 1000);
	ck_assert_uint_eq(do_some(1), 1);
}

/* Whether the clock has gone on while nobody ran, or is wrong, an API server knows. */
TEST_LOOP(a_pause_of_an_earlier_life_waits_for_the_clock, 0, 2)
{
	pause_for_an_hour();
	stage_free(&w.s);
	set_clock(2 * HOUR);
	start();
	open_history();
	stage_pass(w.s, 1000);
	ck_assert_uint_eq(do_some(1), 0);
	if (_i) {
		say_stats(true);
		stage_pass(w.s, 1000);
		ck_assert_uint_eq(do_some(1), 0);
		set_clock(-2 * HOUR);
		stage_pass(w.s, 1000);
	}
	say_stats(false);
	stage_pass(w.s, 1000);
	ck_assert_uint_eq(do_some(1), !_i);
	stage_pass(w.s, HOUR);
	ck_assert_uint_eq(do_some(1), 1);
}

static const struct servers {
	const char *paused;
	bool first_ahead, second_ahead; /* this host, as the API server of the first or second cluster says */
	bool acts, stands;              /* the first cluster is acted on; the pause is shown */
} servers[] = {
	{ "test", false, true, true, false }, { "test", true, false, false, true },
	{ "", false, true, true, true },      { "", true, false, false, true },
	{ "", false, false, true, false },    { "second", false, true, true, true },
};

/* Of another cluster, whose API server's clock is behind, nothing follows for this one. */
TEST_LOOP(a_pause_of_an_earlier_life_asks_the_server_of_its_cluster, 0, ARRAY_SIZE(servers))
{
	const struct servers *t = &servers[_i];

	w.o.second = STAGE_WAITS;
	start_again();
	pause_cluster(t->paused);
	stage_free(&w.s);
	set_clock(2 * HOUR);
	start();
	open_history();
	stage_supervisor(w.s)->watch_stats[1] = (struct msg){
		.type = MSG_WATCH_STATS,
		.u.watch_stats = { .cluster = 1, .synced = true, .host_ahead = t->second_ahead }
	};
	say_stats(t->first_ahead);
	stage_pass(w.s, 1000);
	ck_assert_uint_eq(do_some(1), t->acts);
	ck_assert_int_eq(pauses_any(stage_supervisor(w.s)), t->stands);
}

TEST(a_clock_set_forward_gives_no_writes_back)
{
	w.o.writes_per_minute = 5;
	start_again();
	open_history();
	ck_assert_uint_eq(do_some(9), 5);
	set_clock(2 * HOUR);
	ck_assert_uint_eq(do_some(9), 0);
	stage_pass(w.s, 1000);
	ck_assert_uint_eq(do_some(9), 0);
	stage_pass(w.s, 60000);
	ck_assert_uint_eq(do_some(9), 5);
}

/* Whoever sets it back while nobody runs gets no other minute for it either. */
TEST(a_clock_set_back_between_two_lives_keeps_what_was_counted)
{
	w.o.writes_per_minute = 5;
	start_again();
	open_history();
	ck_assert_uint_eq(do_some(9), 5);
	stage_free(&w.s);
	set_clock(-HOUR);
	start();
	open_history();
	say_stats(false);
	ck_assert_uint_eq(do_some(9), 0);
	stage_pass(w.s, 60000);
	ck_assert_uint_eq(do_some(9), 5);
}

/* Nor whoever sets it forward: that the minute is over, the API server has to say. */
TEST(a_clock_that_is_wrong_at_the_start_gives_no_writes_back)
{
	w.o.writes_per_minute = 5;
	start_again();
	open_history();
	ck_assert_uint_eq(do_some(9), 5);
	stage_free(&w.s);
	set_clock(HOUR);
	start();
	open_history();
	ck_assert_uint_eq(do_some(9), 0);
	say_stats(true);
	ck_assert_uint_eq(do_some(9), 0);
	set_clock(-HOUR);
	stage_pass(w.s, 1000);
	say_stats(false);
	ck_assert_uint_eq(do_some(9), 0);
	stage_pass(w.s, 60000);
	ck_assert_uint_eq(do_some(9), 5);
}

/* How often is our own file written? Each time a file is made and takes its place: two events alike are one.
 */
static size_t count_writes(int watch)
{
	char events[4096] __attribute__((aligned(8)));
	const struct inotify_event *e;
	size_t n = 0;
	ssize_t size;

	while ((size = read(watch, events, sizeof(events))) > 0) {
		for (ssize_t i = 0; i < size; i += (ssize_t)(sizeof(*e) + e->len)) {
			e = (const void *)(events + i);
			n += (e->mask & IN_MOVED_TO) != 0;
		}
	}
	return n;
}

static int watch_file(void)
{
	const int watch = inotify_init1(IN_NONBLOCK);

	ck_assert_int_ge(inotify_add_watch(watch, w.dir, IN_CREATE | IN_MOVED_TO), 0);
	return watch;
}

/* It is written whole. */
TEST(many_pauses_follow_the_clock_in_one_write)
{
	open_history();
	for (int duty = 0; duty < 5; duty++) {
		struct msg m = { .type = MSG_CTL_PAUSE,
				 .u.ctl_pause = {
					 .duty = duty, .on = true, .until = clock_wall_ms() + HOUR } };

		pauses_on_ctl_pause(stage_supervisor(w.s), &m);
		stage_run(w.s);
	}
	const int watch = watch_file();

	set_clock(-2 * HOUR);
	stage_pass(w.s, 1000);
	ck_assert_uint_le(count_writes(watch), 2); /* and what is known to fail */
	close(watch);
}

static void name_failing(unsigned number, bool fails)
{
	struct msg m = { .type = MSG_FAILING_SINCE,
			 .u.failing_since = { .duty = DUTY_IMAGE_PULL, .at = fails, .revision = "r1" } };

	(void)snprintf(m.u.failing_since.owner, sizeof(m.u.failing_since.owner),
		       "0b8f0f3e-0000-4000-8000-%012u", number);
	say(ROLE_WATCHER, &m);
}

/* One of many heals or fails in every second: all of them are not written in every one. */
TEST(a_change_among_many_is_written_seldom)
{
	open_history();
	for (unsigned i = 0; i < FAILING_SINCE_MAX; i++)
		name_failing(i, true);
	stage_pass(w.s, 60000);
	const int watch = watch_file();

	for (unsigned i = 0; i < 60; i++) {
		name_failing(i, false);
		stage_pass(w.s, 1000);
	}
	const size_t n = count_writes(watch);

	close(watch);
	ck_assert_uint_ge(n, 1);
	ck_assert_uint_le(n, 15);
}

TEST_MAIN("supervisor/clock_set")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
}
