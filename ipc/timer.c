/* timer.c - see timer.h. */
// SPDX-License-Identifier: Apache-2.0
#include "ipc/timer.h"

#include <event2/event.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "ipc/loop.h"

struct timer {
	struct event *event,
		*at_last; /* of one that waits; it does not, as libevent may never come to the other */
	void (*run)(void *ctx);
	void *ctx;
};

static void on_time(evutil_socket_t fd, short what, void *arg)
{
	struct timer *t = arg;

	(void)fd;
	(void)what;
	if (t->at_last)
		timer_stop(t);
	t->run(t->ctx); /* t may be gone after it */
}

struct timer *timer_new(struct event_base *base, void (*run)(void *ctx), void *ctx)
{
	struct timer *t = xcalloc(1, sizeof(*t));

	*t = (struct timer){ .run = run, .ctx = ctx };
	t->event = evtimer_new(base, on_time, t);
	return t;
}

struct timer *timer_new_idle(struct event_base *base, void (*run)(void *ctx), void *ctx)
{
	struct timer *t = timer_new(base, run, ctx);

	t->at_last = evtimer_new(base, on_time, t);
	(void)event_priority_set(t->event, LOOP_PRIORITY_IDLE);
	return t;
}

void timer_set(struct timer *t, uint64_t ms)
{
	(void)evtimer_add(t->event, CLOCK_TIMEVAL(ms));
	if (t->at_last)
		(void)evtimer_add(t->at_last, CLOCK_TIMEVAL(ms + TIMER_IDLE_MS));
}

bool timer_is_set(const struct timer *t)
{
	return evtimer_pending(t->event, NULL);
}

void timer_stop(struct timer *t)
{
	if (!t)
		return;
	(void)evtimer_del(t->event);
	if (t->at_last)
		(void)evtimer_del(t->at_last);
}

void timer_free(struct timer **t)
{
	if (!*t)
		return;
	event_free((*t)->event);
	if ((*t)->at_last)
		event_free((*t)->at_last);
	free(*t);
	*t = NULL;
}
