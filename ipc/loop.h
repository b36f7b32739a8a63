/* loop.h - the event loop of a process.  Layer: ipc. */
// SPDX-License-Identifier: Apache-2.0
#ifndef IPC_LOOP_H
#define IPC_LOOP_H

struct event_base;

/* A loop whose timers wake it once: libevent reads a clock that moves by 4 ms by default, wakes before a
 * timer is due by that clock, and looks again every millisecond until it is (libevent: event2/event.h,
 * EVENT_BASE_FLAG_PRECISE_TIMER; epoll.c). Call it before the sandbox: it makes a timerfd. NULL on failure;
 * freed by event_base_free(). */
struct event_base *loop_new(void);
/* Priority (event_priority_set()) of an event that is run when no other is due; timer.h has a bound. */
#define LOOP_PRIORITY_IDLE 2

#endif
