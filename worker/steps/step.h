/* step.h - what a step is, and the functions of all of them. An action is a walk down the table of steps
 * (steps.def): a step asks one thing and takes its answer, or only thinks.  Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_STEPS_STEP_H
#define WORKER_STEPS_STEP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "kube/write_body.h"
#include "rules/judge.h"
#include "text/texts.h"
#include "worker/json_project.h"

struct action;
struct findings;
struct owner_link;

enum step {
#define STEP(ID, ...) STEP_##ID,
#include "worker/steps/steps.def"
#undef STEP
	STEP__MAX,
	STEP_NONE = STEP__MAX,
};

/* How an action goes on after a step. */
enum step_then {
	STEP_NEXT,  /* with the next step of its kind that is needed */
	STEP_MORE,  /* with the step that the table names: the next page, claim or owner */
	STEP_SAME,  /* with itself: the server has said that its write may be asked for */
	STEP_FIRST, /* from the beginning: all is read again */
	STEP_DOUBT, /* a write may have been carried out: with the step that looks */
	STEP_END,   /* the result is complete */
	STEP_SENT,  /* a request is under way, or a pause before the next round */
};

/* A 404 means that the object of the action is gone, where nothing else is said. */
enum {
	STEP_WRITES = 1,   /* needs a valid grant and fresh reads; its fate may be in doubt */
	STEP_MAY_FAIL = 2, /* its take() knows what 404 and 403 mean; what may not be read stays unknown, and
			    * the judge refuses where it matters */
	STEP_OF_KIND = 32, /* asks for no object, and is no list: a 404 means that it is not served */
	STEP_AFTERWARDS = 4, /* the result is complete, and stands whatever becomes of this: its take() gets
			      * every answer; status 0: none came */
	STEP_TEXT = 16, /* its answer is text, and nothing is judged by it: its take() gets every answer, as
			 * above */
	STEP_OTHER_WAY = 8, /* a write; what the server refuses of it (400, 403, 422) is its take()'s, which
			     * goes another way. What is refused without a mark as well, for another cause
			     * than a right that is missing, is refused: whoever objects is not gone round */
};

/* One request to be made. path and body are owned. path NULL: a name was not fit for one. */
struct step_request {
	bool known;         /* no request: the answer is known, and take() gets no reply */
	const char *method; /* GET unless it is set */
	char *path;
	char *body;
	const char *content_type;
	const char *accept; /* NULL: application/json */
};

struct step_reply {
	long status;
	json_t *json;   /* what the step projects; NULL when the status is not 2xx, and when a list has no
			 * items; json_incref to keep it */
	bool by_rights; /* a write is refused, and the cause is a right that the credential lacks */
	const char *body;
	size_t body_len;
};

/* Is it needed, by what is known? */
typedef bool step_needed_fn(const struct action *a);
typedef void step_ask_fn(struct action *a, struct step_request *ret);
typedef enum step_then step_item_fn(struct action *a, const json_t *item);
typedef enum step_then step_take_fn(struct action *a, const struct step_reply *reply);

struct step_desc {
	enum text at; /* "get pods" */
	unsigned flags;
	const struct json_projection *projection; /* what of its answer is read; NULL = all */
	step_needed_fn *needed; /* of a write not asked: it is needed when the judgement chose it */
	step_ask_fn *ask;       /* NULL: it asks nothing, and take() gets no reply */
	step_item_fn *item;     /* of a list, on every page; what is not STEP_NEXT ends it. NULL: no list */
	step_take_fn *take;     /* of a list: after its last page */
};

const struct step_desc *step_desc(enum step step);

/* -- the columns of steps.def; each function is in the file that its row is about -- */

#define STEP(ID, at, kinds, more, doubt, flags, projection, needed, ask, item, take)                         \
	step_needed_fn needed;                                                                               \
	step_take_fn take;
#include "worker/steps/steps.def"
#undef STEP
step_ask_fn ask_namespace, ask_pod, ask_delete, ask_node, ask_claim, ask_eviction_group, ask_discovery,
	ask_version, ask_scale, ask_workload, ask_replicas, ask_peer, ask_peer_kind, ask_suspend,
	ask_suspended, ask_group, ask_log, ask_announce, ask_mark, ask_top, ask_list;
step_item_fn item_leaving, item_attachment, item_eviction, item_event, item_credential, item_hpa, item_keda,
	item_revision, item_pod;

/* -- what one file does for another -- */

/* namespace.c */
/* Of the namespace that the action is in; NULL: not known, or not asked for. */
const struct namespace_labels *namespace_labels(const struct action *a);

/* pull_events.c */
/* What the pod itself says of the cause, when it does. */
void pull_events_add_known_cause(struct action *a);

/* owner.c */
/* The next owner above: STEP_NEXT, or an end when it cannot be one. Of a pod that is deleted, what cannot be
 * one is left out. */
enum step_then owner_add(struct action *a, const struct owner_facts *ref);
/* Ends with REFUSED and names the topmost owner. */
enum step_then owner_refuse(struct action *a, enum reason reason, enum text why);

/* approve.c */
/* Neither the namespace nor any owner that was read is marked to be left alone by this duty: STEP_NEXT, or an
 * end. */
enum step_then approve_above(struct action *a);
/* Nor is this pod, which would go with its workload: likewise. */
enum step_then approve_beside(struct action *a, const struct pod_facts *p);

/* autoscaler.c */
/* Who marks the topmost owner as theirs, and who set its replicas last: STEP_NEXT, or an end when somebody
 * reverted our scale-down not long enough ago. */
enum step_then autoscaler_judge_writers(struct action *a);

/* scale.c */
/* Which step writes the replicas: that of the object itself, with its mark, or that of its /scale. */
enum step scale_write(const struct action *a);
/* STEP_NEXT with a->found.scale, or an end: no scale, or that of another object. */
enum step_then scale_take(struct action *a, const struct step_reply *reply);
/* Is it of the version of the workload that was read before? To that the write is bound: what somebody has
 * written in between, a mark that it be left alone say, would be covered by it and not be seen. */
bool scale_is_of_workload(struct action *a);
/* It is not: all is read again, a few times. */
enum step_then scale_read_again(struct action *a);

/* peers.c */
/* Is it the workload, or between it and the pod? */
bool peers_is_ours(const struct action *a, struct str uid);
/* A pod that forbids the act, if what controls it is below the workload: STEP_NEXT, or an end when there are
 * too many of those. */
enum step_then peers_add(struct action *a, const json_t *pod, bool serves);

/* suspend.c */
/* Is the chain of owners a Job, or a Job and its CronJob? */
bool suspend_fits(const struct action *a);
/* Such a chain is complete: STEP_NEXT, with the selector of the Job's pods in place of a scale's; or an end.
 */
enum step_then suspend_begin(struct action *a);

/* ordinal.c */
/* Does the pod hang in an older revision of a StatefulSet that waits for it, in order? */
bool ordinal_holds_up(const struct action *a);
/* Of such a pod: STEP_NEXT, it is to be deleted; or an end that says so. */
enum step_then ordinal_begin(struct action *a);

/* restore.c */
/* Ends with REFUSED and names what should be put back. */
enum step_then restore_refuse(struct action *a, enum reason reason, enum text why);
/* The same name and a statement, to be added to. */
struct facts restore_statement(const struct action *a, enum text why);

/* mark.c */
/* Is this the topmost owner as an earlier holder of this lease has marked it? Then the act was done, and from
 * how many replicas is known: the result says so. */
bool mark_proves(const struct action *a, const json_t *o);
enum step_then mark_confirm(struct action *a);
/* Replicas and mark were written at once, and this is the workload now: is its mark as it should be? */
void mark_written(struct action *a, const json_t *o);
/* The server refuses to change both at once: told as a mark that is not written. */
void mark_refused(struct action *a, const struct step_reply *reply);
/* The result is complete: the workload was scaled through /scale, and has this version now. Goes on to mark
 * it, or to take the mark away; not where the server has refused that. */
enum step_then mark_begin(struct action *a, struct str rv);
/* The result is complete: the workload is as it should be, perhaps by an earlier write of ours. Goes on to
 * look what its mark says, and to bring it up to date. */
enum step_then mark_look(struct action *a);
/* What the mark of target o says. value NULL: it says nothing there; the last takes ANNOTATION_RESTORE away:
 * a wish is for one scale-down, and for none that comes after it. Freed by mark_list_done. */
enum { MARK_LIST = MARK__MAX + 1 };
void mark_list(const struct action *a, const struct owner_link *o,
	       struct write_annotation ret[static MARK_LIST]);
void mark_list_done(struct write_annotation list[static MARK_LIST]);
/* What o says there. */
struct str mark_read(const json_t *o, enum mark_part part);
/* Is its number one of the history that the grant is of? */
bool mark_is_of_history(const struct action *a, const json_t *o);
/* How to undo what was done to o. Owned by the caller. */
char *mark_undo(const struct action *a, const struct owner_link *o);

/* last_log.c */
/* The last lines of a log, of QUOTE_TEXT_MAX bytes at most, whole where one has room; without the colours of
 * a terminal and carriage returns, tabs as blanks. Owned by the caller; NULL: there is nothing. */
char *last_log_lines(const char *log, size_t n, int64_t lines);

/* object.c */
/* Path of an owner, or of the pod (NULL); owned by the caller, NULL when a name is not fit for one.
 * subresource and query may be NULL. */
char *object_path(const struct action *a, const struct owner_link *o, const char *subresource,
		  const char *query);
/* Keeps the continue token of a list. True when there is another page. Without one, or without an answer
 * (NULL), it forgets the token: the next list begins at its own first page. */
bool object_next_page(struct action *a, const json_t *list);
/* What is written to, as it was read: into the result. */
void object_set_target(struct action *a, const struct owner_link *o);
/* A merge-patch under our name, or its dry run in mode observe; the body is left to be set. */
void object_patch(const struct action *a, const struct owner_link *o, const char *subresource,
		  struct step_request *ret);
/* The same of what the result names as its target. */
void object_ask_patch(struct action *a, const struct owner_link *o, const char *subresource,
		      struct step_request *ret);

#endif
