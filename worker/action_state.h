/* action_state.h - the inside of an action, for the machine (action.c), its ends (action_end.c) and its steps
 * (steps/).  Layer: worker, private. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_ACTION_STATE_H
#define WORKER_ACTION_STATE_H

#include <string.h>

#include "rules/floors.h"
#include "rules/judge.h"
#include "worker/action_env.h"
#include "worker/read.h"
#include "worker/steps/step.h"

#define OWNERS_MAX 8
#define PEERS_MAX  256

/* One owner above the pod. Strings borrow from the object below it. */
struct owner_link {
	struct owner_facts ref;
	struct kind_info kind;
	json_t *json; /* owned; NULL before it is read */
};

/* Where a scale has no selector: what controls other pods of the namespace. */
struct peer {
	json_t *ref; /* owned: the ownerReference */
	bool serves; /* a pod of it is Ready; else one only does not fail */
};

enum revision_rule {
	REVISION_BY_OWNER, /* pods of the newest ReplicaSet, or of the Job */
	REVISION_BY_LABEL, /* pods of the update revision of a StatefulSet */
	REVISION_ALL,      /* every pod of the workload */
};

/* What was read; forgotten before it is read again. */
struct findings {
	struct pod_context context;
	json_t *namespace_json; /* owned: labels and annotations of the namespace; NULL: not known */
	struct label *labels;   /* owned, borrowing from it */
	struct namespace_labels namespace_labels;
	bool outdated;         /* judged, at least in part, by settings that are in force no more */
	uint64_t namespace_at; /* boot ms, when they were asked for; 0: they were not */
	json_t *pod_json;      /* owned */
	char *page;            /* continue token of the list under way; NULL at its first page */

	/* forced deletion */
	struct str_list attached; /* persistent volumes attached to the pod's node */
	struct facts
		*holds_up;  /* owned: which workload waits for the pod to go, and why; NULL none is known */
	char evictions[64]; /* version of Evictions, where the server has any */
	bool attached_unknown; /* an attachment there does not say which volume it is of */
	size_t volume;         /* of the pod's spec, that is looked at */

	/* scale-down */
	struct floors floors;                 /* before which it cannot have begun to fail */
	int64_t event_at[POD_CONTAINERS_MAX]; /* of the newest Event that tells why it cannot be pulled */
	char *event_text;                     /* what the last of them says; NULL none */
	struct owner_link owners[OWNERS_MAX]; /* from the pod's controller up */
	size_t n_owners;
	bool owners_read;   /* a pod that is deleted: all of them that are to be read */
	json_t *scale_json; /* owned */
	struct scale_facts scale;
	struct facts *hpa;  /* owned: detail of the refusal, where the server's version decides; NULL none */
	enum scale_way way; /* a Job has nothing to scale */
	size_t suspended;   /* index of the owner that is suspended */
	char *selector;     /* of the Job's pods */
	enum revision_rule rule;
	char newest[64];        /* uid of the newest ReplicaSet, or name of the update revision */
	uint64_t newest_number; /* its revision, 0 when it has none */
	int64_t newest_created;
	bool set_seen; /* the pod's ReplicaSet is in the list */
	bool all_sets; /* all of the namespace are listed: the selector does not find them */
	struct peer peers[PEERS_MAX];
	size_t n_peers, peer;        /* peer: that is looked at, */
	size_t height;               /* so far above itself, */
	struct owner_link peer_link; /* which is this, borrowing from ref; json is not used */
	bool peer_asks;              /* its kind is not known yet */
	struct str_list refused;     /* images of its registry that are refused: "secrets repository" */
	char *secrets;               /* of the pod; NULL: it is in no list yet */
	char other_image[254];       /* one of those, of another repository with the same secrets */
	char failing_node[254];      /* where the first of the failing pods is */
	bool pod_seen;               /* the granted pod is in the list, of the newest revision and failing */
	bool mark_due;               /* the workload was written to: its mark has to be brought up to date */
	char mark_rv[64];            /* the version that this is bound to; empty = it is read first */
	bool mark_asks;              /* is it still at 0? The object itself does not say it of this kind */
	unsigned mark_tries;
	char template[TEMPLATE_HASH_MAX]; /* of the workload as it was judged; empty = not read, or none */
	int64_t restores;                 /* replicas that are put back */
	unsigned leaving;                 /* pods of before that are terminating, */
	char leaves[254];                 /* the first of them */
};

struct action {
	struct action_env env;
	const struct policy *policy;
	struct msg_grant grant;
	struct msg result;
	bool dry_run;        /* ends before the first write */
	bool prefetched;     /* not granted yet: reads only */
	bool waits;          /* for the grant, and then goes on with `then` */
	enum step_then then; /* meaningful while it waits */
	enum step step;      /* the last that was begun */
	enum step write;     /* what the judgement chose; STEP_NONE before it */
	struct http_request *request;
	unsigned round;
	uint64_t asked_at;   /* boot ms, of the last request */
	uint64_t fresh_from; /* boot ms, of the oldest read that the write is based on */
	bool bare; /* replicas and mark in one write were refused, by whomever: the replicas alone are asked
		      for */
	bool by_scale; /* the credential may not write the object itself, only its scale */
	enum {
		REVIEW_NONE,
		REVIEW_ASKED,
		REVIEW_DONE
	} review;      /* mode observe: may the write be asked for? It is asked; it may, as far as is known */
	bool in_doubt; /* a write of ours may or may not have been carried out: only look now */
	struct verdict verdict;     /* the last one */
	struct facts unkept;        /* what is read while a write is in doubt */
	struct msg_result *written; /* owned: what was written before the last of several: target, request,
				     * and it alone as evidence; NULL: nothing */
	struct findings found;
	bool log_asked;         /* once: a kubelet may be slow */
	char *log;              /* owned: its last lines; NULL: none, or not read */
	char log_container[64]; /* whose */

	struct pod_facts pod; /* last: its long tail is set only as far as its counts say */
};

static inline bool owner_is(const struct owner_link *o, const char *group, const char *kind)
{
	return strcmp(o->kind.group, group) == 0 && strcmp(o->kind.kind, kind) == 0;
}

/* Is it done to the pod, not to its workload? */
static inline bool action_is_on_pod(const struct action *a)
{
	return action_desc((enum action_kind)a->grant.action)->target == TARGET_POD;
}

/* Does it write to the pod? */
static inline bool action_writes_pod(const struct action *a)
{
	return action_is_on_pod(a) || a->found.way == SCALE_DELETES;
}

/* Does it end in the deletion of the pod, whatever becomes of its workload? */
static inline bool action_deletes(const struct action *a)
{
	return a->grant.action == ACTION_DELETE || a->grant.action == ACTION_FORCE_DELETE;
}

/* The topmost owner that is known. There is one. */
static inline struct owner_link *action_top(struct action *a)
{
	return &a->found.owners[a->found.n_owners - 1];
}

#endif
