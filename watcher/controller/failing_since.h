/* failing_since.h - since when each revision of a workload fails to pull its image: Kubernetes does not say.
 * Layer: watcher.  Threads: none.  Owns: copies of its keys.
 * A clock belongs to (owner uid, revision), or to the pod's uid without an owner: it survives the churn of
 * pods and a restart of this process (the reporter keeps it), never starts before it was seen, and ends when
 * a pod of the revision has pulled, or when none failed for an hour. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_FAILING_SINCE_H
#define WATCHER_CONTROLLER_FAILING_SINCE_H

#include "base/str.h"

struct failing_since;

/* A clock without any failing pod is forgotten after this. */
#define FAILING_SINCE_IDLE_MS 3600000u

struct failing_since *failing_since_new(void);
void failing_since_free(struct failing_since **s);

/* A row that the reporter saved; it is not sent back. Known already: the earlier time counts. attempted_ms:
 * when a pod of it was deleted for a fresh attempt, 0 not yet. */
void failing_since_load(struct failing_since *s, struct str owner, struct str revision, int64_t at_ms,
			int64_t attempted_ms, uint64_t boot_ms);
/* A pod fails now: returns since when, starting the clock at now_ms if it does not run. */
int64_t failing_since_failing(struct failing_since *s, struct str owner, struct str revision, int64_t now_ms);
/* Since when, 0 = the clock does not run. */
int64_t failing_since_get(const struct failing_since *s, struct str owner, struct str revision);
/* When a pod of it was deleted for a fresh attempt, 0 = not yet; and that one was, while the clock runs. */
int64_t failing_since_attempted(const struct failing_since *s, struct str owner, struct str revision);
void failing_since_set_attempted(struct failing_since *s, struct str owner, struct str revision,
				 int64_t attempted_ms);
/* No pod of the revision fails at present. */
void failing_since_idle(struct failing_since *s, struct str owner, struct str revision, uint64_t boot_ms);
/* A pod of the revision has pulled: the clock ends. */
void failing_since_clear(struct failing_since *s, struct str owner, struct str revision);
/* The same for every revision of an owner. */
void failing_since_forget(struct failing_since *s, struct str owner);
/* Forget what has been idle for too long. */
void failing_since_expire(struct failing_since *s, uint64_t boot_ms);

/* Hand every change not yet written back to fn (at_ms 0 = forget it), until fn fails; returns 0 or what fn
 * returned. */
typedef int failing_since_flush_fn(void *ctx, struct str owner, struct str revision, int64_t at_ms,
				   int64_t attempted_ms);
int failing_since_flush(struct failing_since *s, failing_since_flush_fn *fn, void *ctx);
/* Clocks that run. */
uint32_t failing_since_count(const struct failing_since *s);

#endif
