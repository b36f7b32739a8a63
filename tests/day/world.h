/* world.h - a cluster of 5,000 pods in simulated time: what is true in it, what its controllers do, and who
 * asked for what. It knows nothing of the rules: whether an act did harm is read from the truth.  Layer:
 * tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_DAY_WORLD_H
#define TEST_DAY_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "model/pod.h"

#define SECOND 1000
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)

#define WORKLOADS  1200
#define NODES      100
#define NODES_KEPT 90 /* of them, the first, that are never lost */
#define PODS_MAX   16384

/* What happens to an object in the course of the day: one row of the outcome table.
 * S(ID, what, what is right: done or left alone) */
#define SITUATIONS(S)                                                                                        \
	S(ORDINARY, "runs all day, rolled out anew now and then", LEFT)                                      \
	S(NEW_BAD_IMAGE, "new workload whose image does not exist", DONE)                                    \
	S(BAD_ROLLOUT, "rollout to an image that does not exist; the old pods serve", LEFT)                  \
	S(NO_ACCESS,                                                                                         \
	  "new workloads of a team whose pull secret lets nothing in; the secret is corrected after 3 h",    \
	  LEFT)                                                                                              \
	S(OUTAGE, "moved to other nodes while the registry is down for 90 min", LEFT)                        \
	S(CAME_BACK, "image does not exist, and an operator puts the replicas back within 2 min", DONE)      \
	S(EVICTED, "evicted under pressure of the node", DONE)                                               \
	S(EVICTED_JOB, "evicted pod of a Job", LEFT)                                                         \
	S(EVICTED_SYSTEM, "evicted pod in kube-system", LEFT)                                                \
	S(STUCK_ENDED, "Terminating, node Ready, every container has ended", DONE)                           \
	S(STUCK_RUNNING, "Terminating, node Ready, a container still runs", LEFT)                            \
	S(STUCK_FINALIZER, "Terminating, held by a finalizer", LEFT)                                         \
	S(SLOW_SHUTDOWN, "Terminating with a grace period of 30 min, ends by itself", LEFT)                  \
	S(NODE_LOST, "on a node that is cut off, where it goes on running, and that comes back", LEFT)       \
	S(NODE_REMOVED, "on a node that is lost and then removed from the cluster", DONE)                    \
	S(NODE_SHUTDOWN, "Failed, left behind by a node that shut down", DONE)                               \
	S(ENDED_BADLY, "Failed by an error of its own", LEFT)                                                \
	S(CRASH_LOOP, "new workload that crashes from its first start, and nobody mends it", DONE)           \
	S(CRASH_HEALS, "crashes in a loop for 40 min, until its database answers", LEFT)                     \
	S(TYPING_MISTAKE, "new workload whose image Docker Hub does not have: pull access denied", DONE)     \
	S(NO_REGISTRY, "new workload whose registry does not exist: no such host", DONE)                     \
	S(OWN_TIMEOUT, "new workload whose pull times out for ever, while others pull from there", DONE)     \
	S(STUCK_DEVICE, "Terminating, node Ready, every container has ended, its device is not given back",  \
	  LEFT)                                                                                              \
	S(WANTED_RESTARTS, "ends with a code for which its own rule asks to start it again", LEFT)           \
	S(SICK_DEVICE, "crashes on a device that its node calls Unhealthy", LEFT)                            \
	S(BROKEN_BEFORE, "has never had its image when the program comes, with eleven others", DONE)         \
	S(WRONG_CHART, "of a chart of twelve, whose tags were never pushed", DONE)                           \
	S(KILLED_NOW_AND_THEN, "one replica that serves, and is killed for its memory every hour", LEFT)     \
	S(UP_IN_BETWEEN, "one replica that crashes every few minutes, and serves in between", LEFT)          \
	S(OUT_OF_STEP, "six pods that crash out of step, none of them ever Ready", DONE)                     \
	S(NEVER_STARTED, "image does not exist, and one of its three pods was never scheduled", DONE)        \
	S(TWO_WAYS, "one of its pods crashes, the others cannot pull their image", LEFT)                     \
	S(EVICTED_WORKFLOW, "evicted pod of an Argo Workflow, a PyTorchJob, or a kind that does not scale",  \
	  LEFT)                                                                                              \
	S(QUEUED_JOB, "pod of a queued Job that cannot pull its image", LEFT)                                \
	S(OLD_MARK,                                                                                          \
	  "at 0 by a history that is lost, and corrected since; its mark has the number of an action of "    \
	  "ours",                                                                                            \
	  LEFT)

enum situation {
#define S(ID, what, right) SIT_##ID,
	SITUATIONS(S)
#undef S
		SIT__MAX
};

enum life { LIFE_RUNNING, LIFE_FAILING, LIFE_CRASHING, LIFE_UNSCHEDULED, LIFE_EVICTED, LIFE_ENDED };

struct workload {
	enum situation situation;
	char ns[24], name[40], host[40];
	unsigned revision;
	int replicas, before; /* wanted; before somebody wanted 0 */
	bool job, exists;
	const char *kind, *api_version;     /* of what runs to completion; NULL: a Job or a ReplicaSet */
	bool image_bad, no_access, crashes; /* of the newest revision */
	const char *hopeless;               /* what the kubelet says of it, and nobody mends it */
	bool apart;                         /* on nodes that are not lost, without a throw of the dice */
	unsigned writes;                    /* scale-downs by the cleaner */
	unsigned failing_revision;
	int64_t failing_at; /* the first pod of that revision failed to pull, or crashed */
};

struct sim_pod {
	bool exists;
	enum situation situation;
	int workload, node;
	unsigned revision;
	enum life life;
	bool runs; /* the truth: a process of it runs somewhere, or a device is prepared for it */
	bool claim;
	bool forced, finalizer, creating;
	int64_t created, deletion, grace_s, refresh_at, began, ended; /* its newest run */
	unsigned flips;
	uint64_t rv;
	char name[64], uid[40], owner[64], owner_uid[40], revision_text[16], rv_text[24], node_text[16],
		image[80];
	const char *message;
	unsigned writes;
};

struct sim_node {
	bool exists, ready;
};

/* What became of one situation. */
struct ledger {
	unsigned objects, handled, writes, harm, futile;
};

struct world {
	int64_t now; /* of the API server */
	uint32_t seed;
	uint64_t rv;
	bool registry_down;
	struct workload workloads[WORKLOADS];
	struct sim_node nodes[NODES];
	struct sim_pod *pods;
	uint32_t n_pods;
	/* The watch: called after every change. */
	void (*on_event)(void *ctx, uint32_t pod, bool deleted);
	void *ctx;
	struct ledger outcomes[SIT__MAX];
};

struct world *world_new(int64_t now);
void world_free(struct world **w);
uint32_t world_random(struct world *w, uint32_t below);

/* A pod of the workload's newest revision on some node: it pulls its image, or fails to. Returns its number.
 */
uint32_t world_add_pod(struct world *w, int workload);
/* Somebody asked to delete it: deletionTimestamp = now + grace. */
void world_terminate(struct world *w, uint32_t pod, int64_t grace_s);
void world_touch(struct world *w, uint32_t pod);
/* The object goes; its controller makes another one when one is missing. */
void world_remove(struct world *w, uint32_t pod);
/* The controllers and kubelets at work: replicas, retries of pulls. */
void world_reconcile(struct world *w, int workload);
void world_tick(struct world *w);
/* It can be pulled, and starts, from now on: failing pods run. */
void world_heal(struct world *w, int workload);

/* What the API server would answer. */
void world_facts(const struct world *w, uint32_t pod, struct pod_facts *ret);
/* Pods of the newest revision that are not terminating and were scheduled; of them failing in that way; Ready
 * pods of every revision. */
void world_tally(const struct world *w, int workload, enum life way, uint32_t *ret_pods,
		 uint32_t *ret_failing, uint32_t *ret_ready);
uint32_t world_find(const struct world *w, const char *uid); /* PODS_MAX = no such pod */

/* -- writes of a cleaner: carried out, and judged by the truth -- */
void world_delete(struct world *w, uint32_t pod, bool force);
void world_scale_to_zero(struct world *w, int workload);
void world_put_back(struct world *w, int workload);

/* The events of the first day, in order of time (story.c); those that go on do so for `length` ms. Called
 * once for every step of the clock. */
struct story;
struct story *story_new(struct world *w, int64_t length);
void story_free(struct story **s);
void story_tell(struct story *s);
/* Steps of the local clock against the server's, ms. */
int64_t story_clock_off(const struct story *s);
/* The cleaner itself is restarted now. */
bool story_restarts(const struct story *s);

#endif
