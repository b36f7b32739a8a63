/* timer.h - calls a function of a process once it is time.  Layer: ipc. */
// SPDX-License-Identifier: Apache-2.0
#ifndef IPC_TIMER_H
#define IPC_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct timer;

/* A timer of base, not set at first. When its time has come run(ctx) is called, which may set it again or
 * free it. Never NULL; freed by timer_free(). */
struct timer *timer_new(struct event_base *base, void (*run)(void *ctx), void *ctx);
/* The same for what takes long and may wait: run(ctx) is called as soon as no other event is due, and after
 * TIMER_IDLE_MS even so. */
struct timer *timer_new_idle(struct event_base *base, void (*run)(void *ctx), void *ctx);
#define TIMER_IDLE_MS 1000u
/* Arms it to run once in ms milliseconds; a time that was set before is replaced. */
void timer_set(struct timer *t, uint64_t ms);
/* Is it yet to run? */
bool timer_is_set(const struct timer *t);
/* It does not run unless it is set again. This and the next accept NULL. */
void timer_stop(struct timer *t);
void timer_free(struct timer **t);

#endif
