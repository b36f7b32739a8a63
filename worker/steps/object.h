/* object.h - the objects that steps read and write: their paths, and how a RESULT names them.  Layer: worker.
 * Strings returned are owned by the caller; NULL when a name is not fit for a path. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_STEPS_OBJECT_H
#define WORKER_STEPS_OBJECT_H

#include "worker/action_state.h"

/* The topmost owner that is known; the next page of the list that the step reads. */
step_ask_fn ask_top, ask_list;

/* Of an owner, or of the pod (NULL). subresource and query may be NULL. */
char *object_path(const struct action *a, const struct owner_link *o, const char *subresource,
		  const char *query);
/* Keeps the continue token of a list. True when there is another page. */
bool object_next_page(struct action *a, const json_t *list);

/* What is written to, as it was read: into the result. */
void object_set_target(struct action *a, const struct owner_link *o);
/* A merge-patch of that target under our name, or its dry run in mode observe; the body is left to be set. */
void object_ask_patch(struct action *a, const struct owner_link *o, const char *subresource,
		      struct step_request *ret);

#endif
