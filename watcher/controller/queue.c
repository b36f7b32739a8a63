/* queue.c - see queue.h.  A ring of keys in order, one byte for each key, a heap of delayed ones. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/queue.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bucket.h"
#include "base/xalloc.h"
#include "watcher/cache/deadline.h"

#define BASE_MS  5u
#define CAP_MS   1000000u
#define RING_MIN 64u

static const struct bucket_size rate = { .burst = 100, .period_ms = 100 };

struct queue {
	uint32_t *ring; /* size is a power of two */
	uint32_t ring_size, head, len;
	bool *queued; /* by key */
	uint32_t cap_queued;
	uint16_t *retries; /* by key */
	uint32_t cap_retries;
	struct deadlines delayed;
	struct bucket spent;
};

struct queue *queue_new(void)
{
	return xcalloc(1, sizeof(struct queue));
}

void queue_free(struct queue **q)
{
	if (!*q)
		return;
	free((*q)->ring);
	free((*q)->queued);
	free((*q)->retries);
	deadlines_done(&(*q)->delayed);
	free(*q);
	*q = NULL;
}

static void ring_resize(struct queue *q, uint32_t size)
{
	uint32_t *ring;

	if (q->head == 0 &&
	    size > q->ring_size) { /* a first list only adds: large blocks grow where they are */
		q->ring = xreallocarray(q->ring, size, sizeof(*ring));
		q->ring_size = size;
		return;
	}
	ring = xreallocarray(NULL, size, sizeof(*ring));

	for (uint32_t i = 0; i < q->len; i++)
		ring[i] = q->ring[(q->head + i) & (q->ring_size - 1)];
	free(q->ring);
	q->ring = ring;
	q->ring_size = size;
	q->head = 0;
}

void queue_add(struct queue *q, uint32_t key)
{
	if (key >= q->cap_queued) /* without a call where there is room: this is done for every event */
		q->queued = xgrow(q->queued, &q->cap_queued, key, sizeof(*q->queued));
	if (q->queued[key])
		return;
	q->queued[key] = true;
	if (q->len == q->ring_size)
		ring_resize(q, q->ring_size ? q->ring_size * 2 : RING_MIN);
	q->ring[(q->head + q->len++) & (q->ring_size - 1)] = key;
}

int queue_get(struct queue *q, uint32_t *ret_key)
{
	if (q->len == 0)
		return -EAGAIN;
	*ret_key = q->ring[q->head];
	q->head = (q->head + 1) & (q->ring_size - 1);
	q->len--;
	q->queued[*ret_key] = false;
	/* The ring that a first list filled is not kept. */
	if (q->ring_size > 16 * RING_MIN && q->len < q->ring_size / 8)
		ring_resize(q, q->ring_size / 4);
	return 0;
}

size_t queue_len(const struct queue *q)
{
	return q->len;
}

/* -- delays and rates -- */

void queue_add_after(struct queue *q, uint32_t key, uint64_t now, uint64_t delay)
{
	if (delay == 0)
		queue_add(q, key);
	else
		deadlines_set_earlier(&q->delayed, key, now + delay);
}

void queue_tick(struct queue *q, uint64_t now)
{
	uint32_t key;

	while (deadlines_pop(&q->delayed, now, &key))
		queue_add(q, key);
}

uint64_t queue_next(const struct queue *q)
{
	return deadlines_next(&q->delayed);
}

/* client-go's ItemExponentialFailureRateLimiter: 5 ms x 2^failures. */
static uint64_t item_delay(struct queue *q, uint32_t key)
{
	q->retries = xgrow(q->retries, &q->cap_retries, key, sizeof(*q->retries));
	uint16_t n = q->retries[key];

	if (n < UINT16_MAX)
		q->retries[key]++;
	return n >= 18 || (uint64_t)BASE_MS << n > CAP_MS ? CAP_MS : (uint64_t)BASE_MS << n;
}

uint64_t queue_when(struct queue *q, uint32_t key, uint64_t now)
{
	uint64_t item = item_delay(q, key), bucket = bucket_reserve(&q->spent, &rate, now);

	return item > bucket ? item : bucket;
}

void queue_forget(struct queue *q, uint32_t key)
{
	if (key < q->cap_retries)
		q->retries[key] = 0;
}

void queue_drop(struct queue *q, uint32_t key)
{
	deadlines_cancel(&q->delayed, key);
	queue_forget(q, key);
}

size_t queue_bytes(const struct queue *q)
{
	return sizeof(*q) + q->ring_size * sizeof(*q->ring) + q->cap_queued +
	       q->cap_retries * sizeof(*q->retries) + deadlines_bytes(&q->delayed);
}
