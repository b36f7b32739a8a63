/* test_outbox.c - what waits to be sent, and who sends it: in order for each sink, never twice where the
 * answer was yes, whatever dies when. The deliveries are played by the test. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/suite.h"
#include "tests/unit/reporter/support.h"

#include "base/clock.h"
#include "base/xalloc.h"
#include "reporter/notify/sender.h"
#include "reporter/sinks/delivery.h"
#include "tests/facts_en.h"

#define NOW  INT64_C(1700000000000)
#define HOUR INT64_C(3600000)

/* -- deliveries, in the place of reporter/sinks/delivery.c -- */

struct delivery {
	char name[32];
	delivery_answer_fn *fn;
	void *ctx;
};
static struct {
	bool is_changed, knows_ids, repeats[64]; /* is_changed: what delivery_set() says */
	char titles[64][64], ids[64][40];
	size_t n, open;
	struct delivery *last; /* that was sent to */
	uint64_t wait;
} sent;

struct delivery *delivery_new(struct event_base *base, const struct sink_settings *s, delivery_answer_fn *fn,
			      void *ctx)
{
	struct delivery *d = xcalloc(1, sizeof(*d));

	(void)base;
	*d = (struct delivery){ .fn = fn, .ctx = ctx };
	(void)snprintf(d->name, sizeof(d->name), "%s", s->name);
	sent.open++;
	return d;
}
void delivery_free(struct delivery **d)
{
	sent.open -= *d != NULL;
	free(*d);
	*d = NULL;
}
bool delivery_set(struct delivery *d, const struct sink_settings *s)
{
	ck_assert_str_eq(d->name, s->name);
	return sent.is_changed;
}
void delivery_set_patience(struct delivery *d, uint64_t give_up_ms)
{
	(void)d, (void)give_up_ms;
}
uint64_t delivery_wait(const struct delivery *d)
{
	return d ? sent.wait : 0;
}
void delivery_send(struct delivery *d, const struct document *doc)
{
	(void)snprintf(sent.titles[sent.n], sizeof(sent.titles[0]), "%s:%s", d->name, doc->title);
	(void)snprintf(sent.ids[sent.n], sizeof(sent.ids[0]), "%s", doc->id);
	sent.repeats[sent.n++] = doc->is_repeat;
	sent.last = d;
}
bool delivery_knows_ids(const struct delivery *d)
{
	return d && sent.knows_ids;
}

static void answer_of(struct delivery *d, enum sink_verdict v, int64_t retry_ms)
{
	struct sink_answer a = { .verdict = v,
				 .code = v == SINK_ACCEPTED ? 0 : 19024,
				 .retry_after_ms = retry_ms };

	a.why = quoting("why");

	d->fn(d->ctx, &a);
}
static void answer(enum sink_verdict v)
{
	answer_of(sent.last, v, -1);
}

/* -- the world around the sender -- */

static char dir[SUITE_PATH_MAX];
static struct db *db;
static struct sender *sender;
static struct sink_settings sinks[3];
static struct settings settings;
static struct {
	uint64_t wake_ms, lost;
	size_t ended[OUTBOX_STATE__MAX];
	char down[1024], error[100], losers[100]; /* losers: "a c ", the sinks that lost something */
	bool drained;
	int troubles;
} w;

static void on_wake(void *ctx, uint64_t ms)
{
	(void)ctx;
	w.wake_ms = ms;
}
static void on_ended(void *ctx, const struct sender_news *n)
{
	(void)ctx;
	w.ended[n->state]++;
	(void)snprintf(w.error, sizeof(w.error), "%s", EN(*n->error));
}
static void on_lost(void *ctx, const char *sink, uint64_t n, enum text why)
{
	const size_t at = strlen(w.losers);

	(void)ctx;
	ck_assert_int_lt(why, TEXT__MAX);
	(void)snprintf(w.losers + at, sizeof(w.losers) - at, "%s ", sink);
	w.lost += n;
}
static void on_down(void *ctx, const struct facts *down)
{
	(void)ctx;
	(void)snprintf(w.down, sizeof(w.down), "%s", EN(*down));
}
static void on_trouble(void *ctx, int err, const char *what)
{
	(void)ctx;
	(void)what;
	ck_assert_int_lt(err, 0);
	w.troubles++;
}
static void on_drained(void *ctx)
{
	(void)ctx;
	w.drained = true;
}

static const struct sender_ops ops = { on_wake, on_ended, on_lost, on_down, on_trouble, on_drained };

static void start(void)
{
	sender_free(&sender);
	db_close(&db);
	db = test_db_open(dir);
	sender = sender_new(NULL, db, &ops, NULL);
	sender_set(sender, &settings);
}

static void setup(void)
{
	memset(&w, 0, sizeof(w));
	memset(&sent, 0, sizeof(sent));
	clock_fake_set(NOW, 5000000);
	suite_folder(dir);
	sinks[0] = (struct sink_settings){ .name = (char *)"a" };
	sinks[1] = (struct sink_settings){ .name = (char *)"b" };
	settings = (struct settings){ .sinks = sinks, .n_sinks = 2, .give_up_ms = 24 * HOUR };
	start();
}

static void teardown(void)
{
	sender_free(&sender);
	ck_assert_uint_eq(sent.open, 0);
	db_close(&db);
	clock_fake_clear();
}

static void put(const char *sink, enum news news, const char *title)
{
	struct document d;

	document_init(&d, news, LANGUAGE_EN, clock_wall_ms());
	document_set(&d.title, title);
	ck_assert_int_eq(db_begin(db), 0);
	ck_assert_int_eq(outbox_put(db, sink, &d), 0);
	ck_assert_int_eq(db_end(db, 0), 0);
	document_done(&d);
	sender_wake(sender);
}

static void pass(int64_t ms)
{
	clock_fake_advance(ms);
	sender_tick(sender);
}

#define SENT(i, text)                                                                                        \
	do {                                                                                                 \
		ck_assert_uint_eq(sent.n, (i) + 1);                                                          \
		ck_assert_str_eq(sent.titles[i], text);                                                      \
	} while (0)

TEST(one_after_the_other_each_once)
{
	put("a", NEWS_ACTIONS, "1");
	put("a", NEWS_ATTENTION, "2");
	SENT(0, "a:1");
	answer(SINK_ACCEPTED);
	SENT(1, "a:2");
	answer(SINK_ACCEPTED);
	ck_assert_uint_eq(w.ended[OUTBOX_DONE], 2);
	ck_assert_str_ne(sent.ids[0], sent.ids[1]);
	for (int i = 0; i < 50; i++)
		pass(HOUR);
	start();
	pass(HOUR);
	ck_assert_uint_eq(sent.n, 2);
}

TEST(a_sink_that_is_down_holds_up_no_other)
{
	put("a", NEWS_ACTIONS, "1");
	put("b", NEWS_ACTIONS, "1"); /* while a's is on its way */
	ck_assert_uint_eq(sent.n, 2);
	ck_assert_str_eq(sent.titles[1], "b:1");
	answer(SINK_ACCEPTED);
	put("b", NEWS_ACTIONS, "2");
	ck_assert_str_eq(sent.titles[2], "b:2");
}

TEST(tried_again_with_growing_pauses_in_order)
{
	uint64_t before = 0;

	put("a", NEWS_ACTIONS, "1");
	put("a", NEWS_ACTIONS, "2");
	for (size_t i = 0; i < 8; i++) {
		SENT(i, "a:1");
		answer(SINK_AGAIN);
		ck_assert_uint_gt(w.wake_ms, before / 2);
		before = w.wake_ms;
		pass((int64_t)w.wake_ms - 1);
		ck_assert_uint_eq(sent.n, i + 1);
		pass(1);
	}
	ck_assert_str_eq(w.down, "a: code 19024; why");
	ck_assert_str_eq(sent.ids[0], sent.ids[8]); /* the same message */
	answer(SINK_ACCEPTED);
	ck_assert_str_eq(w.down, "");
	SENT(9, "a:2");
}

TEST(what_the_server_asks_for_is_waited_also_after_a_restart)
{
	put("a", NEWS_ACTIONS, "1");
	answer_of(sent.last, SINK_AGAIN, 100000);
	start();
	pass(99000);
	ck_assert_uint_eq(sent.n, 1);
	pass(1000);
	SENT(1, "a:1");
}

TEST(given_up_after_its_time_and_then_the_next)
{
	put("a", NEWS_ACTIONS, "1");
	for (int i = 0; i < 23; i++) {
		answer(SINK_AGAIN);
		pass(HOUR);
	}
	ck_assert_uint_eq(w.ended[OUTBOX_GIVEN_UP], 0);
	put("a", NEWS_ACTIONS, "2");
	answer(SINK_AGAIN);
	pass(HOUR);
	answer(SINK_AGAIN);
	ck_assert_uint_eq(w.ended[OUTBOX_GIVEN_UP], 1);
	ck_assert_str_eq(w.error, "code 19024; why");
	pass(HOUR);
	ck_assert_str_eq(sent.titles[sent.n - 1], "a:2");
}

TEST(a_message_that_is_refused_holds_up_no_other)
{
	put("a", NEWS_REPORT, "1");
	put("a", NEWS_REPORT, "2");
	answer(SINK_REFUSED);
	ck_assert_uint_eq(w.ended[OUTBOX_GIVEN_UP], 1);
	ck_assert_str_eq(w.down, "a: code 19024; why");
	pass((int64_t)w.wake_ms);
	SENT(1, "a:2");
	answer(SINK_ACCEPTED);
	ck_assert_str_eq(w.down, "");
}

/* A secret that was mistyped for a night costs nothing: seldom tried, said all the time, all sent at once
 * when it is corrected. */
TEST(what_a_sink_that_is_shut_was_to_get_waits_for_it)
{
	put("a", NEWS_REPORT, "1");
	put("a", NEWS_ACTIONS, "2");
	for (int i = 0; i < 14; i++) {
		answer(SINK_BLOCKED);
		ck_assert_str_eq(w.down, "a: code 19024; why"); /* from the first on */
		ck_assert_uint_le(w.wake_ms, 900000);
		pass((int64_t)w.wake_ms);
		ck_assert_str_eq(sent.titles[sent.n - 1], "a:1");
	}
	answer(SINK_BLOCKED);
	ck_assert_uint_gt(w.wake_ms, 300000);
	const size_t n = sent.n;

	sent.is_changed = true;
	sender_set(sender, &settings);
	SENT(n, "a:1");
	ck_assert_str_eq(w.down, "a: code 19024; why"); /* until it is taken */
	answer(SINK_BLOCKED);
	ck_assert_uint_lt(w.wake_ms, 3000); /* the pauses grow anew */
	pass((int64_t)w.wake_ms);
	answer(SINK_ACCEPTED);
	ck_assert_str_eq(w.down, "");
	SENT(n + 2, "a:2");
	ck_assert_uint_eq(w.ended[OUTBOX_GIVEN_UP], 0);
}

TEST(a_sink_that_stays_shut_is_given_up_after_its_time)
{
	put("a", NEWS_ACTIONS, "1");
	answer(SINK_BLOCKED);
	pass(24 * HOUR);
	ck_assert_uint_eq(w.ended[OUTBOX_GIVEN_UP], 1);
	ck_assert_str_eq(w.error, "code 19024; why");
}

/* A secret, or an address: another port of it is another process. */
TEST_LOOP(what_was_corrected_by_a_restart_is_tried_at_once, 0, 2)
{
	const enum sink_verdict verdict = _i ? SINK_AGAIN : SINK_BLOCKED;

	put("a", NEWS_ACTIONS, "1");
	answer(verdict);
	start();
	SENT(1, "a:1");
	answer_of(sent.last, verdict, 100000);
	start();
	pass(99000);
	ck_assert_uint_eq(sent.n, 2);
}

/* The answer to the old secret comes after the new one. */
TEST(a_refusal_of_what_was_replaced_is_not_waited_for)
{
	put("a", NEWS_ACTIONS, "1");
	sent.is_changed = true;
	sender_set(sender, &settings);
	ck_assert_uint_eq(sent.n, 1);
	answer(SINK_BLOCKED);
	SENT(1, "a:1");
	answer(SINK_BLOCKED); /* this one is of the new one */
	ck_assert_uint_eq(sent.n, 2);
}

static const struct {
	enum news news;
	bool knows_ids, is_sent_again, is_marked;
} doubts[] = {
	{ NEWS_ACTIONS, false, true, true },
	{ NEWS_ATTENTION, false, true, true },
	{ NEWS_REPORT, false, false, false },
	{ NEWS_REPORT, true, true, false },
};

/* Nobody knows whether it arrived: as its kind of news wants it. */
static void check_doubt(int i)
{
	struct outbox_stats stats;

	if (!doubts[i].is_sent_again) {
		ck_assert_uint_eq(sent.n, 1);
		ck_assert_int_eq(outbox_stats(db, "a", &stats), 0);
		ck_assert_uint_eq(stats.waiting, 0);
		ck_assert_uint_eq(stats.lost_reports, 1);
		return;
	}
	SENT(1, "a:1");
	ck_assert_str_eq(sent.ids[0], sent.ids[1]);
	ck_assert(sent.repeats[1] == doubts[i].is_marked);
}

TEST_LOOP(killed_while_it_is_on_its_way, 0, 4)
{
	sent.knows_ids = doubts[_i].knows_ids;
	put("a", doubts[_i].news, "1");
	ck_assert(!sent.repeats[0]);
	start();
	check_doubt(_i);
	ck_assert_uint_eq(w.lost, !doubts[_i].is_sent_again);
	start();
	ck_assert_uint_eq(w.lost, !doubts[_i].is_sent_again); /* said once */
}

TEST_LOOP(never_answered, 0, 4)
{
	sent.knows_ids = doubts[_i].knows_ids;
	put("a", doubts[_i].news, "1");
	answer(SINK_UNKNOWN);
	pass(60000);
	check_doubt(_i);
}

TEST(a_chat_that_never_answers_is_not_filled)
{
	put("a", NEWS_ACTIONS, "1");
	for (int i = 0; i < 20; i++) {
		if (w.ended[OUTBOX_UNCONFIRMED] == 0)
			answer(SINK_UNKNOWN);
		pass(HOUR / 2);
	}
	ck_assert_uint_eq(sent.n, 4);
	ck_assert_uint_eq(w.ended[OUTBOX_UNCONFIRMED], 1);
}

/* Dead at every step: before it is sent, between two, after the last. */
TEST(killed_between_messages_each_is_sent_once)
{
	for (int i = 0; i < 5; i++) {
		char title[8];

		(void)snprintf(title, sizeof(title), "%d", i);
		sent.wait = 1000;
		put("a", NEWS_ACTIONS, title);
		ck_assert_uint_eq(sent.n, (size_t)i);
		start();
		sent.wait = 0;
		pass(1000);
		ck_assert_uint_eq(sent.n, (size_t)i + 1);
		answer(SINK_ACCEPTED);
		start();
		ck_assert_uint_eq(sent.n, (size_t)i + 1);
	}
}

TEST(the_rate_of_a_sink_is_kept)
{
	sent.wait = 700;
	put("a", NEWS_ACTIONS, "1");
	ck_assert_uint_eq(sent.n, 0);
	ck_assert_uint_eq(w.wake_ms, 700);
	sent.wait = 0;
	pass(700);
	SENT(0, "a:1");
}

TEST(what_waits_for_a_sink_that_is_gone_is_given_up)
{
	put("a", NEWS_ACTIONS, "1");
	put("a", NEWS_ACTIONS, "2");
	sinks[0].name = (char *)"c";
	sender_set(sender, &settings);
	ck_assert_uint_eq(w.lost, 2);
	ck_assert_uint_eq(sent.open, 2);
	sinks[0].name = (char *)"a";
	start();
	ck_assert_uint_eq(sent.n, 1);
}

TEST(each_sink_that_is_gone_is_named)
{
	put("a", NEWS_ACTIONS, "1");
	put("b", NEWS_ACTIONS, "1");
	put("b", NEWS_ACTIONS, "2");
	settings.n_sinks = 0;
	sender_set(sender, &settings);
	ck_assert_uint_eq(w.lost, 3);
	ck_assert_str_eq(w.losers, "a b ");
	sender_set(sender, &settings);
	ck_assert_uint_eq(w.lost, 3); /* said once */
}

TEST(without_an_address_it_waits_until_there_is_one)
{
	sinks[0].problem = (char *)"no such file";
	sender_set(sender, &settings);
	ck_assert_str_eq(w.down, "a: no such file");
	put("a", NEWS_ACTIONS, "1");
	pass(HOUR);
	ck_assert_uint_eq(sent.n, 0);
	sinks[0].problem = NULL;
	sender_set(sender, &settings);
	ck_assert_str_eq(w.down, "");
	SENT(0, "a:1");
}

TEST(sinks_that_are_down_and_have_no_room_are_counted)
{
	char why[601], want[700];

	memset(why, 'x', 600);
	why[600] = '\0';
	sinks[2] = sinks[1];
	sinks[2].name = (char *)"c";
	settings.n_sinks = 3;
	for (size_t i = 0; i < 3; i++)
		sinks[i].problem = why;
	sender_set(sender, &settings);
	(void)snprintf(want, sizeof(want), "a: %s; and 2 more", why);
	ck_assert_str_eq(w.down, want);
	sinks[1].problem = (char *)"short";
	sender_set(sender, &settings);
	(void)snprintf(want, sizeof(want), "a: %s; b: short; and 1 more", why);
	ck_assert_str_eq(w.down, want);
}

TEST(too_many_are_not_kept)
{
	struct outbox_stats stats;

	sinks[0].problem = (char *)"no such file";
	sender_set(sender, &settings);
	for (int i = 0; i < OUTBOX_WAITING_MAX + 3; i++)
		put("a", NEWS_ACTIONS, i < 3 ? "old" : "new");
	ck_assert_uint_eq(w.lost, 3);
	ck_assert_int_eq(outbox_stats(db, "a", &stats), 0);
	ck_assert_uint_eq(stats.waiting, OUTBOX_WAITING_MAX);
	sinks[0].problem = NULL;
	sender_set(sender, &settings);
	SENT(0, "a:new");
}

TEST(drain_waits_for_what_is_on_its_way)
{
	put("a", NEWS_ACTIONS, "1");
	put("b", NEWS_ACTIONS, "1");
	struct delivery *b = sent.last;

	ck_assert(!sender_drain(sender));
	answer_of(b, SINK_ACCEPTED, -1);
	ck_assert(!w.drained);
	sender_tick(sender);
	ck_assert_uint_eq(sent.n, 2);
	start();
}

TEST(a_drain_sends_what_is_due_and_the_last_answer_ends_it)
{
	put("a", NEWS_ACTIONS, "1");
	put("a", NEWS_ACTIONS, "2");
	ck_assert(!sender_drain(sender));
	answer(SINK_ACCEPTED);
	SENT(1, "a:2");
	ck_assert(!w.drained);
	answer(SINK_ACCEPTED);
	ck_assert(w.drained);
	ck_assert_uint_eq(w.ended[OUTBOX_DONE], 2);
}

TEST(a_drain_leaves_what_is_refused_and_what_waits_behind_it)
{
	put("a", NEWS_ACTIONS, "1");
	put("a", NEWS_ACTIONS, "2");
	ck_assert(!sender_drain(sender));
	answer(SINK_AGAIN);
	ck_assert(w.drained);
	ck_assert_uint_eq(sent.n, 1);
	start();
	pass(HOUR);
	SENT(1, "a:1");
}

TEST(a_drain_that_lasts_begins_no_message)
{
	put("a", NEWS_ACTIONS, "1");
	put("a", NEWS_ACTIONS, "2");
	ck_assert(!sender_drain(sender));
	pass(2000);
	answer(SINK_ACCEPTED);
	ck_assert(w.drained);
	ck_assert_uint_eq(sent.n, 1);
}

static void break_outbox(bool broken)
{
	sqlite3 *sql = sqlite3_db_handle(db_stmt(db, DB_ONE_ROW));

	ck_assert_int_eq(sqlite3_exec(sql,
				      broken ? "ALTER TABLE outbox RENAME TO away"
					     : "ALTER TABLE away RENAME TO outbox",
				      NULL, NULL, NULL),
			 SQLITE_OK);
}

TEST(an_end_that_could_not_be_written_is_written_later_and_nothing_sent_twice)
{
	put("a", NEWS_ACTIONS, "1");
	put("a", NEWS_ACTIONS, "2");
	SENT(0, "a:1");
	break_outbox(true);
	answer(SINK_ACCEPTED);
	pass(HOUR);
	ck_assert_int_gt(w.troubles, 1);
	ck_assert_uint_eq(sent.n, 1);
	break_outbox(false);
	pass(HOUR);
	SENT(1, "a:2");
	start();
	pass(HOUR);
	SENT(2, "a:2"); /* which was on its way */
}

/* While the outbox cannot be written nothing of it is sent, and what is put into another one is. */
TEST_LOOP(another_outbox_is_sent_while_it_cannot_be_written, 0, 2)
{
	struct db *const disk = db;
	struct db *memory;

	put("a", NEWS_ACTIONS, "1");
	put("a", NEWS_ACTIONS, "2");
	SENT(0, "a:1");
	break_outbox(true);
	ck_assert_int_eq(db_open_memory(0, &memory), 0);
	db = memory;
	sender_set_memory(sender, memory);
	put("a", NEWS_ATTENTION, "full");
	ck_assert(!sender_is_idle(sender));
	answer(_i ? SINK_ACCEPTED : SINK_AGAIN);
	ck_assert_int_eq(w.troubles, 1); /* its end is written later */
	pass(HOUR);
	SENT(1, "a:full");
	answer(SINK_ACCEPTED);
	pass(HOUR);
	ck_assert_uint_eq(sent.n, 2);
	ck_assert(sender_is_idle(sender));
	db = disk;
	break_outbox(false);
	sender_set_memory(sender, NULL);
	db_close(&memory);
	sender_wake(sender);
	SENT(2, _i ? "a:2" : "a:1");
}

/* A sink that never answers is not filled. */
TEST(a_message_in_doubt_is_sent_so_often)
{
	put("a", NEWS_ATTENTION, "full");
	for (size_t n = 0; w.ended[OUTBOX_UNCONFIRMED] == 0 && n < 10; n++) {
		answer(SINK_UNKNOWN);
		pass(HOUR);
	}
	ck_assert_uint_eq(sent.n, 4);
	ck_assert(!sent.repeats[0] && sent.repeats[1]);
}

/* Its history could not be opened when the process began. */
TEST(what_was_in_doubt_is_found_when_its_database_is_open)
{
	struct db *memory;
	struct facts why;

	put("a", NEWS_REPORT, "sent, perhaps");
	put("gone", NEWS_REPORT, "for nobody");
	SENT(0, "a:sent, perhaps");
	sender_free(&sender);
	db_close(&db);
	ck_assert_int_eq(db_claim(dir, &db, &why), 0);
	ck_assert_int_eq(db_open_memory(0, &memory), 0);
	sender = sender_new(NULL, db, &ops, NULL);
	sender_set_memory(sender, memory);
	sender_set(sender, &settings);
	ck_assert_uint_eq(sent.n, 1);
	ck_assert_int_eq(db_open(db, 0, &why), 0);
	sender_set_memory(sender, NULL);
	db_close(&memory);
	sender_recover(sender, &settings);
	pass(HOUR);
	ck_assert_uint_eq(sent.n, 1); /* a report is not sent twice */
	ck_assert_uint_eq(w.lost, 2);
	put("a", NEWS_REPORT, "next");
	SENT(1, "a:next");
}

TEST_MAIN("reporter/outbox")
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
}
