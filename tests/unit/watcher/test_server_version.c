/* test_server_version.c - when the watcher asks which version of Kubernetes its API server has, and what it
 * makes of answers. */
// SPDX-License-Identifier: Apache-2.0
#include <event2/event.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "fake_kube.h"
#include "harness.h"
#include "tests/suite.h"
#include "watcher/cluster_watch.h"
#include "tests/facts_en.h"

static struct event_base *base;
static struct cluster_watch *w;

static struct settings of_server(const char *server)
{
	struct settings s;

	settings_init(&s);
	policy_done(&s.policy);
	policy_init(&s.policy);
	free(s.cluster.server);
	s.cluster.server = xstrdup(server);
	return s;
}

static void open_watch(void)
{
	struct settings s = of_server("https://10.0.0.1:6443");

	clock_fake_set(NOW, 1000000);
	memset(&fake, 0, sizeof(fake));
	memset(&fake_version, 0, sizeof(fake_version));
	n_sent = 0;
	room = 1 << 30;
	base = event_base_new();
	w = cluster_watch_new(base, 2, 7, &s, NULL);
	cluster_watch_start(w);
}

static void close_watch(void)
{
	cluster_watch_free(&w);
	ck_assert_msg(!fake_version.open, "a request outlives its watch");
	event_base_free(base);
	clock_fake_clear();
}

/* The headers of an answer of the watch are here. */
static void alive(void)
{
	fake.ops.on_alive(fake.ctx, clock_wall_ms());
}

static void answer_as(enum http_failure failure, long status, const char *body)
{
	const struct http_result r = {
		.failure = failure, .status = status, .body = body, .body_len = strlen(body)
	};

	ck_assert_msg(fake_version.open, "the version was not asked for");
	fake_version.open = false;
	fake_version.on_done(fake_version.ctx, &r);
}

static void answer(long status, const char *body)
{
	answer_as(HTTP_OK, status, body);
}

static const char *known(void)
{
	return last(MSG_WATCH_STATS)->u.watch_stats.kubernetes;
}

#define V(version)                                                                                           \
	"{\n  \"major\": \"1\",\n  \"minor\": \"34\",\n  \"gitVersion\": \"" version                         \
	"\",\n  \"gitCommit\": \"93248f9ae092f571eb870b7664c534bfc7d00f03\"\n}"

TEST(it_is_asked_for_at_the_first_sign_of_life_and_said_at_once)
{
	ck_assert_int_eq(fake_version.started, 0);
	ck_assert_str_eq(known(), "");
	alive();
	ck_assert_int_eq(fake_version.started, 1);
	ck_assert_str_eq(fake_version.method, "GET");
	alive();
	ck_assert_int_eq(fake_version.started, 1);
	answer(200, V("v1.34.1"));
	ck_assert_str_eq(known(), "v1.34.1");
	alive();
	fake.ops.on_alive(fake.ctx, 0);
	clock_fake_advance(3599999);
	alive();
	ck_assert_int_eq(fake_version.started, 1);
	clock_fake_advance(1);
	alive();
	ck_assert_int_eq(fake_version.started, 2);
}

/* What was answered is not said twice. */
TEST(the_same_again_is_no_news)
{
	alive();
	answer(200, V("v1.34.1"));
	const size_t n = count(MSG_WATCH_STATS);

	clock_fake_advance(3600000);
	alive();
	answer(200, V("v1.34.1"));
	ck_assert_uint_eq(count(MSG_WATCH_STATS), n);
}

TEST(it_is_asked_for_again_after_a_trouble)
{
	alive();
	answer(200, V("v1.34.1"));
	fake.ops.on_trouble(fake.ctx, 0, words("connection refused"));
	alive();
	clock_fake_advance(7200000);
	alive();
	ck_assert_int_eq(fake_version.started, 1); /* a server in trouble is left alone */
	ck_assert_str_eq(known(), "v1.34.1");
	fake.ops.on_trouble(fake.ctx, 0, NULL);
	ck_assert_int_eq(fake_version.started, 2);
	answer(200, V("v1.35.0"));
	ck_assert_str_eq(known(), "v1.35.0");
	fake.ops.on_trouble(fake.ctx, 0, words("connection refused"));
	fake.ops.on_trouble(fake.ctx, 0, NULL);
	ck_assert_int_eq(fake_version.started, 3);
	fake.ops.on_trouble(fake.ctx, 0, NULL); /* there was none */
	answer(200, V("v1.35.0"));
	ck_assert_int_eq(fake_version.started, 3);
}

static const struct {
	const char *body, *version;
} bodies[] = {
	{ V("v1.34.1"), "v1.34.1" },
	{ "{\"gitVersion\":\"v1.30.2+k3s1\"}", "v1.30.2+k3s1" },
	{ "{\"gitVersion\"\t:\r\n \"v1.33.5-eks-113cf36\"", "v1.33.5-eks-113cf36" },
	{ "", "" },
	{ "{}", "" },
	{ "ok", "" },
	{ "\"gitVersion\"", "" },
	{ "\"gitVersion\":", "" },
	{ "\"gitVersion\":\"", "" },
	{ "\"gitVersion\":\"v1.34.1", "" },
	{ "{\"gitVersion\":1}", "" },
	{ "{\"gitVersion\":null,\"x\":\"v1.34.1\"}", "" },
	{ "{\"gitVersion\",\"v1.34.1\"}", "" },
	{ "{\"version\":\"v1.34.1\"}", "" },
	{ V(""), "" },
	{ V("1.34.1"), "" },
	{ V("v1.34"), "" },
	{ V("v1.34.1 is good"), "" },
	{ V("v1.34.1-\\u0041"), "" },
	{ V("v1.34.1-\033]0;x\007"), "" },
	{ V("v1.34.1-56789012345678901234567890123456789012345678901234567890123456"), "" },
};

/* What is no version is unknown, also after one that was known. */
TEST_LOOP(only_a_version_is_taken, 0, (int)ARRAY_SIZE(bodies))
{
	alive();
	answer(200, V("v1.31.0"));
	clock_fake_advance(3600000);
	alive();
	answer(200, bodies[_i].body);
	ck_assert_str_eq(known(), bodies[_i].version);
	ck_assert_str_eq(EN(last(MSG_WATCH_STATS)->u.watch_stats.error),
			 "the first list is not complete yet");
	ck_assert(!last(MSG_WATCH_STATS)->u.watch_stats.failing);
}

/* A server that does not tell it, or not to us, is unknown and asked as rarely as others. What passes leaves
 * what was known, and is asked for with the next sign of life. Neither is a trouble. */
static const struct {
	enum http_failure failure;
	long status;
	const char *version;
	int started;
} refusals[] = {
	{ HTTP_OK, 403, "", 2 },
	{ HTTP_OK, 404, "", 2 },
	{ HTTP_OK, 401, "v1.31.0", 3 },
	{ HTTP_OK, 429, "v1.31.0", 3 },
	{ HTTP_OK, 503, "v1.31.0", 3 },
	{ HTTP_TIMEOUT, 0, "v1.31.0", 3 },
	{ HTTP_BROKEN, 200, "v1.31.0", 3 },
};

TEST_LOOP(a_refusal_is_no_trouble, 0, (int)ARRAY_SIZE(refusals))
{
	alive();
	answer(200, V("v1.31.0"));
	clock_fake_advance(3600000);
	alive();
	answer_as(refusals[_i].failure, refusals[_i].status, V("v1.99.0"));
	ck_assert_str_eq(known(), refusals[_i].version);
	ck_assert(!last(MSG_WATCH_STATS)->u.watch_stats.failing);
	ck_assert_uint_eq(count(MSG_CREDENTIAL) + count(MSG_TROUBLE), 0);
	alive();
	ck_assert_int_eq(fake_version.started, refusals[_i].started);
}

TEST(another_server_is_not_known)
{
	struct settings s = of_server("https://10.0.0.2:6443");

	alive();
	answer(200, V("v1.34.1"));
	clock_fake_advance(3600000);
	alive();
	cluster_watch_set_settings(w, &s);
	ck_assert_msg(!fake_version.open, "the old server may still answer");
	ck_assert_str_eq(known(), "");
	alive();
	answer(200, V("v1.30.14"));
	ck_assert_str_eq(known(), "v1.30.14");
	s = of_server("https://10.0.0.2:6443"); /* other settings of the same one */
	cluster_watch_set_settings(w, &s);
	ck_assert_str_eq(known(), "v1.30.14");
}

TEST(a_watch_that_ends_asks_nothing)
{
	alive();
	cluster_watch_free(&w);
	ck_assert(!fake_version.open);
}

TEST_MAIN("watcher/server_version")
{
	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, open_watch, close_watch);
}
