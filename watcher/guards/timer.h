/* timer.h - libevent timers in milliseconds.  Layer: watcher. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_TIMER_H
#define WATCHER_GUARDS_TIMER_H

#include <event2/event.h>
#include <stdint.h>
#include <sys/time.h>

/* Fire once, delay_ms from now; replaces what was armed. */
static inline void timer_arm(struct event *timer, uint64_t delay_ms)
{
	const struct timeval tv = { (time_t)(delay_ms / 1000), (suseconds_t)(delay_ms % 1000 * 1000) };

	(void)evtimer_add(timer, &tv);
}

#endif
