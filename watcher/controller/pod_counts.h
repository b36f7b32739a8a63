/* pod_counts.h - how many pods each namespace and each node has, and how many workloads there are: the wholes
 * that shares are of. Facts of a pod that is being judged stay as they are. Layer: watcher.  Threads: none.
 * Counted by a walk over the cache when asked, at most once a minute: without a share in the settings nothing
 * is counted.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_POD_COUNTS_H
#define WATCHER_CONTROLLER_POD_COUNTS_H

#include "watcher/cache/store.h"

#define POD_COUNTS_MS 60000u

struct pod_counts;

struct pod_counts *pod_counts_new(void);
void pod_counts_free(struct pod_counts **c);
/* Count again when the last count is older than POD_COUNTS_MS. now: boot ms. */
void pod_counts_take(struct pod_counts *c, const struct store *s, uint64_t now);
/* As of the last count. */
uint32_t pod_counts_namespace(const struct pod_counts *c, struct str ns);
uint32_t pod_counts_node(const struct pod_counts *c, struct str node);
/* Owners that have pods, and pods without one. */
uint32_t pod_counts_workloads(const struct pod_counts *c);

/* Do pods stand on more than one node? Looks only as far as it must. */
bool pod_counts_many_nodes(struct pod_counts *c, const struct store *s);

#endif
