/* tree_size.h - what the processes of so many clusters take: for the check at the start, and for whoever asks
 * before (`config check`). Measured on x86-64 with 1 to 100 clusters; memory on the in-memory server, idle,
 * by PSS.  Layer: base.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_TREE_SIZE_H
#define BASE_TREE_SIZE_H

#include <stdint.h>

struct tree_size {
	uint64_t idle, most;  /* processes; most: each cluster has all its workers */
	uint64_t descriptors; /* of the supervisor, at most: with those of a reload and of who asks it */
	uint64_t memory;      /* idle, without pods, bytes */
};

#define TREE_DESCRIPTORS         UINT64_C(64)
#define TREE_CLUSTER_DESCRIPTORS UINT64_C(7) /* 5, and 2 of settings that are new */
#define TREE_WORKER_DESCRIPTORS  UINT64_C(3)
#define TREE_MEMORY              (UINT64_C(10) << 20)
#define TREE_CLUSTER_MEMORY      (UINT64_C(24) << 20) / 10
#define TREE_WORKER_MEMORY       (UINT64_C(17) << 20) / 10
/* Of a pod in a cache. */
#define TREE_POD_BYTES UINT64_C(110)

/* Supervisor and reporter. */
static inline struct tree_size tree_size_of_none(void)
{
	return (struct tree_size){ 2, 2, TREE_DESCRIPTORS, TREE_MEMORY };
}

/* One cluster more, with so many workers while it is idle, and at most. */
static inline void tree_size_add(struct tree_size *s, uint64_t workers_min, uint64_t workers)
{
	s->idle += 1 + workers_min;
	s->most += 1 + workers;
	s->descriptors += TREE_CLUSTER_DESCRIPTORS + workers * TREE_WORKER_DESCRIPTORS;
	s->memory += TREE_CLUSTER_MEMORY + workers_min * TREE_WORKER_MEMORY;
}

#endif
