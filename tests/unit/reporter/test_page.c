/* test_page.c - the pages: whatever is in them is text, the style is the one that the policy allows. That
 * they look right is shown by a browser (tests/page/run). */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "reporter/page/chart.h"
#include "reporter/page/html.h"
#include "reporter/page/report.h"
#include "reporter/page/status_page.h"
#include "reporter/page/style.h"
#include "tests/hostile.h"
#include "tests/suite.h"

#define EVIL "<script>alert(\"1\")</script>' onload='x' &amp; ]]> <!-- " HOSTILE

TEST(texts_and_attributes_are_escaped)
{
	struct html *h = html_new_page("en", "t", 0);

	html_open(h, "p");
	html_attr(h, "title", EVIL);
	html_attr(h, "class", NULL);
	html_text(h, EVIL);
	html_text(h, NULL);
	_cleanup_free_ char *text = html_end(&h, NULL);

	ck_assert_ptr_null(h);
	ck_assert_ptr_null(strstr(text, "<script"));
	ck_assert_ptr_null(strstr(text, "' "));
	ck_assert_ptr_null(strstr(text, "class="));
	ck_assert_ptr_nonnull(strstr(text, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39; onload"));
	ck_assert_ptr_nonnull(strstr(text, "&amp;amp; ]]&gt; &lt;!-- "));
	ck_assert(hostile_is_gone(text));
	ck_assert_ptr_nonnull(strstr(text, "</p>"));
}

TEST(what_is_open_is_closed)
{
	struct html *h = html_new_page("en", "t", 0);
	size_t size = 0;

	html_open_class(h, "a", "x");
	html_element(h, "b", NULL, "1");
	html_open(h, "c");
	_cleanup_free_ char *text = html_end(&h, &size);

	ck_assert_ptr_nonnull(
		strstr(text, "<main><a class=\"x\"><b>1</b><c></c></a></main></body></html>\n"));
	ck_assert_uint_eq(size, strlen(text));
}

TEST(the_policy_allows_this_style_alone)
{
	unsigned char hash[SHA256_DIGEST_LENGTH];
	char base64[64];
	const char *css = style_sheet();

	(void)SHA256((const unsigned char *)css, strlen(css), hash);
	(void)EVP_EncodeBlock((unsigned char *)base64, hash, sizeof(hash));
	_cleanup_free_ char *want = xasprintf("style-src 'sha256-%s';", base64);

	ck_assert_msg(strstr(STYLE_POLICY, want) != NULL, "STYLE_POLICY lacks: %s", want);
	ck_assert_ptr_nonnull(strstr(STYLE_POLICY, "default-src 'none';"));
	ck_assert_ptr_null(strpbrk(css, "<&"));
}

TEST(tiles_are_darker_for_more)
{
	ck_assert_uint_eq(chart_level(0, 100), 0);
	ck_assert_uint_eq(chart_level(1, 100), 1);
	ck_assert_uint_eq(chart_level(13, 100), 2);
	ck_assert_uint_eq(chart_level(51, 100), 3);
	ck_assert_uint_eq(chart_level(1, 1), 3);
}

TEST(a_bar_is_as_high_as_its_share)
{
	const uint32_t v[] = { 0, 1, 100 }, days[] = { 1, 3, 0, 0 };
	struct html *h = html_new_page("en", "t", 0);

	html_open(h, "div");
	chart_spark(h, "label", v, ARRAY_SIZE(v));
	chart_stacked(h, "by day", days, 2, 2);
	_cleanup_free_ char *text = html_end(&h, NULL);

	/* Nothing has no bar, one of a hundred is seen, the highest fills the height. */
	ck_assert_ptr_nonnull(strstr(text, "d=\"M4 39v-1.9h3V39zM8 39v-38.5h3V39z\""));
	/* A quarter below, three quarters on it; the empty day has none. */
	ck_assert_ptr_nonnull(strstr(text, "class=\"d0\" x=\"2\" y=\"75.00\" width=\"16\" height=\"24.50\""));
	ck_assert_ptr_nonnull(strstr(text, "class=\"d1\" x=\"2\" y=\"1.50\" width=\"16\" height=\"73.50\""));
	ck_assert_ptr_null(strstr(text, "x=\"22\""));
}

static void fill(struct document *d, struct series *s, const char *text)
{
	document_init(d, NEWS_REPORT, LANGUAGE_EN, 1700000000000);
	document_set_title(d, text);
	document_add_line(d, text);
	document_set_footer(d, text);
	struct section *section = document_add_section(d, text);
	struct entry *e = section_add_entry(section, text);

	entry_add_line(e, text);
	entry_set_command(e, text);
	entry_add_fact(e, "restarts", text);
	section->more = 7;
	*s = (struct series){ .begin_ms = 1699000000000, .end_ms = 1700000000000, .more_held = 3 };
	series_add_line(s, text, text)->by_hour[SERIES_HOURS - 1] = 5;
	series_add_held(s, text, text, text, text);
	series_add_held(s, "prod", "", "BudgetSpent", "5 of 5")->duty = DUTY_EVICTED;
	struct series_tile *tile = series_add_tile(s, text, text);

	tile->restarts = 1;
	tile->actions = 2;
	tile->held = 3;
	s->actions[SERIES_DAYS - 1][DUTY_EVICTED] = 4;
}

TEST(hostile_names_stay_text)
{
	struct document d;
	struct series s;

	fill(&d, &s, EVIL);
	_cleanup_free_ char *text = page_report(&d, &s);

	ck_assert_ptr_null(strstr(text, "<script"));
	ck_assert_ptr_null(strstr(text, "onload='"));
	ck_assert(hostile_is_gone(text));
	document_done(&d);
	series_done(&s);
}

TEST(a_report_says_all_of_it)
{
	static const char *const wanted[] = {
		"<html lang=\"en\">",
		"<title>shop/web</title>",
		"As of 2023-11-14 22:13",
		"shop/web, restarts in 14 days: 5",
		"actions in 14 days: 4; most on a day: 4",
		"deleteEvictedPod 4",
		"… and 3 more",
		"… and 7 more",
		"restarts: 1",
		"actions: 2",
		"held back: 3",
		"5 of 5",
		"<code>shop/web</code>",
		"data-l=\"Restarts\">shop/web</td>",
		"<footer>shop/web</footer>",
	};
	struct document d;
	struct series s;

	fill(&d, &s, "shop/web");
	_cleanup_free_ char *text = page_report(&d, &s);

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		ck_assert_msg(strstr(text, wanted[i]) != NULL, "%s is not in it", wanted[i]);
	d.language = LANGUAGE_ZH;
	_cleanup_free_ char *zh = page_report(&d, NULL);

	ck_assert_ptr_nonnull(strstr(zh, "<html lang=\"zh\">"));
	ck_assert_ptr_nonnull(strstr(zh, "…另有 7 项"));
	document_done(&d);
	series_done(&s);
}

TEST(status_says_what_is_wrong_and_cuts_long_lists)
{
	struct live_due *due = xcalloc(LIVE_ROWS_MAX + 5, sizeof(*due));
	struct live_trouble trouble = { "prod",        "shop/web", "it is broken", EVIL, "mend it",
					1700000000000, true };
	struct msg_pause pause = { .duty = DUTY_EVICTED, .by = "alice", .why = EVIL };
	struct live l = { .version = "1",
			  .now_ms = 1700000000000,
			  .troubles = &trouble,
			  .n_troubles = 1,
			  .pauses = &pause,
			  .n_pauses = 1,
			  .due = due,
			  .n_due = LIVE_ROWS_MAX + 5 };
	size_t size = 0;

	for (size_t i = 0; i < l.n_due; i++)
		due[i] = (struct live_due){ "prod", "errImagePull", "blocked", "BudgetSpent", 3, 0 };
	_cleanup_free_ char *text = page_status(&l, &size);
	static const char *const wanted[] = {
		"http-equiv=\"refresh\" content=\"15\"",
		"not ready",
		"mode: enforce",
		"it is broken",
		"mend it",
		"2023-11-14 22:13",
		"alice",
		"until resumed",
		"all clusters",
		"as many actions as are allowed",
		"… and 5 more",
		"Nothing has been done yet.",
	};

	size_t rows = 0;

	for (const char *at = text; (at = strstr(at, ">errImagePull<")); at++)
		rows++;
	ck_assert_uint_eq(rows, LIVE_ROWS_MAX);
	ck_assert_uint_eq(size, strlen(text));
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		ck_assert_msg(strstr(text, wanted[i]) != NULL, "%s is not in it", wanted[i]);
	ck_assert_ptr_null(strstr(text, "<script"));
	ck_assert_ptr_null(strstr(text, "Nothing is wrong."));
	ck_assert(hostile_is_gone(text));
	free(due);
}

TEST(the_status_page_is_told_in_chinese)
{
	struct msg_pause pause = {
		.duty = DUTY_ALL,
		.why = "the supervisor's own file of pauses and limits was damaged: look at "
		       "what was paused, then resume"
	};
	struct live_cluster cluster = { .name = "prod",
					.problem = "no answer from the API server: Timeout was reached",
					.blocked_by = "" };
	struct live_sink sink = { .name = "ops",
				  .type = "slack",
				  .error = "the server did not answer in time" };
	const struct live l = { .language = LANGUAGE_ZH,
				.version = "1",
				.live = true,
				.ready = true,
				.observe = true,
				.pauses = &pause,
				.n_pauses = 1,
				.clusters = &cluster,
				.n_clusters = 1,
				.sinks = &sink,
				.n_sinks = 1 };
	static const char *const wanted[] = {
		"一切正常",
		"就绪",
		"模式：observe",
		"supervisor 自己的暂停与限额文件已损坏",
		"API Server 没有应答：已超时",
		"服务器没有及时应答",
	};
	_cleanup_free_ char *zh = page_status(&l, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		ck_assert_msg(strstr(zh, wanted[i]) != NULL, "%s is not in it", wanted[i]);
}

SUITE("reporter/page");
