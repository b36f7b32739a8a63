/* What the server does for each verb. Each answers the call with exactly one call_answer_*. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_VERBS_H
#define APISIM_VERBS_H

#include "tests/apisim/call.h"

void verb_get(struct call *c);
void verb_list(struct call *c);
void verb_watch(struct call *c);
void verb_create(struct call *c);
void verb_update(struct call *c); /* PUT and PATCH, of the object and of its status */
void verb_delete(struct call *c);
void verb_scale(struct call *c);   /* GET, PUT and PATCH of the scale subresource */
void verb_pod_log(struct call *c); /* GET of a pod's log */

/* Of update, patch and scale: the document the client wants, from the one there is. Answers the call itself
 * and returns NULL when body or content type are wrong. */
json_t *write_wanted(struct call *c, json_t *now);

/* Stores the new tree of an object (taken) as an update of the main resource would: keeps what a client
 * cannot change, checks the resourceVersion, drops a change that is none, removes it when its last finalizer
 * went. Answers and returns NULL on error; otherwise the object as it is afterwards, counted. */
struct obj *write_update(struct call *c, struct obj *old, json_t *tree, const char *sub);

/* The tree (taken) with who wrote its replicas, given the object before (NULL: it is new). */
json_t *managed_note(const struct call *c, json_t *tree, const json_t *before);

/* 409 for a PUT whose uid is another object's. */
json_t *write_wrong_uid(const struct call *c, const struct obj *old, const char *uid);

#endif
