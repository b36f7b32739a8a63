/* test_metrics.c - text exposition, escaping, bounds; numbers from messages. */
// SPDX-License-Identifier: Apache-2.0
#include "model/duties.h"
#include "reporter/web/stats.h"
#include "tests/hostile.h"
#include "tests/suite.h"
#include "tests/unit/reporter/support.h"

static struct metrics *m;
static struct state *state;

/* What the metrics say once that was said. */
static void say(struct stats *f, const char *cluster, const struct msg *said)
{
	state_put(state, cluster, said);
	stats_read_state(f);
}

static void setup(void)
{
	m = metrics_new();
	state = state_new();
}

static void teardown(void)
{
	metrics_free(&m);
	state_free(&state);
}

TEST(text_is_the_documented_format)
{
	size_t n = 0;

	metrics_add(m, METRIC_ACTIONS, 1, METRIC_LABELS("deleteEvictedPod", "done", "prod", "enforce"));
	metrics_add(m, METRIC_ACTIONS, 2, METRIC_LABELS("deleteEvictedPod", "done", "prod", "enforce"));
	metrics_add(m, METRIC_ACTIONS, 1, METRIC_LABELS("errImagePull", "refused", "a\"b\\c\nd", "observe"));
	metrics_set(m, METRIC_DIGEST_SUCCESS, 1700000000.25, METRIC_NO_LABELS);
	char *text = metrics_text(m, METRICS_TEXT, &n);

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

/* OpenMetrics names a counter's family without _total, and has an end. */
TEST(open_metrics_is_the_documented_format)
{
	size_t n = 0;

	metrics_add(m, METRIC_COMMIT_FAILURES, 2, METRIC_NO_LABELS);
	metrics_set(m, METRIC_PAUSED, 1, METRIC_LABELS("deleteEvictedPod", "prod"));
	char *text = metrics_text(m, METRICS_OPENMETRICS, &n);

	ck_assert_uint_eq(n, strlen(text));
	ck_assert_str_eq(text,
			 "# HELP opc_paused 1 while an operator has paused this duty of this cluster.\n"
			 "# TYPE opc_paused gauge\n"
			 "opc_paused{duty=\"deleteEvictedPod\",cluster=\"prod\"} 1\n"
			 "# HELP opc_history_commit_failures Commits of the history that failed; nothing is "
			 "acknowledged before one succeeds.\n"
			 "# TYPE opc_history_commit_failures counter\n"
			 "opc_history_commit_failures_total 2\n"
			 "# EOF\n");
	free(text);
}

TEST(a_histogram_adds_up)
{
	size_t n = 0;

	metrics_observe(m, METRIC_COMMIT, timing_bucket(1000), 2, 1500, METRIC_NO_LABELS);
	metrics_observe(m, METRIC_COMMIT, timing_bucket(1001), 1, 1001, METRIC_NO_LABELS);
	metrics_observe(m, METRIC_COMMIT, timing_bucket(3000000), 1, 3000000, METRIC_NO_LABELS);
	metrics_observe(m, METRIC_COMMIT, timing_bucket(61000000), 1, 61000000, METRIC_NO_LABELS);
	char *text = metrics_text(m, METRICS_TEXT, &n);

	ck_assert_ptr_nonnull(strstr(text, "# TYPE opc_intent_commit_seconds histogram\n"
					   "opc_intent_commit_seconds_bucket{le=\"0.001\"} 2\n"
					   "opc_intent_commit_seconds_bucket{le=\"0.0025\"} 3\n"));
	ck_assert_ptr_nonnull(strstr(text, "_bucket{le=\"1.0\"} 3\n"
					   "opc_intent_commit_seconds_bucket{le=\"2.5\"} 3\n"
					   "opc_intent_commit_seconds_bucket{le=\"5.0\"} 4\n"));
	ck_assert_ptr_nonnull(strstr(text, "_bucket{le=\"60.0\"} 4\n"
					   "opc_intent_commit_seconds_bucket{le=\"+Inf\"} 5\n"
					   "opc_intent_commit_seconds_sum 64.0025"));
	ck_assert_ptr_nonnull(strstr(text, "opc_intent_commit_seconds_count 5\n"));
	free(text);
}

/* Whatever is given: every series has the labels of its family. */
TEST(labels_are_those_of_the_family)
{
	size_t n = 0;

	for (int i = 0; i < 2; i++) {
		metrics_observe(m, METRIC_COMMIT, 0, 1, 1, METRIC_LABELS("prod"));
		metrics_set(m, METRIC_PAUSED, 1, METRIC_LABELS("deleteEvictedPod"));
		metrics_add(m, METRIC_COMMIT_FAILURES, 1, METRIC_LABELS("prod"));
	}
	metrics_forget(m, METRIC_MODE, METRIC_LABELS("prod"));
	char *text = metrics_text(m, METRICS_TEXT, &n);

	ck_assert_ptr_nonnull(strstr(text, "opc_intent_commit_seconds_count 2\n"));
	ck_assert_ptr_nonnull(strstr(text, "opc_paused{duty=\"deleteEvictedPod\",cluster=\"\"} 1\n"));
	ck_assert_ptr_nonnull(strstr(text, "opc_history_commit_failures_total 2\n"));
	free(text);
}

/* A message names a cluster. */
TEST(timings_of_messages_are_by_cluster)
{
	for (enum timing t = 0; t < TIMING_COMMIT; t++)
		ck_assert_uint_eq(metric_labels(metric_of_timing(t)), 1);
}

static const struct {
	const char *accept;
	enum metrics_format format;
} accepts[] = {
	{ NULL, METRICS_TEXT },
	{ "", METRICS_TEXT },
	{ "*/*", METRICS_TEXT },
	{ "text/plain", METRICS_TEXT },
	{ "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", METRICS_TEXT },
	{ "application/openmetrics-text", METRICS_OPENMETRICS },
	{ " application/openmetrics-text ; version=\"1.0.0\" , text/plain", METRICS_OPENMETRICS },
	/* Prometheus 2.42 and 3.0 */
	{ "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
	  "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
	  METRICS_OPENMETRICS },
	{ "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q="
	  "0.6,*/*;q=0.2",
	  METRICS_TEXT },
	{ "application/openmetrics-text;version=2.0.0,*/*;q=0.1", METRICS_TEXT },
	{ "application/openmetrics-text;q=0", METRICS_TEXT },
	{ "application/openmetrics-text;q=0.4,text/*;q=0.45", METRICS_TEXT },
	{ "application/openmetrics-text;q=0.4,text/plain;q=0.1,*/*", METRICS_OPENMETRICS },
	{ "application/openmetrics-text;q=nonsense", METRICS_TEXT },
	{ ";;,,=;q", METRICS_TEXT },
};

TEST_LOOP(the_format_is_what_is_asked_for, 0, (int)(sizeof(accepts) / sizeof(accepts[0])))
{
	ck_assert_int_eq(metrics_format(accepts[_i].accept), accepts[_i].format);
}

/* OpenMetrics leaves _total away. */
TEST(counters_are_named_so)
{
	static const struct {
		const char *name, *type;
	} rows[] = {
#define M(ID, name, type, ...) { name, type },
#define H(ID, name, ...)       { name, "histogram" },
#include "reporter/web/metrics.def"
#undef M
#undef H
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const size_t n = strlen(rows[i].name);

		ck_assert_msg((strcmp(rows[i].type, "counter") == 0) ==
				      (n > 6 && strcmp(rows[i].name + n - 6, "_total") == 0),
			      "%s", rows[i].name);
	}
}

TEST(hostile_text_is_not_shown)
{
	size_t n = 0;

	metrics_add(m, METRIC_ACTIONS, 1, METRIC_LABELS(HOSTILE, "done", HOSTILE, "enforce"));
	char *text = metrics_text(m, METRICS_TEXT, &n);

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
		metrics_add(m, METRIC_REFUSALS, 1, METRIC_LABELS("prod", "x", reason));
	}
	char *text = metrics_text(m, METRICS_TEXT, &n);

	for (const char *p = text; (p = strchr(p, '\n')); p++)
		lines++;
	ck_assert_uint_eq(lines, METRICS_SERIES_MAX + 2);
	ck_assert_double_eq(metrics_get(m, METRIC_REFUSALS, METRIC_LABELS("other", "other", "other")),
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
	struct msg child = { .type = MSG_CHILD_STATS,
			     .u.child_stats = { .role = "watcher",
						.cluster_name = "prod",
						.state = "ready",
						.rss_kb = 2,
						.restarts = 4 } };
	struct msg_child_stats *c = &child.u.child_stats;

	test_names(&names, "prod", NULL);
	stats_init(&f, state, &names);
	stats_use_settings(&f, false);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_WATCH_SYNCED, METRIC_LABELS("prod")), 0);
	say(&f, "prod", &w);
	stats_use_settings(&f, false); /* a reload does not forget */
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_WATCH_SYNCED, METRIC_LABELS("prod")), 1);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_CACHE_PODS, METRIC_LABELS("prod")), 50000);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_WATCH_LAST, METRIC_LABELS("prod")), 1700000000.5);
	stats_committed(&f, &fresh);
	stats_committed(&f, &again);
	ck_assert_double_eq(
		metrics_get(f.metrics, METRIC_ACTIONS,
			    METRIC_LABELS(duty_name(DUTY_TERMINATING), "conflict", "prod", "observe")),
		1);
	say(&f, "prod", &child);
	static const char *const sandboxes[] = { "nnp,no landlock,seccomp", "nnp,landlock7,seccomp" };

	for (int i = 0; i < 2; i++) {
		(void)snprintf(c->sandbox, sizeof(c->sandbox), "%s", sandboxes[i]);
		say(&f, "prod", &child);
		ck_assert_double_eq(
			metrics_get(f.metrics, METRIC_CHILD_SANDBOX, METRIC_LABELS("watcher", "0", "prod")),
			i);
	}
	ck_assert_double_eq(
		metrics_get(f.metrics, METRIC_SANDBOX, METRIC_LABELS("watcher", "0", "prod", "landlock")), 1);
	(void)snprintf(c->state, sizeof(c->state), "backoff");
	say(&f, "prod", &child);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_WATCH_SYNCED, METRIC_LABELS("prod")), 0);
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
	stats_init(&f, state, &names);
	stats_use_settings(&f, false);
	char *text = metrics_text(f.metrics, METRICS_TEXT, &size);

	ck_assert_msg(strstr(text, wanted) != NULL, "%s", text);
	free(text);
	str_list_done(&names);
	stats_done(&f);
}

TEST(what_is_in_force_is_told)
{
	const struct msg refused = { .type = MSG_TROUBLE_ROW,
				     .u.trouble_row = { .trouble = TROUBLE_SETTINGS, .n = 1 } };
	const struct msg over = { .type = MSG_TROUBLE_ROW, .u.trouble_row = { .trouble = TROUBLE_SETTINGS } };
	const struct msg other = { .type = MSG_TROUBLE_ROW,
				   .u.trouble_row = { .trouble = TROUBLE_SINK, .n = 1 } };
	struct msg rec = { .type = MSG_RECORD,
			   .u.record = { .id = 1, .outcome = OUTCOME_REFUSED, .reason = "Evicted" } };
	const struct history_entry e = { &rec, HISTORY_NEW, "prod", DUTY_EVICTED, false };
	const struct msg c = { .type = MSG_CHILD_STATS,
			       .u.child_stats = { .role = "worker",
						  .state = "ready",
						  .cluster_name = "prod",
						  .sandbox = "nnp,no landlock-tcp,landlock7,no seccomp" } };
	static const struct {
		const char *feature;
		double holds;
	} features[] = { { "nnp", 1 }, { "landlock-tcp", 0 }, { "landlock", 1 }, { "seccomp", 0 } };
	struct str_list names;
	struct stats f;

	test_names(&names, "prod", NULL);
	stats_init(&f, state, &names);
	stats_use_settings(&f, true);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_MODE, METRIC_LABELS("observe")), 1);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_MODE, METRIC_LABELS("enforce")), 0);
	say(&f, "", &other);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_CONFIG_OK, METRIC_NO_LABELS), 1);
	say(&f, "", &refused);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_CONFIG_OK, METRIC_NO_LABELS), 0);
	say(&f, "", &over);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_CONFIG_OK, METRIC_NO_LABELS), 1);
	stats_committed(&f, &e);
	(void)snprintf(rec.u.record.reason, sizeof(rec.u.record.reason), "NoReasonOfOurs");
	stats_committed(&f, &e);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_ACTION_REASONS,
					METRIC_LABELS("prod", "deleteEvictedPod", "?", "enforce")),
			    1);
	say(&f, "prod", &c);
	for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++)
		ck_assert_double_eq(metrics_get(f.metrics, METRIC_SANDBOX,
						METRIC_LABELS("worker", "0", "prod", features[i].feature)),
				    features[i].holds);
	str_list_done(&names);
	stats_done(&f);
}

/* What is over is absent, and what a watcher said goes with it. */
TEST(what_is_due_comes_and_goes)
{
	const struct msg down = { .type = MSG_CHILD_STATS,
				  .u.child_stats = { .role = "watcher", .state = "backoff" } };
	const struct msg leads = { .type = MSG_WATCH_STATS, .u.watch_stats = { .leading = true } };
	struct msg due = { .type = MSG_DUE_ROW,
			   .u.due_row = { .duty = DUTY_EVICTED,
					  .state = DUE_BLOCKED,
					  .reason = "Paused",
					  .n = 4,
					  .oldest = 1700000000000 } };
	const struct msg_requests asked = { .verb = API_LIST, .code = 200, .n = 3 },
				  lost = { .verb = API_LIST, .n = 1 };
	const struct msg_timing took = { .timing = TIMING_READ, .bucket = 2, .n = 2, .sum_us = 8000 };
	const struct metric_labels *l = METRIC_LABELS("prod", "deleteEvictedPod", "blocked", "Paused");
	struct str_list names;
	struct stats f;
	size_t n;

	test_names(&names, "prod", NULL);
	stats_init(&f, state, &names);
	say(&f, "prod", &due);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_DUE, l), 4);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_DUE_OLDEST, l), 1700000000);
	due.u.due_row.n = 0;
	say(&f, "east", &due);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_DUE, l), 4);
	say(&f, "prod", &due);
	char *text = metrics_text(f.metrics, METRICS_TEXT, &n);

	ck_assert_ptr_null(strstr(text, "opc_due"));
	free(text);
	due.u.due_row.n = 1;
	say(&f, "prod", &due);
	say(&f, "east", &due);
	say(&f, "prod", &leads);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_LEADER, METRIC_LABELS("prod")), 1);
	say(&f, "prod", &down);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_LEADER, METRIC_LABELS("prod")), 0);
	stats_requests(&f, "prod", &asked);
	stats_requests(&f, "prod", &asked);
	stats_requests(&f, "prod", &lost);
	stats_timings(&f, "prod", &took);
	text = metrics_text(f.metrics, METRICS_TEXT, &n);
	ck_assert_ptr_null(strstr(text, "opc_due{cluster=\"prod\""));
	ck_assert_ptr_nonnull(strstr(text, "opc_due{cluster=\"east\""));
	ck_assert_ptr_nonnull(
		strstr(text, "opc_api_requests_total{cluster=\"prod\",verb=\"list\",code=\"200\"} 6\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "opc_api_requests_total{cluster=\"prod\",verb=\"list\",code=\"none\"} 1\n"));
	ck_assert_ptr_nonnull(strstr(text, "opc_api_read_seconds_bucket{cluster=\"prod\",le=\"0.005\"} 2\n"));
	ck_assert_ptr_nonnull(strstr(text, "opc_api_read_seconds_sum{cluster=\"prod\"} 0.008"));
	free(text);
	str_list_done(&names);
	stats_done(&f);
}

/* A watcher that was taken over fills no memory. */
TEST(reasons_that_nobody_knows_are_one)
{
	struct msg due = { .type = MSG_DUE_ROW, .u.due_row = { .duty = DUTY_EVICTED, .n = 1 } };
	size_t n = 0;

	for (int i = 0; i < 100; i++) {
		(void)snprintf(due.u.due_row.reason, sizeof(due.u.due_row.reason), "Invented%d", i);
		state_put(state, "prod", &due);
	}
	while (state_at(state, MSG_DUE_ROW, n))
		n++;
	ck_assert_uint_eq(n, 1);
}

/* A sink that has nothing to send has no oldest message, and one that is gone nothing at all. */
TEST(sinks_come_and_go)
{
	struct str_list names;
	struct stats f;
	size_t n;

	test_names(&names, "prod", NULL);
	stats_init(&f, state, &names);
	stats_outbox(&f, "chat", 3, 1700000000500);
	stats_outbox(&f, "mail", 1, 1700000000500);
	stats_sink_message(&f, "chat", "sent");
	stats_sink_message(&f, "chat", "sent");
	char *text = metrics_text(f.metrics, METRICS_TEXT, &n);

	ck_assert_ptr_nonnull(strstr(text, "opc_outbox_pending{sink=\"chat\"} 3\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "opc_outbox_oldest_timestamp_seconds{sink=\"chat\"} 1700000000.5\n"));
	ck_assert_ptr_nonnull(strstr(text, "opc_sink_messages_total{sink=\"chat\",outcome=\"sent\"} 2\n"));
	free(text);
	stats_outbox(&f, "chat", 0, 0);
	stats_sink_gone(&f, "mail");
	text = metrics_text(f.metrics, METRICS_TEXT, &n);
	ck_assert_ptr_nonnull(strstr(text, "opc_outbox_pending{sink=\"chat\"} 0\n"));
	ck_assert_ptr_null(strstr(text, "opc_outbox_oldest"));
	ck_assert_ptr_null(strstr(text, "mail"));
	free(text);
	str_list_done(&names);
	stats_done(&f);
}

TEST_MAIN("reporter/metrics")
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
}
