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
#include "reporter/page/report.h"
#include "reporter/page/status_page.h"
#include "tests/hostile.h"
#include "tests/suite.h"
#include "tests/facts_en.h"

#define EVIL "<script>alert(\"1\")</script>' onload='x' &amp; ]]> <!-- " HOSTILE

/* What a page has between <style> and </style>: the caller frees it. */
static char *style_of(const char *page)
{
	const char *begin = strstr(page, "<style>"), *end = strstr(page, "</style>");

	ck_assert(begin && end);
	return xstrndup(begin + strlen("<style>"), (size_t)(end - begin) - strlen("<style>"));
}

TEST(the_policy_allows_this_style_alone)
{
	struct status_page p = { .version = "1" };
	_cleanup_free_ char *page = status_page_end(&p, NULL), *css = style_of(page);
	unsigned char hash[SHA256_DIGEST_LENGTH];
	char base64[64];

	(void)SHA256((const unsigned char *)css, strlen(css), hash);
	(void)EVP_EncodeBlock((unsigned char *)base64, hash, sizeof(hash));
	_cleanup_free_ char *want = xasprintf("style-src 'sha256-%s';", base64);

	ck_assert_msg(strstr(PAGE_POLICY, want) != NULL, "PAGE_POLICY lacks: %s", want);
	ck_assert_ptr_nonnull(strstr(PAGE_POLICY, "default-src 'none';"));
	ck_assert_ptr_null(strpbrk(css, "<&"));
}

/* The page of an empty report with these numbers. */
static char *page_with(const struct series *s)
{
	struct document d;

	document_init(&d, NEWS_REPORT, LANGUAGE_EN, 1700000000000);
	char *page = page_report(&d, s);

	document_done(&d);
	return page;
}

TEST(tiles_are_darker_for_more)
{
	static const struct {
		uint64_t restarts;
		const char *tile;
	} rows[] = { { 0, "<li><b>ns0</b>" },
		     { 1, "<li class=\"t1\"><b>ns1</b>" },
		     { 13, "<li class=\"t2\"><b>ns2</b>" },
		     { 51, "<li class=\"t3\"><b>ns3</b>" },
		     { 100, "<li class=\"t3\"><b>ns4</b>" } };
	struct series s = { 0 };
	char name[8];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		(void)snprintf(name, sizeof(name), "ns%zu", i);
		series_add_tile(&s, "", name)->restarts = rows[i].restarts;
	}
	_cleanup_free_ char *page = page_with(&s);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_msg(strstr(page, rows[i].tile) != NULL, "%s", rows[i].tile);
	series_done(&s);
}

TEST(a_bar_is_as_high_as_its_share)
{
	struct series s = { .end_ms = 1700000000000 };
	struct series_line *l = series_add_line(&s, "", "web");

	l->by_hour[4] = 1; /* four hours are a bar */
	l->by_hour[8] = 60;
	l->by_hour[11] = 40;
	s.actions[0][DUTY_EVICTED] = 1;
	s.actions[0][DUTY_TERMINATING] = 3;
	_cleanup_free_ char *page = page_with(&s), *lower = NULL, *upper = NULL;

	/* Nothing has no bar, one of a hundred is seen, the highest fills the height. */
	ck_assert_ptr_nonnull(strstr(page, "<path d=\"M4 39.0v-1.9h3v1.9zM8 39.0v-38.0h3v38.0z\">"));
	/* A quarter below, three quarters on it; the empty days have none. */
	const bool first = DUTY_EVICTED < DUTY_TERMINATING;

	lower = xasprintf("class=\"d%d\" d=\"M2 99.0v-%sz\"", first ? DUTY_EVICTED : DUTY_TERMINATING,
			  first ? "24.5h16v24.5" : "73.5h16v73.5");
	upper = xasprintf("class=\"d%d\" d=\"M2 %sz\"", first ? DUTY_TERMINATING : DUTY_EVICTED,
			  first ? "74.5v-73.5h16v73.5" : "25.5v-24.5h16v24.5");
	ck_assert_msg(strstr(page, lower) && strstr(page, upper), "%s %s", lower, upper);
	series_done(&s);
}

static void fill(struct document *d, struct series *s, const char *text)
{
	document_init(d, NEWS_REPORT, LANGUAGE_EN, 1700000000000);
	document_set(&d->title, text);
	document_add(&d->lines, text);
	document_set(&d->footer, text);
	struct section *section = document_add_section(d, text);
	struct entry *e = section_add_entry(section, text);

	document_add(&e->lines, text);
	document_set(&e->command, text);
	entry_add_fact(e, "restarts", text);
	section->more = 7;
	*s = (struct series){ .end_ms = 1700000000000, .more_held = 3 };
	series_add_line(s, text, text)->by_hour[SERIES_HOURS - 1] = 5;
	struct facts said = quoting(text);

	series_add_held(s, text, text, text, &said);
	SET_SAID(said, "5 of 5");
	series_add_held(s, "prod", "", "BudgetSpent", &said)->duty = DUTY_EVICTED;
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
		"<p class=\"dim\">shop/web</p>", /* the window */
		"<div class=\"ends\"><span>10-31 22:13</span><span>most in 4 h: 5</span>",
		"<span>most in 4 h: 5</span><span>11-14 22:13</span></div>",
		"<div class=\"axis\"><span>11-01</span><span>11-02</span>",
		"<span>11-13</span><span>11-14</span></div>",
		"the darker, the more: 6 at most",
		"<b>all that is due</b></td><td class=\"word\" data-l=\"Duty\">deleteEvictedPod</td>",
		"shop/web, restarts in 14 days: 5",
		"actions in 14 days: 4; most on a day: 4",
		"deleteEvictedPod 4",
		"… and 3 more",
		"… and 7 more",
		"restarts: 1",
		"actions: 2",
		"blocked: 3",
		"5 of 5",
		"<code>shop/web</code>",
		"data-l=\"Restarts in this time\">shop/web</td>",
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

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		n++;
	return n;
}

/* The title of a message has the numbers in it, which have columns of their own here. */
TEST(a_row_says_nothing_twice)
{
	static const char *const facts[][2] = { { "cluster", "prod" },      { "namespace", "shop" },
						{ "workload", "checkout" }, { "kind", "Deployment" },
						{ "restarts", "412" },      { "restartsPerHour", "9.4" },
						{ "restartsTotal", "531" }, { "count", "37" } };
	struct series s = { .end_ms = 1700000000000 };
	struct document d;

	document_init(&d, NEWS_REPORT, LANGUAGE_EN, s.end_ms);
	struct entry *e =
		section_add_entry(document_add_section(&d, "New"),
				  "[prod] shop/checkout (Deployment): restarted 412× (9.4/h), RESTARTS 531");

	document_add(&e->lines, "Pods: 37, on node node-1");
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		entry_add_fact(e, facts[i][0], facts[i][1]);
	e = section_add_entry(&d.sections[0], "pay/gone: restarted 36× in the last report");
	entry_add_fact(e, "workload", "gone");
	_cleanup_free_ char *page = page_report(&d, &s);

	for (size_t i = 1; i < ARRAY_SIZE(facts); i++)
		ck_assert_msg(count(page, facts[i][1]) == 1, "%s: %zu times", facts[i][1],
			      count(page, facts[i][1]));
	ck_assert_ptr_nonnull(
		strstr(page, "<span class=\"dim\">prod</span> <b>shop/checkout</b> Deployment"));
	ck_assert_ptr_nonnull(strstr(page, "<b>pay/gone: restarted 36× in the last report</b>"));
	s.is_of_one_cluster = true; /* the head names it */
	series_add_tile(&s, "prod", "shop")->restarts = 1;
	_cleanup_free_ char *one = page_report(&d, &s);

	ck_assert_ptr_null(strstr(one, "prod"));
	document_done(&d);
	series_done(&s);
}

TEST(status_says_what_is_wrong_and_cuts_long_lists)
{
	struct msg_due_row due = {
		.duty = DUTY_IMAGE_PULL, .state = DUE_BLOCKED, .reason = "BudgetSpent", .n = 3
	};
	const struct facts evil = quoting(EVIL);
	const struct msg_pause pause = { .duty = DUTY_EVICTED, .by = "alice", .why = evil };
	struct status_page p = { .version = "1", .now_ms = 1700000000000 };
	size_t size = 0;

	status_page_add_trouble(&p, &(struct page_trouble){ "prod", "shop/web", "it is broken", "mend it",
							    &evil, 1700000000000, true });
	status_page_add_pause(&p, &pause);
	for (size_t i = 0; i < LIVE_ROWS_MAX + 5; i++)
		status_page_add_due(&p, "prod", &due);
	_cleanup_free_ char *text = status_page_end(&p, &size);
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
		"action budget for this period is spent",
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
}

/* The page of one cluster in which so much was done. */
static char *page_of_hours(uint64_t done, bool has_windows, int64_t window_ms)
{
	const struct msg_ctl_tally_row tally = { .cluster_name = "default", .done = done };
	const struct msg_watch_stats watch = { 0 };
	struct status_page p = { .version = "1",
				 .now_ms = 1700000000000,
				 .cluster_title = "shop",
				 .done_by_hour = { [20] = 1, [23] = 2 },
				 .has_windows = has_windows,
				 .window_ms = window_ms };

	status_page_add_cluster(&p, &tally, &watch, false);
	return status_page_end(&p, NULL);
}

TEST(a_tile_tells_of_hours_and_of_the_next_window)
{
	_cleanup_free_ char *always = page_of_hours(3, false, 0);

	ck_assert_ptr_null(strstr(always, "Next window"));
	ck_assert_ptr_nonnull(strstr(always, "<path d=\"M80 39.0v-"));
	ck_assert_ptr_nonnull(strstr(always, "M92 39.0v-38.0"));
	ck_assert_ptr_nonnull(strstr(always, "most in an hour: 2<"));
	ck_assert_ptr_nonnull(strstr(always, ">shop<"));
	ck_assert_ptr_null(strstr(always, ">default<"));
	_cleanup_free_ char *open = page_of_hours(3, true, 0);

	ck_assert_ptr_nonnull(strstr(open, "open now"));
	_cleanup_free_ char *later = page_of_hours(0, true, 1700000000000 + 3600000);

	ck_assert_ptr_nonnull(strstr(later, "<dt>Next window</dt><dd>2023-11-14 23:13"));
	ck_assert_ptr_null(strstr(later, "<path d=\"M"));
}

/* What the history holds is not nothing because nobody can read it. */
TEST(the_status_page_without_a_history)
{
	const struct msg_ctl_tally_row tally = { .cluster_name = "prod", .due = 4 };
	const struct msg_watch_stats watch = { .synced = true, .leading = true };
	struct status_page p = { .version = "1", .no_history = true };

	status_page_add_cluster(&p, &tally, &watch, false);
	_cleanup_free_ char *text = status_page_end(&p, NULL);

	ck_assert_ptr_nonnull(strstr(text, "Not known: the history cannot be read."));
	ck_assert_ptr_null(strstr(text, "Nothing has been done yet."));
	ck_assert_ptr_nonnull(strstr(text, "<dt>At 0</dt><dd>–</dd>"));
	ck_assert_ptr_nonnull(strstr(text, "<dt>Due</dt><dd>4</dd>"));
}

TEST(the_status_page_is_told_in_chinese)
{
	const struct msg_watch_stats watch = { .error = facts_of(TEXT_SERVER_SILENT) };
	const struct msg_pause pause = { .duty = DUTY_ALL, .why = facts_of(TEXT_OWN_STATE_DAMAGED) };
	const struct msg_ctl_tally_row tally = { .cluster_name = "prod" };
	const struct facts slow = facts_of(TEXT_MAIL_SLOW);
	struct status_page p = { .language = LANGUAGE_ZH, .version = "1", .ready = true, .observe = true };
	static const char *const wanted[] = {
		"一切正常",
		"就绪",
		"observe 模式",
		"supervisor 自己的暂停与限额文件已损坏",
		"API Server 没有应答",
		"服务器没有及时应答",
	};

	status_page_add_pause(&p, &pause);
	status_page_add_cluster(&p, &tally, &watch, true);
	status_page_add_sink(&p, "ops", "slack", 0, 0, &slow);
	_cleanup_free_ char *zh = status_page_end(&p, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		ck_assert_msg(strstr(zh, wanted[i]) != NULL, "%s is not in it", wanted[i]);
}

SUITE("reporter/page");
