/* step.h - the inside of an action, shared by the files that hold its steps.  Layer: worker, private. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_STEPS_STEP_H
#define WORKER_STEPS_STEP_H

#include <jansson.h>

#include "rules/judge.h"
#include "worker/action.h"
#include "worker/json_project.h"
#include "worker/read.h"

#define OWNERS_MAX 8
/* A list is read in pages so that the JSON of one (22 KB a pod) stays small. */
#define PAGE "limit=100"

enum step {
#define STEP(ID, what, flags, projection, ask_fn, take_fn) STEP_##ID,
#include "worker/steps/steps.def"
#undef STEP
	STEP_END,  /* the result is complete */
	STEP_SENT, /* a request is under way */
};

enum {
	STEP_WRITES = 1,    /* needs a valid grant and fresh reads; its fate may be in doubt */
	STEP_TAKES_404 = 2, /* its take() knows what an absent object means */
	STEP_TAKES_403 = 4, /* what may not be read stays unknown, and the judge refuses where it matters */
};

/* One request to be made. path and body are owned. path NULL: a name was not fit for one. */
struct ask {
	const char *method;
	char *path;
	char *body;
	const char *content_type;
	const char *accept; /* NULL: application/json */
};

struct answer {
	long status;
	json_t *json; /* what the step projects; NULL when the status is not 2xx; json_incref to keep it */
	const char *body;
	size_t body_len;
};

/* One owner above the pod. Strings borrow from the object below it. */
struct owner {
	struct owner_facts ref;
	struct kind_info kind;
	json_t *json;
};

enum revision_rule {
	REVISION_BY_OWNER, /* pods of the newest ReplicaSet */
	REVISION_BY_LABEL, /* pods of the update revision of a StatefulSet */
	REVISION_ALL,      /* every pod of the workload */
};

struct action {
	struct action_env env;
	const struct policy *policy;
	struct msg_grant grant;
	struct msg result;
	bool trial; /* ends before the first write */
	bool ahead; /* not granted yet: reads only */
	bool waits; /* for the grant, and then goes on with `next` */
	enum step next;
	enum step step;
	struct http_request *request;
	unsigned round;
	uint64_t asked_at;      /* boot ms, of the request under way */
	uint64_t fresh_from;    /* boot ms, of the oldest read that the write is based on */
	bool in_doubt;          /* a write of ours may or may not have been carried out: only look now */
	struct verdict verdict; /* the last one */

	json_t *pod_json;
	struct pod_context around;

	/* terminating */
	struct str_list attached; /* persistent volumes attached to the pod's node */
	size_t volume;            /* of the pod's spec, that is looked at */
	bool claim_seen;

	/* image pull */
	int64_t event_at[POD_CONTAINERS_MAX]; /* of the newest Event that tells why it cannot be pulled */
	char *event_text;                     /* what the last of them says; NULL none */
	struct owner owners[OWNERS_MAX];
	size_t n_owners;
	json_t *scale_json;
	struct scale_facts scale;
	bool suspends;    /* a Job: there is nothing to scale */
	size_t suspended; /* index of the owner that is suspended */
	char *selector;   /* of the Job's pods */
	enum revision_rule rule;
	char newest[64];        /* uid of the newest ReplicaSet, or name of the update revision */
	uint64_t newest_number; /* its revision, 0 when it has none */
	int64_t newest_created;
	bool revision_serves; /* a ReplicaSet of the workload reports Ready pods */
	bool pod_seen;        /* the granted pod is in the list, of the newest revision and failing */
	char *page;           /* continue token, NULL at the first page */

	struct pod_facts pod; /* last: its long tail is set only as far as its counts say */
};

struct step_desc {
	const char *what; /* "get pod" */
	unsigned flags;
	const struct json_projection *projection; /* what of its answer is read; NULL = all */
	void (*ask)(struct action *e, struct ask *ret);
	enum step (*take)(struct action *e, const struct answer *a);
};

#define STEP(ID, what, flags, projection, ask_fn, take_fn)                                                   \
	void ask_fn(struct action *e, struct ask *ret);                                                      \
	enum step take_fn(struct action *e, const struct answer *a);
#include "worker/steps/steps.def"
#undef STEP

/* -- ends: each fills the result and returns STEP_END -----------------------------------------------------
 */
enum step step_finish(struct action *e, enum outcome outcome, enum reason reason, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Judged live: anything but ACT. */
enum step step_refuse(struct action *e, const struct verdict *v);
/* The object is gone or as wanted: GONE, or UNCONFIRMED when an earlier write of ours may have done it. */
enum step step_gone(struct action *e, enum reason reason, const char *detail);

/* Adds a fact read live to the proof, for people; "; " is put between; what does not fit is cut. */
void step_prove(struct action *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* -- going on ----------------------------------------------------------------------------------------------
 */
/* Time by the API server's clock, Unix ms. */
int64_t step_now(const struct action *e);
/* Judge on what is known by now. False when it is anything but ACT; the result is then complete. */
bool step_judged(struct action *e, enum judge_stage stage);
/* The last judgement, when all is read; step_act() on ACT. */
enum step step_judge_live(struct action *e);
/* Begin the reading again, or end with this when there were enough rounds. */
enum step step_again(struct action *e, enum outcome outcome, enum reason reason, const char *detail);
/* Was an earlier write of ours possible, so that what is found may be its effect? */
bool step_may_be_ours(const struct action *e);
/* Continue token of a list: keep it and return true when there is another page. */
bool step_next_page(struct action *e, const json_t *list);
/* "limit=100", the selector (may be empty) and the continue token; owned by the caller. */
char *step_list_query(const struct action *e, struct str selector);
/* Where an action begins, and begins again. */
enum step step_first(struct action *e);
/* ACTION_RESTORE: its first step, and what follows from the scale read. */
enum step step_restore(struct action *e);
enum step step_restore_scale(struct action *e, const struct scale_facts *scale);
/* After the pod: find the cause, then its owner. */
enum step step_cause(struct action *e);
/* After the owners: who else sets the replicas, then the scale. */
enum step step_scaler(struct action *e);
/* A chain of a Job, or of a Job and its CronJob? What follows then, when it may be suspended. */
bool step_is_job(const struct action *e);
enum step step_suspend(struct action *e);
/* Everything is judged ACT: ask the object's marks, announce, or write. */
enum step step_act(struct action *e);
/* Does the duty concern the workload above the pod, not the pod alone? */
bool step_on_workload(const struct action *e);
/* The settings of this duty for this object. */
const struct duty_policy *step_policy(const struct action *e);
/* Of a write to an owner as it was read, or to the pod (NULL): into the result; its path; its query. */
void step_target(struct action *e, const struct owner *o);
char *step_object_path(const struct action *e, const struct owner *o, const char *query);
char *step_write_query(const struct action *e);
/* The owner above that one; refuses where the chain ends. */
enum step step_owner(struct action *e, const struct owner_facts *ref);

#endif
