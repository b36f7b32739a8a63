/* test_digest.c - grouping and order of a digest. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/report/digest.h"
#include "tests/suite.h"
#include "tests/unit/reporter/support.h"

static struct digest d;

static void teardown(void)
{
	digest_done(&d);
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
	tcase_add_checked_fixture(t, NULL, teardown);
}
