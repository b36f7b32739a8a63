/* guards_state.h - what guards.c (asking) and guards_saved.c (remembering) share.  Layer: watcher. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_GUARDS_STATE_H
#define WATCHER_GUARDS_GUARDS_STATE_H

#include "config/windows.h"
#include "watcher/guards/guards.h"
#include "watcher/cache/intern.h"

#define LOOPS_MAX 4096u /* evict loops that are looked for at once */

/* By the id of "owner/revision", or of "owner//node". */
struct work {
	struct reverted reverted; /* times by the API server's clock */
	struct evict_loop loop;   /* of "owner//node" */
	bool used, acted_on, looping, failing, dirty;
};

/* An act that is open, by the id of its action_key. */
struct act {
	uint32_t work;     /* 0 = neither a scale-down nor part of an evict loop */
	uint32_t ns, node; /* whose share it spends, 0 = no limit on it */
	int64_t created;   /* of the pod */
	int64_t asked;     /* the latest that the API server's clock can have shown */
	enum duty duty;
	bool used, retry;
};

/* A namespace or a node: duties whose share changed, and those whose share is remembered. */
struct place {
	uint8_t dirty, saved;
};

struct pause {
	int duty;      /* -1 = all */
	bool all;      /* of all clusters */
	int64_t until; /* wall; 0 = until resumed */
	char text[280];
};

struct guards {
	uint64_t cluster;
	char *name;
	struct windows *windows;
	struct budget *budget;
	struct breaker *breaker;
	struct intern *works_by, *acts_by, *places_by;
	struct work *works;
	struct act *acts;
	struct place *places;
	uint32_t cap_works, cap_acts, cap_places;
	uint32_t dirty_works, dirty_places, loops; /* counts */
	struct pause *pauses;
	size_t n_pauses;
	bool follows, breaker_dirty; /* follows: another replica leads; the SAVED of the breaker is due */
	char holder[254];
	char text[256]; /* of the breaker */
	int64_t opened; /* wall; 0 = closed */
};

uint32_t guards_work(struct guards *g, struct str owner, struct str revision, bool make);
/* Nothing is known of it any more: forget it. */
void guards_work_done(struct guards *g, uint32_t id);
void guards_work_dirty(struct guards *g, uint32_t id);
/* Id of a namespace ('n'), node ('d') or host ('h'); 0 for the empty name. */
uint32_t guards_place(struct guards *g, char kind, struct str name);
struct str guards_place_name(const struct guards *g, uint32_t id);
void guards_share_changed(struct guards *g, enum duty d, uint32_t place);

#endif
