/* world.h - one API server, one informer (reflector and cache, as the watcher has them), and a dictionary
 * that is kept by what the steps of a history mean. In the end the cache is the dictionary, or the history
 * has found a fault. Nothing blocks: many worlds live on one event loop. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_INFORMER_WORLD_H
#define TESTS_INFORMER_WORLD_H

#include "tests/integration/informer/history.h"

struct event_base;
struct world;

/* Faults between reflector and cache, to see whether they are found. */
enum plant {
	PLANT_NONE,
	PLANT_NO_SWEEP,    /* a relist removes nothing */
	PLANT_EAGER_SWEEP, /* a list that was given up counts as complete */
	PLANT_LOSE_REBORN, /* a name that comes back with another uid is not taken over */
	PLANT__MAX
};

struct world_counts {
	uint64_t histories, steps, events, lists, given_up, troubles, bad_objects;
};

/* counts: added to. limit_ms: a history that has not come to rest by then never will. */
struct world *world_new(struct event_base *base, enum plant plant, uint64_t limit_ms,
			struct world_counts *counts);
void world_free(struct world **w);

/* Begins with an empty server; h is borrowed until the end. */
void world_begin(struct world *w, const struct history *h);
/* Goes on as far as it can without waiting; true when the history is over. Call it after every run of the
 * loop, at least once a millisecond. */
bool world_step(struct world *w);
/* After that: NULL, or what was wrong. */
const char *world_verdict(const struct world *w);

#endif
