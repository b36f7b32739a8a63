/* test_clusters.c - clusters that come and go: which index the loader gives them, and how it has their folder
 * watched. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "tests/unit/loader/run_loader.h"

/* -- a folder -- */

TEST(a_folder_of_clusters_is_watched_for_files_that_come)
{
	_cleanup_free_ char *folder = path_of("d");

	ck_assert_int_eq(mkdir(folder, 0700), 0);
	run_text("clustersFrom: d/*.kubeconfig\n", NULL);
	ck_assert_int_eq(run.code, EXIT_CODE_CONFIG);
	ck_assert_uint_eq(run.errors, 1);
	ck_assert(watches("*.kubeconfig") && watches("d"));
}

TEST(a_file_that_no_cluster_can_be_called_as_waits_alone)
{
	static const char text[] = TARGET("https://127.0.0.1:6443", "token: abc");
	_cleanup_free_ char *folder = path_of("d");

	ck_assert_int_eq(mkdir(folder, 0700), 0);
	free(suite_file(dir, "d/good.kubeconfig", text));
	free(suite_file(dir, "d/prod (copy).kubeconfig", text));
	succeeds("clustersFrom: d/*.kubeconfig\n", NULL);
	ck_assert_uint_eq(run.n_clusters, 2);
	ck_assert_str_eq(run.clusters[0].cluster_name, "good");
	ck_assert(run.clusters[0].loaded);
	ck_assert_str_eq(run.clusters[1].cluster_name, "prod__copy_.kubeconfig");
	ck_assert(!run.clusters[1].loaded);
	ck_assert_ptr_nonnull(strstr(run.problem[1], "(copy).kubeconfig: \"prod (copy)\" is not a name"));
}

/* -- indexes -- */

#define LIST(a, b) "clusters: [{name: " a ", kubeconfig: reader}, {name: " b ", kubeconfig: writer}]\n"

/* Each keeps its own, whatever the order of the file; the place of one that is gone stays empty. */
TEST(a_name_keeps_its_index)
{
	known[0] = "a";
	known[1] = "b";
	succeeds(LIST("c", "b"), NULL);
	ck_assert_uint_eq(run.tree.clusters, 3);
	ck_assert_uint_eq(run.n_clusters, 2);
	ck_assert_str_eq(run.clusters[1].cluster_name, "b");
	ck_assert_str_eq(run.clusters[2].cluster_name, "c");
	ck_assert_str_eq(run.watcher[1].cluster.name, "b");
	ck_assert_str_eq(run.worker[2].cluster.name, "c");
	ck_assert_uint_eq(run.reporter.cluster_names.n, 3);
	ck_assert_str_eq(run.reporter.cluster_names.v[0], "");
	ck_assert_str_eq(run.reporter.cluster_names.v[1], "b");
	ck_assert_str_eq(run.reporter.cluster_names.v[2], "c");
	known[0] = NULL;
	succeeds(LIST("c", "b"), NULL);
	ck_assert_uint_eq(run.tree.clusters, 2);
	ck_assert_str_eq(run.reporter.cluster_names.v[0], "c");
}

TEST_MAIN("loader/clusters")
{
	tcase_set_timeout(t, 40);
	tcase_add_checked_fixture(t, set_up, run_done);
}
