/* test_cluster_files.c - clusters that are files of a folder: which of them, in which order, and what is said
 * of a pattern that cannot be used. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "tests/suite.h"
#include "tests/unit/config/loaded.h"

static char dir[SUITE_PATH_MAX];

static void put(const char *name)
{
	free(suite_file(dir, name, "apiVersion: v1\nkind: Config\n"));
}

static void begin(void)
{
	_cleanup_free_ char *folder = NULL;

	loaded_setup();
	suite_folder(dir);
	folder = xasprintf("%s/d", dir);
	ck_assert_int_eq(mkdir(folder, 0700), 0);
}

static int load_from(const char *pattern, const char *rest)
{
	_cleanup_free_ char *text = xasprintf("clustersFrom: %s/%s\n%s", dir, pattern, rest);

	return load(text);
}

static bool says(const char *line)
{
	bool any = false;

	for (size_t i = 0; i < diags.n; i++)
		any = any || strstr(diags.v[i].text, line);
	return any;
}

static const char *names(void)
{
	static char all[256];

	all[0] = '\0';
	for (size_t i = 0; i < config.n_clusters; i++) {
		const size_t n = strlen(all);

		(void)snprintf(all + n, sizeof(all) - n, "%s%s", i ? " " : "", config.clusters[i].name);
	}
	return all;
}

/* Editors, mounted volumes and copies under way put names with a dot in front into a folder. */
TEST(files_that_match_are_clusters_in_the_order_of_their_names)
{
	_cleanup_free_ char *west = xasprintf("%s/d/west.kubeconfig", dir);

	put("d/west.kubeconfig");
	put("d/east.eu.kubeconfig");
	put("d/.half.kubeconfig");
	put("d/..data");
	put("d/README");
	ck_assert_int_eq(load_from("d/*.kubeconfig", ""), 0);
	ck_assert_str_eq(names(), "east.eu west");
	ck_assert_str_eq(config.clusters[1].kubeconfig, west);
	ck_assert_uint_eq(config.clusters[1].workers, 0); /* as all */
}

TEST(they_stand_behind_those_of_the_list)
{
	put("d/b.yaml");
	ck_assert_int_eq(load_from("d/*", "clusters:\n- {name: c, kubeconfig: c}\n"), 0);
	ck_assert_str_eq(names(), "c b");
	config_done(&config);
	config_init(&config);
	ck_assert_int_eq(load_from("d/*", "clusters:\n- {name: b, kubeconfig: c}\n"), 0);
	ck_assert_str_eq(names(), "b b.yaml");
	ck_assert(says("two are called \"b\"; the cluster of this file waits until it is renamed"));
}

#define LONG "a123456789b123456789c123456789d123456789e123456789f123456789g123456789"

/* The others do not wait with it. */
static const struct {
	const char *file, *name, *line;
} odd[] = {
	{ "d/-x.yaml", "_x.yaml", "/d/-x.yaml: warning: clustersFrom: \"-x\" is not a name" },
	{ "d/prod (copy).yaml", "prod__copy_.yaml",
	  "/d/prod (copy).yaml: warning: clustersFrom: \"prod (copy)\"" },
	{ "d/\xe9.yaml", "_.yaml", "clustersFrom: " },
	{ "d/" LONG ".yaml", "a123456789b123456789c123456789d123456789e123456789f123456789g12",
	  "has 70 bytes" },
	{ "d/ok.yml", "ok.yml", "/d/ok.yml: warning: clustersFrom: two are called \"ok\"" },
};

TEST_LOOP(a_file_of_an_odd_name_waits_alone, 0, ARRAY_SIZE(odd))
{
	size_t waiting = 0;

	put("d/ok.yaml");
	put(odd[_i].file);
	ck_assert_int_eq(load_from("d/*", ""), 0);
	ck_assert_uint_eq(config.n_clusters, 2);
	for (size_t i = 0; i < config.n_clusters; i++) {
		const struct cluster_config *one = &config.clusters[i];

		ck_assert_str_eq(one->name, one->wrong ? odd[_i].name : "ok");
		waiting += one->wrong != NULL;
	}
	ck_assert_uint_eq(waiting, 1);
	ck_assert(says(odd[_i].line) && says("; the cluster of this file waits until it is renamed"));
}

/* Two that would wait under one name: both are warned of. */
TEST(of_two_odd_files_alike_one_waits)
{
	put("d/a b.yaml");
	put("d/a+b.yaml");
	ck_assert_int_eq(load_from("d/*", ""), 0);
	ck_assert_str_eq(names(), "a_b.yaml");
	ck_assert(says("d/a b.yaml") && says("d/a+b.yaml"));
}

TEST(a_file_that_the_list_names_too_waits)
{
	_cleanup_free_ char *list = xasprintf("clusters: [{name: x, kubeconfig: %s/d/b.yaml}]", dir);

	put("d/b.yaml");
	ck_assert_int_eq(load_from("d/*", list), 0);
	ck_assert_str_eq(names(), "x b.yaml");
	ck_assert(says("\"x\" and \"b\" are the same cluster"));
}

/* Each cluster of the list that is another one is told of once, however many there are. */
TEST(one_error_for_a_cluster_that_is_there_already)
{
	ck_assert_int_lt(load("clusters: [{name: a}, {name: b}, {name: c}, {name: d}, {name: a}]"), 0);
	ck_assert(says("\"a\" and \"b\" are") && says("\"a\" and \"c\" are") && says("\"a\" and \"d\" are"));
	ck_assert_uint_eq(diags.errors, 4);
}

static const struct {
	const char *file, *pattern, *rest, *line; /* line NULL: it is right */
} rows[] = {
	{ NULL, "d/*.kubeconfig", "", "f:1:1: clustersFrom: no file in " },
	{ NULL, "d/*.kubeconfig", "clusters: [{name: a, kubeconfig: a}]", NULL },
	{ NULL, "nowhere/*", "", "nowhere cannot be read: No such file or directory" },
	{ "d/a", "*/a", "", "only the name of the file may have * ? [ ], not its folder" },
	{ "d/a", "d/a", "", NULL },
};

TEST_LOOP(what_cannot_be_used_is_told_with_its_place, 0, ARRAY_SIZE(rows))
{
	if (rows[_i].file)
		put(rows[_i].file);
	ck_assert_int_eq(load_from(rows[_i].pattern, rows[_i].rest) < 0, rows[_i].line != NULL);
	ck_assert(!rows[_i].line || says(rows[_i].line));
}

TEST(more_than_there_may_be_are_refused)
{
	for (int i = 0; i <= CLUSTERS_MAX; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "d/c%04d.yaml", i);
		put(name);
	}
	ck_assert_int_lt(load_from("d/*", ""), 0);
	ck_assert_uint_eq(config.n_clusters, CLUSTERS_MAX);
	ck_assert(says("more than 300 clusters"));
}

TEST_MAIN("config/cluster_files")
{
	tcase_add_checked_fixture(t, begin, loaded_teardown);
}
