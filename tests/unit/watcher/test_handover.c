/* test_handover.c - what the next leader is told of the last hour: all that counts, once, and nothing that a
 * hostile text could break. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/actions.h"
#include "tests/suite.h"
#include "watcher/guards/handover.h"

#define NOW    INT64_C(1700000000000)
#define MINUTE INT64_C(60000)

static struct handover *a, *b;
static size_t acts, saved;
static struct msg last_act, last_saved;

static void setup(void)
{
	a = handover_new();
	b = handover_new();
}

static void teardown(void)
{
	handover_free(&a);
	handover_free(&b);
}

static void on_row(void *ctx, const struct msg *m)
{
	(void)ctx;
	acts += m->type == MSG_ACTION_ROW;
	saved += m->type == MSG_SAVED_ROW;
	*(m->type == MSG_ACTION_ROW ? &last_act : &last_saved) = *m;
}

static void acted(struct handover *h, enum duty d, const char *ns, enum outcome outcome, int64_t now)
{
	struct msg m = { .type = MSG_NOMINATION_RESULT,
			 .u.nomination_result = { .duty = d, .outcome = outcome } };

	msg_set(&m, nomination_result.ns, ns, strlen(ns));
	handover_note(h, &m, now);
}

static void saves(struct handover *h, const char *kind, const char *key, int64_t at, int64_t until)
{
	struct msg m = { .type = MSG_SAVED, .u.saved = { .at = at, .until = until, .count = 3 } };

	msg_set(&m, saved.kind, kind, strlen(kind));
	msg_set(&m, saved.key, key, strlen(key));
	handover_note(h, &m, NOW);
}

/* What `from` tells, to `to`. */
static void hands_over(struct handover *from, struct handover *to, int64_t now)
{
	_cleanup_free_ char *text = handover_text(from, now);

	acts = saved = 0;
	for (const char *c = text; *c; c++)
		ck_assert(*c >= ' ' && *c <= '~' && *c != '"' && *c != '\\');
	handover_take(to, STR_C(text), 5, now, on_row, NULL);
}

TEST(acts_of_the_last_hour_are_told)
{
	for (int i = 0; i < 3; i++)
		acted(a, DUTY_EVICTED, "web", OUTCOME_DONE, NOW);
	acted(a, DUTY_EVICTED, "db", OUTCOME_UNCONFIRMED, NOW);
	acted(a, DUTY_EVICTED, "web", OUTCOME_REFUSED, NOW);
	acted(a, DUTY_EVICTED, "web", OUTCOME_WOULD, NOW);
	hands_over(a, b, NOW + 1000);
	ck_assert_uint_eq(acts, 4);
	ck_assert_str_eq(last_act.u.action_row.ns, "db");
	ck_assert_uint_eq(last_act.u.action_row.duty, DUTY_EVICTED);
	ck_assert_uint_eq(last_act.u.action_row.cluster, 5);
	ck_assert_int_eq(last_act.u.action_row.at, NOW);
	teardown();
	setup();
	acted(a, DUTY_EVICTED, "web", OUTCOME_DONE, NOW);
	hands_over(a, b, NOW + 61 * MINUTE);
	ck_assert_uint_eq(acts, 0);
}

/* To and fro: nothing counts twice. */
TEST(what_is_known_is_not_told_again)
{
	acted(a, DUTY_EVICTED, "web", OUTCOME_DONE, NOW);
	saves(a, "reverted", "uid/1", NOW, NOW + 10 * MINUTE);
	hands_over(a, b, NOW);
	ck_assert_uint_eq(acts + saved, 2);
	acted(b, DUTY_EVICTED, "web", OUTCOME_DONE, NOW);
	acted(b, DUTY_EVICTED, "web", OUTCOME_DONE, NOW + MINUTE);
	hands_over(b, a, NOW + MINUTE);
	ck_assert_uint_eq(acts, 2);
	ck_assert_uint_eq(saved, 0);
	hands_over(a, b, NOW + MINUTE);
	ck_assert_uint_eq(acts + saved, 0);
}

TEST(what_guards_save_is_told_until_it_ends)
{
	saves(a, "reverted", "uid/1", NOW, NOW + 10 * MINUTE);
	saves(a, "reverted", "uid/2", NOW, NOW + 10 * MINUTE);
	saves(a, "reverted", "uid/2", 0, 0); /* forgotten */
	saves(a, "breaker", "errImagePull", NOW, 0);
	hands_over(a, b, NOW);
	ck_assert_uint_eq(saved, 1);
	ck_assert_str_eq(last_saved.u.saved_row.key, "uid/1");
	ck_assert_str_eq(last_saved.u.saved_row.kind, "reverted");
	ck_assert_uint_eq(last_saved.u.saved_row.count, 3);
	ck_assert_int_eq(last_saved.u.saved_row.until, NOW + 10 * MINUTE);
	saves(a, "reverted", "uid/1", NOW, NOW + 20 * MINUTE);
	hands_over(a, b, NOW);
	ck_assert_uint_eq(saved, 1); /* it lasts longer than was known */
	handover_take(b, STR_C("reverted uid/1 1700000000001 1700000600000 1;"), 5, NOW, on_row, NULL);
	ck_assert_uint_eq(saved, 1); /* and never shorter */
	teardown();
	setup();
	saves(a, "reverted", "uid/1", NOW, NOW + 10 * MINUTE);
	hands_over(a, b, NOW + 11 * MINUTE);
	ck_assert_uint_eq(saved, 0);
}

/* Where it is too much, no act is lost for the budget of the duty. */
TEST(many_are_told_without_their_namespaces)
{
	char ns[16];

	for (int i = 0; i < 3 * HANDOVER_ROWS; i++) {
		(void)snprintf(ns, sizeof(ns), "ns-%d", i);
		acted(a, DUTY_EVICTED, ns, OUTCOME_DONE, NOW);
	}
	hands_over(a, b, NOW);
	ck_assert_uint_eq(acts, 3 * HANDOVER_ROWS);
	for (int i = 0; i < 3 * HANDOVER_ROWS; i++) {
		(void)snprintf(ns, sizeof(ns), "uid/%d", i);
		saves(a, "reverted", ns, NOW, NOW + MINUTE);
	}
	_cleanup_free_ char *text = handover_text(a, NOW);

	ck_assert_uint_le(strlen(text), 64 * HANDOVER_ROWS);
}

/* Of a row that is written anew the place is old, and the row is not. */
TEST(the_oldest_makes_room)
{
	char key[16];

	for (int i = 0; i < HANDOVER_ROWS; i++) {
		(void)snprintf(key, sizeof(key), "uid/%d", i);
		saves(a, "reverted", key, NOW + i, NOW + MINUTE);
	}
	saves(a, "reverted", "uid/0", NOW + HANDOVER_ROWS, NOW + MINUTE);
	saves(a, "reverted", "uid/new", NOW + HANDOVER_ROWS + 1, NOW + MINUTE);
	_cleanup_free_ char *text = handover_text(a, NOW);

	ck_assert_ptr_nonnull(strstr(text, "uid/0 "));
	ck_assert_ptr_nonnull(strstr(text, "uid/new "));
	ck_assert_ptr_null(strstr(text, "uid/1 "));
	ck_assert_ptr_nonnull(strstr(text, "uid/2 "));
}

/* One that was told by another replica, whose rows come behind the own ones. */
TEST(the_oldest_act_loses_its_namespace)
{
	char ns[16];

	for (int i = 0; i < HANDOVER_ROWS; i++) {
		(void)snprintf(ns, sizeof(ns), "ns-%d", i);
		acted(a, DUTY_EVICTED, ns, OUTCOME_DONE, NOW);
	}
	handover_take(a, STR_C("deleteEvictedPod old 1699999900000 0 1;"), 5, NOW, on_row, NULL);
	_cleanup_free_ char *text = handover_text(a, NOW);

	ck_assert_ptr_null(strstr(text, " old "));
	ck_assert_ptr_nonnull(strstr(text, " ns-2 "));
}

TEST(there_is_news_when_something_changed)
{
	free(handover_text(a, NOW));
	ck_assert(!handover_is_news(a));
	acted(a, DUTY_EVICTED, "web", OUTCOME_REFUSED, NOW);
	ck_assert(!handover_is_news(a));
	acted(a, DUTY_EVICTED, "web", OUTCOME_DONE, NOW);
	ck_assert(handover_is_news(a));
	free(handover_text(a, NOW));
	ck_assert(!handover_is_news(a));
}

TEST(a_text_may_say_what_it_likes)
{
	static const char *const texts[] = {
		";",
		";;;;",
		" ",
		"deleteEvictedPod",
		"deleteEvictedPod web;",
		"deleteEvictedPod web x 0 1;",
		"deleteEvictedPod web 1700000000000 0 0;",
		"deleteEvictedPod web 1700000000000 0 -1;",
		"deleteEvictedPod web 1700000000000 0 99999999999;",
		"deleteEvictedPod web -5 0 1;",
		"deleteEvictedPod w\"b 1700000000000 0 1;",
		"deleteEvictedPod web 1700000000000 0 1", /* cut */
		"averyveryveryverylongkindofarow web 1700000000000 0 1;",
		"  1700000000000 0 1;",
		/* of a time that is to come: what is reverted before that would be none */
		"deleteEvictedPod web 1700000060001 0 1;",
		"reverted uid/1 1700000060001 0 1;",
		"reverted uid/1 9223372036854775807 0 1;",
		"reverted uid/1 1700000000000 1700086460001 1;",
		"reverted uid/1 1700000000000 9223372036854775807 1;",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		acts = saved = 0;
		handover_take(b, STR_C(texts[i]), 0, NOW, on_row, NULL);
		ck_assert_msg(acts + saved == 0, "row %zu", i);
	}
	for (int i = 0; i < 2; i++) {
		handover_take(b, STR_C("deleteEvictedPod web 1700000000000 0 20000;"), 0, NOW, on_row, NULL);
		acted(b, DUTY_EVICTED, "web", OUTCOME_DONE, NOW);
	}
	ck_assert_uint_eq(acts, 10000);
}

/* As long as an answer may be: a watcher that noted ten millions of acts would not be done with it for hours.
 */
TEST(a_text_tells_of_no_more_acts_than_a_budget_counts)
{
	_cleanup_free_ char *text = xcalloc(65536, 1);
	size_t n = 0;

	for (int i = 0; n < 65000; i++)
		n += (size_t)snprintf(text + n, 65536 - n, "deleteEvictedPod ns-%d 1700000000000 0 10000;",
				      i);
	acts = 0;
	handover_take(b, (struct str){ text, n }, 0, NOW, on_row, NULL);
	ck_assert_uint_eq(acts, 10000);
}

TEST_MAIN("watcher/handover")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
