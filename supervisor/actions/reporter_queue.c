/* reporter_queue.c - see reporter_queue.h. A ring. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/reporter_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/xalloc.h"

struct entry {
	struct msg_packed *m;
	uint64_t cluster;   /* CLUSTERS_MAX: of none */
	uint64_t statistic; /* hash of which one; 0: none */
};

struct reporter_queue {
	struct entry ring[REPORTER_QUEUE_MAX];
	size_t first, n;
	size_t of[CLUSTERS_MAX + 1];        /* by cluster */
	uint64_t dropped[CLUSTERS_MAX + 1]; /* by cluster */
};

struct reporter_queue *reporter_queue_new(void)
{
	return xcalloc(1, sizeof(struct reporter_queue));
}

void reporter_queue_free(struct reporter_queue **q)
{
	while ((*q)->n > 0)
		reporter_queue_remove_first(*q);
	free(*q);
	*q = NULL;
}

/* -- statistics -- */

static uint64_t hash_u64(uint64_t hash, uint64_t value)
{
	return fnv_bytes(hash, &value, sizeof(value));
}

/* Hash of the members that tell one statistic of a cluster from another; 0 when m is no statistic. */
static uint64_t statistic_of(const struct msg *m)
{
	const uint64_t hash = hash_u64(FNV_START, m->type);

	switch (m->type) {
	case MSG_WATCH_STATS:
	case MSG_WORKER_STATS:
		return hash;
	case MSG_CHILD_STATS:
		return hash_u64(
			fnv_text(fnv_text(hash, m->u.child_stats.role), m->u.child_stats.cluster_name),
			m->u.child_stats.number);
	case MSG_TROUBLE_ROW:
		return hash_u64(fnv_text(hash, m->u.trouble_row.cluster_name), m->u.trouble_row.trouble);
	case MSG_DUE_ROW:
		return fnv_text(hash_u64(hash_u64(hash, m->u.due_row.duty), m->u.due_row.state),
				m->u.due_row.reason);
	case MSG_REQUESTS:
		return hash_u64(hash_u64(hash, m->u.requests.verb), m->u.requests.code);
	case MSG_TIMING:
		return hash_u64(hash_u64(hash, m->u.timing.timing), m->u.timing.bucket);
	default:
		return 0;
	}
}

static uint64_t add(uint64_t a, uint64_t b, uint64_t max)
{
	return b > max - a ? max : a + b;
}

/* REQUESTS and TIMING say what came since the last one: m becomes the sum of both. */
static void add_up(struct msg *m, const struct msg *before)
{
	if (m->type == MSG_REQUESTS) {
		m->u.requests.n = add(m->u.requests.n, before->u.requests.n, UINT32_MAX);
	} else if (m->type == MSG_TIMING) {
		m->u.timing.n = add(m->u.timing.n, before->u.timing.n, UINT32_MAX);
		m->u.timing.sum_us = add(m->u.timing.sum_us, before->u.timing.sum_us, UINT64_MAX);
	}
}

static void replace(struct entry *e, const struct msg *m)
{
	struct msg sum = *m, before;

	msg_unpack(e->m, &before);
	if (before.type == m->type)
		add_up(&sum, &before);
	free(e->m);
	e->m = msg_pack(&sum);
}

/* -- the queue -- */

static struct entry *at(struct reporter_queue *q, size_t i)
{
	return &q->ring[(q->first + i) % REPORTER_QUEUE_MAX];
}

static struct entry *find(struct reporter_queue *q, uint64_t cluster, uint64_t statistic)
{
	for (size_t i = 0; statistic && i < q->n; i++)
		if (at(q, i)->statistic == statistic && at(q, i)->cluster == cluster)
			return at(q, i);
	return NULL;
}

/* A cluster may have twice as many as are left free. */
static bool has_room(const struct reporter_queue *q, uint64_t cluster)
{
	return q->of[cluster] + 2 * q->n < 2 * (size_t)REPORTER_QUEUE_MAX;
}

void reporter_queue_put(struct reporter_queue *q, const struct msg *m)
{
	const uint64_t cluster = msg_get_u64(m, "cluster", CLUSTERS_MAX), statistic = statistic_of(m);
	struct entry *e = find(q, cluster, statistic);

	if (e) {
		replace(e, m);
	} else if (has_room(q, cluster)) {
		*at(q, q->n++) = (struct entry){ msg_pack(m), cluster, statistic };
		q->of[cluster]++;
	} else {
		q->dropped[cluster]++;
	}
}

bool reporter_queue_first(const struct reporter_queue *q, struct msg *ret)
{
	if (q->n > 0)
		msg_unpack(q->ring[q->first].m, ret);
	return q->n > 0;
}

void reporter_queue_remove_first(struct reporter_queue *q)
{
	struct entry *e = at(q, 0);

	free(e->m);
	q->of[e->cluster]--;
	q->first = (q->first + 1) % REPORTER_QUEUE_MAX;
	q->n--;
}

size_t reporter_queue_count(const struct reporter_queue *q)
{
	return q->n;
}

uint64_t reporter_queue_dropped(const struct reporter_queue *q, uint64_t cluster)
{
	return q->dropped[cluster];
}

void reporter_queue_reset_dropped(struct reporter_queue *q)
{
	memset(q->dropped, 0, sizeof(q->dropped));
}
