/* test_fallback.c - what needs an operator while the history cannot be written: sinks are notified from
 * memory, and of its end, too. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/reporter/history_world.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "reporter/history/attention.h"
#include "reporter/notify/alarm_messages.h"
#include "reporter/notify/fallback.h"
#include "reporter/notify/outbox.h"

#define MINUTE INT64_C(60000)
#define DAY    (1440 * MINUTE)

static struct sink_settings sinks[2];
static struct settings settings;
static struct state *state;
static struct db *memory;
static char text[20000];

static void setup(void)
{
	world_setup();
	sinks[0] = (struct sink_settings){ .name = (char *)"team", .news = 7, .top = 3 };
	sinks[1] =
		(struct sink_settings){ .name = (char *)"pay", .news = 7, .top = 3, .language = LANGUAGE_ZH };
	settings = (struct settings){ .sinks = sinks, .n_sinks = 2, .gather_ms = MINUTE, .remind_ms = DAY };
	settings.cluster_names = w.clusters;
	state = state_new();
}

static void teardown(void)
{
	db_close(&memory);
	state_free(&state);
	world_teardown();
}

/* The messages for a sink in an outbox, which are delivered with this; as text. */
static const char *told_by(struct db *db, const char *sink)
{
	struct outbox_row row;
	size_t n = 0;

	text[0] = '\0';
	while (outbox_next(db, sink, &row) == 1) {
		char *t = document_to_text(&row.document);

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", t);
		free(t);
		ck_assert_int_eq(outbox_end(db, row.id, OUTBOX_DONE, &(const struct facts){ 0 }), 0);
		outbox_row_done(&row);
	}
	return text;
}

static const char *told(const char *sink)
{
	return told_by(w.db, sink);
}
#define HAS(s)    ck_assert_msg(strstr(text, s) != NULL, "%s is missing in:\n%s", s, text)
#define HAS_NO(s) ck_assert_msg(strstr(text, s) == NULL, "%s is in:\n%s", s, text)

static struct alarm_sources sources(void)
{
	return (struct alarm_sources){ w.db, state, NULL, &settings, NULL, memory };
}

static int look_now(void)
{
	const struct alarm_sources from = sources();
	bool put;

	return alarm_messages_put(&from, &put);
}
static void look(int64_t ms)
{
	clock_fake_advance(ms);
	ck_assert_int_eq(look_now(), 0);
}

/* So much later; true: there is a message for "team", which is `text` then and is delivered. */
static bool look_from_memory(int64_t ms)
{
	look(ms);
	return *told_by(memory, "team");
}

static void trouble(enum trouble kind, const char *cluster, uint64_t n)
{
	struct msg m = { .type = MSG_TROUBLE_ROW };

	m.u.trouble_row = (struct msg_trouble_row){ .trouble = kind, .n = n, .since = clock_wall_ms() };
	test_set(&m, trouble_row.cluster_name, cluster);
	m.u.trouble_row.particulars = quoting("why");
	state_put(state, cluster, &m);
}

/* A file that may not grow is what a full disk looks like. */
static void fill_disk(bool is_full)
{
	struct rlimit limit;

	(void)signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = is_full ? 0 : limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void begin_memory(void)
{
	ck_assert_int_eq(fallback_begin(w.db, &memory), 0);
}

static void begin_outage(void)
{
	fill_disk(true);
	clock_fake_advance(MINUTE);
	ck_assert_int_lt(look_now(), 0);
	begin_memory();
}

static void end_outage(void)
{
	ck_assert_int_lt(fallback_return(memory, w.db), 0);
	fill_disk(false);
	ck_assert_int_eq(fallback_return(memory, w.db), 0);
	db_close(&memory);
}

TEST(a_full_disk_is_told_while_it_is_full_and_its_end_once)
{
	trouble(TROUBLE_HISTORY, "", 1);
	begin_outage();
	ck_assert(look_from_memory(0));
	HAS("the history cannot be opened or written");
	ck_assert(!look_from_memory(MINUTE));
	ck_assert(look_from_memory(DAY));
	HAS("Still: ");
	ck_assert_str_eq(told("team"), "");
	trouble(TROUBLE_HISTORY, "", 0);
	end_outage();
	look(0);
	ck_assert_str_eq(told("team"), "");
	look(MINUTE);
	(void)told("team");
	HAS("Resolved: ");
	HAS("the history cannot be opened or written");
	(void)told("pay"); /* which took none meanwhile: all in its order */
	HAS("新问题");
	ck_assert(strstr(text, "新问题") < strstr(text, "已恢复"));
	look(DAY);
	ck_assert_str_eq(told("team"), "");
}

static struct outbox_row next_of(const char *sink)
{
	struct outbox_row row;

	ck_assert_int_eq(outbox_next(memory, sink, &row), 1);
	return row;
}

/* Of a process that had no time to keep what it told. */
TEST(the_first_message_says_that_it_may_have_arrived)
{
	struct outbox_row row;

	trouble(TROUBLE_HISTORY, "", 1);
	begin_outage();
	look(0);
	ck_assert_int_eq(db_do(memory, DB_FALLBACK_DOUBT), 0);
	row = next_of("team");
	ck_assert_uint_eq(row.doubts, 1);
	outbox_row_done(&row);
	(void)told_by(memory, "team");
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	look(MINUTE);
	row = next_of("team");
	ck_assert_uint_eq(row.doubts, 0);
	outbox_row_done(&row);
	end_outage();
}

/* It waits in memory, and then in the history. */
TEST(what_did_not_arrive_is_sent_after_the_outage)
{
	trouble(TROUBLE_HISTORY, "", 1);
	begin_outage();
	look(0);
	struct outbox_row row = next_of("team");

	ck_assert_int_eq(outbox_begin(memory, row.id), 0);
	ck_assert_int_eq(outbox_again(memory, row.id, clock_wall_ms() + 7, true, &(const struct facts){ 0 }),
			 0);
	outbox_row_done(&row);
	look(MINUTE);
	end_outage();
	ck_assert_int_eq(outbox_next(w.db, "team", &row), 1);
	ck_assert_uint_eq(row.tries, 1);
	ck_assert_uint_eq(row.doubts, 1);
	ck_assert_int_eq(row.next_at, clock_wall_ms() - MINUTE + 7);
	outbox_row_done(&row);
	(void)told("team");
	HAS("New: ");
	ck_assert_str_eq(told("team"), "");
}

TEST(what_was_told_before_the_outage_is_not_told_in_it)
{
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	look(MINUTE);
	(void)told("team");
	HAS("forbids");
	trouble(TROUBLE_HISTORY, "", 1);
	trouble(TROUBLE_FORBIDDEN, "prod", 0);
	begin_outage();
	ck_assert(look_from_memory(0));
	HAS("New: ");
	HAS_NO("forbids");
	ck_assert(look_from_memory(MINUTE));
	HAS("Resolved: ");
	HAS("forbids");
	ck_assert(!look_from_memory(MINUTE));
	trouble(TROUBLE_HISTORY, "", 0);
	end_outage();
	look(0);
	look(MINUTE);
	(void)told("team");
	HAS("Resolved: ");
	HAS_NO("forbids"); /* its end was told */
}

/* A message that waits there may not be sent before the outage is over; one that was on its way may have
 * arrived.
 */
TEST_LOOP(what_waits_in_the_outbox_is_told_once, 0, 2)
{
	struct outbox_row row;

	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	look(MINUTE);
	ck_assert_int_eq(outbox_next(w.db, "team", &row), 1);
	if (_i)
		ck_assert_int_eq(outbox_begin(w.db, row.id), 0);
	outbox_row_done(&row);
	trouble(TROUBLE_HISTORY, "", 1);
	begin_outage();
	row = next_of("team");
	ck_assert_uint_eq(row.doubts, (uint64_t)_i);
	outbox_row_done(&row);
	ck_assert(look_from_memory(0));
	HAS("forbids");
	end_outage();
	ck_assert_str_eq(told("team"), "");
}

static void refuse(const char *uid, const char *name)
{
	struct msg m = world_refusal(uid, "Forbidden");

	test_set(&m, refusal.name, name);
	world_write(&m, 1);
}

/* An object that joined an alarm before the outage, and was not told yet. */
TEST(what_joined_an_alarm_is_told_once_in_the_outage)
{
	settings.gather_ms = 3 * MINUTE;
	refuse("uid-1", "dns-1");
	refuse("uid-2", "dns-2");
	clock_fake_advance(ATTENTION_LASTING_MS);
	refuse("uid-1", "dns-1");
	look(0);
	(void)told("team");
	HAS("kube-system: dns-1\n");
	refuse("uid-2", "dns-2");
	look(2 * MINUTE);
	ck_assert_str_eq(told("team"), "");
	begin_outage();
	ck_assert(look_from_memory(0));
	HAS("kube-system: dns-2\n");
	HAS("2 in total");
	ck_assert(!look_from_memory(10 * MINUTE));
	end_outage();
	look(10 * MINUTE);
	ck_assert_str_eq(told("team"), "");
}

/* Objects that have no number yet are known once their alarm was told. */
TEST(what_began_in_the_outage_is_not_told_after_it)
{
	refuse("uid-1", "dns-1");
	clock_fake_advance(ATTENTION_LASTING_MS);
	refuse("uid-1", "dns-1");
	begin_outage();
	ck_assert(look_from_memory(0));
	HAS("kube-system: dns-1\n");
	end_outage();
	look(10 * MINUTE);
	ck_assert_str_eq(told("team"), "");
}

/* Nothing ends because it could not be looked at. */
TEST(a_history_that_cannot_be_read_is_told_too)
{
	const struct msg pause = { .type = MSG_PAUSE,
				   .u.pause = { .duty = DUTY_EVICTED, .on = true, .at = WORLD_NOW } };

	world_write(&pause, 1);
	look(DAY);
	(void)told("team");
	HAS("paused");
	trouble(TROUBLE_HISTORY, "", 1);
	sqlite3 *sql = sqlite3_db_handle(db_stmt(w.db, DB_ONE_ROW));

	ck_assert_int_eq(sqlite3_exec(sql, "ALTER TABLE pauses RENAME TO away", NULL, NULL, NULL), SQLITE_OK);
	clock_fake_advance(MINUTE);
	ck_assert_int_lt(look_now(), 0);
	begin_memory();
	ck_assert(look_from_memory(0));
	HAS("the history cannot be opened or written");
	HAS_NO("resolved");
	ck_assert(!look_from_memory(MINUTE));
}

/* What the history knew besides stays. */
TEST(what_was_told_without_a_history_joins_what_it_knew)
{
	struct facts why;

	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	trouble(TROUBLE_WATCH, "prod", 1);
	look(MINUTE);
	(void)told("team");
	HAS("New: ");
	state_free(&state); /* and nobody says TROUBLE_WATCH again */
	state = state_new();
	world_close();
	ck_assert_int_eq(db_claim(w.dir, &w.db, &why), 0);
	trouble(TROUBLE_HISTORY, "", 1);
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	clock_fake_advance(MINUTE);
	ck_assert_int_lt(look_now(), 0);
	begin_memory();
	ck_assert(look_from_memory(0));
	HAS("New: ");
	HAS("the history cannot be opened or written");
	ck_assert_int_lt(fallback_return(memory, w.db), 0);
	db_close(&w.db);
	world_open();
	trouble(TROUBLE_HISTORY, "", 0);
	ck_assert_int_eq(fallback_return(memory, w.db), 0);
	db_close(&memory);
	ck_assert_str_eq(told("team"), "");
	look(0);
	ck_assert_str_eq(told("team"), ""); /* both begins were told */
	look(MINUTE);
	(void)told("team");
	HAS("Resolved: ");
	HAS("the history cannot be opened or written");
	HAS("watch failed");
	HAS_NO("forbids");
	look(MINUTE);
	ck_assert_str_eq(told("team"), "");
}

TEST_MAIN("reporter/fallback")
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 30);
}
