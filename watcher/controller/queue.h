/* queue.h - keys waiting to be judged, each queued once.
 * Layer: watcher.  Threads: none; nothing blocks: where client-go waits, a call says -EAGAIN.
 * Semantics of client-go's workqueue (util/workqueue/queue.go, delaying_queue.go, default_rate_limiters.go)
 * for one consumer, who takes the next key when it is done with the last: a set of keys in order, delayed
 * adds that keep the earlier time, a rate limit that is the larger of 5 ms x 2^n per key (to 1000 s) and a
 * bucket of 10 a second, 100 at once.
 * Keys are small numbers >= 1. Times are milliseconds of one clock that does not step. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_QUEUE_H
#define WATCHER_CONTROLLER_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue;

struct queue *queue_new(void);
void queue_free(struct queue **q);

/* Ask for key to be processed. Queued already: nothing. */
void queue_add(struct queue *q, uint32_t key);
/* Take the oldest key: from now on it may be queued again. 0, or -EAGAIN: there is none. */
int queue_get(struct queue *q, uint32_t *ret_key);
/* Keys queued (not those delayed). */
size_t queue_len(const struct queue *q);

/* Add key at now + delay; 0 is queue_add. Delayed already: the earlier time counts. */
void queue_add_after(struct queue *q, uint32_t key, uint64_t now, uint64_t delay);
/* Delay for the next retry of key; counts as one. */
uint64_t queue_when(struct queue *q, uint32_t key, uint64_t now);
/* The key was done well, or is given up: its next retry is a first one. */
void queue_forget(struct queue *q, uint32_t key);
/* Move delayed keys that are due into the queue. */
void queue_tick(struct queue *q, uint64_t now);
/* When the next delayed key is due; UINT64_MAX when there is none. */
uint64_t queue_next(const struct queue *q);
/* The object behind key is gone: undo any delay and forget its retries. What is queued stays queued. */
void queue_drop(struct queue *q, uint32_t key);

size_t queue_bytes(const struct queue *q);

#endif
