/* test_report.c - the report: what is new, worse, still, recovered; how much of it a sink is shown, in which
 * language; what rows have in common. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/suite.h"
#include "tests/unit/reporter/support.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/zone_file.h"
#include "model/duties.h"
#include "reporter/report/patterns.h"
#include "reporter/report/compose.h"

#define NEW       "New: not in the last report"
#define WORSE     "Worse: more restarts an hour than in the last report"
#define ONGOING   "Ongoing: about as many restarts an hour as in the last report, or fewer"
#define RECOVERED "Recovered: no restart in this time"

#define HOUR INT64_C(3600000)
#define T0   INT64_C(1699866000000) /* Monday 2023-11-13 09:00:00 UTC */

static struct {
	struct digest digest;
	struct str_list clusters;
	struct reported past[8];
	struct report_input in;
	struct sink_settings sink;
	struct document document;
	char *text;
} w;

static bool answered[CLUSTERS_MAX];

static void setup(void)
{
	memset(&w, 0, sizeof(w));
	answered[0] = answered[1] = true;
	test_names(&w.clusters, "prod", NULL);
	w.in = (struct report_input){ .digest = &w.digest,
				      .clusters = &w.clusters,
				      .answered = answered,
				      .past = w.past,
				      .from_ms = T0 - 10 * HOUR,
				      .at_ms = T0,
				      .title = "Pods that restart too often" };
	w.sink = (struct sink_settings){ .news = 1u << NEWS_REPORT, .top = 20 };
}

static void teardown(void)
{
	digest_done(&w.digest);
	str_list_done(&w.clusters);
	document_done(&w.document);
	free(w.text);
}

/* A pod of that workload with so many restarts in the window. */
static struct msg_digest_row *pod(const char *ns, const char *workload, const char *name, int64_t delta)
{
	struct msg m = test_row(0, 1, ns, workload, name, (uint64_t)(delta + 100));

	m.u.digest_row.created = T0 - 240 * HOUR;
	test_set(&m, digest_row.node, "node-1");
	digest_add(&w.digest, &m.u.digest_row);
	w.digest.pods[w.digest.n_pods - 1].delta = delta;
	return &w.digest.pods[w.digest.n_pods - 1].row;
}

static char *texts[8][4];

static void past(const char *ns, const char *workload, uint64_t restarts)
{
	char **t = texts[w.in.n_past];

	t[0] = strdup("prod");
	t[1] = strdup(ns);
	t[2] = strdup("Deployment");
	t[3] = strdup(workload);
	w.past[w.in.n_past++] = (struct reported){ t[0], t[1], t[2], t[3], restarts, 10 * HOUR };
}

/* look: of the worst row; NULL = none. */
static bool compose_with(const struct msg_inspected *inspection, int64_t lost)
{
	struct report r;

	digest_group(&w.digest);
	report_build(&w.in, &r);
	if (inspection)
		r.rows[0].inspection = inspection;
	document_done(&w.document);
	free(w.text);
	const bool ret = report_compose(&r, &w.in, &w.sink, lost, &w.document);

	w.text = ret ? document_to_text(&w.document) : strdup("");
	report_done(&r);
	return ret;
}

static bool compose(void)
{
	return compose_with(NULL, 0);
}

static bool says(const char *what)
{
	return strstr(w.text, what) != NULL;
}

static const struct section *section(const char *title)
{
	for (size_t i = 0; i < w.document.n_sections; i++)
		if (strcmp(w.document.sections[i].title, title) == 0)
			return &w.document.sections[i];
	return NULL;
}

TEST(new_worse_still_and_recovered)
{
	past("shop", "gone", 40);
	past("shop", "quiet", 30);
	past("shop", "still", 10);
	past("shop", "worse", 10);
	pod("shop", "new", "new-1", 5);
	pod("shop", "worse", "worse-1", 13);
	pod("shop", "still", "still-1", 12);
	pod("shop", "quiet", "quiet-1", 0);
	ck_assert(compose());
	ck_assert_uint_eq(section(NEW)->n, 1);
	ck_assert(says("- shop/new (Deployment): restarted 5× (0.5/h), RESTARTS 105"));
	ck_assert_uint_eq(section(WORSE)->n, 1);
	ck_assert(says("- shop/worse (Deployment): restarted 13× (1.3/h), RESTARTS 113"));
	ck_assert_uint_eq(section(ONGOING)->n, 1);
	ck_assert(says("- shop/still (Deployment): restarted 12×"));
	/* +0 is no row, and says that it has recovered; what was worst comes first. */
	ck_assert_uint_eq(section(RECOVERED)->n, 2);
	ck_assert_str_eq(section(RECOVERED)->entries[0].title,
			 "shop/gone (Deployment): restarted 40× in the last report");
	ck_assert_str_eq(section(RECOVERED)->entries[1].title,
			 "shop/quiet (Deployment): restarted 30× in the last report");
	ck_assert(section(RECOVERED)->entries[0].is_over);
	ck_assert(says("\n\nRESTARTS: as kubectl counts, "));
	ck_assert(says("From 2023-11-12 23:00 to 2023-11-13 09:00 (UTC), cluster prod\n"
		       "Restarts: 30. Workloads: 3, Pods: 3.\n"));
	ck_assert_int_eq(w.document.tone, TONE_WARNING);
}

/* Whatever is worst, wherever it is: the order of the numbers that are seen. */
TEST(rows_are_sorted_by_their_restarts)
{
	static const int64_t restarts[] = { 3, 40, 7, 12, 1 };
	char name[16];
	int64_t last = INT64_MAX;

	for (size_t i = 0; i < ARRAY_SIZE(restarts); i++) {
		(void)snprintf(name, sizeof(name), "w%zu", i);
		pod("shop", name, name, restarts[i]);
		past("old", name, (uint64_t)restarts[i]);
	}
	ck_assert(compose());
	ck_assert_uint_eq(section(NEW)->n, ARRAY_SIZE(restarts));
	for (size_t i = 0; i < section(NEW)->n; i++) {
		const int64_t n = strtoll(entry_fact(&section(NEW)->entries[i], "restarts"), NULL, 10);

		ck_assert_int_le(n, last);
		last = n;
	}
	ck_assert_str_eq(section(RECOVERED)->entries[0].title,
			 "old/w1 (Deployment): restarted 40× in the last report");
	w.past[1].window_ms = 0;
	ck_assert(compose());
	ck_assert_str_eq(section(RECOVERED)->entries[0].title,
			 "old/w1 (Deployment): RESTARTS 40 in the last report");
}

/* The head says the time by the clock of the readers, also when that was changed in between. */
TEST(the_head_names_the_window_the_zone_and_the_clusters)
{
	static const struct {
		const char *zone;
		int64_t from_ms, at_ms;
		const char *head;
	} heads[] = {
		{ "Asia/Shanghai", T0 - 10 * HOUR, T0,
		  "From 2023-11-13 07:00 to 2023-11-13 17:00 (UTC+8), cluster prod\n" },
		{ "Asia/Kolkata", T0 - 10 * HOUR, T0,
		  "From 2023-11-13 04:30 to 2023-11-13 14:30 (UTC+5:30), cluster prod\n" },
		{ "America/St_Johns", T0 - 10 * HOUR, T0,
		  "From 2023-11-12 19:30 to 2023-11-13 05:30 (UTC-3:30), cluster prod\n" },
		{ "America/New_York", T0 - 240 * HOUR, T0,
		  "From 2023-11-03 05:00 UTC-4 to 2023-11-13 04:00 (UTC-5), cluster prod\n" },
	};

	pod("shop", "web", "web-1", 3);
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		struct zone *zone = NULL;
		void *bytes = NULL;
		size_t n = 0;

		ck_assert_int_eq(zone_load(heads[i].zone, &bytes, &n), 0);
		ck_assert_int_eq(zone_parse(bytes, n, &zone), 0);
		w.in.zone = zone;
		w.in.from_ms = heads[i].from_ms;
		ck_assert(compose());
		ck_assert_msg(says(heads[i].head), "%s", w.text);
		zone_free(&zone);
		free(bytes);
	}
	w.in.zone = NULL;
	w.in.cluster_title = "kind-lab"; /* the only one is called as its context is */
	ck_assert(compose());
	ck_assert(says("(UTC), cluster kind-lab\n"));
}

TEST(a_sink_is_told_of_its_clusters)
{
	struct attention_group groups[] = { { .cluster = (char *)"prod",
					      .reason = (char *)"BudgetSpent",
					      .names = (char *)"",
					      .duty = DUTY_EVICTED,
					      .first_at = T0 },
					    { .cluster = (char *)"c1",
					      .reason = (char *)"BudgetSpent",
					      .names = (char *)"",
					      .duty = DUTY_EVICTED,
					      .first_at = T0 } };
	const struct attention attention = { groups, 2 };
	char name[8];

	for (int i = 1; i <= 9; i++) {
		(void)snprintf(name, sizeof(name), "c%d", i);
		str_list_add(&w.clusters, name, 2);
		answered[i] = i != 1;
	}
	w.in.attention = &attention;
	pod("shop", "web", "web-1", 3);
	ck_assert(compose());
	ck_assert(says("(UTC), cluster prod, c1, c2, c3, c4, c5, c6, c7, and 2 more\n"));
	ck_assert(says("Not complete: no full answer from c1.\n"));
	str_list_add(&w.sink.clusters, "prod", 4);
	ck_assert(compose());
	ck_assert(says("(UTC), cluster prod\n") && !says("Not complete"));
	ck_assert(says("[prod] deleteEvictedPod") && !says("c1"));
	str_list_done(&w.sink.clusters);
	str_list_add(&w.sink.clusters, "c9", 2);
	ck_assert(!compose());
	str_list_done(&w.sink.clusters);
}

TEST(only_who_answered_can_say_that_something_recovered)
{
	past("shop", "gone", 40);
	answered[0] = false;
	ck_assert(!compose());
	answered[0] = true;
	ck_assert(compose());
	ck_assert_int_eq(w.document.tone, TONE_GOOD);
	ck_assert(says("No pod restarts too often now."));
}

/* A kubelet waits up to five minutes between two tries. */
TEST(between_two_crashes_nothing_has_recovered)
{
	past("shop", "loops", 40);
	pod("shop", "loops", "loops-1", 0);
	w.in.from_ms = T0 - 60000;
	ck_assert(!compose());
	w.in.from_ms = T0 - HOUR;
	ck_assert(compose());
	ck_assert_uint_eq(section(RECOVERED)->n, 1);
}

TEST(nothing_is_no_message)
{
	pod("shop", "quiet", "quiet-1", 0);
	ck_assert(!compose());
	ck_assert_ptr_null(w.document.title);
}

TEST(what_nobody_counted_shows_all_its_restarts)
{
	pod("shop", "old", "old-1", DELTA_UNKNOWN);
	w.in.is_first = true;
	ck_assert(compose());
	ck_assert(says("Workloads: 1, Pods: 1. Restarts are counted from now on.\n"));
	ck_assert(says("Restarting\n- shop/old (Deployment): RESTARTS 99 since its pods were created"));
}

TEST(the_worst_are_shown_and_the_rest_is_counted)
{
	char name[16];

	past("shop", "w07", 1000);
	for (int i = 1; i <= 9; i++) {
		(void)snprintf(name, sizeof(name), "w%02d", i);
		pod("shop", name, name, i);
	}
	w.sink.top = 3;
	ck_assert(compose());
	ck_assert_uint_eq(section(NEW)->n, 2);
	ck_assert_str_eq(entry_fact(&section(NEW)->entries[0], "workload"), "w09");
	ck_assert_uint_eq(section(NEW)->more, 6);
	ck_assert_uint_eq(section(ONGOING)->n, 1);
	ck_assert_uint_eq(section(ONGOING)->more, 0);
	ck_assert(says("Workloads: 9"));
}

TEST(a_sink_is_told_of_its_namespaces)
{
	struct str_list namespaces = { 0 };

	past("pay", "gone", 9);
	past("shop", "gone", 9);
	pod("shop", "web", "web-1", 5);
	pod("pay", "api", "api-1", 7);
	str_list_add(&namespaces, "pa*", 3);
	w.sink.namespaces = namespaces;
	ck_assert(compose());
	ck_assert(says("pay/api") && says("pay/gone") && !says("shop/"));
	ck_assert(says("Restarts: 7. Workloads: 1, Pods: 1."));
	str_list_done(&namespaces);
}

static struct msg_inspected inspected(void)
{
	struct msg m = { .type = MSG_INSPECTED };

	m.u.inspected.found = true;
	m.u.inspected.exit_code = 137;
	m.u.inspected.signal = 9;
	m.u.inspected.rolled_at = T0 - 2 * HOUR;
	test_set(&m, inspected.kind, "Rollout");
	test_set(&m, inspected.workload, "front");
	test_set(&m, inspected.reason, "OOMKilled");
	test_set(&m, inspected.memory, "256Mi");
	test_set(&m, inspected.image, "registry.example/front:2");
	test_set(&m, inspected.message, "allocating 300 MB");
	test_set(&m, inspected.contact, "ou_42");
	return m.u.inspected;
}

TEST(a_look_says_what_the_cache_does_not)
{
	const struct msg_inspected k = inspected();

	pod("shop", "front-abc", "front-1", 9);
	pod("shop", "front-abc", "front-2", 1);
	ck_assert(compose_with(&k, 2));
	ck_assert(says("- shop/front (Rollout): restarted 10× (1.0/h), RESTARTS 210\n"
		       "  app: OOMKilled, memory limit 256Mi, exit code 137 (SIGKILL)\n"
		       "  Pods: 2, on node node-1, created since 2023-11-03 09:00\n"
		       "  image registry.example/front:2, rolled out 2023-11-13 07:00\n"
		       "  last words: allocating 300 MB\n"));
	ck_assert(says("Earlier reports not delivered, or not confirmed: 2."));
	const struct entry *e = &section(NEW)->entries[0];

	ck_assert_uint_eq(e->mentions.n, 1);
	ck_assert_str_eq(e->mentions.v[0], "ou_42");
	ck_assert_str_eq(entry_fact(e, "memoryLimit"), "256Mi");
	ck_assert_str_eq(entry_fact(e, "restarts"), "10");
	ck_assert_str_eq(entry_fact(e, "restartsTotal"), "210");
}

TEST(a_replicaset_that_nobody_looked_at_has_no_kind)
{
	struct msg_digest_row *r = pod("shop", "web", "web-1", 3);

	(void)snprintf(r->kind, sizeof(r->kind), "ReplicaSet");
	(void)snprintf(r->node, sizeof(r->node), "node-2");
	pod("shop", "db", "db-1", 2);
	ck_assert(compose());
	ck_assert(says("- shop/web: restarted 3×") && says("- shop/db (Deployment): restarted 2×"));
	ck_assert(says("on node node-2"));
}

TEST(pods_on_many_nodes)
{
	char name[16], node[16];

	for (int i = 0; i < 7; i++) {
		(void)snprintf(name, sizeof(name), "web-%d", i);
		(void)snprintf(node, sizeof(node), "node-%d", i);
		struct msg_digest_row *r = pod("shop", "web", name, 3);

		(void)snprintf(r->node, sizeof(r->node), "%s", node);
	}
	ck_assert(compose());
	ck_assert(says("Pods: 7, on 7 nodes, created since 2023-11-03 09:00"));
}

TEST(it_speaks_chinese)
{
	const struct msg_inspected k = inspected();

	pod("shop", "front-abc", "front-1", 9);
	w.sink.language = LANGUAGE_ZH;
	str_list_add(&w.clusters, "staging", 7);
	answered[1] = false;
	w.in.late = true;
	ck_assert(compose_with(&k, 0));
	ck_assert_str_eq(w.document.title, "频繁重启的 Pod");
	ck_assert(says("2023-11-12 23:00 至 2023-11-13 09:00（UTC），集群：prod, staging\n"
		       "重启 9 次，涉及工作负载 1 个、Pod 1 个。\n"));
	ck_assert(says("新增：上次报告中没有\n"
		       "- [prod] shop/front（Rollout）：重启 9 次（0.9 次/小时），RESTARTS 109\n"
		       "  app：OOMKilled，内存限制 256Mi，退出码 137（SIGKILL）\n"));
	ck_assert(says("内容不完整：staging 未给出完整数据。") && says("延迟发送"));
	w.in.title = "重启日报";
	ck_assert(compose());
	ck_assert_str_eq(w.document.title, "重启日报");
}

TEST(several_clusters_are_named)
{
	str_list_add(&w.clusters, "staging", 7);
	pod("shop", "web", "web-1", 3)->cluster = 1;
	ck_assert(compose());
	ck_assert(says("- [staging] shop/web (Deployment): restarted 3×"));
}

TEST(ten_thousand_rows_are_one_message)
{
	char name[32];

	for (int i = 0; i < 10000; i++) {
		(void)snprintf(name, sizeof(name), "web-%d", i % 9000);
		pod("shop", name, name, 1 + i % 50);
	}
	ck_assert(compose());
	ck_assert_uint_eq(section(NEW)->n, 20);
	ck_assert_uint_eq(section(NEW)->more, 8980);
	ck_assert_uint_lt(strlen(w.text), 8192);
}

TEST(lines_fit_a_terminal)
{
	const struct msg_inspected k = inspected();

	pod("shop", "front-abc", "front-1", 9);
	ck_assert(compose_with(&k, 0));
	for (const char *line = w.text; *line; line += strcspn(line, "\n") + 1)
		ck_assert_msg(strcspn(line, "\n") <= 80, "%s", line);
}

/* -- hints -- */

static const struct {
	struct hint_row rows[8];
	size_t n;
	const char *hint[3];
} cases[] = {
	{ { { "a", "x", "Error", 0, 9 }, { "a", "y", "Error", 0, 9 }, { "a", "", "", 0, 9 } },
	  3,
	  { "3 of 3 workloads are on node a: w0, w1, w2. Look at the node first" } },
	{ { { "a", "", "", 0, 9 }, { "a", "", "", 0, 9 } }, 2, { NULL } },
	{ { { "a", "", "", 0, 9 }, { "a", "", "", 0, 9 }, { "b", "", "", 0, 9 }, { "a", "", "", 0, 9 } },
	  4,
	  { NULL } },
	{ { { "a", "", "", 0, 9 },
	    { "a", "", "", 0, 9 },
	    { "b", "", "", 0, 9 },
	    { "a", "", "", 0, 9 },
	    { "a", "", "", 0, 9 } },
	  5,
	  { "4 of 5 workloads are on node a: w0, w1, w3, w4. Look at the node first" } },
	{ { { "a", "", "OOMKilled", 0, 9 }, { "b", "", "OOMKilled", 0, 9 }, { "c", "", "OOMKilled", 0, 9 } },
	  3,
	  { "3 of 3 workloads were killed for memory: w0, w1, w2. Raise limits.memory, or look for a "
	    "leak" } },
	{ { { "a", "i", "", 5, 9 }, { "b", "i", "", 0, 9 }, { "c", "i", "", 7, 9 }, { "d", "", "", 0, 9 } },
	  4,
	  { "3 of 3 workloads run image i, the newest since 1970-01-01 00:00: w0, w1, w2" } },
	{ { { "a", "i", "", 9, 9 }, { "b", "j", "", 10, 9 }, { "c", "k", "", 11, 9 } },
	  3,
	  { "3 of 3 workloads were rolled out in this time: w0, w1, w2. Look at what changed, or roll "
	    "back" } },
	{ { { "a", "i", "", 8, 9 }, { "b", "j", "", 10, 9 }, { "c", "k", "", 11, 9 } }, 3, { NULL } },
	{ { { "a", "", "", 0, 9, "prod" }, { "a", "", "", 0, 9, "prod" }, { "a", "", "", 0, 9, "staging" } },
	  3,
	  { NULL } },
	{ { { "a", "", "", 0, 9 },
	    { "a", "", "", 0, 9 },
	    { "a", "", "", 0, 9 },
	    { "a", "", "", 0, 9 },
	    { "a", "", "", 0, 9 },
	    { "b", "", "", 0, 9 },
	    { "a", "", "", 0, 9 },
	    { "a", "", "", 0, 9 } },
	  8,
	  { "7 of 8 workloads are on node a: w0, w1, w2, w3, w4, and 2 more. Look at the node first" } },
	{ { { "" } }, 0, { NULL } },
};

TEST_LOOP(each_pattern_is_known, 0, sizeof(cases) / sizeof(*cases))
{
	char *hints[HINTS_MAX], names[8][4];
	struct hint_row rows[8];

	memcpy(rows, cases[_i].rows, sizeof(rows));
	for (size_t i = 0; i < cases[_i].n; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "w%u", (unsigned)i);
		rows[i].name = names[i];
		rows[i].cluster = rows[i].cluster ? rows[i].cluster : "prod";
	}
	const size_t n = hints_of(rows, cases[_i].n, LANGUAGE_EN, NULL, hints);
	size_t want = 0;

	while (cases[_i].hint[want])
		want++;
	for (size_t i = 0; i < n; i++) {
		ck_assert_msg(i < want, "%s", hints[i]);
		ck_assert_str_eq(hints[i], cases[_i].hint[i]);
		free(hints[i]);
	}
	ck_assert_uint_eq(n, want);
}

TEST(hints_stand_first)
{
	pod("shop", "a", "a-1", 3);
	pod("shop", "b", "b-1", 3);
	pod("shop", "c", "c-1", 3);
	ck_assert(compose());
	ck_assert_str_eq(w.document.sections[0].title, "In common");
	ck_assert_str_eq(
		w.document.sections[0].entries[0].title,
		"3 of 3 workloads are on node node-1: shop/a, shop/b, shop/c. Look at the node first");
}

TEST_MAIN("reporter/report")
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 20);
}
