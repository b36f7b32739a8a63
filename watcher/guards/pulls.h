/* pulls.h - from which registry hosts pods were seen to pull, when, and of which workloads: whether it is the
 * registry that hinders a pull, or something of the workload's own. Layer: watcher.  Threads: none.
 * Owns: copies of all names it is given.  Times are by the API server's clock, Unix ms. Begins with nothing
 * known, also after a restart: then a transient failure is taken for the registry's until a pull is seen. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_PULLS_H
#define WATCHER_GUARDS_PULLS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/pod.h"

struct pulls;

struct pulls *pulls_new(void);
void pulls_free(struct pulls **p);

/* A pod of this owner was seen to start now, and had not before: its images are there. */
void pulls_note(struct pulls *p, struct str owner, const struct pod_facts *pod, int64_t at);
/* Twice the kubelet's longest back-off: whoever still fails this long after another's pull has tried again.
 */
#define PULLS_SETTLE_MS 600000

/* When a pod of another owner pulled from each of the hosts that this failing pod pulls from, not after
 * `until`: the earliest of them; 0 when one was not seen. */
int64_t pulls_of_others(const struct pulls *p, struct str owner, const struct pod_facts *pod, int64_t until);
/* Has a pull become that old since it was last asked? */
bool pulls_take_news(struct pulls *p, int64_t now);

#endif
