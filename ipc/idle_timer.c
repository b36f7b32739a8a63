/* idle_timer.c - see idle_timer.h. */
// SPDX-License-Identifier: Apache-2.0
#include "ipc/idle_timer.h"

#include <event2/event.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "ipc/loop.h"

struct idle_timer {
	struct event *idle,
		*at_last; /* the second has an ordinary priority: libevent may never come to the first */
	void (*run)(void *ctx);
	void *ctx;
};

static void on_idle_timer(evutil_socket_t fd, short what, void *arg)
{
	struct idle_timer *t = arg;

	(void)fd;
	(void)what;
	(void)evtimer_del(t->idle);
	(void)evtimer_del(t->at_last);
	t->run(t->ctx);
}

struct idle_timer *idle_timer_new(struct event_base *base, void (*run)(void *ctx), void *ctx)
{
	struct idle_timer *t = xcalloc(1, sizeof(*t));

	*t = (struct idle_timer){ .run = run, .ctx = ctx };
	t->idle = evtimer_new(base, on_idle_timer, t);
	t->at_last = evtimer_new(base, on_idle_timer, t);
	(void)event_priority_set(t->idle, LOOP_PRIORITY_IDLE);
	return t;
}

void idle_timer_set(struct idle_timer *t, uint64_t ms)
{
	(void)evtimer_add(t->idle, CLOCK_TIMEVAL(ms));
	(void)evtimer_add(t->at_last, CLOCK_TIMEVAL(ms + IDLE_TIMER_WAIT_MS));
}

void idle_timer_free(struct idle_timer **t)
{
	if (!*t)
		return;
	event_free((*t)->idle);
	event_free((*t)->at_last);
	free(*t);
	*t = NULL;
}
