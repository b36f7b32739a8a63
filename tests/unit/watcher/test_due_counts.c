/* test_due_counts.c - how many pods stand how, and what is told of it. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "tests/suite.h"
#include "watcher/guards/due_counts.h"

#define WALL 1700000000000

static struct due_counts *counts;
static struct msg told[300];
static size_t n_told;
static int room;

static void setup(void)
{
	counts = due_counts_new();
	n_told = 0;
	room = 1000;
}

static void teardown(void)
{
	due_counts_free(&counts);
}

static int take(void *ctx, struct msg *m)
{
	(void)ctx;
	if (room-- <= 0)
		return -EAGAIN;
	told[n_told++] = *m;
	return 0;
}

static void tell(size_t rows)
{
	n_told = 0;
	ck_assert_int_eq(due_counts_tell(counts, WALL, take, NULL), 0);
	ck_assert_uint_eq(n_told, rows);
}

static void row(size_t i, enum due_state state, const char *reason, uint64_t n, int64_t oldest)
{
	ck_assert_int_eq(told[i].type, MSG_DUE_ROW);
	ck_assert_uint_eq(told[i].u.due_row.state, state);
	ck_assert_str_eq(told[i].u.due_row.reason, reason);
	ck_assert_uint_eq(told[i].u.due_row.n, n);
	ck_assert_int_eq(told[i].u.due_row.oldest, oldest);
}

TEST(what_changes_is_told_once)
{
	tell(0);
	due_counts_set(counts, 7, DUTY_EVICTED, DUE_NOW, REASON_EVICTED, 8000);
	due_counts_set(counts, 9, DUTY_EVICTED, DUE_NOW, REASON_EVICTED, 16000);
	tell(1);
	row(0, DUE_NOW, "Evicted", 2, WALL + 8000);
	tell(0);
	due_counts_set(counts, 7, DUTY_EVICTED, DUE_NOW, REASON_EVICTED,
		       90000); /* it has been so since then */
	tell(0);
	due_counts_set(counts, 7, DUTY_EVICTED, DUE_BLOCKED, REASON_PAUSED, 20000);
	tell(2);
	row(0, DUE_NOW, "Evicted", 1, WALL + 16000);
	row(1, DUE_BLOCKED, "Paused", 1, WALL + 20000);
	due_counts_clear(counts, 9);
	due_counts_clear(counts, 9);
	due_counts_clear(counts, 4000);
	tell(1);
	row(0, DUE_NOW, "Evicted", 0, 0);
	ck_assert(due_counts_is(counts, 7, DUE_BLOCKED));
	ck_assert(!due_counts_is(counts, 7, DUE_NOW));
	ck_assert(!due_counts_is(counts, 9, DUE_NOW));
}

/* The first of those that are left is the oldest. */
TEST(the_oldest_goes)
{
	due_counts_set(counts, 1, DUTY_IMAGE_PULL, DUE_REFUSED, REASON_PAUSED, 4000);
	due_counts_set(counts, 2, DUTY_IMAGE_PULL, DUE_REFUSED, REASON_PAUSED, 40000);
	tell(1);
	row(0, DUE_REFUSED, "Paused", 2, WALL + 4000);
	due_counts_clear(counts, 1);
	due_counts_set(counts, 3, DUTY_IMAGE_PULL, DUE_REFUSED, REASON_PAUSED, 80000);
	tell(1);
	row(0, DUE_REFUSED, "Paused", 2, WALL + 40000);
}

TEST(what_found_no_room_is_told_later)
{
	due_counts_set(counts, 1, DUTY_EVICTED, DUE_NOW, REASON_EVICTED, 0);
	due_counts_set(counts, 2, DUTY_EVICTED, DUE_BLOCKED, REASON_PAUSED, 0);
	room = 1;
	ck_assert_int_eq(due_counts_tell(counts, WALL, take, NULL), -EAGAIN);
	room = 1000;
	tell(1);
	row(0, DUE_BLOCKED, "Paused", 1, WALL);
}

/* A new reporter is told all that is there; when the clock was set, all times. */
TEST(all_is_told_again)
{
	due_counts_set(counts, 1, DUTY_EVICTED, DUE_NOW, REASON_EVICTED, 0);
	due_counts_set(counts, 2, DUTY_EVICTED, DUE_BLOCKED, REASON_PAUSED, 0);
	tell(2);
	due_counts_clear(counts, 2);
	due_counts_again(counts);
	tell(1);
	row(0, DUE_NOW, "Evicted", 1, WALL);
	due_counts_clock_stepped(counts);
	tell(1);
	row(0, DUE_NOW, "Evicted", 1, WALL);
}

/* What is over is not forgotten when the clock is set before it is told. */
TEST(an_end_is_told_after_a_step)
{
	due_counts_set(counts, 1, DUTY_EVICTED, DUE_NOW, REASON_EVICTED, 0);
	tell(1);
	due_counts_clear(counts, 1);
	due_counts_clock_stepped(counts);
	tell(1);
	row(0, DUE_NOW, "Evicted", 0, 0);
}

TEST(classes_are_bounded)
{
	for (uint32_t i = 0; i < DUTY__MAX * REASON__MAX; i++)
		due_counts_set(counts, 1 + i, (enum duty)(i % DUTY__MAX), DUE_NOW,
			       (enum reason)(i / DUTY__MAX), 0);
	tell(DUTY__MAX * REASON__MAX < DUE_CLASSES_MAX ? DUTY__MAX * REASON__MAX : DUE_CLASSES_MAX);
	for (uint32_t i = 0; i < DUTY__MAX * REASON__MAX; i++)
		due_counts_clear(counts, 1 + i);
	tell(n_told);
}

TEST_MAIN("watcher/due_counts")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
