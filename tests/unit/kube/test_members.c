/* test_members.c - which replicas live, by their Leases. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "kube/leader.h"
#include "kube/members.h"
#include "tests/suite.h"

static struct members m;

static void setup(void)
{
	members_init(&m, "ours");
}

static void see(const char *lease, const char *holder, unsigned rv, uint64_t now)
{
	struct lease_facts f = { .duration_s = 8 };

	(void)snprintf(f.name, sizeof(f.name), "%s", lease);
	(void)snprintf(f.holder, sizeof(f.holder), "%s", holder);
	(void)snprintf(f.rv, sizeof(f.rv), "%u", rv);
	members_see(&m, &f, now);
}

static const char *live(uint64_t now)
{
	static char text[MEMBERS_TEXT];

	members_format(&m, now, text);
	return text;
}

static void list(uint64_t now, unsigned rv_a, unsigned rv_b)
{
	members_begin(&m);
	see("ours-replica-1", "a", rv_a, now);
	see("ours-replica-2", "b", rv_b, now);
	members_end(&m, now);
}

TEST(who_renews_lives)
{
	list(1000, 1, 1);
	ck_assert_str_eq(live(1000), "a\nb\n");
	list(7000, 2, 1);
	ck_assert_str_eq(live(8999), "a\nb\n");
	ck_assert_str_eq(live(9000), "a\n"); /* 8 s after the last change that was seen */
	list(10000, 2, 2);
	ck_assert_str_eq(live(10000), "a\nb\n");
}

TEST(who_is_not_listed_or_gave_it_back_is_gone)
{
	list(1000, 1, 1);
	members_begin(&m);
	see("ours-replica-2", "", 2, 2000);
	members_end(&m, 2000);
	ck_assert_str_eq(live(2000), "");
}

TEST(other_leases_are_not_looked_at)
{
	members_begin(&m);
	see("ours", "a", 1, 1000);
	see("ours-replica-0", "a", 1, 1000);
	see("ours-replica-9", "a", 1, 1000);
	see("ours-replica-1x", "a", 1, 1000);
	see("theirs-replica-1", "a", 1, 1000);
	members_end(&m, 1000);
	ck_assert_str_eq(live(1000), "");
}

TEST(a_number_is_kept_or_the_first_that_is_free)
{
	ck_assert_int_eq(members_number(&m, "a", 1000), 1);
	list(1000, 1, 1);
	ck_assert_int_eq(members_number(&m, "b", 1000), 2);
	ck_assert_int_eq(members_number(&m, "c", 1000), 3);
	ck_assert_int_eq(members_number(&m, "c", 9000), 1); /* nobody renews */
	members_begin(&m);
	for (int i = 1; i <= REPLICAS_MAX; i++) {
		char lease[32], holder[8];

		(void)snprintf(lease, sizeof(lease), "ours-replica-%d", i);
		(void)snprintf(holder, sizeof(holder), "%d", i);
		see(lease, holder, 7, 10000);
	}
	members_end(&m, 10000);
	ck_assert_int_eq(members_number(&m, "c", 10000), -1);
	ck_assert_int_eq(members_number(&m, "8", 10000), 8);
}

/* From when the list was asked for. */
TEST(a_list_is_relied_on_as_long_as_a_lease)
{
	ck_assert_uint_eq(members_valid_until(&m), 0);
	list(1000, 1, 1);
	ck_assert_uint_eq(members_valid_until(&m), 1000 + LEADER_MEMBER_MS);
}

TEST_MAIN("kube/members")
{
	tcase_add_checked_fixture(t, setup, NULL);
}
