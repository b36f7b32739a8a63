/* test_feishu.c - signature, sizes, answers and limits of the bot. */
// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>

#include "reporter/sinks/parts.h"
#include "tests/suite.h"
#include "tests/unit/reporter/support.h"

#define TITLE "pod重启次数过多"
#define URL   "https://open.feishu.cn/open-apis/bot/v2/hook/s3cr3t-t0ken"

static char *render(const char *title, char *const *paragraphs, const struct sink_parts *parts, size_t part,
		    const char *secret, int64_t timestamp_s)
{
	const struct sink_message m = { title, secret, paragraphs, parts, part, timestamp_s };

	return post_feishu.render(&m);
}

TEST(body_is_the_documented_one)
{
	char *paragraphs[] = { (char *)"head\n", (char *)"say \"hi\"\n" };
	struct sink_parts parts;

	sink_split(&post_feishu, TITLE, paragraphs, 2, &parts);
	ck_assert_uint_eq(parts.n, 1);
	char *plain = render(TITLE, paragraphs, &parts, 0, "", 0);

	ck_assert_str_eq(plain, "{\"msg_type\":\"post\",\"content\":{\"post\":{\"zh_cn\":{\"title\":\"" TITLE
				"\",\"content\":["
				"[{\"tag\":\"text\",\"text\":\"head\\n\"}],[{\"tag\":\"text\",\"text\":\"say "
				"\\\"hi\\\"\\n\"}]]}}}}");
	free(plain);
}

TEST(signature_is_the_documented_one)
{
	char *paragraphs[] = { (char *)"head\n" };
	struct sink_parts parts;

	sink_split(&post_feishu, TITLE, paragraphs, 1, &parts);
	char *body = render(TITLE, paragraphs, &parts, 0, "demo-secret", 1700000000);
	json_t *j = json_loads(body, 0, NULL);

	ck_assert_str_eq(json_string_value(json_object_get(j, "timestamp")), "1700000000");
	ck_assert_str_eq(json_string_value(json_object_get(j, "sign")),
			 "mYHw2R2SOm8Rw/sne3lQdmz4sOfntKR+1P/8RKKTwmA=");
	json_decref(j);
	free(body);
}

/* A small generator of its own: the same texts on every run. */
static uint64_t seed;
static uint64_t rnd(uint64_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (seed >> 33) % below;
}

static char *random_text(size_t max)
{
	static const char *const pieces[] = { "a", "\"", "\\", "\x01", "é", "重", "😀", "\n", "/", "x-y.z" };
	const size_t want = rnd(max);
	char *s = calloc(max + 8, 1);
	size_t n = 0;

	ck_assert_ptr_nonnull(s);
	while (n < want) {
		const char *p = pieces[rnd(sizeof(pieces) / sizeof(pieces[0]))];

		memcpy(s + n, p, strlen(p));
		n += strlen(p);
	}
	return s;
}

/* Append every text element of a body to out; all of it must be UTF-8 and below the limit. */
static size_t check_body(char *body, char *out, size_t have)
{
	ck_assert_uint_le(strlen(body), post_feishu.size_max);
	json_t *j = json_loads(body, 0, NULL);
	json_t *lines = json_object_get(
		json_object_get(json_object_get(json_object_get(j, "content"), "post"), "zh_cn"), "content");
	size_t i;
	json_t *line;

	ck_assert_ptr_nonnull(j); /* jansson refuses invalid UTF-8 */
	json_array_foreach (lines, i, line) {
		const json_t *text = json_object_get(json_array_get(line, 0), "text");

		memcpy(out + have, json_string_value(text), json_string_length(text));
		have += json_string_length(text);
	}
	json_decref(j);
	free(body);
	return have;
}

/* Split and render them: all valid, below the limit, nothing lost, nothing out of order. Frees the
 * paragraphs; returns how many messages they take. */
static size_t check_all(char **paragraphs, size_t n, const char *secret)
{
	char *want = calloc(1, 4 << 20), *got = calloc(1, 4 << 20);
	size_t want_n = 0, got_n = 0;
	struct sink_parts parts;

	ck_assert(want && got);
	for (size_t i = 0; i < n; i++) {
		memcpy(want + want_n, paragraphs[i], strlen(paragraphs[i]));
		want_n += strlen(paragraphs[i]);
	}
	sink_split(&post_feishu, TITLE, paragraphs, n, &parts);
	ck_assert_uint_eq(parts.left_out, 0);
	for (size_t p = 0; p < parts.n; p++) {
		char *body = render(TITLE, paragraphs, &parts, p, secret, 1700000000);
		char numbered[64];

		(void)snprintf(numbered, sizeof(numbered), TITLE " (%zu/%zu)", p + 1, parts.n);
		ck_assert(parts.n == 1 || strstr(body, numbered));
		got_n = check_body(body, got, got_n);
	}
	ck_assert_uint_eq(got_n, want_n);
	ck_assert_mem_eq(got, want, want_n);
	for (size_t i = 0; i < n; i++)
		free(paragraphs[i]);
	free(want);
	free(got);
	return parts.n;
}

/* Whatever the paragraphs are. */
TEST_LOOP(split_keeps_limits_and_loses_nothing, 0, 40)
{
	seed = (uint64_t)_i * 77 + 1;
	const size_t n = 1 + (size_t)rnd(200);
	char *paragraphs[200];

	for (size_t i = 0; i < n; i++)
		paragraphs[i] = random_text(rnd(20) == 0 ? 6000 : 300);
	(void)check_all(paragraphs, n, "secret");
}

TEST(split_of_normal_paragraphs_is_exact)
{
	char *paragraphs[400];

	for (size_t i = 0; i < 400; i++) {
		paragraphs[i] = calloc(1, 256);
		(void)snprintf(paragraphs[i], 256, "%zu. 名前空間/workload-%zu: \"%0*d\"\n", i, i,
			       (int)(i % 100), 7);
	}
	ck_assert_uint_gt(check_all(paragraphs, 400, ""), 1);
}

TEST(huge_paragraph_is_cut_between_characters)
{
	char *big = calloc(1, 90001), *got = calloc(1, 100000);
	struct sink_parts parts;

	ck_assert(big && got);
	for (size_t i = 0; i < 30000; i++)
		memcpy(big + 3 * i, "重", 3);
	sink_split(&post_feishu, TITLE, &big, 1, &parts);
	ck_assert_uint_eq(parts.n, 1);
	const size_t n = check_body(render(TITLE, &big, &parts, 0, "", 0), got, 0);

	ck_assert_uint_eq(n % 3, 0);
	ck_assert_uint_gt(n, 16000);
	free(big);
	free(got);
}

TEST(too_many_paragraphs_are_counted)
{
	char **paragraphs = calloc(2000, sizeof(*paragraphs));
	struct sink_parts parts;

	ck_assert_ptr_nonnull(paragraphs);
	for (size_t i = 0; i < 2000; i++) {
		paragraphs[i] = malloc(513);
		memset(paragraphs[i], 'x', 512);
		paragraphs[i][512] = '\0';
	}
	sink_split(&post_feishu, "t", paragraphs, 2000, &parts);
	ck_assert_uint_eq(parts.n, SINK_PARTS_MAX);
	ck_assert_uint_eq(parts.start[parts.n] + parts.left_out, 2000);
	ck_assert_uint_gt(parts.left_out, 0);
	char *last = render("t", paragraphs, &parts, parts.n - 1, "", 0);

	ck_assert_ptr_nonnull(strstr(last, "more workloads"));
	ck_assert_uint_le(strlen(last), post_feishu.size_max);
	free(last);
	for (size_t i = 0; i < 2000; i++)
		free(paragraphs[i]);
	free(paragraphs);
}

static const struct {
	enum http_failure failure;
	long status;
	bool sent;
	const char *body;
	enum sink_verdict verdict;
	int64_t code;
} answers[] = {
	{ HTTP_OK, 200, true, "{\"code\":0,\"msg\":\"success\"}", SINK_ACCEPTED, 0 },
	{ HTTP_OK, 200, true, "{\"StatusCode\":0,\"StatusMessage\":\"success\"}", SINK_ACCEPTED, 0 },
	{ HTTP_OK, 200, true, "{\"code\":19021,\"msg\":\"sign match fail\"}", SINK_REFUSED, 19021 },
	{ HTTP_OK, 200, true, "{\"code\":19024,\"msg\":\"Key Words Not Found\"}", SINK_REFUSED, 19024 },
	{ HTTP_OK, 200, true, "{\"code\":11232,\"msg\":\"frequency limited\"}", SINK_AGAIN, 11232 },
	{ HTTP_OK, 400, true, "{\"code\":11232,\"msg\":\"frequency limited\"}", SINK_AGAIN, 11232 },
	{ HTTP_OK, 400, true, "{\"code\":9499,\"msg\":\"Bad Request\"}", SINK_REFUSED, 9499 },
	{ HTTP_OK, 200, true, "<html>hello</html>", SINK_REFUSED, -1 },
	{ HTTP_OK, 200, true, "", SINK_REFUSED, -1 },
	{ HTTP_OK, 200, true, "{\"code\":\"0\"}", SINK_REFUSED, -1 },
	{ HTTP_OK, 302, true, "", SINK_REFUSED, -1 },
	{ HTTP_OK, 429, true, "slow down", SINK_AGAIN, -1 },
	{ HTTP_OK, 500, true, "", SINK_AGAIN, -1 },
	{ HTTP_OK, 500, true, "{\"code\":0}", SINK_AGAIN, 0 },
	{ HTTP_OK, 504, true, "", SINK_IN_DOUBT, -1 },
	{ HTTP_CONNECT, 0, false, "", SINK_AGAIN, -1 },
	{ HTTP_TIMEOUT, 0, false, "", SINK_AGAIN, -1 },
	{ HTTP_TIMEOUT, 0, true, "", SINK_IN_DOUBT, -1 },
	{ HTTP_BROKEN, 0, true, "", SINK_IN_DOUBT, -1 },
	{ HTTP_BROKEN, 0, false, "", SINK_AGAIN, -1 },
	{ HTTP_TOO_LARGE, 200, true, "", SINK_IN_DOUBT, -1 },
};

TEST_LOOP(answers_mean_what_the_bot_says, 0, sizeof(answers) / sizeof(answers[0]))
{
	struct http_result r = { .failure = answers[_i].failure,
				 .status = answers[_i].status,
				 .sent = answers[_i].sent,
				 .retry_after_ms = 1234,
				 .body = answers[_i].body,
				 .body_len = strlen(answers[_i].body) };
	struct sink_answer a;

	post_interpret(&post_feishu, &r, URL, &a);
	ck_assert_int_eq(a.verdict, answers[_i].verdict);
	ck_assert_int_eq(a.code, answers[_i].code);
	ck_assert_int_eq(a.retry_after_ms, 1234);
}

TEST(the_address_never_shows)
{
	struct http_result r = { .failure = HTTP_CONNECT };
	struct sink_answer a;

	(void)snprintf(r.error, sizeof(r.error), "cannot connect to " URL);
	post_interpret(&post_feishu, &r, URL, &a);
	ck_assert_ptr_null(strstr(a.text, "s3cr3t"));
	r = (struct http_result){ .failure = HTTP_OK,
				  .status = 200,
				  .body = "{\"code\":1,\"msg\":\"bad hook " URL "\\u001b[2J\"}" };
	r.body_len = strlen(r.body);
	post_interpret(&post_feishu, &r, URL, &a);
	ck_assert_ptr_null(strstr(a.text, "s3cr3t"));
	r.body = "{\"code\":1,\"msg\":\"\\u001b[2Jx\"}";
	r.body_len = strlen(r.body);
	post_interpret(&post_feishu, &r, URL, &a);
	ck_assert_str_eq(a.text, "?[2Jx");
}

TEST(limits_hold_in_every_window)
{
	struct sink_limit l = { 0 };
	uint64_t sent[300], now = 1000;

	for (size_t i = 0; i < 300; i++) {
		now += sink_limit_wait(&l, post_feishu.per_second, post_feishu.per_minute, now);
		ck_assert_uint_eq(sink_limit_wait(&l, post_feishu.per_second, post_feishu.per_minute, now),
				  0);
		sink_limit_sent(&l, now);
		sent[i] = now;
		if (i >= 5)
			ck_assert_uint_ge(sent[i] - sent[i - 5], 1000);
		if (i >= 100)
			ck_assert_uint_ge(sent[i] - sent[i - 100], 60000);
	}
	ck_assert_uint_le(sent[99] - sent[0], 20000); /* and no slower than it must be */
}

TEST_MAIN("reporter/feishu")
{
	tcase_set_timeout(t, 60);
}
