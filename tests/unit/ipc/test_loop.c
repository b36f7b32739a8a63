/* test_loop.c - a timer wakes the process once. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <event2/event.h>
#include <sys/resource.h>

#include "base/clock.h"
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

TEST_MAIN("ipc/loop")
{
	(void)t;
}
