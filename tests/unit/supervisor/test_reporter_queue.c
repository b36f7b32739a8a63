/* test_reporter_queue.c - messages that the reporter cannot take: which are kept, in which order, and what is
 * told of those that are dropped. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "supervisor/actions/reporter_link.h"
#include "supervisor/operator/trouble_list.h"
#include "world.h"

static struct reporter_queue *q;

static void begin(void)
{
	set_up();
	q = reporter_queue_new();
}

static void end(void)
{
	reporter_queue_free(&q);
	ck_assert_ptr_null(q);
	tear_down();
}

static struct msg refusal(uint64_t cluster, unsigned number)
{
	struct msg m = { .type = MSG_REFUSAL, .u.refusal = { .cluster = cluster } };

	strcpy(m.u.refusal.ns, "shop");
	(void)snprintf(m.u.refusal.name, sizeof(m.u.refusal.name), "pod-%u", number);
	(void)snprintf(m.u.refusal.uid, sizeof(m.u.refusal.uid), "uid-%u", number);
	strcpy(m.u.refusal.action_key, "key");
	strcpy(m.u.refusal.reason, "Protected");
	return m;
}

static struct msg stats_of_child(unsigned number, uint64_t rss_kb)
{
	struct msg m = { .type = MSG_CHILD_STATS,
			 .u.child_stats = { .number = number % 256, .rss_kb = rss_kb } };

	strcpy(m.u.child_stats.role, "worker");
	(void)snprintf(m.u.child_stats.cluster_name, sizeof(m.u.child_stats.cluster_name), "c%u",
		       number / 256);
	strcpy(m.u.child_stats.state, "ready");
	return m;
}

static struct msg trouble_row(uint64_t trouble, const char *cluster, uint64_t n)
{
	struct msg m = { .type = MSG_TROUBLE_ROW, .u.trouble_row = { .trouble = trouble, .n = n } };

	strcpy(m.u.trouble_row.cluster_name, cluster);
	return m;
}

static struct msg due_row(uint64_t cluster, uint64_t duty, uint64_t state, const char *reason)
{
	struct msg m = { .type = MSG_DUE_ROW,
			 .u.due_row = { .cluster = cluster, .duty = duty, .state = state, .n = 1 } };

	strcpy(m.u.due_row.reason, reason);
	return m;
}

static struct msg requests(uint64_t cluster, uint64_t verb, uint64_t code, uint64_t n)
{
	return (struct msg){ .type = MSG_REQUESTS,
			     .u.requests = { .cluster = cluster, .verb = verb, .code = code, .n = n } };
}

static struct msg timing(uint64_t cluster, uint64_t what, uint64_t bucket, uint64_t n, uint64_t sum_us)
{
	return (struct msg){
		.type = MSG_TIMING,
		.u.timing = { .cluster = cluster, .timing = what, .bucket = bucket, .n = n, .sum_us = sum_us }
	};
}

static void put(struct msg m)
{
	reporter_queue_put(q, &m);
}

static struct msg take(void)
{
	struct msg m;

	ck_assert(reporter_queue_first(q, &m));
	reporter_queue_remove_first(q);
	return m;
}

/* Around the ring, too. */
TEST(they_come_in_their_order)
{
	for (unsigned i = 0; i < 3 * REPORTER_QUEUE_MAX; i++) {
		put(refusal(i % 2, i));
		if (i >= 1000)
			ck_assert_str_eq(take().u.refusal.name, refusal(0, i - 1000).u.refusal.name);
	}
	ck_assert_uint_eq(reporter_queue_count(q), 1000);
	ck_assert_uint_eq(reporter_queue_dropped(q, 0) + reporter_queue_dropped(q, 1), 0);
}

TEST(a_flood_from_one_cluster_leaves_room_for_the_others)
{
	for (unsigned i = 0; i < 3 * REPORTER_QUEUE_MAX; i++)
		put(refusal(0, i));
	const size_t of_first = reporter_queue_count(q);

	ck_assert_uint_ge(of_first, REPORTER_QUEUE_MAX / 2);
	ck_assert_uint_eq(reporter_queue_dropped(q, 0), 3 * REPORTER_QUEUE_MAX - of_first);
	for (unsigned i = 0; i < 300; i++) {
		put(refusal(1, i));
		put(refusal(CLUSTERS_MAX - 1, i));
	}
	ck_assert_uint_eq(reporter_queue_count(q), of_first + 600);
	ck_assert_uint_eq(reporter_queue_dropped(q, 1) + reporter_queue_dropped(q, CLUSTERS_MAX - 1), 0);
	for (unsigned i = 0; i < 64 * REPORTER_QUEUE_MAX; i++)
		put(refusal(i % CLUSTERS_MAX, i));
	ck_assert_uint_le(reporter_queue_count(q), REPORTER_QUEUE_MAX);
	reporter_queue_reset_dropped(q);
	ck_assert_uint_eq(reporter_queue_dropped(q, 0), 0);
}

/* Of three hundred children, for an hour. */
TEST(statistics_wait_once_and_drop_nothing)
{
	for (unsigned round = 0; round < 20; round++)
		for (unsigned child = 0; child < 300; child++)
			put(stats_of_child(child, round));
	put(refusal(0, 1));
	ck_assert_uint_eq(reporter_queue_count(q), 301);
	for (unsigned child = 0; child < 300; child++)
		ck_assert_uint_eq(take().u.child_stats.rss_kb, 19);
	ck_assert_int_eq(take().type, MSG_REFUSAL);
	ck_assert_uint_eq(reporter_queue_dropped(q, CLUSTERS_MAX), 0);
}

TEST(statistics_that_differ_are_two)
{
	const struct msg all[] = {
		{ .type = MSG_WATCH_STATS }, { .type = MSG_WATCH_STATS, .u.watch_stats.cluster = 1 },
		stats_of_child(1, 0),        stats_of_child(2, 0),
		stats_of_child(257, 0),      trouble_row(1, "", 1),
		trouble_row(2, "", 1),       trouble_row(1, "prod", 1),
		due_row(0, 0, 0, "Evicted"), due_row(0, 1, 0, "Evicted"),
		due_row(0, 0, 1, "Evicted"), due_row(0, 0, 0, "Other"),
		due_row(1, 0, 0, "Evicted"), requests(0, 0, 200, 1),
		requests(0, 1, 200, 1),      requests(0, 0, 404, 1),
		requests(1, 0, 200, 1),      timing(0, 0, 0, 1, 1),
		timing(0, 1, 0, 1, 1),       timing(0, 0, 1, 1, 1),
		timing(1, 0, 0, 1, 1),
	};

	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < ARRAY_SIZE(all); i++)
			reporter_queue_put(q, &all[i]);
	ck_assert_uint_eq(reporter_queue_count(q), ARRAY_SIZE(all));
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		ck_assert_int_eq(take().type, all[i].type);
}

TEST(the_last_value_counts_and_counts_are_added_up)
{
	struct msg m;

	put(trouble_row(1, "prod", 2));
	put(trouble_row(1, "prod", 0));
	ck_assert_uint_eq(take().u.trouble_row.n, 0);
	put(requests(0, 0, 200, 7));
	put(requests(0, 0, 200, 5));
	ck_assert_uint_eq(take().u.requests.n, 12);
	put(requests(0, 0, 200, UINT32_MAX));
	put(requests(0, 0, 200, 5));
	ck_assert_uint_eq(take().u.requests.n, UINT32_MAX);
	put(timing(0, 0, 0, 2, 100));
	put(timing(0, 0, 0, 3, UINT64_MAX - 50));
	m = take();
	ck_assert_uint_eq(m.u.timing.n, 5);
	ck_assert_uint_eq(m.u.timing.sum_us, UINT64_MAX);
	ck_assert_uint_eq(reporter_queue_count(q), 0);
	ck_assert(!reporter_queue_first(q, &m));
}

static size_t waiting(void)
{
	return reporter_queue_count(stage_supervisor(w.s)->queue);
}

static void send_refusal(unsigned number)
{
	const struct msg m = refusal(0, number);

	reporter_link_send(stage_supervisor(w.s), &m);
}

/* The reporter lives and does not read. Returns the number of the first refusal that has to wait. */
static unsigned fill_channel(void)
{
	unsigned number = 0;

	open_history();
	while (waiting() == 0 && number < 1000000)
		send_refusal(++number);
	ck_assert_uint_eq(waiting(), 1);
	return number;
}

TEST(what_waits_is_sent_within_a_second_and_in_order)
{
	const unsigned number = fill_channel();

	stage_run(w.s);
	forget();
	send_refusal(1);
	ck_assert_uint_eq(waiting(), 2);
	stage_pass(w.s, 1000);
	ck_assert_uint_eq(waiting(), 0);
	ck_assert_str_eq(heard(MSG_REFUSAL, 0)->u.refusal.name, refusal(0, number).u.refusal.name);
	ck_assert_str_eq(heard(MSG_REFUSAL, 1)->u.refusal.name, "pod-1");
	send_refusal(2);
	ck_assert_uint_eq(waiting(), 0);
}

static uint64_t dropped_trouble(void)
{
	trouble_list_check(stage_supervisor(w.s));
	return trouble_list_count(stage_supervisor(w.s), TROUBLE_REPORTER_QUEUE, 0);
}

TEST(what_is_dropped_is_a_trouble_until_the_reporter_has_the_rest)
{
	(void)fill_channel();
	ck_assert_uint_eq(dropped_trouble(), 0);
	for (unsigned i = 0; i < REPORTER_QUEUE_MAX; i++)
		send_refusal(i);
	ck_assert_uint_eq(dropped_trouble(), 1);
	stage_run(w.s);
	ck_assert_uint_eq(dropped_trouble(), 1);
	stage_pass(w.s, 1000);
	ck_assert_uint_eq(waiting(), 0);
	ck_assert_uint_eq(reporter_queue_dropped(stage_supervisor(w.s)->queue, 0), 0);
	ck_assert_uint_eq(dropped_trouble(), 0);
}

TEST_MAIN("supervisor/actions/reporter_queue")
{
	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 60);
}
