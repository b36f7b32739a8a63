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
#include "reporter/notify/fallback.h"
#include "reporter/notify/outbox.h"

#define MINUTE INT64_C(60000)
#define DAY    (1440 * MINUTE)

static struct sink_settings sinks[2];
static struct settings settings;
static struct state *state;
static struct fallback *fallback;
static char text[20000];
/* What was handed to "team", as text; the other sink is always busy. */
static struct {
	char text[20000];
	bool is_repeat, is_busy;
	unsigned n;
} sent;

static void setup(void)
{
	world_setup();
	sinks[0] = (struct sink_settings){ .name = (char *)"team", .news = 7, .top = 3 };
	sinks[1] =
		(struct sink_settings){ .name = (char *)"pay", .news = 7, .top = 3, .language = LANGUAGE_ZH };
	settings = (struct settings){ .sinks = sinks, .n_sinks = 2, .gather_ms = MINUTE, .remind_ms = DAY };
	settings.cluster_names = w.clusters;
	state = state_new();
	memset(&sent, 0, sizeof(sent));
}

static void teardown(void)
{
	fallback_free(&fallback);
	state_free(&state);
	world_teardown();
}

/* The messages for a sink in the outbox, which are delivered with this; as text. */
static const char *told(const char *sink)
{
	struct outbox_row row;
	size_t n = 0;

	text[0] = '\0';
	while (outbox_next(w.db, sink, &row) == 1) {
		char *t = document_to_text(&row.document);

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", t);
		free(t);
		ck_assert_int_eq(outbox_end(w.db, row.id, OUTBOX_DONE, &(const struct facts){ 0 }), 0);
		outbox_row_done(&row);
	}
	return text;
}
#define HAS(s)    ck_assert_msg(strstr(text, s) != NULL, "%s is missing in:\n%s", s, text)
#define HAS_NO(s) ck_assert_msg(strstr(text, s) == NULL, "%s is in:\n%s", s, text)

static struct alarm_sources sources(void)
{
	return (struct alarm_sources){ w.db, state, NULL, &settings, NULL };
}

static int look_in_history(void)
{
	const struct alarm_sources from = sources();
	bool put;

	return alarm_messages_put(&from, &put);
}
static void look(int64_t ms)
{
	clock_fake_advance(ms);
	ck_assert_int_eq(look_in_history(), 0);
}

static bool on_send(void *ctx, const char *sink, const struct document *doc)
{
	(void)ctx;
	if (strcmp(sink, "team") != 0 || sent.is_busy)
		return false;
	char *t = document_to_text(doc);

	(void)snprintf(sent.text, sizeof(sent.text), "%s", t);
	free(t);
	sent.is_repeat = doc->is_repeat;
	sent.n++;
	return true;
}

/* So much later; true: "team" was sent a message, which is `text` then and ends so. */
static bool look_from_memory(int64_t ms, bool is_settled)
{
	const struct alarm_sources from = sources();
	const unsigned before = sent.n;

	clock_fake_advance(ms);
	fallback_look(fallback, &from, on_send, NULL);
	(void)snprintf(text, sizeof(text), "%s", sent.n > before ? sent.text : "");
	if (sent.n > before)
		fallback_sent(fallback, "team", is_settled);
	return sent.n > before;
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

static void begin_outage(bool is_repeat)
{
	const struct alarm_sources from = sources();

	fill_disk(true);
	clock_fake_advance(MINUTE);
	ck_assert_int_lt(look_in_history(), 0);
	fallback = fallback_new(&from, is_repeat);
}

static void end_outage(void)
{
	ck_assert_int_lt(fallback_return(fallback, w.db), 0);
	fill_disk(false);
	ck_assert_int_eq(fallback_return(fallback, w.db), 0);
	fallback_free(&fallback);
}

TEST(a_full_disk_is_told_while_it_is_full_and_its_end_once)
{
	trouble(TROUBLE_HISTORY, "", 1);
	begin_outage(false);
	ck_assert(look_from_memory(0, true));
	HAS("the history cannot be opened or written");
	ck_assert(!sent.is_repeat);
	ck_assert(!look_from_memory(MINUTE, true));
	ck_assert(look_from_memory(DAY, true));
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
	(void)told("pay"); /* which was never free, and hears of no end without a begin */
	ck_assert_str_eq(text, "");
	look(DAY);
	ck_assert_str_eq(told("team"), "");
}

/* Of a process that had no time to keep what it told. */
TEST(the_first_message_says_that_it_may_have_arrived)
{
	trouble(TROUBLE_HISTORY, "", 1);
	begin_outage(true);
	sent.is_busy = true;
	ck_assert(!look_from_memory(0, true));
	sent.is_busy = false;
	ck_assert(look_from_memory(0, true));
	ck_assert(sent.is_repeat);
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	ck_assert(look_from_memory(MINUTE, true));
	ck_assert(!sent.is_repeat);
	end_outage();
}

TEST(what_did_not_arrive_is_sent_again)
{
	const struct alarm_sources from = sources();

	trouble(TROUBLE_HISTORY, "", 1);
	begin_outage(false);
	ck_assert(look_from_memory(0, false));
	ck_assert(look_from_memory(0, true));
	HAS("New: ");
	ck_assert(!look_from_memory(0, true));
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	clock_fake_advance(MINUTE);
	fallback_look(fallback, &from, on_send, NULL);
	fallback_look(fallback, &from, on_send, NULL); /* it is on its way */
	ck_assert_uint_eq(sent.n, 3);
	end_outage();
}

TEST(what_was_told_before_the_outage_is_not_told_in_it)
{
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	look(MINUTE);
	(void)told("team");
	HAS("forbids");
	trouble(TROUBLE_HISTORY, "", 1);
	trouble(TROUBLE_FORBIDDEN, "prod", 0);
	begin_outage(false);
	ck_assert(look_from_memory(0, true));
	HAS("New: ");
	HAS_NO("forbids");
	ck_assert(look_from_memory(MINUTE, true));
	HAS("Resolved: ");
	HAS("forbids");
	ck_assert(!look_from_memory(MINUTE, true));
	trouble(TROUBLE_HISTORY, "", 0);
	end_outage();
	look(0);
	look(MINUTE);
	(void)told("team");
	HAS("Resolved: ");
	HAS_NO("forbids"); /* its end was told */
}

/* A message that waits may not be sent before the outage is over. */
TEST(what_waits_in_the_outbox_is_told_again)
{
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	look(MINUTE);
	trouble(TROUBLE_HISTORY, "", 1);
	begin_outage(false);
	ck_assert(look_from_memory(0, true));
	HAS("forbids");
	end_outage();
	(void)told("team");
	HAS("forbids");
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
	begin_outage(false);
	ck_assert(look_from_memory(0, true));
	HAS("kube-system: dns-2\n");
	HAS("2 in total");
	ck_assert(!look_from_memory(10 * MINUTE, true));
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
	begin_outage(false);
	ck_assert(look_from_memory(0, true));
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
	const struct alarm_sources from = sources();

	world_write(&pause, 1);
	look(DAY);
	(void)told("team");
	HAS("paused");
	trouble(TROUBLE_HISTORY, "", 1);
	sqlite3 *sql = sqlite3_db_handle(db_stmt(w.db, DB_ONE_ROW));

	ck_assert_int_eq(sqlite3_exec(sql, "ALTER TABLE pauses RENAME TO away", NULL, NULL, NULL), SQLITE_OK);
	clock_fake_advance(MINUTE);
	ck_assert_int_lt(look_in_history(), 0);
	fallback = fallback_new(&from, false);
	ck_assert(look_from_memory(0, true));
	HAS("the history cannot be opened or written");
	HAS_NO("resolved");
	ck_assert(!look_from_memory(MINUTE, true));
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
	const struct alarm_sources from = sources();

	fallback = fallback_new(&from, false);
	ck_assert_int_lt(look_in_history(), 0);
	ck_assert(look_from_memory(0, true));
	HAS("New: ");
	HAS("the history cannot be opened or written");
	ck_assert_int_lt(fallback_return(fallback, w.db), 0);
	db_close(&w.db);
	world_open();
	trouble(TROUBLE_HISTORY, "", 0);
	ck_assert_int_eq(fallback_return(fallback, w.db), 0);
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
