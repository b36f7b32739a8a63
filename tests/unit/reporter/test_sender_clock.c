/* test_sender_clock.c - the sender while time passes between two of its looks at the clock. The delivery is
 * played. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/suite.h"
#include "tests/unit/reporter/support.h"

#include "base/clock.h"
#include "base/xalloc.h"
#include "reporter/notify/sender.h"
#include "reporter/sinks/delivery.h"
#include "tests/facts_en.h"

static int64_t ms_of_a_reading;

uint64_t __real_clock_boot_ms(void);
uint64_t __wrap_clock_boot_ms(void);

uint64_t __wrap_clock_boot_ms(void)
{
	clock_fake_advance(ms_of_a_reading);
	return __real_clock_boot_ms();
}

/* -- a delivery that asks to be tried again -- */

static struct delivery {
	delivery_answer_fn *fn;
	void *ctx;
} played;
static unsigned n_begun;
static uint64_t patience_ms;

struct delivery *delivery_new(struct event_base *base, const struct sink_settings *s, delivery_answer_fn *fn,
			      void *ctx)
{
	(void)base;
	(void)s;
	played = (struct delivery){ fn, ctx };
	return &played;
}
void delivery_free(struct delivery **d)
{
	*d = NULL;
}
bool delivery_set(struct delivery *d, const struct sink_settings *s)
{
	(void)d;
	(void)s;
	return false;
}
void delivery_set_patience(struct delivery *d, uint64_t give_up_ms)
{
	(void)d;
	patience_ms = give_up_ms;
}
uint64_t delivery_wait(const struct delivery *d)
{
	(void)d;
	return 0;
}
void delivery_send(struct delivery *d, const struct document *doc)
{
	(void)d;
	(void)doc;
	n_begun++;
}
bool delivery_knows_ids(const struct delivery *d)
{
	(void)d;
	return false;
}

/* -- around the sender -- */

static uint64_t wake_ms;

static void on_wake(void *ctx, uint64_t ms)
{
	(void)ctx;
	wake_ms = ms;
}
static char last_error[256]; /* of the last message that ended */

static void on_news(void *ctx, const struct sender_news *n)
{
	(void)ctx;
	(void)snprintf(last_error, sizeof(last_error), "%s: %s", outbox_state_name(n->state), EN(*n->error));
}
static void on_down(void *ctx, const struct facts *down)
{
	(void)ctx;
	(void)down;
}

static struct db *db;
static struct sender *sender;

static void begin(void)
{
	static const struct sender_ops ops = { .wake = on_wake, .ended = on_news, .say_down = on_down };
	char dir[SUITE_PATH_MAX];

	clock_fake_set(INT64_C(1700000000000), 5000000);
	suite_folder(dir);
	db = test_db_open(dir);
	sender = sender_new(NULL, db, &ops, NULL);
	n_begun = 0;
}

static void end(void)
{
	sender_free(&sender);
	db_close(&db);
	clock_fake_clear();
}

/* A message for each of so many sinks. */
static void send_to(size_t n)
{
	static struct sink_settings sinks[] = { { .name = (char *)"a" }, { .name = (char *)"b" } };
	const struct settings settings = { .sinks = sinks, .n_sinks = n, .give_up_ms = 86400000 };

	sender_set(sender, &settings);
	for (size_t i = 0; i < n; i++) {
		struct document d;

		document_init(&d, NEWS_ACTIONS, LANGUAGE_EN, clock_wall_ms());
		document_set(&d.title, "1");
		ck_assert_int_eq(outbox_put(db, sinks[i].name, &d), 0);
		document_done(&d);
	}
	sender_wake(sender);
}

TEST(a_pause_that_ends_while_it_is_looked_at_is_over)
{
	const struct sink_answer again = { .verdict = SINK_AGAIN, .code = 503, .retry_after_ms = -1 };

	send_to(1);
	ck_assert_uint_eq(patience_ms, 86400000);
	played.fn(played.ctx, &again);
	ck_assert_uint_gt(wake_ms, 3);
	ms_of_a_reading = 2; /* the first is before its end, the second behind it */
	clock_fake_advance((int64_t)wake_ms - 3);
	sender_tick(sender);
	ck_assert_uint_le(wake_ms, 2);
	ms_of_a_reading = 0;
}

/* What the log says of a mail: nothing but who lacks it. */
TEST(what_is_taken_for_some_alone_says_so)
{
	struct sink_answer taken = { .verdict = SINK_ACCEPTED, .code = 250, .retry_after_ms = -1 };

	facts_quoted(&taken.why, FACT_ANSWER, STR_C("250 queued"));
	send_to(2);
	played.fn(played.ctx, &taken);
	ck_assert_str_eq(last_error, "done: ");
	taken.why = facts_of(TEXT_MAIL_NOT_ALL);
	taken.not_all = true;
	played.fn(played.ctx, &taken);
	ck_assert_str_eq(last_error, "done: not for all");
}

/* To compose one may take long, and between two of them the process says that it lives. */
TEST(one_message_is_begun_in_a_round)
{
	send_to(2);
	ck_assert_uint_eq(n_begun, 1);
	ck_assert_uint_eq(wake_ms, 0);
	sender_tick(sender);
	ck_assert_uint_eq(n_begun, 2);
	ck_assert_uint_gt(wake_ms, 1000);
}

TEST_MAIN("reporter/sender_clock")
{
	tcase_add_checked_fixture(t, begin, end);
}
