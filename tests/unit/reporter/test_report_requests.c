/* test_report_requests.c - what an operator is answered who asks for a sink: words, what to do, and the exit
 * code. */
// SPDX-License-Identifier: Apache-2.0
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "model/sink_types.h"
#include "reporter/report_requests.h"
#include "tests/suite.h"
#include "tests/facts_en.h"

static struct sink_settings sinks[2];
static struct settings settings;
static struct event_base *base;
static struct report_requests *desk;
static struct msg end;
static unsigned rows, ends;

static void on_send(void *ctx, const struct msg *m)
{
	(void)ctx;
	ck_assert_uint_eq(m->type == MSG_CTL_TEXT ? m->u.ctl_text.conn : m->u.ctl_end.conn, 7);
	rows += m->type == MSG_CTL_TEXT;
	if (m->type != MSG_CTL_END)
		return;
	end = *m;
	ends++;
	event_base_loopexit(base, NULL);
}

static void setup(void)
{
	sinks[0] = (struct sink_settings){ .name = (char *)"chat",
					   .type = SINK_WEBHOOK,
					   .url = (char *)"http://127.0.0.1:1/in/0123" };
	sinks[1] = (struct sink_settings){ .name = (char *)"lost",
					   .type = SINK_WEBHOOK,
					   .url = (char *)"http://no.test/in/0123",
					   .problem = (char *)"no.test has no address" };
	settings = (struct settings){ .sinks = sinks, .n_sinks = 2 };
	ends = rows = 0;
	base = event_base_new();
	desk = report_requests_new(base, &settings, NULL, NULL, on_send, NULL);
}

static void teardown(void)
{
	report_requests_free(&desk);
	event_base_free(base);
}

static void ask(enum report_ask what, const char *sink, int code, const char *words)
{
	struct msg m = { .type = MSG_CTL_REPORT, .u.ctl_report = { .conn = 7, .ask = what } };

	msg_set(&m, ctl_report.sink, sink, strlen(sink));
	ends = rows = 0;
	report_requests_on_ask(desk, &m.u.ctl_report);
	if (ends == 0)
		event_base_dispatch(base);
	ck_assert_uint_eq(ends, 1);
	ck_assert_msg((int)end.u.ctl_end.code == code && strstr(EN(end.u.ctl_end.why), words), "%d %s",
		      (int)end.u.ctl_end.code, EN(end.u.ctl_end.why));
	ck_assert_msg(!strstr(EN(end.u.ctl_end.why), "0123"), "%s", EN(end.u.ctl_end.why));
	ck_assert_uint_eq(rows, 0);
}

TEST(test_a_sink_that_is_not_there)
{
	ask(REPORT_ASK_TEST, "other", EXIT_CODE_USAGE, "no sink is called other; there is: chat, lost");
	ask(REPORT_ASK_PREVIEW, "other", EXIT_CODE_USAGE, "there is: chat, lost");
	settings.n_sinks = 0;
	ask(REPORT_ASK_PREVIEW, "", EXIT_CODE_USAGE, "no sink is configured");
}

TEST(test_what_does_not_arrive)
{
	ask(REPORT_ASK_TEST, "chat", EXIT_CODE_UNAVAILABLE, "chat: not reached");
	ask(REPORT_ASK_TEST, "lost", EXIT_CODE_CONFIG, "no.test has no address");
}

TEST(test_what_does_not_arrive_is_said_in_the_language_of_who_asks)
{
	struct msg m = { .type = MSG_CTL_REPORT,
			 .u.ctl_report = { .conn = 7, .ask = REPORT_ASK_TEST, .language = LANGUAGE_ZH } };

	sinks[0].url = NULL;
	msg_set(&m, ctl_report.sink, "chat", 4);
	report_requests_on_ask(desk, &m.u.ctl_report);
	event_base_loop(base, EVLOOP_NONBLOCK);
	ck_assert_uint_eq(ends, 1);
	char *zh = facts_render_in(&end.u.ctl_end.why, LANGUAGE_ZH);

	ck_assert_str_eq(zh, "chat：该地址没有接收者：修正 url（邮件则检查收件人）（没有 url）");
	free(zh);
}

TEST(test_no_report_without_the_duty)
{
	ask(REPORT_ASK_NOW, "", EXIT_CODE_CONFIG, "tooManyRestart is not enabled");
	ask(REPORT_ASK_PREVIEW, "chat", EXIT_CODE_CONFIG, "tooManyRestart is not enabled");
}

TEST(test_a_cluster_that_is_not_there)
{
	static const struct {
		const char *clusters;
		int code;
	} asked[] = { { "nowhere", EXIT_CODE_USAGE },
		      { "pro", EXIT_CODE_USAGE },
		      { "pro*", EXIT_CODE_USAGE },
		      { "nowhere\nprod\n", EXIT_CODE_CONFIG },
		      { "prod", EXIT_CODE_CONFIG } };

	str_list_add(&settings.cluster_names, "prod", 4);
	str_list_add(&settings.cluster_names, "staging", 7);
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		struct msg m = { .type = MSG_CTL_REPORT, .u.ctl_report = { .conn = 7 } };

		ends = 0;
		msg_set(&m, ctl_report.clusters, asked[i].clusters, strlen(asked[i].clusters));
		report_requests_on_ask(desk, &m.u.ctl_report);
		ck_assert_uint_eq(ends, 1);
		ck_assert_msg((int)end.u.ctl_end.code == asked[i].code, "%s: %d", asked[i].clusters,
			      (int)end.u.ctl_end.code);
		if (asked[i].code == EXIT_CODE_USAGE)
			ck_assert_ptr_nonnull(strstr(EN(end.u.ctl_end.why), "no cluster of that name"));
	}
	str_list_done(&settings.cluster_names);
}

/* Each connection may ask; one more is told to come again, and who waits at the end is answered no more. */
TEST(test_many_ask)
{
	struct msg m = { .type = MSG_CTL_REPORT, .u.ctl_report = { .conn = 7, .ask = REPORT_ASK_TEST } };

	for (int i = 0; i < 8; i++)
		report_requests_on_ask(desk, &m.u.ctl_report);
	ck_assert_uint_eq(ends, 0);
	report_requests_on_ask(desk, &m.u.ctl_report);
	ck_assert_uint_eq(ends, 1);
	ck_assert_uint_eq(end.u.ctl_end.code, EXIT_CODE_TEMPORARY);
}

TEST_MAIN("reporter/report_requests")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
