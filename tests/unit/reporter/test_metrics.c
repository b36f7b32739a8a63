/* test_metrics.c - text exposition, escaping, bounds; numbers from messages. */
// SPDX-License-Identifier: Apache-2.0
#include "model/duties.h"
#include "reporter/web/stats.h"
#include "tests/hostile.h"
#include "tests/suite.h"
#include "tests/unit/reporter/support.h"

static struct metrics *m;

static void setup(void)
{
	m = metrics_new();
}

static void teardown(void)
{
	metrics_free(&m);
}

TEST(text_is_the_documented_format)
{
	size_t n = 0;

	metrics_add(m, METRIC_ACTIONS, 1, METRIC_LABELS("deleteEvictedPod", "done", "prod", "enforce"));
	metrics_add(m, METRIC_ACTIONS, 2, METRIC_LABELS("deleteEvictedPod", "done", "prod", "enforce"));
	metrics_add(m, METRIC_ACTIONS, 1, METRIC_LABELS("errImagePull", "refused", "a\"b\\c\nd", "observe"));
	metrics_set(m, METRIC_DIGEST_SUCCESS, 1700000000.25, METRIC_NO_LABELS);
	char *text = metrics_text(m, &n);

	ck_assert_uint_eq(n, strlen(text));
	ck_assert_str_eq(
		text,
		"# HELP opc_actions_total Actions that came to an end, as written into the history.\n"
		"# TYPE opc_actions_total counter\n"
		"opc_actions_total{duty=\"deleteEvictedPod\",outcome=\"done\",cluster=\"prod\",mode="
		"\"enforce\"} 3\n"
		"opc_actions_total{duty=\"errImagePull\",outcome=\"refused\",cluster=\"a\\\"b\\\\c\\nd\","
		"mode=\"observe\"} 1\n"
		"# HELP opc_digest_last_success_timestamp_seconds When a report was last delivered in full.\n"
		"# TYPE opc_digest_last_success_timestamp_seconds gauge\n"
		"opc_digest_last_success_timestamp_seconds 1700000000.25\n");
	free(text);
}

TEST(hostile_text_is_not_shown)
{
	size_t n = 0;

	metrics_add(m, METRIC_ACTIONS, 1, METRIC_LABELS(HOSTILE, "done", HOSTILE, "enforce"));
	char *text = metrics_text(m, &n);

	ck_assert(hostile_is_gone(text));
	ck_assert_ptr_nonnull(strstr(text, "duty=\"a?"));
	free(text);
}

TEST(series_are_bounded)
{
	char reason[32];
	size_t n = 0, lines = 0;

	for (unsigned i = 0; i < 3 * METRICS_SERIES_MAX; i++) {
		(void)snprintf(reason, sizeof(reason), "r%u", i);
		metrics_add(m, METRIC_REFUSALS, 1, METRIC_LABELS("x", reason));
	}
	char *text = metrics_text(m, &n);

	for (const char *p = text; (p = strchr(p, '\n')); p++)
		lines++;
	ck_assert_uint_eq(lines, METRICS_SERIES_MAX + 2);
	ck_assert_double_eq(metrics_get(m, METRIC_REFUSALS, METRIC_LABELS("other", "other")),
			    2 * METRICS_SERIES_MAX + 1);
	free(text);
}

TEST(stats_come_from_messages)
{
	struct stats f;
	struct str_list names;
	const struct msg w = { .type = MSG_WATCH_STATS,
			       .u.watch_stats = { .synced = true,
						  .pods = 50000,
						  .bytes = 9000000,
						  .last_event = 1700000000500 } };
	struct msg rec = { .type = MSG_RECORD, .u.record = { .id = 1, .outcome = OUTCOME_CONFLICT } };
	const struct history_entry fresh = { &rec, HISTORY_NEW, "prod", DUTY_TERMINATING, true };
	const struct history_entry again = { &rec, HISTORY_KNOWN, "prod", DUTY_TERMINATING, true };
	struct msg_child_stats c = {
		.role = "watcher", .cluster_name = "prod", .state = "ready", .rss_kb = 2, .restarts = 4
	};

	test_names(&names, "prod", NULL);
	stats_init(&f, &names);
	stats_use_settings(&f);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_WATCH_SYNCED, METRIC_LABELS("prod")), 0);
	stats_watch(&f, "prod", &w);
	stats_use_settings(&f); /* a reload does not forget */
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_WATCH_SYNCED, METRIC_LABELS("prod")), 1);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_CACHE_PODS, METRIC_LABELS("prod")), 50000);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_WATCH_LAST, METRIC_LABELS("prod")), 1700000000.5);
	stats_committed(&f, &fresh);
	stats_committed(&f, &again);
	ck_assert_double_eq(
		metrics_get(f.metrics, METRIC_ACTIONS,
			    METRIC_LABELS(duty_name(DUTY_TERMINATING), "conflict", "prod", "observe")),
		1);
	ck_assert(!stats_child(&f, &c));
	static const char *const sandboxes[] = { "nnp,no landlock,seccomp", "nnp,landlock7,seccomp" };

	for (int i = 0; i < 2; i++) {
		(void)snprintf(c.sandbox, sizeof(c.sandbox), "%s", sandboxes[i]);
		(void)stats_child(&f, &c);
		ck_assert_double_eq(
			metrics_get(f.metrics, METRIC_CHILD_SANDBOX, METRIC_LABELS("watcher", "0", "prod")),
			i);
	}
	(void)snprintf(c.state, sizeof(c.state), "backoff");
	ck_assert(stats_child(&f, &c));
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_CHILD_UP, METRIC_LABELS("watcher", "0", "prod")),
			    0);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_CHILD_RSS, METRIC_LABELS("watcher", "0", "prod")),
			    2048);
	str_list_done(&names);
	stats_done(&f);
}

/* A first action is an increase, too. */
TEST(actions_are_counted_from_zero)
{
	static const char wanted[] = "opc_actions_total{duty=\"deleteEvictedPod\",outcome=\"done\",cluster="
				     "\"prod\",mode=\"enforce\"} 0\n";
	struct str_list names;
	struct stats f;
	size_t size;

	test_names(&names, "prod", NULL);
	stats_init(&f, &names);
	stats_use_settings(&f);
	char *text = metrics_text(f.metrics, &size);

	ck_assert_msg(strstr(text, wanted) != NULL, "%s", text);
	free(text);
	str_list_done(&names);
	stats_done(&f);
}

TEST_MAIN("reporter/metrics")
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
}
