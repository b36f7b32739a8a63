/* test_alertmanager.c - news as alerts: which alert it is, and when it ends. */
// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "reporter/sinks/sink.h"
#include "tests/suite.h"

#define AT   INT64_C(1795355722000)
#define HOUR (INT64_C(3600) * 1000)

static struct entry *begin(struct document *d, enum news news)
{
	document_init(d, news, LANGUAGE_EN, AT);
	d->tone = TONE_BAD;
	document_set(&d->title, "needs an operator");
	struct entry *e = section_add_entry(document_add_section(d, ""), "prod: a credential was refused");

	entry_set_key(e, "prod/credential-kept");
	e->begin_ms = AT - HOUR;
	document_add(&e->lines, "HTTP 401");
	document_add(&e->lines, "since an hour");
	entry_add_fact(e, "reason", "credential-kept");
	entry_add_fact(e, "cluster", "prod");
	entry_add_fact(e, "remedy", "renew it");
	return e;
}

/* The alerts as they are sent at now; borrows nothing. */
static json_t *alerts_of(const struct document *d, int64_t now_ms, const char *url, char **ret_path)
{
	struct sink_settings s = { .type = SINK_ALERTMANAGER, .url = xstrdup(url) };
	struct sink_request rq;
	uint64_t left_out;

	sink_compose(&s, d, 0, now_ms, &rq, &left_out);
	json_t *root = json_loads(rq.body, 0, NULL);

	ck_assert(json_is_array(root));
	if (ret_path)
		*ret_path = xstrdup(rq.path);
	sink_request_done(&rq);
	free(s.url);
	return root;
}

static const char *of(const json_t *alerts, size_t i, const char *part, const char *key)
{
	const json_t *a = json_array_get(alerts, i);

	return json_string_value(json_object_get(part ? json_object_get(a, part) : a, key));
}

static int64_t time_of(const json_t *alerts, size_t i, const char *key)
{
	const char *s = of(alerts, i, NULL, key);
	int64_t ms = 0;

	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(rfc3339_parse(s, strlen(s), &ms), 0);
	return ms;
}

TEST(test_what_is_said)
{
	struct document d;

	begin(&d, NEWS_ATTENTION);
	json_t *a = alerts_of(&d, AT, "http://am:9093", NULL);

	ck_assert_uint_eq(json_array_size(a), 1);
	ck_assert_str_eq(of(a, 0, "labels", "alertname"), "OpsPodCleanerCredentialKept");
	ck_assert_str_eq(of(a, 0, "labels", "severity"), "warning");
	ck_assert_str_eq(of(a, 0, "labels", "news"), "attention");
	ck_assert_str_eq(of(a, 0, "labels", "cluster"), "prod");
	ck_assert_str_eq(of(a, 0, "labels", "subject"), "prod/credential-kept");
	ck_assert_ptr_null(of(a, 0, "labels", "namespace"));
	ck_assert_str_eq(of(a, 0, "annotations", "summary"), "prod: a credential was refused");
	ck_assert_str_eq(of(a, 0, "annotations", "description"), "HTTP 401\nsince an hour");
	ck_assert_str_eq(of(a, 0, "annotations", "remedy"), "renew it");
	json_decref(a);
	document_done(&d);
}

/* What lasts holds beyond two messages that are lost, counted from when it is sent; its end is the same
 * alert, over. */
TEST(test_attention_lasts_until_its_end)
{
	struct document d, over;
	const int64_t late = AT + 5 * HOUR; /* it waited in the outbox */

	begin(&d, NEWS_ATTENTION);
	struct entry *e = begin(&over, NEWS_ATTENTION);

	e->is_over = true;
	e->end_ms = AT + HOUR;
	over.tone = TONE_GOOD;
	json_t *a = alerts_of(&d, late, "http://am:9093", NULL),
	       *b = alerts_of(&over, late, "http://am:9093", NULL);

	ck_assert_int_eq(time_of(a, 0, "startsAt"), AT - HOUR);
	ck_assert_int_gt(time_of(a, 0, "endsAt"), late + 2 * ALERTMANAGER_AGAIN_MS);
	ck_assert_int_eq(time_of(b, 0, "endsAt"), AT + HOUR);
	ck_assert(json_equal(json_object_get(json_array_get(a, 0), "labels"),
			     json_object_get(json_array_get(b, 0), "labels")));
	json_decref(a);
	json_decref(b);
	e->end_ms = late + HOUR; /* by another clock */
	b = alerts_of(&over, late, "http://am:9093", NULL);
	ck_assert_int_eq(time_of(b, 0, "endsAt"), late);
	json_decref(b);
	document_done(&d);
	document_done(&over);
}

/* Before it forgets what stands, and never more seldom than the operator wants it. */
TEST(test_reminders)
{
	const struct sink_settings am = { .type = SINK_ALERTMANAGER }, chat = { .type = SINK_FEISHU };

	ck_assert_int_eq(sink_remind_ms(&am, (uint64_t)(24 * HOUR)), ALERTMANAGER_AGAIN_MS);
	ck_assert_int_eq(sink_remind_ms(&am, 0), ALERTMANAGER_AGAIN_MS);
	ck_assert_int_eq(sink_remind_ms(&am, 60000), 60000);
	ck_assert_int_eq(sink_remind_ms(&chat, (uint64_t)(24 * HOUR)), 24 * HOUR);
	ck_assert_int_eq(sink_remind_ms(&chat, 0), 0);
}

TEST(test_what_was_done_ends_by_itself)
{
	static const enum news kinds[] = { NEWS_ACTIONS, NEWS_REPORT };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct document d;

		begin(&d, kinds[i]);
		json_t *a = alerts_of(&d, AT, "http://am:9093", NULL);

		ck_assert_uint_eq(json_array_size(a), 1);
		ck_assert_int_gt(time_of(a, 0, "endsAt"), AT + 5 * 60 * 1000); /* above group_interval */
		ck_assert_int_lt(time_of(a, 0, "endsAt"), AT + HOUR);
		ck_assert_str_eq(of(a, 0, "labels", "severity"), "critical");
		ck_assert_str_eq(of(a, 0, "annotations", "summary"),
				 kinds[i] == NEWS_REPORT ? "needs an operator"
							 : "prod: a credential was refused");
		if (kinds[i] == NEWS_REPORT) /* what stands in it */
			ck_assert_str_eq(of(a, 0, "annotations", "description"),
					 "prod: a credential was refused");
		json_decref(a);
		document_done(&d);
	}
}

TEST(test_two_are_two)
{
	struct document d;

	begin(&d, NEWS_ACTIONS);
	struct entry *e = section_add_entry(&d.sections[0], "another");

	entry_set_key(e, "other");
	e->begin_ms = AT + 100 * HOUR; /* by another clock: no alert ends before it begins */
	json_t *a = alerts_of(&d, AT, "http://am:9093", NULL);

	ck_assert_uint_eq(json_array_size(a), 2);
	ck_assert(!json_equal(json_object_get(json_array_get(a, 0), "labels"),
			      json_object_get(json_array_get(a, 1), "labels")));
	ck_assert_int_le(time_of(a, 1, "startsAt"), time_of(a, 1, "endsAt"));
	json_decref(a);
	document_done(&d);
}

TEST(test_a_test_is_no_trouble)
{
	struct document d;

	document_init(&d, NEWS_ATTENTION, LANGUAGE_EN, AT);
	d.is_test = true;
	document_set(&d.title, "a test");
	json_t *a = alerts_of(&d, AT, "http://am:9093", NULL);

	ck_assert_str_eq(of(a, 0, "labels", "alertname"), "OpsPodCleanerTest");
	ck_assert_int_lt(time_of(a, 0, "endsAt"), AT + HOUR);
	json_decref(a);
	document_done(&d);
}

TEST(test_path)
{
	static const char *const urls[][2] = {
		{ "http://am:9093", "/api/v2/alerts" },
		{ "http://am:9093/", "/api/v2/alerts" },
		{ "http://am:9093/am/", "/am/api/v2/alerts" },
		{ "http://am:9093/am/api/v2/alerts", "/am/api/v2/alerts" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
		_cleanup_free_ char *path = NULL;
		struct document d;

		begin(&d, NEWS_REPORT);
		json_decref(alerts_of(&d, AT, urls[i][0], &path));
		ck_assert_str_eq(path, urls[i][1]);
		document_done(&d);
	}
}

SUITE("reporter/alertmanager");
