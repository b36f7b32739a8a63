/* idle_timer.h - a timer for what takes long and may wait.  Layer: ipc. */
// SPDX-License-Identifier: Apache-2.0
#ifndef IPC_IDLE_TIMER_H
#define IPC_IDLE_TIMER_H

#include <stdint.h>

struct event_base;
struct idle_timer;

/* So long at most it waits for the loop to be idle. */
#define IDLE_TIMER_WAIT_MS 1000u

/* A timer of base: when its time has come run(ctx) is called as soon as no other event is due, and after
 * IDLE_TIMER_WAIT_MS even so. Not set at first. Never NULL; freed by idle_timer_free(). */
struct idle_timer *idle_timer_new(struct event_base *base, void (*run)(void *ctx), void *ctx);
/* Arms it to run once in ms milliseconds; a time that was set before is replaced. May be called from run().
 */
void idle_timer_set(struct idle_timer *t, uint64_t ms);
void idle_timer_free(struct idle_timer **t);

#endif
