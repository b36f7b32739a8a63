/* controller.h - the watcher's mind: cache, queue, deadlines, clocks and nominations in flight put together.
 * Layer: watcher.  Threads: none; no I/O, no timers: messages leave through `send`, time comes from
 * base/clock.h, and whoever owns the loop calls controller_run() when it says so.
 * Events only mark keys; controller_run() judges a few at a time, so that the socket is always read first. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_CONTROLLER_H
#define WATCHER_CONTROLLER_CONTROLLER_H

#include "model/policy.h"
#include "ipc/msg.h"
#include "rules/judge.h"
#include "watcher/guards/sync_state.h"
#include "watcher/cache/store.h"

struct controller;

/* 0 or -EAGAIN (kept and tried again). */
typedef int controller_send_fn(void *ctx, const struct msg *m);

/* policy is borrowed until the next controller_set_policy. quiet_ms: no nomination this long after the first
 * sync. */
struct controller *controller_new(uint64_t cluster, const struct policy *policy, uint64_t quiet_ms,
				  controller_send_fn *send, void *ctx);
void controller_free(struct controller **c);

/* Name of the cluster, for pauses; TZif bytes of the zones that windows name (config/window.h). Copied. */
void controller_set_place(struct controller *c, const char *cluster, const void *zones, size_t n_zones);
/* From now on by this policy; everything is judged again. */
void controller_set_policy(struct controller *c, const struct policy *policy, uint64_t quiet_ms);
/* Another set of namespaces will be watched: the cache starts empty. */
void controller_reset(struct controller *c);

/* What the reflector says (kube/reflector.h). controller_pod: 0, or -EINVAL when the pod cannot be kept. */
int controller_pod(struct controller *c, const struct pod_facts *p);
void controller_delete(struct controller *c, const struct pod_facts *p);
void controller_list(struct controller *c, struct str ns);
void controller_sync(struct controller *c, struct str ns);
void controller_list_failed(struct controller *c, struct str ns);
/* Bytes of a list or watch arrived; an answer with a Date arrived, also one that is an error. */
void controller_alive(struct controller *c);
void controller_server_date(struct controller *c, int64_t date_ms);
void controller_healthy(struct controller *c);

/* What other processes say. */
void controller_on_nomination_result(struct controller *c, const struct msg_nomination_result *m);
void controller_on_failing_since_row(struct controller *c, const struct msg_failing_since_row *m);
void controller_on_saved_row(struct controller *c, const struct msg_saved_row *m);
void controller_on_action_row(struct controller *c, const struct msg_action_row *m);
void controller_on_saved_end(struct controller *c);
void controller_on_pause(struct controller *c, const struct msg_pause *m);
/* Does this replica act? It does unless told otherwise; what is due meanwhile waits, in order. holder: who
 * does, for people. */
void controller_set_leader(struct controller *c, bool leading, const char *holder);
/* There is room again after send failed with -EAGAIN. */
void controller_on_room(struct controller *c);

/* Work for at most about two milliseconds; nothing yet, for at most four, while many events come in between
 * the calls: what lies in the socket is read first. Returns boot time of the next run that is needed: now or
 * earlier = at once, UINT64_MAX = not before something happens. */
uint64_t controller_run(struct controller *c);
/* When controller_run would next have something to do, without doing it. */
uint64_t controller_next(const struct controller *c);

/* For plan, explain and digest: the cache, time by the API server's clock, and what is known around pod h. */
struct store *controller_store(struct controller *c);
const struct policy *controller_policy(const struct controller *c);
const struct sync_state *controller_sync_state(const struct controller *c);
int64_t controller_now(const struct controller *c);
struct clock_snapshot;
struct guards;
struct guards *controller_guards(struct controller *c);
/* Every pod in the order in which they would go: those that are blocked, oldest first, then the others. A
 * malloc()ed array in *ret, never NULL; returns how many. */
uint32_t controller_order(const struct controller *c, uint32_t **ret);
void controller_clocks(const struct controller *c, struct clock_snapshot *ret);
void controller_context(struct controller *c, uint32_t h, const struct pod_facts *p, struct pod_context *ret);

struct controller_stats {
	size_t bytes, queue, deadlines;
	uint64_t nominated, dropped, judged;
	int64_t last_byte; /* wall ms */
	uint64_t blocked, reverts;
	uint64_t guards;      /* that block something: bits 1 << enum guard */
	char blocked_by[256]; /* what blocks them */
};
void controller_stats(const struct controller *c, struct controller_stats *ret);

#endif
