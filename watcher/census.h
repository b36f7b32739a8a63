/* census.h - how many pods each namespace and each node has, and how many workloads there are: what a share
 * is a share of. Facts of a pod that is being judged stay as they are. Layer: watcher.  Threads: none.
 * Counted by a walk over the cache when asked, at most once a minute: nothing is counted where nobody asks.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CENSUS_H
#define WATCHER_CENSUS_H

#include "watcher/store.h"

#define CENSUS_MS 60000u

struct census;

struct census *census_new(void);
void census_free(struct census **c);
/* Count again when the last count is older than CENSUS_MS. now: boot ms. */
void census_take(struct census *c, const struct store *s, uint64_t now);
/* As of the last count. */
uint32_t census_namespace(const struct census *c, struct str ns);
uint32_t census_node(const struct census *c, struct str node);
/* Owners that have pods, and pods without one. */
uint32_t census_workloads(const struct census *c);

/* Do pods stand on more than one node? Looks only as far as it must. */
bool census_many_nodes(const struct store *s);

#endif
