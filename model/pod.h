/* pod.h - the judged facts of one pod: what both decoders (protobuf, JSON) and the cache produce and the
 * rules read. What they are made of stands in fields.def. Layer: model.  All strings are borrowed from the
 * bytes decoded or from the cache and live as long as those. Times are Unix milliseconds; 0 means "not set"
 * (Kubernetes' zero time), never a real moment. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_POD_H
#define MODEL_POD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "model/annotations.h"
#include "model/fields.def"
#include "model/namespaces.h"
#include "model/policy.h"

/* More containers than this in one pod: the pod is kept, `containers_cut` is set, and no rule acts on it. */
#define POD_CONTAINERS_MAX 64
#define POD_FINALIZERS_MAX 16
/* Labels beyond are dropped and `labels_cut` is set. */
#define POD_LABELS_MAX 64

enum container_kind {
	CONTAINER_MAIN,
	CONTAINER_INIT,      /* in initContainerStatuses; restartable ones (sidecars) are here too */
	CONTAINER_EPHEMERAL, /* never condemns a pod */
};

enum container_state { CONTAINER_NONE, CONTAINER_WAITING, CONTAINER_RUNNING, CONTAINER_TERMINATED };

/* The types of the facts in fields.def, by kind. */
#define FACT_TYPE_TEXT                                 struct str
#define FACT_TYPE_BOOL                                 bool
#define FACT_TYPE_INT32                                int32_t
#define FACT_TYPE_TIME                                 int64_t
#define FACT_TYPE_SECONDS                              int64_t
#define FACT_MEMBER(kind, member, packed, duties, doc) FACT_TYPE_##kind member;

struct container_facts {
	CONTAINER_FACTS(FACT_MEMBER)
	enum container_kind kind;
	enum container_state state;
	enum pull_cause cause; /* from the cache, or found in Events; rules/cause.h prefers the message */
};

/* The ownerReference with controller=true; uid empty when there is none. */
struct owner_facts {
	struct str api_version;
	struct str kind;
	struct str name;
	struct str uid;
};

/* It counts a pod that is deleted as a failure, unless that has succeeded, and ends at backoffLimit
 * (kubernetes pkg/controller/job/job_controller.go, isPodFailed). */
static inline bool owner_is_job(const struct owner_facts *o)
{
	return str_is(o->kind, "Job") && str_is(o->api_version, "batch/v1");
}

struct pod_facts {
	POD_FACTS(FACT_MEMBER)
	struct owner_facts owner;
	struct annotations annotations; /* ops-pod-cleaner.io/... */
	uint8_t revision_rank;          /* of the decoders: which label `revision` came from */
	uint8_t claim_rank;             /* likewise: whether `claim` is the name of an object */
	uint32_t labels_mask; /* from the cache: rules/select.h; 0 where the labels themselves are here */
	/* of its namespace, by who asked for them; NULL: not known */
	const struct namespace_labels *namespace_labels;
	uint32_t n_labels;     /* 0 from the cache */
	uint32_t n_finalizers; /* all of them, also those above POD_FINALIZERS_MAX */
	/* What follows is as it was, up to those numbers. */
	struct str finalizers[POD_FINALIZERS_MAX];
	uint32_t n_containers;
	struct container_facts containers[POD_CONTAINERS_MAX];
	struct label labels[POD_LABELS_MAX];
};

/* Marked for deletion with grace 0, and no finalizer holds it: the API server is about to remove it, or was
 * cut off between the two. Only another DELETE ends that. */
static inline bool pod_is_half_deleted(const struct pod_facts *p)
{
	return p->deletion > 0 && p->grace_s == 0 && p->n_finalizers == 0;
}

/* Ended the container last so that its pod asks to start it again? Such a restart is no crash. A rule of its
 * own matched the exit code (KEP-5307), or all containers of the pod are restarted together (KEP-5532). */
static inline bool pod_asks_restart(const struct pod_facts *p, const struct container_facts *c)
{
	return c->asked || p->restarting;
}

/* How often the container of it that restarted most has. */
static inline int32_t pod_most_restarts(const struct pod_facts *p)
{
	int32_t most = 0;

	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++)
		if (p->containers[i].kind != CONTAINER_EPHEMERAL && p->containers[i].restarts > most)
			most = p->containers[i].restarts;
	return most;
}

/* Phase Succeeded or Failed: no container of it runs or will run. */
static inline bool pod_is_finished(const struct pod_facts *p)
{
	return str_is(p->phase, "Succeeded") || str_is(p->phase, "Failed");
}

/* Condition Ready of a pod that is not over: nobody keeps up that of one which is, and no Service sends to
 * it. */
static inline bool pod_is_serving(const struct pod_facts *p)
{
	return p->ready && !pod_is_finished(p);
}

#endif
