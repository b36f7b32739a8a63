/* Labels of namespaces, as they are kept in step. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>

#include "tests/suite.h"
#include "watcher/cache/namespace_table.h"

static struct namespace_table *table;

static void setup(void)
{
	table = namespace_table_new();
}

static void teardown(void)
{
	namespace_table_free(&table);
}

/* A namespace with one label; value NULL: with none. */
static bool put(const char *name, const char *key, const char *value)
{
	struct pod_facts p = { .name = STR_C(name) };

	if (value)
		p.labels[p.n_labels++] = (struct label){ STR_C(key), STR_C(value) };
	return namespace_table_put(table, &p);
}

static const char *value_of(const char *name, const char *key)
{
	static char text[64];
	const struct namespace_labels *l = namespace_table_find(table, STR_C(name));

	if (!l)
		return NULL;
	for (size_t i = 0; i < l->n; i++)
		if (str_is(l->v[i].key, key)) {
			(void)snprintf(text, sizeof(text), "%.*s", STR_ARG(l->v[i].value));
			return text;
		}
	return "";
}

TEST(tells_what_changed)
{
	ck_assert_ptr_null(value_of("shop", "team"));
	ck_assert(put("shop", "team", "a"));
	ck_assert_str_eq(value_of("shop", "team"), "a");
	ck_assert(!put("shop", "team", "a"));
	ck_assert(put("shop", "team", "b"));
	ck_assert_str_eq(value_of("shop", "team"), "b");
	ck_assert(put("shop", "eam", "b"));
	ck_assert_str_eq(value_of("shop", "team"), "");
	ck_assert(put("shop", "", NULL));
	ck_assert(!put("shop", "", NULL));
	ck_assert_str_eq(value_of("shop", "team"), "");
	namespace_table_remove(table, STR_LIT("shop"));
	namespace_table_remove(table, STR_LIT("shop"));
	ck_assert_ptr_null(value_of("shop", "team"));
	ck_assert(put("shop", "", NULL)); /* known again */
}

/* Nothing is borrowed from the facts. */
TEST(keeps_its_own_bytes)
{
	char name[] = "shop", key[] = "team", value[] = "a";

	ck_assert(put(name, key, value));
	name[0] = key[0] = value[0] = 'X';
	ck_assert_str_eq(value_of("shop", "team"), "a");
}

TEST(a_list_sweeps_what_it_does_not_name)
{
	for (const char *const *n = (const char *const[]){ "b", "a", "c", "ab", NULL }; *n; n++)
		(void)put(*n, "team", *n);
	namespace_table_list(table);
	ck_assert(!put("a", "team", "a"));
	ck_assert(put("c", "team", "x"));
	ck_assert_str_eq(value_of("b", "team"), "b"); /* until the list is complete */
	namespace_table_sweep(table);
	ck_assert_str_eq(value_of("a", "team"), "a");
	ck_assert_str_eq(value_of("c", "team"), "x");
	ck_assert_ptr_null(value_of("b", "team"));
	ck_assert_ptr_null(value_of("ab", "team"));
}

/* What was not read may be what is asked for. */
TEST(more_labels_than_were_read_are_unknown)
{
	struct pod_facts p = { .name = STR_LIT("shop"), .labels_cut = true };

	(void)put("shop", "team", "a");
	ck_assert(!namespace_table_put(table, &p));
	ck_assert_ptr_null(value_of("shop", "team"));
}

/* Against a plain array, in any order. */
TEST(a_thousand_namespaces)
{
	enum { N = 300 };
	char there[N] = { 0 }, name[8], value[2] = "";
	uint64_t state = 5;

	for (int i = 0; i < 20000; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		const size_t n = (size_t)(state >> 33) % N, what = (size_t)(state >> 50) % 3;

		(void)snprintf(name, sizeof(name), "n%zu", n);
		value[0] = (char)('a' + what);
		if (what == 2)
			namespace_table_remove(table, STR_C(name));
		else
			ck_assert_int_eq(put(name, "k", value), there[n] != value[0]);
		there[n] = what == 2 ? 0 : value[0];
	}
	for (size_t n = 0; n < N; n++) {
		(void)snprintf(name, sizeof(name), "n%zu", n);
		value[0] = there[n];
		if (there[n])
			ck_assert_str_eq(value_of(name, "k"), value);
		else
			ck_assert_ptr_null(value_of(name, "k"));
	}
}

TEST_MAIN("watcher/namespace_table")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
