/* test_clusters.c - clusters that come and go: which index the loader gives them, and how it has their folder
 * watched; and clusters that stay: what of their credentials does. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
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

/* -- plugins -- */

static void write_plugin(const char *token, const char *arguments)
{
	_cleanup_free_ char *path = path_of("plugin");
	_cleanup_free_ char *text =
		xasprintf("#!/bin/sh\necho '{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": "
			  "\"ExecCredential\", \"status\": {\"token\": \"%s\", "
			  "\"expirationTimestamp\": \"2100-01-01T00:00:00Z\"}}'\n",
			  token);
	_cleanup_free_ char *config =
		xasprintf(TARGET("https://127.0.0.1:1", PLUGIN("%s, args: [%s]")), path, arguments);

	free(suite_file(dir, "plugin", text));
	ck_assert_int_eq(chmod(path, 0700), 0);
	free(suite_file(dir, "by-plugin", config));
}

/* Is it run again, with a credential in force that it has made? */
static const struct {
	bool other;          /* the kubeconfig gives it other arguments now */
	bool refused;        /* by the server; or somebody has asked for a reload */
	int64_t left_ms;     /* of the credential; 0 = it named no end */
	const char *token;   /* in force then */
	uint64_t at_most_ms; /* to the next load */
} plugins[] = {
	{ false, false, HOUR_MS, "OLD", HOUR_MS - 60000 }, { false, false, 0, "OLD", 0 },
	{ false, false, 65000, "NEW", 86400000 },          { false, true, HOUR_MS, "NEW", 86400000 },
	{ true, false, HOUR_MS, "NEW", 86400000 },
};

TEST_LOOP(a_plugin_is_run_when_its_credential_ends, 0, ARRAY_SIZE(plugins))
{
	const int64_t left = plugins[_i].left_ms;

	keep = true;
	write_plugin("OLD", "a, b");
	succeeds("mode: observe\n", "by-plugin");
	ck_assert_str_eq(run.worker[0].cluster.token, "OLD");
	const struct msg_load_blob made = run.blob[ROLE_WATCHER];

	ck_assert_uint_ne(made.plugin, 0);
	ck_assert_int_eq(made.plugin_until, INT64_C(4102444800000));
	ck_assert_uint_eq(run.blob[ROLE_REPORTER].plugin, 0);
	of_plugin.plugin = plugins[_i].refused ? 0 : made.plugin;
	of_plugin.plugin_until = left ? clock_wall_ms() + left : 0;
	write_plugin("NEW", plugins[_i].other ? "ab" : "a, b");
	succeeds("mode: observe\n", "by-plugin");
	ck_assert_str_eq(run.watcher[0].cluster.token, plugins[_i].token);
	ck_assert_str_eq(run.worker[0].cluster.token, plugins[_i].token);
	ck_assert_uint_ne(run.blob[ROLE_WORKER].plugin, 0);
	ck_assert_uint_le(run.refresh_ms, plugins[_i].at_most_ms);
}

/* The plugin is the writer's alone. */
TEST(workers_keep_the_credential_of_their_own_plugin)
{
	static const char config[] =
		"clusters: [{name: a, kubeconfig: writer, writerKubeconfig: by-plugin}]\n";

	keep = true;
	write_plugin("OLD", "a");
	free(suite_file(dir, "writer", TARGET("https://127.0.0.1:1", "token: READER")));
	succeeds(config, NULL);
	ck_assert_uint_eq(run.blob[ROLE_WATCHER].plugin, 0);
	of_plugin.plugin = run.blob[ROLE_WORKER].plugin;
	write_plugin("NEW", "a");
	succeeds(config, NULL);
	ck_assert_str_eq(run.watcher[0].cluster.token, "READER");
	ck_assert_str_eq(run.worker[0].cluster.token, "OLD");
}

/* Its kubeconfig is broken now; its plugin has done its part. */
TEST(a_cluster_that_cannot_be_loaded_keeps_what_its_plugin_said)
{
	keep = true;
	write_plugin("OLD", "a");
	succeeds("mode: observe\n", "by-plugin");
	of_plugin.plugin = run.blob[ROLE_WATCHER].plugin;
	of_plugin.plugin_until = clock_wall_ms() + HOUR_MS;
	free(suite_file(dir, "by-plugin", "nothing: here\n"));
	succeeds("mode: observe\n", "by-plugin");
	ck_assert(run.kept[0]);
	ck_assert_str_eq(run.watcher[0].cluster.token, "OLD");
	ck_assert_uint_eq(run.blob[ROLE_WORKER].plugin, of_plugin.plugin);
	ck_assert_int_eq(run.blob[ROLE_WORKER].plugin_until, of_plugin.plugin_until);
}

TEST_MAIN("loader/clusters")
{
	tcase_set_timeout(t, 40);
	tcase_add_checked_fixture(t, set_up, run_done);
}
