/* step.h - what a step is. An action is a walk down the table of steps (steps.def): a step asks one thing and
 * takes its answer, or only thinks.  Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_STEPS_STEP_H
#define WORKER_STEPS_STEP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "worker/json_project.h"

struct action;

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
	STEP_FIRST, /* from the beginning: all is read again */
	STEP_DOUBT, /* a write may have been carried out: with the step that looks */
	STEP_END,   /* the result is complete */
	STEP_SENT,  /* a request is under way */
};

/* A 404 means that the object of the action is gone, where nothing else is said. */
enum {
	STEP_WRITES = 1,   /* needs a valid grant and fresh reads; its fate may be in doubt */
	STEP_MAY_FAIL = 2, /* its take() knows what 404 and 403 mean; what may not be read stays unknown, and
			    * the judge refuses where it matters */
};

/* One request to be made. path and body are owned. path NULL: a name was not fit for one. */
struct step_request {
	const char *method; /* GET unless it is set */
	char *path;
	char *body;
	const char *content_type;
	const char *accept; /* NULL: application/json */
};

struct step_reply {
	long status;
	json_t *json; /* what the step projects; NULL when the status is not 2xx, and when a list has no
		       * items; json_incref to keep it */
	const char *body;
	size_t body_len;
};

/* Is it needed, by what is known? */
typedef bool step_needed_fn(const struct action *a);
typedef void step_ask_fn(struct action *a, struct step_request *ret);
typedef enum step_then step_item_fn(struct action *a, const json_t *item);
typedef enum step_then step_take_fn(struct action *a, const struct step_reply *reply);

struct step_desc {
	const char *what; /* "get pods" */
	unsigned flags;
	const struct json_projection *projection; /* what of its answer is read; NULL = all */
	step_needed_fn *needed; /* NULL = always. A write is needed when the judgement chose it */
	step_ask_fn *ask;       /* NULL: it asks nothing, and take() gets no reply */
	step_item_fn *item;     /* of a list, on every page; what is not STEP_NEXT ends it. NULL: no list */
	step_take_fn *take;     /* of a list: after its last page */
};

#endif
