/* controller.h - from an event to a nomination: keys are queued, judged again, and what follows is kept
 * (client-go's controller). Layer: watcher.  Threads: none; no I/O, no timers: messages leave through the
 * outlet, time comes from base/clock.h, and whoever owns the loop calls controller_run() when it says so.
 * Events only mark keys; controller_run() judges a few at a time, so that the socket is always read first. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_CONTROLLER_H
#define WATCHER_CONTROLLER_CONTROLLER_H

#include "watcher/controller/cluster_state.h"
#include "watcher/controller/nominations.h"
#include "watcher/guards/outlet.h"

struct controller;

/* policy is borrowed until the next controller_set_policy, the outlet is copied. quiet_ms: no nomination this
 * long after the first sync. */
struct controller *controller_new(uint64_t cluster, const struct policy *policy, uint64_t quiet_ms,
				  const struct outlet *out);
void controller_free(struct controller **c);

/* Name of the cluster, for pauses; TZif bytes of the zones that windows name (config/window.h). Copied. */
void controller_set_place(struct controller *c, const char *cluster, const void *zones, size_t n_zones);
/* From now on by this policy; everything is judged again. */
void controller_set_policy(struct controller *c, const struct policy *policy, uint64_t quiet_ms);
/* And the policy is another one: what it has refused, tried dry or put off waits no longer. Before
 * controller_set_policy, which alone serves a new credential. */
void controller_judge_anew(struct controller *c);
/* Another set of namespaces will be watched: the cache starts empty. */
void controller_reset(struct controller *c);

/* What the reflector reports (kube/reflector.h). controller_pod: 0, or -EINVAL when the pod cannot be kept.
 */
int controller_pod(struct controller *c, const struct pod_facts *event);
void controller_delete(struct controller *c, const struct pod_facts *p);
void controller_list(struct controller *c, struct str ns);
void controller_sync(struct controller *c, struct str ns);
void controller_list_failed(struct controller *c, struct str ns);
/* Bytes of a list or watch arrived; an answer with a Date arrived, also one that is an error. */
void controller_alive(struct controller *c);
void controller_server_date(struct controller *c, int64_t date_ms);
/* The API server answers again. */
void controller_healthy(struct controller *c);

/* The same of namespaces, while the policy asks for their labels. reset: what was known is forgotten, and
 * nothing is judged before they are listed, or it is known that they may not be (failed): then what asks for
 * labels is refused. */
void controller_reset_namespaces(struct controller *c);
void controller_namespace(struct controller *c, const struct pod_facts *ns);
void controller_namespace_gone(struct controller *c, const struct pod_facts *ns);
void controller_list_namespaces(struct controller *c);
void controller_sync_namespaces(struct controller *c);
void controller_namespaces_failed(struct controller *c);

/* A message of another process: NOMINATION_RESULT, PAUSE, SETTLED_ACK, or what the reporter saved
 * (FAILING_SINCE_ROW, SAVED_ROW, ACTION_ROW, UNSETTLED_ROW, SAVED_END). Any other is ignored. */
void controller_on_msg(struct controller *c, const struct msg *m);
/* Does this replica act? It does without a call; what is due meanwhile waits, in order. holder: who
 * does, for the operator. */
void controller_set_leader(struct controller *c, bool leading, const char *holder);
/* The outlet, which was full, has room again. */
void controller_on_room(struct controller *c);

/* Work for at most about two milliseconds; nothing yet, for at most four, while many events come in between
 * the calls: what lies in the socket is read first. Notices that the host's clock was set since the last run,
 * and judges anew what was refused, blocked or put off by the old time. Returns boot time of the next run
 * that is needed: now or earlier = at once, UINT64_MAX = not before something happens. */
uint64_t controller_run(struct controller *c);
/* When controller_run would next have something to do, without doing it. */
uint64_t controller_next(const struct controller *c);
/* Is no key left to judge? */
bool controller_is_idle(const struct controller *c);

/* For plan, explain and digests. */
const struct cluster_state *controller_cluster(const struct controller *c);
/* As nominations_order(). */
uint32_t controller_order(const struct controller *c, uint32_t **ret);

/* As nominations_tell_due(). */
int controller_tell_due(struct controller *c, bool again);
/* What the controller knows of WATCH_STATS. Returns how many keys were judged since the start. */
uint64_t controller_stats(const struct controller *c, struct msg *m);

#endif
