/* test_digest.c - grouping, order and text of a digest. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/digest/digest.h"
#include "tests/suite.h"
#include "tests/unit/reporter/support.h"

static struct digest d;
static struct str_list one, two;

static void setup(void)
{
	test_names(&one, "prod", NULL);
	test_names(&two, "prod", "staging");
}

static void teardown(void)
{
	digest_done(&d);
	str_list_done(&one);
	str_list_done(&two);
}

static void add(uint64_t cluster, const char *ns, const char *workload, const char *pod, uint64_t restarts)
{
	const struct msg m = test_row(cluster, 1, ns, workload, pod, restarts);

	digest_add(&d, &m.u.digest_row);
}

static void set_delta(const char *pod, int64_t delta)
{
	for (size_t i = 0; i < d.n_pods; i++)
		if (strcmp(d.pods[i].row.pod, pod) == 0)
			d.pods[i].delta = delta;
}

TEST(groups_by_workload_worst_first)
{
	add(0, "shop", "web", "web-1", 7);
	add(0, "shop", "api", "api-1", 90);
	add(0, "shop", "web", "web-2", 30);
	add(1, "shop", "web", "web-1", 200);
	digest_finish(&d);
	digest_group(&d);
	ck_assert_uint_eq(d.n_workloads, 3);
	ck_assert_uint_eq(d.workloads[0].pods[0].row.cluster, 1);
	ck_assert_str_eq(d.workloads[1].pods[0].row.workload, "api");
	ck_assert_uint_eq(d.workloads[2].n, 2);
	ck_assert_uint_eq(d.workloads[2].restarts, 37);
	ck_assert_str_eq(d.workloads[2].pods[0].row.pod, "web-2");
}

TEST(what_restarted_most_since_the_last_digest_is_worst)
{
	add(0, "a", "old", "old-1", 5000);
	add(0, "a", "hot", "hot-1", 60);
	digest_finish(&d);
	set_delta("old-1", 1);
	set_delta("hot-1", 50);
	digest_group(&d);
	ck_assert_str_eq(d.workloads[0].pods[0].row.workload, "hot");
	ck_assert_int_eq(d.workloads[1].delta, 1);
}

TEST(same_container_twice_counts_once)
{
	add(0, "a", "w", "w-1", 6);
	add(0, "a", "w", "w-1", 8);
	add(0, "a", "w", "w-1", 7);
	digest_finish(&d);
	digest_group(&d);
	ck_assert_uint_eq(d.n_pods, 1);
	ck_assert_uint_eq(d.workloads[0].restarts, 8);
}

TEST(rows_are_bounded_and_the_rest_is_counted)
{
	char pod[32];

	for (unsigned i = 0; i < DIGEST_ROWS_MAX + 5; i++) {
		(void)snprintf(pod, sizeof(pod), "p-%u", i);
		add(0, "a", "w", pod, 10);
	}
	digest_finish(&d);
	digest_group(&d);
	ck_assert_uint_eq(d.n_pods, DIGEST_ROWS_MAX);
	ck_assert_uint_eq(d.dropped, 5);
}

static void check_text(const struct digest_context *ctx, const char *want)
{
	char all[8192] = "";
	struct digest_text t;

	digest_group(&d);
	digest_render(&d, ctx, &t);
	for (size_t i = 0; i < t.n; i++)
		(void)strncat(all, t.v[i], sizeof(all) - strlen(all) - 1);
	ck_assert_str_eq(all, want);
	digest_text_done(&t);
}

TEST(text_of_one_cluster)
{
	const struct digest_context ctx = { &one, "", "2026-11-23 09:07:00 +08:00", "", 0, false };

	add(0, "shop", "web", "web-1", 12);
	digest_finish(&d);
	check_text(&ctx, "1 workload with 1 pod, worst first, as of 2026-11-23 09:07:00 +08:00.\n"
			 "1. shop/web (Deployment): 12 restarts in 1 pod\n"
			 "  web-1 / app: CrashLoopBackOff, 12 restarts, exit code 137\n");
}

TEST(text_with_everything)
{
	const struct digest_context ctx = {
		&two, "staging", "2026-11-23 09:07:00 +08:00", "2026-11-16 09:07:00 +08:00", 2, true
	};

	for (int i = 1; i <= 5; i++) {
		char pod[16];

		(void)snprintf(pod, sizeof(pod), "web-%d", i);
		add(0, "shop", "web", pod, (uint64_t)i);
	}
	add(1, "shop", "db", "db-0", 40);
	digest_finish(&d);
	set_delta("web-5", 4);
	set_delta("web-4", 0);
	check_text(&ctx, "2 workloads with 6 pods, worst first, as of 2026-11-23 09:07:00 +08:00.\n"
			 "In brackets: since the report of 2026-11-16 09:07:00 +08:00.\n"
			 "Sent late: the program did not run, or could not send, when this report was due.\n"
			 "2 earlier reports did not get through, or not surely.\n"
			 "Not complete: no full answer from staging.\n"
			 "1. [staging] shop/db (Deployment): 40 restarts (new) in 1 pod\n"
			 "  db-0 / app: CrashLoopBackOff, 40 restarts (new), exit code 137\n"
			 "2. [prod] shop/web (Deployment): 15 restarts (+4) in 5 pods\n"
			 "  web-5 / app: CrashLoopBackOff, 5 restarts (+4), exit code 137\n"
			 "  web-3 / app: CrashLoopBackOff, 3 restarts (new), exit code 137\n"
			 "  web-2 / app: CrashLoopBackOff, 2 restarts (new), exit code 137\n"
			 "  … and 2 more\n");
}

TEST(nothing_from_the_cluster_reaches_the_chat_as_markup)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "<at user_id=\"all\">", "‹at user_id=\"all\"›" },
		{ "a\nb\x1b[31m", "a?b?[31m" },
		{ "\xff\xfe", "??" },
		{ "重启", "重启" },
		{ "x\xe2\x80\xaey", "x?y" }, /* right-to-left override */
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *got = digest_clean(cases[i].in);

		ck_assert_str_eq(got, cases[i].out);
		free(got);
	}
}

TEST_MAIN("reporter/digest")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
