/* test_loop.c - a timer wakes the process once, and one that may wait does not wait for ever. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <event2/event.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "ipc/timer.h"
#include "ipc/loop.h"
#include "tests/suite.h"

enum { TIMERS = 40 };

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

static long waits(void)
{
	struct rusage u;

	ck_assert_int_eq(getrusage(RUSAGE_SELF, &u), 0);
	return u.ru_nvcsw;
}

/* By the coarse clock it is three times as many. */
TEST(a_timer_wakes_once)
{
	struct event_base *base = loop_new();
	struct event *timer = evtimer_new(base, on_timer, NULL);

	ck_assert_ptr_nonnull(base);
	const long before = waits();

	for (int i = 0; i < TIMERS; i++) {
		(void)evtimer_add(timer, CLOCK_TIMEVAL(5));
		ck_assert_int_ge(event_base_loop(base, EVLOOP_ONCE), 0);
	}
	ck_assert_int_le(waits() - before, TIMERS * 3 / 2);
	event_free(timer);
	event_base_free(base);
}

/* A loop that always has something to do, until the idle timer has run or so long has passed. */
struct busy {
	struct event *readable;
	struct timer *timer;
	uint64_t until; /* boot ms */
	unsigned rounds, runs, rounds_at_run;
};

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct busy *b = arg;

	(void)fd;
	(void)what;
	b->rounds++;
	if (b->runs > 0 || clock_boot_ms() >= b->until)
		(void)event_del(b->readable);
}

static void on_idle(void *ctx)
{
	struct busy *b = ctx;

	b->runs++;
	b->rounds_at_run = b->rounds;
}

static void be_busy(struct busy *b, uint64_t ms)
{
	struct event_base *base = loop_new();
	const int fd = eventfd(1, EFD_CLOEXEC);

	*b = (struct busy){ .until = clock_boot_ms() + ms };
	b->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, b);
	b->timer = timer_new_idle(base, on_idle, b);
	(void)event_add(b->readable, NULL);
	timer_set(b->timer, 0);
	ck_assert_int_ge(event_base_dispatch(base), 0);
	timer_free(&b->timer);
	event_free(b->readable);
	event_base_free(base);
	ck_assert_int_eq(close(fd), 0);
}

TEST(an_idle_timer_waits_while_the_loop_is_busy)
{
	struct busy b;

	be_busy(&b, TIMER_IDLE_MS / 2);
	ck_assert_uint_eq(b.runs, 1); /* by one of its two events */
	ck_assert_uint_eq(b.rounds_at_run, b.rounds);
}

TEST(an_idle_timer_runs_though_the_loop_is_never_idle)
{
	struct busy b;

	be_busy(&b, 6 * TIMER_IDLE_MS);
	ck_assert_uint_eq(b.runs, 1);
	ck_assert_uint_lt(clock_boot_ms(), b.until);
}

static void on_idle_set(void *ctx)
{
	struct busy *b = ctx;

	if (++b->runs < 3)
		timer_set(b->timer, 1);
}

TEST(an_idle_timer_is_set_again_by_what_it_runs)
{
	struct event_base *base = loop_new();
	struct busy b = { 0 };

	b.timer = timer_new_idle(base, on_idle_set, &b);
	timer_set(b.timer, 100000);
	timer_set(b.timer, 1);
	ck_assert_int_ge(event_base_dispatch(base), 0);
	ck_assert_uint_eq(b.runs, 3);
	timer_free(&b.timer);
	ck_assert_ptr_null(b.timer);
	event_base_free(base);
}

TEST_MAIN("ipc/loop")
{
	(void)t;
}
