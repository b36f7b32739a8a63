/* world_state.h - what world.c (life, reflector), world_model.c (dictionary) and world_steps.c share. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_INFORMER_WORLD_STATE_H
#define TESTS_INFORMER_WORLD_STATE_H

#include "kube/reflector.h"
#include "tests/apisim/inside.h"
#include "tests/integration/informer/world.h"
#include "watcher/controller/controller.h"

#define REST_MS 200u /* a step that waits for the informer waits no longer */

/* What a pod must be; uid and rv are the server's. */
struct model_pod {
	bool exists, deleting;
	bool held; /* the cache had it: it must not forget it */
	const char *phase, *reason;
	char uid[64];
	uint64_t rv;
};

struct world {
	struct event_base *base;
	struct world_counts *counts;
	enum plant plant;
	struct inside *server;
	struct http_client *client;
	struct reflector *reflector;
	struct controller *controller;
	const struct history *history;
	size_t at;
	uint64_t limit_ms, wait_until, limit;
	bool resting, ending;
	bool retold; /* old events came again: for a while the cache may go back in time */
	char trouble[160];
	struct model_pod pods[PODS + NAMESPACES]; /* the last ones mark the end */
	bool listing[NAMESPACES + 1], synced[NAMESPACES + 1];
	char verdict[256];
};

/* The first thing that is wrong stays. */
void world_find(struct world *w, const char *what);
/* Every list is complete, and none is on its way. */
bool world_is_quiet(const struct world *w);

/* Namespace and name of pod i. */
void model_name(size_t i, char ns[32], char name[32]);
/* The uid and version that the server gave; and whether it has done at all what the step means. */
void model_learn(struct world *w, size_t i);
/* NULL when pod i, or every pod, is in the cache as it is in the dictionary. */
const char *model_pod_difference(struct world *w, size_t i);
const char *model_difference(struct world *w);
/* At no time a pod is missing that was there and is there: no list takes away what it has not finished to
 * tell. */
void model_check_held(struct world *w);

/* Does one step, to the server and to the dictionary. */
void steps_act(struct world *w, struct op op);

#endif
