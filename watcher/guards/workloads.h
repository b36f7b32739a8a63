/* workloads.h - what happened to each workload: since when it fails, whether it came back after it was scaled
 * down, or is evicted from a node again and again. Layer: watcher.  Threads: none.  Owns: copies of all names
 * it is given.  Times are by the API server's clock. A workload is a number, of its owner's uid (the pod's
 * without an owner) and a revision; an evict loop is one of owner and node. 0 is none: nothing is known of
 * it.
 * Since when it fails Kubernetes does not say. Each duty that concerns workloads has a clock for it, the i-th
 * of model/duties.h: it survives the churn of pods and a restart of this process (the reporter keeps it),
 * never starts before it was seen, and ends when a pod of the revision works, when one was Ready for long
 * enough, or when none failed for an hour. Of a duty that asks for it there is measured how long a pod of it
 * was Ready meanwhile. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_WORKLOADS_H
#define WATCHER_GUARDS_WORKLOADS_H

#include "model/duties.h"
#include "rules/readiness.h"
#include "rules/reverted.h"
#include "watcher/guards/clocks.h"
#include "watcher/guards/outlet.h"

struct workloads;

struct workloads *workloads_new(void);
void workloads_free(struct workloads **w);

uint32_t workloads_find(const struct workloads *w, struct str owner, struct str revision);

/* A clock without any failing pod is forgotten after this. */
#define WORKLOADS_IDLE_MS 3600000

/* A clock: that of the i-th duty of an owner and a revision. */
struct clock_key {
	struct str owner, revision;
	size_t i;
};

/* 0 = the clock does not run; a pod was not deleted for a fresh attempt. */
struct failing {
	int64_t since, attempted;
	int32_t restarts; /* of a container of it, at most, when the clock began */
	bool measured;
	bool pulled; /* a pod of it has had its images, in this life or an earlier one */
};

/* FAILING_SINCE_ROW; it is not sent back before a pod of it is seen to fail. Known already: the earlier time
 * counts. */
void workloads_on_failing_since_row(struct workloads *w, const struct msg_failing_since_row *r, int64_t boot);
/* A pod fails now: returns since when, starting the clock at `now` if it does not run. */
int64_t workloads_fails(struct workloads *w, struct clock_key k, int64_t now);
/* Of an instance that only plans, whose clocks have just begun: a pod of it has not been Ready since `at`.
 * Returns since when it fails, at least. */
int64_t workloads_failed_before(struct workloads *w, struct clock_key k, int64_t at);
/* A pod of it was seen with its images: that holds as long as the clock runs, over a restart, too. Returns
 * whether one ever was. */
bool workloads_pulled(struct workloads *w, struct clock_key k, bool pulled);
struct failing workloads_clock(const struct workloads *w, struct clock_key k);
/* While the clock runs it is measured how long a pod of it is Ready: how long within the last `window`, asked
 * for by workloads_ready_ms(). restarts: how often a container of it had restarted by now, at most; of a
 * clock that the reporter kept its own word stands. */
void workloads_measure(struct workloads *w, struct clock_key k, int64_t window, int32_t restarts,
		       int64_t now);
/* A pod of the workload is Ready, or none is. */
void workloads_ready(struct workloads *w, struct clock_key k, bool ready, int64_t now);
int64_t workloads_ready_ms(const struct workloads *w, struct clock_key k, int64_t now);
/* A pod was deleted for a fresh attempt: kept while the clock runs. */
void workloads_attempted(struct workloads *w, uint32_t id, enum duty d, int64_t at);
/* No pod of the revision fails at present. */
void workloads_idle(struct workloads *w, struct clock_key k, int64_t boot);
/* A pod of the revision works: the clock ends. */
void workloads_works(struct workloads *w, struct clock_key k);
/* Clocks that run. */
uint32_t workloads_clocks(const struct workloads *w);

/* A pod of it fails, and counts for the breaker: its number. */
uint32_t workloads_failing(struct workloads *w, struct str owner, struct str revision);
/* No pod of it does. false: none did. */
bool workloads_recovered(struct workloads *w, uint32_t id);

/* It is about to be acted on: its number. */
uint32_t workloads_act(struct workloads *w, struct str owner, struct str revision);
/* How often it came back, and how long it is blocked for it, when a pod of it is due that was made at
 * `created`. */
struct reverted workloads_reverted(const struct workloads *w, uint32_t id, int64_t created, int64_t now);
/* Such a pod is due: a return is counted. */
void workloads_note_due(struct workloads *w, uint32_t id, int64_t created, int64_t now);
/* The action ended; done: it was written, asked for at `asked`. */
void workloads_acted(struct workloads *w, uint32_t id, bool done, int64_t asked);
/* The clocks of this owner end, and nothing of it counts as reverted any more. */
void workloads_forgive(struct workloads *w, struct str owner);
/* Workloads that came back and are remembered. */
uint32_t workloads_reverts(const struct workloads *w);

/* Pods of this owner that are evicted from this node; make: look for a loop of them from now on, where there
 * is room. */
uint32_t workloads_loop(const struct workloads *w, struct str owner, struct str node);
uint32_t workloads_make_loop(struct workloads *w, struct str owner, struct str node);
const struct evict_loop *workloads_evict_loop(const struct workloads *w, uint32_t id);
/* rules/reverted.h: a pod of it was deleted; is due. */
void workloads_loop_deleted(struct workloads *w, uint32_t id, int64_t created, int64_t now);
/* An action on it, or in the loop, begins, or its end is known: it is not forgotten in between. */
void workloads_open(struct workloads *w, uint32_t id, bool open);
bool workloads_loop_seen(struct workloads *w, uint32_t id, int64_t created);

/* SAVED_ROW of a workload that was acted on; of an evict loop. */
void workloads_on_saved(struct workloads *w, const struct msg_saved_row *m);
void workloads_on_saved_loop(struct workloads *w, const struct msg_saved_row *m);
/* Is there something to send? */
bool workloads_are_unsaved(const struct workloads *w);
/* Send what changed, as FAILING_SINCE and SAVED, until the outlet is full; 0 or what it said. */
int workloads_flush(struct workloads *w, uint64_t cluster, const struct outlet *out);
void workloads_expire(struct workloads *w, const struct clock_snapshot *now);

#endif
