/* test_balance.c - which replica should lead which cluster: evenly, alike wherever it is computed, and with
 * little that moves. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>

#include "supervisor/actions/balance.h"
#include "tests/suite.h"

#define CLUSTERS 300

static struct str_list clusters, replicas;
static size_t of[CLUSTERS], again[CLUSTERS];

static void add(struct str_list *l, const char *prefix, size_t i)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "%s%03zu", prefix, i);
	str_list_add(l, name, strlen(name));
}

static void given(size_t n, size_t m)
{
	str_list_done(&clusters);
	str_list_done(&replicas);
	for (size_t i = 0; i < n; i++)
		add(&clusters, "cluster-", i);
	for (size_t i = 0; i < m; i++)
		add(&replicas, "host_", i);
}

static void teardown(void)
{
	str_list_done(&clusters);
	str_list_done(&replicas);
}

static size_t load(size_t replica)
{
	size_t n = 0;

	for (size_t i = 0; i < clusters.n; i++)
		n += of[i] == replica;
	return n;
}

/* Within a tenth of the share where there is much to share, else as even as can be. */
TEST(each_gets_its_share)
{
	for (size_t n = 0; n <= CLUSTERS; n += n < 20 ? 1 : 40)
		for (size_t m = 1; m <= 8; m++) {
			given(n, m);
			balance(&clusters, &replicas, of);
			for (size_t i = 0; i < m; i++) {
				ck_assert_uint_ge(load(i) + n / m / 20, n / m);
				ck_assert_uint_le(load(i), (n + m - 1) / m + n / m / 20);
			}
		}
}

static void reverse(struct str_list *l)
{
	for (size_t i = 0; i < l->n / 2; i++) {
		char *one = l->v[i];

		l->v[i] = l->v[l->n - 1 - i];
		l->v[l->n - 1 - i] = one;
	}
}

TEST(order_does_not_matter)
{
	given(100, 3);
	balance(&clusters, &replicas, of);
	reverse(&clusters);
	reverse(&replicas);
	balance(&clusters, &replicas, again);
	for (size_t i = 0; i < 100; i++)
		ck_assert_uint_eq(again[99 - i], 2 - of[i]);
}

static size_t moved(size_t from, size_t to)
{
	size_t n = 0;

	given(100, from);
	balance(&clusters, &replicas, of);
	given(100, to);
	balance(&clusters, &replicas, again);
	for (size_t i = 0; i < 100; i++)
		n += of[i] != again[i];
	return n;
}

/* At best 25 of 100 when a fourth one comes, or goes. */
TEST(little_moves)
{
	ck_assert_uint_le(moved(3, 4), 40);
	ck_assert_uint_le(moved(4, 3), 40);
	ck_assert_uint_eq(moved(3, 3), 0);
}

TEST_MAIN("supervisor/balance")
{
	tcase_add_checked_fixture(t, NULL, teardown);
}
