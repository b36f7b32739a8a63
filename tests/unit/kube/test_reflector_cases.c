/* test_reflector_cases.c - the rest of client-go's cases of reflector, shared informer, pager and retrying
 * requests (reflector_test.go, reflector_watchlist_test.go, shared_informer_test.go, tools/pager, rest),
 * against a scripted API server. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "http/global.h"
#include "kube/reflector.h"
#include "kube/stream_body.h"
#include "tests/suite.h"
#include "tests/unit/kube/consumer.h"
#include "tests/unit/kube/core_sim.h"
#include "tests/unit/kube/words.h"

static const struct reflector_config quick = { .backoff_base_ms = 2 };

/* -- stopping -- */

static int serve_open(struct server_conn *c, const char *request)
{
	(void)request;
	server_sends(c, STREAM_HEAD);
	send_words(c, "+a@3 |4");
	for (int i = 0; i < 100; i++) { /* whoever goes on listening is caught */
		usleep(10000);
		send_words(c, "~late@5");
	}
	return 0;
}

TEST(re03_stopped_before)
{
	struct seen s;

	play_begin(&s, serve_open, &quick, "never");
	reflector_free(&s.reflector);
	play_for(&s, 300);
	ck_assert_uint_eq(s.requests, 0);
	ck_assert_str_eq(s.text, "");
	play_end(&s);
}

/* Stopped while a watch is open: it ends, once, and nothing is said after. */
TEST(re03_stopped_after)
{
	struct seen s;

	play_begin(&s, serve_open, &quick, "sync: ");
	play_for(&s, 20000);
	begins_with(s.text, "list: +a sync: ");
	reflector_free(&s.reflector);
	s.text[0] = '\0';
	play_for(&s, 300);
	ck_assert_str_eq(s.text, "");
	ck_assert_uint_eq(s.requests, 1);
	ck_assert_uint_eq(s.server.log->connections, 1);
	play_end(&s);
}

/* -- rounds that go wrong -- */

/* List and watch well, list broken, list well and watch broken, list well: after each round that synced the
 * consumer has what the last list named. */
static int serve_rounds(struct server_conn *c, const char *request)
{
	static const char *const lists[][3] = { { "a", "b" }, { "b" }, { "c" } };
	const unsigned n = c->log->requests;

	if (asks(request, "watch=true")) {
		if (n != 5)
			return answer_status(c, 500, "InternalError", "watch");
		server_sends(c, STREAM_HEAD); /* held, and then cut off */
		usleep(1100000);
		return 0;
	}
	if (n == 3)
		return answer_status(c, 500, "InternalError", "list");
	send_list(c, "shop", lists[n == 1 ? 0 : n == 4 ? 1 : 2], "5", "");
	return 1;
}

TEST(re04_lists_and_watches_with_errors)
{
	const struct reflector_config config = { .backoff_base_ms = 2, .no_watchlist = true };
	/* requests: 1 list, 2 watch fails, 3 list fails, 4 list, 5 watch, 6 watch fails, 7 list */
	const struct seen s = run(serve_rounds, &config, "+c sync: healthy ");
	ck_assert_str_eq(
		s.text,
		"list: +a +b sync: trouble trouble list: +b sync: healthy trouble list: +c sync: healthy ");
}

/* 429 as an ERROR event: the same watch again, no list. */
static int serve_busy_event(struct server_conn *c, const char *request)
{
	server_sends(c, STREAM_HEAD);
	if (c->log->requests == 1) {
		send_words(c, "|4");
		send_error_event(c, 429, "TooManyRequests");
	} else {
		send_event(c, "ADDED", asks(request, "resourceVersion=4&") ? "again" : "wrong", "7");
	}
	server_drain(c);
	return 0;
}

TEST(re06_busy_as_an_event)
{
	const struct seen s = run(serve_busy_event, &quick, "+again ");
	ck_assert_str_eq(s.text, "list: sync: trouble healthy +again ");
}

/* Each way a server says that the version asked for is ahead of it, as an answer and as an event: the next
 * list asks for any version. */
static void too_large_status(struct wire *s, int dialect)
{
	static const char *const messages[] = { "Timeout: x", "Timeout: Too large resource version: 20",
						"x" };
	struct wire details = { 0 }, cause = { 0 };

	wire_field_str(s, 3, messages[dialect]);
	wire_field_str(s, 4, "Timeout");
	if (dialect != 1) {
		wire_field_str(&cause, 1, dialect == 0 ? "ResourceVersionTooLarge" : "");
		wire_field_str(&cause, 2, dialect == 2 ? "Too large resource version" : "");
		wire_field_message(&details, 4, &cause);
		wire_field_message(s, 5, &details);
	}
	wire_field_varint(s, 6, 504);
}

static int too_large_dialect; /* the server is a fork: it sees the value of now */
static bool too_large_event;

static void send_too_large(struct server_conn *c)
{
	struct wire s = { 0 }, w = { 0 };
	char head[160];

	too_large_status(&s, too_large_dialect);
	if (too_large_event) {
		wire_event(&w, "ERROR", "v1", "Status", &s);
		server_sends(c, STREAM_HEAD);
		send_chunk(c, w.p, w.n);
		end_chunks(c);
	} else {
		wire_envelope(&w, "v1", "Status", &s);
		(void)snprintf(head, sizeof(head),
			       "HTTP/1.1 504 X\r\nContent-Type: application/vnd.kubernetes.protobuf\r\n"
			       "Content-Length: %zu\r\n\r\n",
			       w.n);
		server_sends(c, head);
		server_send(c, (const char *)w.p, w.n);
	}
	wire_done(&w);
}

static int serve_too_large(struct server_conn *c, const char *request)
{
	if (asks(request, "resourceVersion=20&")) {
		send_too_large(c);
		return 1;
	}
	server_sends(c, STREAM_HEAD);
	send_words(c, "+a@3 |20");
	if (c->log->requests == 1)
		send_error_event(c, 410, "Expired");
	server_drain(c);
	return 0;
}

/* An event comes after the headers, so that list has begun and is lost. Neither is trouble to be told: the
 * version of old is given up, that is all. */
TEST_LOOP(re09_too_large_in_three_dialects, 0, 6)
{
	too_large_dialect = _i % 3;
	too_large_event = _i >= 3;
	const struct seen s = run(serve_too_large, &quick,
				  too_large_event ? "failed: list: +a sync: " : "sync: list: +a sync: ");
	ck_assert_str_eq(s.text, too_large_event ? "list: +a sync: list: failed: list: +a sync: "
						 : "list: +a sync: list: +a sync: ");
}

/* -- WatchLists that do not come to their end -- */

static int serve_no_bookmark(struct server_conn *c, const char *request)
{
	(void)request;
	return stream_words(c, "+a@3 .4 +b@5");
}

TEST(wl01_no_sync_without_the_bookmark)
{
	struct seen s;

	play_begin(&s, serve_no_bookmark, &quick, "+b ");
	play_for(&s, 20000);
	play_for(&s, 300);
	ck_assert_str_eq(s.text, "list: +a +b ");
	ck_assert_uint_eq(s.requests, 1);
	play_end(&s);
}

/* The bookmark does not come and nothing else either: given up, said, and tried again. */
TEST(wl12_a_bookmark_that_stays_away_is_told)
{
	const struct reflector_config config = { .backoff_base_ms = 2, .stalled_ms = 1200 };
	const struct seen s = run(serve_no_bookmark, &config, "trouble ");
	ck_assert_str_eq(s.text, "list: +a +b failed: list: +a +b failed: trouble ");
}

/* -- the consumer's side -- */

static int serve_error(struct server_conn *c, const char *request)
{
	(void)request;
	return answer_status(c, 500, "InternalError", "etcd is on fire");
}

TEST(si04_list_errors_are_told)
{
	const struct seen s = run(serve_error, &quick, "trouble trouble ");
	ck_assert_int_eq(s.trouble_status, 500);
	ck_assert_ptr_nonnull(strstr(s.trouble, "etcd is on fire"));
}

/* The version to go on from follows events, also a DELETED one. */
static int serve_delete_last(struct server_conn *c, const char *request)
{
	server_sends(c, STREAM_HEAD);
	if (c->log->requests == 1) {
		send_words(c, "+a@3 |5 ~a@6 -a@9");
		usleep(1100000);
		end_chunks(c);
		return 1;
	}
	send_event(c, "ADDED", asks(request, "resourceVersion=9&") ? "next" : "wrong", "10");
	server_drain(c);
	return 0;
}

TEST(si08_version_follows_deletes)
{
	const struct seen s = run(serve_delete_last, &quick, "+next ");
	ck_assert_str_eq(s.text, "list: +a sync: +a -a +next ");
}

/* -- pages -- */

/* TestListPager_List: a server of n items in pages of 10; its token expires where the table says so. */
static const struct {
	int items, expire_after, pages, got;
} paged[] = {
	{ 0, 0, 1, 0 },   { 9, 0, 1, 9 },   { 10, 0, 1, 10 },
	{ 11, 0, 2, 11 }, { 21, 0, 3, 21 }, { 21, 1, 2, 21 },
};

TEST_LOOP(pg01_pages, 0, ARRAY_SIZE(paged))
{
	SIM s = begin(true, 10);
	int left = paged[_i].items, pages = 0, got = 0;

	event(&s, CORE_START);
	while (s.step.request == CORE_LIST) {
		const bool full = !strstr(s.step.query, "limit=");
		const int here = full || left < 10 ? left : 10;

		ck_assert_int_eq(strstr(s.step.query, "continue=") != NULL, pages > 0 && !full);
		if (pages == paged[_i].expire_after && pages > 0 && !full) {
			event(&s, CORE_EXPIRED);
			ck_assert(s.step.list_lost);
			got = 0;
			left = paged[_i].items;
			continue;
		}
		pages++;
		got += here;
		left -= here;
		char token[16] = "";

		if (left > 0)
			(void)snprintf(token, sizeof(token), "t%d", pages);
		feed(&s, CORE_PAGE, "5", token, 0);
	}
	ck_assert(s.step.list_synced);
	ck_assert_int_eq(pages, paged[_i].pages);
	ck_assert_int_eq(got, paged[_i].got);
}

/* -- more than there is room for -- */

#define PAGE_EXCESS 20
static int second_page_items;

/* Pages of one; the second holds more. */
static int serve_long_page(struct server_conn *c, const char *request)
{
	static const char *const first[] = { "a", NULL };
	const char *second[PAGE_EXCESS + 2] = { NULL };

	if (asks(request, "watch=true"))
		return asks(request, "sendInitialEvents=true") ? answer_status(c, 422, "Invalid", "no")
							       : stream_words(c, "+next@12");
	for (int i = 0; i < second_page_items; i++)
		second[i] = "b";
	send_list(c, "shop", strstr(request, "continue=") ? second : first, "11",
		  strstr(request, "continue=") ? "" : "tok");
	return 1;
}

TEST_LOOP(a_page_may_not_exceed_its_limit_many_times, 0, 2)
{
	const struct reflector_config config = { .backoff_base_ms = 2, .page_size = 1 };

	second_page_items = PAGE_EXCESS + _i;
	const struct seen s = run(serve_long_page, &config, _i ? "failed: " : "+next ");

	ck_assert_int_eq(strstr(s.text, "sync: ") != NULL, _i == 0);
	ck_assert_int_eq(strstr(s.trouble, "holds more than 20 pods, 20 times its limit") != NULL, _i == 1);
}

static int serve_three(struct server_conn *c, const char *request)
{
	static const char *const names[] = { "a", "b", "c", NULL };

	if (second_page_items && asks(request, "sendInitialEvents=true"))
		return answer_status(c, 422, "Invalid", "no");
	if (asks(request, "watch=true"))
		return stream_words(c, "+a@3 +b@3 +c@3 |5 +next@6");
	send_list(c, "shop", names, "11", "");
	return 1;
}

/* As a stream and in pages; three are too many for two, and none beyond is handed over. */
TEST_LOOP(a_list_may_not_hold_more_than_that, 0, 4)
{
	const struct reflector_config config = { .backoff_base_ms = 2, .max_objects = _i % 2 ? 3 : 2 };

	second_page_items = _i / 2;
	const struct seen s = run(serve_three, &config, _i % 2 ? "+next " : "trouble failed: ");

	ck_assert_int_eq(strstr(s.text, "+c") != NULL, _i % 2);
	ck_assert_int_eq(strstr(s.trouble, "more than 2 pods: raise maxPods") != NULL, _i % 2 == 0);
}

/* -- retrying requests: TestIsNextRetry -- */

static const struct {
	long status;
	int64_t retry_after_ms;
	enum core_event want;
} answers[] = {
	{ 429, 2000, CORE_RETRY },   { 503, 3000, CORE_RETRY }, { 500, 3000, CORE_RETRY },
	{ 429, 0, CORE_BUSY },       { 503, 0, CORE_FAILED },   { 404, 3000, CORE_FAILED },
	{ 0, 0, CORE_BUSY },         { 0, 3000, CORE_BUSY },    { 401, 3000, CORE_DENIED },
	{ 410, 3000, CORE_EXPIRED },
};

TEST_LOOP(cl06_which_answers_are_asked_again, 0, ARRAY_SIZE(answers))
{
	const struct http_result r = { .status = answers[_i].status,
				       .retry_after_ms = answers[_i].retry_after_ms };
	struct facts why;

	ck_assert_int_eq(stream_body_refusal(&r, "", 0, &why), answers[_i].want);
}

/* As long as the server said, the same request, ten times at most; then it counts as busy. */
TEST(cl06_as_long_as_told)
{
	SIM s = watching("5");

	event(&s, CORE_ENDED);
	for (int i = 1; i <= 10; i++) {
		feed(&s, CORE_RETRY, "", "", i * 1000);
		ck_assert_uint_eq(s.step.wait_ms, (uint64_t)i * 1000);
		ck_assert(!s.step.backoff);
		wait_over(&s);
		expect(&s, CORE_WATCH, WATCH("5"));
	}
	feed(&s, CORE_RETRY, "", "", 1000);
	ck_assert(s.step.backoff);
}

TEST_MAIN("kube/reflector_cases")
{
	http_global_init();
	tcase_set_timeout(t, 30);
}
