/* test_leaders.c - who leads what, in few words however many clusters there are. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/instance/instance_status.h"
#include "tests/suite.h"

static struct rows all;

static void setup(void)
{
	rows_done(&all);
	clock_fake_set(1700000000000, 1000000);
}

static void add(const char *cluster, const char *holder, bool here)
{
	struct msg m = { .type = MSG_CTL_CLUSTER, .u.ctl_cluster = { .cluster = all.ctl_cluster.n } };

	msg_set(&m, ctl_cluster.cluster_name, cluster, strlen(cluster));
	rows_take(&all, &m);
	m = (struct msg){
		.type = MSG_LEADER,
		.u.leader = { .cluster = all.leader.n, .leading = here, .valid_until = 1000000 + 10000 }
	};
	msg_set(&m, leader.holder, holder, strlen(holder));
	rows_take(&all, &m);
}

static void prints(const char *wanted)
{
	const struct table_view view = { .width = 0 };
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	leaders_print(&all, f, &view);
	(void)fclose(f);
	ck_assert_str_eq(text, wanted);
	free(text);
}

TEST(of_one_cluster_its_leader_is_named)
{
	add("default", "a", true);
	prints("default: this replica leads\n");
	setup();
	add("default", "host-b_1", false);
	prints("default: standby; the leader is host-b_1\n");
	setup();
	add("default", "", false);
	prints("default: standby; nobody leads yet\n");
}

TEST(of_many_a_line_for_each_replica_this_one_first)
{
	char name[16];

	for (int i = 0; i < 12; i++) {
		(void)snprintf(name, sizeof(name), "c%02d", i);
		add(name, (const char *[]){ "host-b", "host-a", "host-c" }[i % 3], i % 3 == 1);
	}
	add("c12", "host-b", false);
	add("c13", "", false);
	prints("this replica leads 4 of 14 clusters: c01, c04, c07, c10\n"
	       "host-b leads 5 of 14 clusters: c00, c03, c06, c09 and 1 more; what it does there stands in "
	       "its own history\n"
	       "host-c leads 4 of 14 clusters: c02, c05, c08, c11; what it does there stands in its own "
	       "history\n"
	       "c13: standby; nobody leads yet\n");
}

/* What its watcher said last may be old. */
TEST(a_lease_that_has_run_out_is_led_no_more)
{
	struct msg_leader l = { .leading = true, .valid_until = 1000000 };

	ck_assert(!leaders_is_here(&l));
	l.valid_until++;
	ck_assert(leaders_is_here(&l));
}

TEST(without_an_election_nothing_is_said)
{
	prints("");
}

TEST_MAIN("cli/leaders")
{
	tcase_add_checked_fixture(t, setup, clock_fake_clear);
}
