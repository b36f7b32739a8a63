/* pod.h - the judged facts of one pod: what both decoders (protobuf, JSON) and the cache produce and the
 * rules read. It stands here because kube/ and rules/ do not see one another. Layer: base.  All strings are
 * borrowed from the bytes decoded or from the cache and live as long as those. Times are Unix milliseconds; 0
 * means "not set" (Kubernetes' zero time), never a real moment. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_POD_H
#define MODEL_POD_H

#include <stdbool.h>
#include <stdint.h>

#include "model/annotations.h"
#include "model/policy.h"
#include "base/str.h"

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

struct container_facts {
	struct str name;
	enum container_kind kind;
	enum container_state state;
	struct str reason;  /* waiting.reason or terminated.reason */
	struct str message; /* waiting.message; empty from the cache, which does not keep it */
	struct str image;   /* as the kubelet reports it; from the cache only host and "/" of a failing one */
	enum pull_cause cause; /* from the cache, or found in Events; rules/cause.h prefers the message */
	bool ready;
	bool started;
	int32_t restarts;
	int32_t exit_code;      /* of state.terminated */
	int64_t started_at;     /* running.startedAt or terminated.startedAt */
	int64_t finished_at;    /* terminated.finishedAt */
	struct str last_reason; /* lastState.terminated */
	int32_t last_exit_code;
	int64_t last_finished_at;
};

struct label {
	struct str key, value;
};

/* The ownerReference with controller=true; uid empty when there is none. */
struct owner_facts {
	struct str api_version;
	struct str kind;
	struct str name;
	struct str uid;
};

struct pod_facts {
	struct str ns, name, uid, rv;
	struct owner_facts owner;
	struct str revision; /* label pod-template-hash, rollouts-pod-template-hash or
				controller-revision-hash */
	struct str node;
	struct str phase, reason;
	struct str priority_class;
	int64_t created;
	int64_t deletion; /* metadata.deletionTimestamp: a deadline, request time + grace */
	int64_t grace_s;  /* metadata.deletionGracePeriodSeconds; -1 when not set */
	int64_t start_time;
	int64_t ready_since;   /* lastTransitionTime of condition Ready when its status is True, else 0 */
	int64_t scheduled_at;  /* of PodScheduled=True */
	int64_t disruption_at; /* of DisruptionTarget=True */
	bool ready;            /* condition Ready=True */
	bool initialized;      /* condition Initialized=True */
	bool scheduled;        /* condition PodScheduled=True or spec.nodeName set */
	bool mirror;           /* annotation kubernetes.io/config.mirror, or owner of kind Node */
	bool has_pvc;          /* a volume of type persistentVolumeClaim (or ephemeral) */
	bool skip;             /* annotation or label ops-pod-cleaner.io/ignore: "true" */
	bool containers_cut;
	bool labels_cut;
	struct annotations annotations; /* annotations ops-pod-cleaner.io/... */
	uint32_t labels_mask;  /* from the cache: rules/select.h; 0 where the labels themselves are here */
	uint32_t n_labels;     /* 0 from the cache */
	uint32_t n_finalizers; /* all of them, also those above POD_FINALIZERS_MAX */
	struct str finalizers[POD_FINALIZERS_MAX];
	uint32_t n_containers;
	struct container_facts containers[POD_CONTAINERS_MAX];
	struct label labels[POD_LABELS_MAX];
};

#endif
