/* test_spare.c - what needs an operator while the history cannot be written: told from memory, once, and its
 * end, too. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/reporter/history_world.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "reporter/history/attention.h"
#include "reporter/notify/outbox.h"
#include "reporter/notify/spare.h"
#include "reporter/notify/alarm_messages.h"

#define MINUTE INT64_C(60000)
#define DAY    (1440 * MINUTE)

static struct sink_settings sinks[2];
static struct settings settings;
static struct alarm_messages *attention;
static char text[20000];

static void setup(void)
{
	world_setup();
	sinks[0] = (struct sink_settings){ .name = (char *)"team", .news = 7, .top = 3 };
	sinks[1] =
		(struct sink_settings){ .name = (char *)"pay", .news = 7, .top = 3, .language = LANGUAGE_ZH };
	settings = (struct settings){ .sinks = sinks, .n_sinks = 2, .gather_ms = MINUTE, .remind_ms = DAY };
	settings.cluster_names = w.clusters;
	attention = alarm_messages_new(w.db);
}

static void teardown(void)
{
	alarm_messages_free(&attention);
	world_teardown();
}

/* The messages for a sink in that outbox, which are delivered with this; as text. */
static const char *told_in(struct db *db, const char *sink)
{
	struct outbox_row row;
	size_t n = 0;

	text[0] = '\0';
	while (outbox_next(db, sink, &row) == 1) {
		char *t = document_to_text(&row.document);

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", t);
		free(t);
		ck_assert_int_eq(outbox_end(db, row.id, OUTBOX_DONE, ""), 0);
		outbox_row_done(&row);
	}
	return text;
}
static const char *told(const char *sink)
{
	return told_in(w.db, sink);
}
#define HAS(s)    ck_assert_msg(strstr(text, s) != NULL, "%s is missing in:\n%s", s, text)
#define HAS_NO(s) ck_assert_msg(strstr(text, s) == NULL, "%s is in:\n%s", s, text)

static int look_in(struct db *db)
{
	bool put;

	return alarm_messages_put(attention, db, &settings, NULL, NULL, &put);
}
static void look(int64_t ms)
{
	clock_fake_advance(ms);
	ck_assert_int_eq(look_in(w.db), 0);
}

static void trouble(enum trouble kind, const char *cluster, uint64_t n)
{
	struct msg m = { .type = MSG_TROUBLE_ROW };

	m.u.trouble_row = (struct msg_trouble_row){ .trouble = kind, .n = n, .since = clock_wall_ms() };
	test_set(&m, trouble_row.cluster_name, cluster);
	test_set(&m, trouble_row.detail, "why");
	alarm_messages_trouble(attention, &m.u.trouble_row);
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

static struct db *begin_outage(void)
{
	struct db *spare = NULL;

	fill_disk(true);
	clock_fake_advance(MINUTE);
	ck_assert_int_lt(look_in(w.db), 0);
	ck_assert_int_eq(spare_open(w.db, &spare), 1);
	ck_assert_int_eq(look_in(spare), 0);
	return spare;
}

static void end_outage(struct db **spare)
{
	ck_assert_int_lt(spare_return(*spare, w.db, true), 0);
	fill_disk(false);
	ck_assert_int_eq(spare_return(*spare, w.db, true), 0);
	db_close(spare);
}

TEST(a_full_disk_is_told_while_it_is_full_and_its_end_once)
{
	trouble(TROUBLE_HISTORY, "", 1);
	struct db *spare = begin_outage();

	(void)told_in(spare, "team");
	HAS("the history cannot be opened or written");
	ck_assert_int_eq(look_in(spare), 0);
	ck_assert_str_eq(told_in(spare, "team"), "");
	clock_fake_advance(DAY);
	ck_assert_int_eq(look_in(spare), 0);
	(void)told_in(spare, "team");
	HAS("still needs an operator: 1");
	ck_assert_str_eq(told("team"), "");
	trouble(TROUBLE_HISTORY, "", 0);
	end_outage(&spare);
	look(0);
	ck_assert_str_eq(told("team"), "");
	look(MINUTE);
	(void)told("team");
	HAS("resolved: 1");
	HAS("the history cannot be opened or written");
	look(DAY);
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
	struct db *spare = begin_outage();

	(void)told_in(spare, "team");
	HAS("needs an operator: 1");
	HAS_NO("forbids");
	clock_fake_advance(MINUTE);
	ck_assert_int_eq(look_in(spare), 0);
	(void)told_in(spare, "team");
	HAS("resolved: 1");
	HAS("forbids");
	trouble(TROUBLE_HISTORY, "", 0);
	end_outage(&spare);
	look(0);
	look(MINUTE);
	(void)told("team");
	HAS("resolved: 1");
	HAS_NO("forbids"); /* its end was told */
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
	struct db *spare = begin_outage();

	(void)told_in(spare, "team");
	HAS("kube-system: dns-2\n");
	HAS("2 in all");
	clock_fake_advance(10 * MINUTE);
	ck_assert_int_eq(look_in(spare), 0);
	ck_assert_str_eq(told_in(spare, "team"), "");
	end_outage(&spare);
	look(10 * MINUTE);
	ck_assert_str_eq(told("team"), "");
}

/* What waited goes with it, and is the same message; what nobody took comes back. */
TEST(what_waits_goes_into_the_memory_and_back_as_the_same)
{
	struct outbox_row row;
	char id[40];

	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	look(MINUTE);
	ck_assert_int_eq(outbox_next(w.db, "team", &row), 1);
	(void)snprintf(id, sizeof(id), "%s", row.document.id);
	outbox_row_done(&row);
	trouble(TROUBLE_HISTORY, "", 1);
	struct db *spare = begin_outage();

	ck_assert_int_eq(outbox_next(spare, "team", &row), 1);
	ck_assert_str_eq(row.document.id, id);
	ck_assert_int_eq(outbox_begin(spare, row.id), 0);
	ck_assert_int_eq(outbox_end(spare, row.id, OUTBOX_DONE, ""), 0);
	outbox_row_done(&row);
	ck_assert_int_eq(spare_doubt(spare), 0);
	ck_assert_int_eq(spare_trim(spare), 0);
	end_outage(&spare);
	ck_assert_int_eq(outbox_next(w.db, "team", &row), 1);
	ck_assert_str_ne(row.document.id, id);
	ck_assert_uint_eq(row.doubts, 1); /* a process before this one may have told it */
	outbox_row_done(&row);
	(void)told("team");
	HAS("the history cannot be opened or written");
	HAS_NO("forbids");
	(void)told("pay");
	HAS("无法打开或写入历史记录");
}

/* Nothing ends because it could not be looked at. */
TEST(a_history_that_cannot_be_read_is_told_too)
{
	const struct msg pause = { .type = MSG_PAUSE,
				   .u.pause = { .duty = DUTY_EVICTED, .on = true, .at = WORLD_NOW } };
	struct db *spare = NULL;

	world_write(&pause, 1);
	look(DAY);
	(void)told("team");
	HAS("paused");
	trouble(TROUBLE_HISTORY, "", 1);
	sqlite3 *sql = sqlite3_db_handle(db_stmt(w.db, DB_ONE_ROW));

	ck_assert_int_eq(spare_open(w.db, &spare), 1);
	ck_assert_int_eq(sqlite3_exec(sql, "ALTER TABLE pauses RENAME TO away", NULL, NULL, NULL), SQLITE_OK);
	clock_fake_advance(MINUTE);
	ck_assert_int_lt(look_in(w.db), 0);
	ck_assert_int_eq(look_in(spare), 0);
	clock_fake_advance(MINUTE);
	ck_assert_int_eq(look_in(spare), 0);
	(void)told_in(spare, "team");
	HAS("the history cannot be opened or written");
	HAS_NO("resolved");
	db_close(&spare);
}

/* What the history knew besides stays, by its own numbers. */
TEST(what_was_told_without_a_history_joins_what_it_knew)
{
	char text_of_db[DB_TEXT_MAX];
	struct db *spare = NULL, *closed = NULL;

	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	trouble(TROUBLE_WATCH, "prod", 1);
	look(MINUTE);
	(void)told("team");
	HAS("needs an operator: 2");
	trouble(TROUBLE_WATCH, "prod", 0); /* nobody looks at it meanwhile */
	alarm_messages_free(&attention);
	world_close();
	ck_assert_int_eq(db_claim(w.dir, &closed, text_of_db), 0);
	attention = alarm_messages_new(closed);
	trouble(TROUBLE_HISTORY, "", 1);
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	clock_fake_advance(MINUTE);
	ck_assert_int_eq(spare_open(closed, &spare), 0);
	ck_assert_int_lt(look_in(closed), 0);
	ck_assert_int_eq(look_in(spare), 0);
	(void)told_in(spare, "team");
	HAS("needs an operator: 2");
	HAS("the history cannot be opened or written");
	ck_assert_int_lt(spare_return(spare, closed, false), 0);
	db_close(&closed);
	world_open();
	alarm_messages_free(&attention);
	attention = alarm_messages_new(w.db);
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	ck_assert_int_eq(spare_return(spare, w.db, false), 0);
	db_close(&spare);
	ck_assert_str_eq(told("team"), "");
	look(0);
	ck_assert_str_eq(told("team"), ""); /* both begins were told */
	look(MINUTE);
	(void)told("team");
	HAS("resolved: 2");
	HAS("the history cannot be opened or written");
	HAS("what is read from the cluster");
	HAS_NO("forbids");
	look(MINUTE);
	ck_assert_str_eq(told("team"), "");
}

TEST(the_memory_has_a_limit)
{
	struct db *spare = NULL;
	int r = 0;

	ck_assert_int_eq(spare_open(w.db, &spare), 1);
	char *const large = xmalloc(1 << 16);

	memset(large, 'x', 1 << 16);
	large[(1 << 16) - 1] = '\0';
	for (size_t i = 0; r == 0 && i <= SPARE_BYTES_MAX >> 16; i++) {
		struct document d;

		document_init(&d, NEWS_ATTENTION, LANGUAGE_EN, clock_wall_ms());
		document_add_line(&d, large);
		r = outbox_put(spare, "team", &d);
		document_done(&d);
	}
	free(large);
	ck_assert_int_eq(r, -ENOSPC);
	db_close(&spare);
}

TEST_MAIN("reporter/spare")
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 30);
}
