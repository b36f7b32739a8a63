/* test_queue.c - client-go's cases for the work queue (WQ), the delaying queue (DQ) and the rate limiters
 * (RL). */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "random.h"
#include "tests/suite.h"
#include "watcher/controller/queue.h"

static struct queue *q;

static void begin(void)
{
	q = queue_new();
}

static void end(void)
{
	queue_free(&q);
}

static uint32_t get(void)
{
	uint32_t key = 0;

	ck_assert_int_eq(queue_get(q, &key), 0);
	return key;
}

static void expect_empty(void)
{
	uint32_t key;

	ck_assert_int_eq(queue_get(q, &key), -EAGAIN);
}

/* Plays what comes: "+KEY" is added, "+KEY@T" at that time, "tT" it is T; "<KEY" comes out next, "."
 * nothing comes out, "=N" so many are queued. */
static void play(const char *script)
{
	unsigned long long now = 0, n, at;

	for (const char *p = script; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
		if (sscanf(p, "+%llu@%llu", &n, &at) == 2)
			queue_add_after(q, (uint32_t)n, now, at - now);
		else if (sscanf(p, "+%llu", &n) == 1)
			queue_add(q, (uint32_t)n);
		else if (sscanf(p, "t%llu", &now) == 1)
			queue_tick(q, now);
		else if (sscanf(p, "<%llu", &n) == 1)
			ck_assert_msg(get() == n, "%s", p);
		else if (sscanf(p, "=%llu", &n) == 1)
			ck_assert_msg(queue_len(q) == n, "%s", p);
		else if (*p == '.')
			expect_empty();
		else
			ck_abort_msg("no such step: %s", p);
	}
}

/* TestBasic: of what is added in any order, each comes out once for each time that it was not there. */
TEST(wq1_each_key_with_one_consumer)
{
	bool queued[51] = { false };
	uint32_t key, out = 0;

	random_begin("queue");
	for (int i = 0; i < 7500; i++) {
		if (random_below(3) > 0) {
			key = 1 + random_below(50);
			queue_add(q, key);
			queued[key] = true;
		} else if (queue_get(q, &key) == 0) {
			ck_assert(queued[key]);
			queued[key] = false;
			out++;
		}
	}
	for (; queue_get(q, &key) == 0; queued[key] = false)
		ck_assert(queued[key]);
	for (key = 1; key <= 50; key++)
		ck_assert(!queued[key]);
	ck_assert_uint_gt(out, 50);
}

/* TestAddWhileProcessing, TestReinsert */
TEST(wq2_wq4_add_while_processing_comes_back)
{
	play("+7 +8 <7 +7 <8 <7 . =0");
}

/* TestLen */
TEST(wq3_len)
{
	play("+1 =1 +2 =2 +2 =2");
}

/* TestCollapse, TestCollapseWhileProcessing */
TEST(wq5_adds_collapse)
{
	play("+3 +3 <3 . +3 +3 <3 .");
}

/* Order is first in, first out, also across growth and shrinking of the ring. */
TEST(wq_order)
{
	for (uint32_t k = 1; k <= 100000; k++)
		queue_add(q, k);
	for (uint32_t k = 1; k <= 100000; k++) {
		ck_assert_uint_eq(get(), k);
		if (k % 3 == 0)
			queue_add(q, k);
	}
	for (uint32_t k = 3; k <= 99999; k += 3)
		ck_assert_uint_eq(get(), k);
	expect_empty();
	ck_assert_uint_lt(queue_bytes(q), 200000);
}

/* TestSimpleQueue */
TEST(dq1_add_after)
{
	play("t1000 +1@1050 t1049 =0 t1060 =1 <1 t11060 =0");
	ck_assert_uint_eq(queue_next(q), UINT64_MAX);
}

/* TestDeduping */
TEST(dq2_the_earlier_time_counts)
{
	play("+1@50 +1@70 t60 =1 <1 t80 =0 t100 +1@150 +1@130 t140 =1 <1 t200 =0");
}

/* TestAddTwoFireEarly, TestCopyShifting */
TEST(dq3_dq4_order)
{
	play("+1@1000 +2@50 t60 <2 +3@2060 t1060 <1 . t2060 <3");
	play("t3000 +11@4000 +12@3500 +13@3250 t5000 <13 <12 <11");
}

/* TestItemExponentialFailureRateLimiter (base 5 ms here), TestRateLimitingQueue */
TEST(rl1_rl5_exponential_by_item)
{
	static const uint64_t want[] = { 5, 10, 20, 40, 80 };

	for (int i = 0; i < 5; i++)
		ck_assert_uint_eq(queue_when(q, 1, 0), want[i]);
	ck_assert_uint_eq(queue_when(q, 2, 0), 5);
	ck_assert_uint_eq(queue_when(q, 2, 0), 10);
	queue_forget(q, 1);
	ck_assert_uint_eq(queue_when(q, 1, 0), 5);
	queue_add_after(q, 9, 100, queue_when(q, 9, 100));
	ck_assert_uint_eq(queue_next(q), 105);
	queue_drop(q, 9);
	ck_assert_uint_eq(queue_next(q), UINT64_MAX);
	ck_assert_uint_eq(queue_when(q, 9, 100), 5);
}

/* TestItemExponentialFailureRateLimiterOverFlow */
TEST(rl2_cap_without_overflow)
{
	uint64_t now = 0, d = 0;

	for (int i = 0; i < 70000; i++, now += 1000)
		d = queue_when(q, 1, now);
	ck_assert_uint_eq(d, 1000000);
}

/* TestMaxOfRateLimiter, with the bucket: 100 at once, then 10 a second. */
TEST(rl4_larger_of_both)
{
	for (uint32_t k = 1; k <= 100; k++)
		ck_assert_uint_eq(queue_when(q, k, 0), 5);
	ck_assert_uint_eq(queue_when(q, 101, 0), 100);
	ck_assert_uint_eq(queue_when(q, 102, 0), 200);
	ck_assert_uint_eq(queue_when(q, 103, 1000), 5);
	for (int i = 0; i < 8; i++)
		(void)queue_when(q, 200, 1000);
	ck_assert_uint_eq(queue_when(q, 200, 100000), 1280);
}

TEST_MAIN("watcher/queue")
{
	tcase_add_checked_fixture(t, begin, end);
}
