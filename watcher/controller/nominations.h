/* nominations.h - what follows from a decision about a pod: a nomination, a refusal, a deadline, a wait
 * behind a guard; and what follows from the end of a nomination. Layer: watcher.  Threads: none; no I/O, no
 * timers.  Times are boot milliseconds. Pods are named by their handles and come again as keys of the
 * controller's queue. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_NOMINATIONS_H
#define WATCHER_CONTROLLER_NOMINATIONS_H

#include "watcher/controller/decision.h"
#include "watcher/guards/outlet.h"
#include "watcher/controller/queue.h"

struct nominations;

/* All borrowed: pods are judged again by way of keys, groups by way of groups. */
struct nominations *nominations_new(struct cluster_state *cluster, struct queue *keys, struct queue *groups,
				    const struct outlet *out);
void nominations_free(struct nominations **n);

/* Pod h, whose facts are p, was judged; what made that necessary was seen at `seen`. 0, or what the outlet
 * said: the key has to come again. */
int nominations_apply(struct nominations *n, uint32_t h, const struct pod_facts *p,
		      const struct pod_context *s, const struct decision *d, uint64_t seen, uint64_t now);
/* Pod h is not judged, because its namespace is not kept in step. */
void nominations_skip(struct nominations *n, uint32_t h);
/* Pod h goes; p: its facts, NULL is enough as long as there is not nominations_any(). */
void nominations_gone(struct nominations *n, uint32_t h, const struct pod_facts *p);
/* NOMINATION_RESULT. */
void nominations_on_result(struct nominations *n, const struct msg_nomination_result *m);
/* Something changed for this guard: what it blocks is judged again. */
void nominations_wake(struct nominations *n, enum guard g);
/* The API server answers again: what was given up because of it is tried again. */
void nominations_healthy(struct nominations *n);
/* The settings changed, and every pod is queued: nothing waits for what followed from the old ones. */
void nominations_judge_anew(struct nominations *n);
/* All deadlines were made by another time of the server: they are made anew. */
void nominations_redo_deadlines(struct nominations *n);
/* The clock of this host was set: and what was refused, or is blocked, is judged anew. */
void nominations_clock_stepped(struct nominations *n);

/* What a next watcher has to know leaves the outlet: 0, or what it said. */
int nominations_flush(struct nominations *n);
/* Queue what is due at `now`: deadlines, and as many of those that wait for room as there is. */
void nominations_collect(struct nominations *n, uint64_t now);
/* Queue what guards let go at `now`. */
void nominations_collect_blocked(struct nominations *n, uint64_t now);
void nominations_expire(struct nominations *n, uint64_t now);
/* When there is something to collect; UINT64_MAX = not before a change. */
uint64_t nominations_next(const struct nominations *n, uint64_t now);
/* Is any nomination open, or any wait remembered? */
bool nominations_any(const struct nominations *n);

/* Every pod in the order in which they would go: those that are blocked, oldest first, then the others. A
 * malloc()ed array in *ret, never NULL; returns how many. */
uint32_t nominations_order(const struct nominations *n, uint32_t **ret);

/* DUE_ROWs of what has changed; `again`: of everything. wall_ahead: of boot time. 0, or what the outlet said:
 * the rest comes the next time. */
int nominations_tell_due(struct nominations *n, bool again, int64_t wall_ahead);

/* Adds what is here to WATCH_STATS. */
void nominations_stats(const struct nominations *n, struct msg *m);

#endif
