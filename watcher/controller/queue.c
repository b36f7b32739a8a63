/* queue.c - see queue.h.  A ring of keys in order, one byte of state for each key, a heap of delayed ones. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/queue.h"

#include <errno.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "watcher/cache/deadline.h"

enum { DIRTY = 1, PROCESSING = 2 };

#define BASE_MS      5u
#define CAP_MS       1000000u
#define BUCKET_BURST 100.0
#define BUCKET_MS    100.0 /* one token each: 10 a second */
#define RING_MIN     64u

struct queue {
	uint32_t *ring; /* size is a power of two */
	uint32_t ring_size, head, len;
	uint8_t *state; /* by key */
	uint32_t cap_state;
	uint16_t *retries; /* by key */
	uint32_t cap_retries;
	struct deadlines delayed;
	double tokens;
	uint64_t tokens_at;
};

struct queue *queue_new(void)
{
	struct queue *q = xcalloc(1, sizeof(*q));

	q->tokens = BUCKET_BURST;
	return q;
}

void queue_free(struct queue **q)
{
	if (!*q)
		return;
	free((*q)->ring);
	free((*q)->state);
	free((*q)->retries);
	deadlines_done(&(*q)->delayed);
	free(*q);
	*q = NULL;
}

static uint8_t *state_of(struct queue *q, uint32_t key)
{
	if (key >= q->cap_state) /* without a call where there is room: this is done for every event */
		q->state = xgrow(q->state, &q->cap_state, key, 1);
	return &q->state[key];
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

static void push(struct queue *q, uint32_t key)
{
	if (q->len == q->ring_size)
		ring_resize(q, q->ring_size ? q->ring_size * 2 : RING_MIN);
	q->ring[(q->head + q->len++) & (q->ring_size - 1)] = key;
}

void queue_add(struct queue *q, uint32_t key)
{
	uint8_t *state = state_of(q, key);

	if (*state & DIRTY)
		return;
	*state |= DIRTY;
	if (!(*state & PROCESSING))
		push(q, key);
}

int queue_get(struct queue *q, uint32_t *ret_key)
{
	if (q->len == 0)
		return -EAGAIN;
	*ret_key = q->ring[q->head];
	q->head = (q->head + 1) & (q->ring_size - 1);
	q->len--;
	q->state[*ret_key] = PROCESSING;
	/* The ring that a first list filled is not kept. */
	if (q->ring_size > 16 * RING_MIN && q->len < q->ring_size / 8)
		ring_resize(q, q->ring_size / 4);
	return 0;
}

void queue_done(struct queue *q, uint32_t key)
{
	uint8_t *state = state_of(q, key);

	if (!(*state & PROCESSING))
		return;
	*state &= (uint8_t)~PROCESSING;
	if (*state & DIRTY)
		push(q, key);
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

bool queue_next(const struct queue *q, uint64_t *ret_at)
{
	return deadlines_next(&q->delayed, ret_at);
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

/* x/time/rate's Reserve: the token is taken now, the delay is until it exists. */
static uint64_t bucket_delay(struct queue *q, uint64_t now)
{
	if (now > q->tokens_at)
		q->tokens += (double)(now - q->tokens_at) / BUCKET_MS;
	q->tokens_at = now;
	if (q->tokens > BUCKET_BURST)
		q->tokens = BUCKET_BURST;
	q->tokens -= 1;
	return q->tokens < 0 ? (uint64_t)(-q->tokens * BUCKET_MS) : 0;
}

uint64_t queue_when(struct queue *q, uint32_t key, uint64_t now)
{
	uint64_t item = item_delay(q, key), bucket = bucket_delay(q, now);

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
	return sizeof(*q) + q->ring_size * sizeof(*q->ring) + q->cap_state +
	       q->cap_retries * sizeof(*q->retries) + deadlines_bytes(&q->delayed);
}
