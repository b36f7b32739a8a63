/* judging.h - the watcher's mind: cache, queue, deadlines, clocks and book put together.
 * Layer: watcher.  Threads: none; no I/O, no timers: messages leave through `send`, time comes from
 * base/clock.h, and whoever owns the loop calls judging_turn() when it says so.
 * Events only mark keys; judging_turn() judges a few at a time, so that the socket is always read first. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_JUDGING_H
#define WATCHER_JUDGING_H

#include "base/policy.h"
#include "ipc/msg.h"
#include "rules/judge.h"
#include "watcher/gate.h"
#include "watcher/store.h"

struct judging;

/* 0 or -EAGAIN (kept and tried again). */
typedef int judging_send_fn(void *ctx, const struct msg *m);

/* policy is borrowed until the next judging_set_policy. quiet_ms: no nomination this long after the first
 * sync. */
struct judging *judging_new(uint64_t cluster, const struct policy *policy, uint64_t quiet_ms,
			    judging_send_fn *send, void *ctx);
void judging_free(struct judging **j);

/* Name of the cluster, for pauses; TZif bytes of the zones that windows name (config/window.h). Copied. */
void judging_set_place(struct judging *j, const char *cluster, const void *zones, size_t n_zones);
/* From now on by this policy; everything is judged again. */
void judging_set_policy(struct judging *j, const struct policy *policy, uint64_t quiet_ms);
/* Another set of namespaces will be watched: the cache starts empty. */
void judging_reset(struct judging *j);

/* What the reflector says (kube/reflector.h). judging_pod: 0, or -EINVAL when the pod cannot be kept. */
int judging_pod(struct judging *j, const struct pod_facts *p);
void judging_delete(struct judging *j, const struct pod_facts *p);
void judging_list(struct judging *j, struct str ns);
void judging_sync(struct judging *j, struct str ns);
void judging_list_failed(struct judging *j, struct str ns);
/* Bytes of a list or watch arrived; an answer with a Date arrived, also one that is an error. */
void judging_alive(struct judging *j);
void judging_server_date(struct judging *j, int64_t date_ms);
void judging_healthy(struct judging *j);

/* What other processes say. */
void judging_on_settled(struct judging *j, const struct msg_settled *m);
void judging_on_since_row(struct judging *j, const struct msg_since_row *m);
void judging_on_memo_row(struct judging *j, const struct msg_memo_row *m);
void judging_on_act_row(struct judging *j, const struct msg_act_row *m);
void judging_on_since_end(struct judging *j);
void judging_on_pause(struct judging *j, const struct msg_pause *m);
/* Does this replica act? It does unless told otherwise; what is due meanwhile waits, in order. holder: who
 * does, for people. */
void judging_set_leader(struct judging *j, bool leading, const char *holder);
/* There is room again after send failed with -EAGAIN. */
void judging_on_room(struct judging *j);

/* Work for at most about two milliseconds; nothing yet, for at most four, while many events come in between
 * the calls: what lies in the socket is read first. Returns boot time of the next turn that is needed: now or
 * earlier = at once, UINT64_MAX = not before something happens. */
uint64_t judging_turn(struct judging *j);
/* When judging_turn would next have something to do, without doing it. */
uint64_t judging_next(const struct judging *j);

/* For plan, explain and digest: the cache, time by the API server's clock, and what is known around pod h. */
struct store *judging_store(struct judging *j);
const struct policy *judging_policy(const struct judging *j);
const struct gate *judging_gate(const struct judging *j);
int64_t judging_now(const struct judging *j);
struct moment;
struct guards;
struct guards *judging_guards(struct judging *j);
/* Every pod in the order in which they would go: those that are held, oldest first, then the others. A
 * malloc()ed array in *ret, never NULL; returns how many. */
uint32_t judging_order(const struct judging *j, uint32_t **ret);
void judging_moment(const struct judging *j, struct moment *ret);
void judging_surroundings(struct judging *j, uint32_t h, const struct pod_facts *p, struct surroundings *ret);

struct judging_stats {
	size_t bytes, queue, deadlines;
	uint64_t nominated, dropped, judged;
	int64_t last_byte; /* wall ms */
	uint64_t held, fights;
	char hold[256]; /* what holds them */
};
void judging_stats(const struct judging *j, struct judging_stats *ret);

#endif
