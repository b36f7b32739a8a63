/* pause_list.h - what an operator has paused: a list of scopes (a cluster or all, a duty or all) with an end
 * or without. Pure: no I/O, no clock. Process: supervisor. Times: Unix ms. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_PAUSE_LIST_H
#define SUPERVISOR_ACTIONS_PAUSE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/msg.h"
#include "model/duties.h"

/* Most scopes at once: every duty and "all" of every cluster and of all of them. */
#define PAUSES_MAX (((size_t)CLUSTERS_MAX + 1) * (DUTY__MAX + 1))

/* What lies within a scope: cluster_name "" and duty -1 cover everything. */
bool pause_covers(const struct msg_pause *scope, const char *cluster_name, int64_t duty);

/* True when some action lies within both scopes. */
bool pause_meets(const struct msg_pause *a, const struct msg_pause *b);

struct pause {
	struct msg_pause p; /* not `on`: resumed, which the history does not know yet */
	bool unsaved;       /* the history has not confirmed it */
	bool sent;          /* to the present reporter */
	/* Of an earlier life: it does not end before it is known that this host's clock is not ahead. */
	bool earlier;
	uint64_t conn;      /* to answer when it is on disk and nothing is under way, 0 = nobody */
	uint64_t answer_by; /* boot ms: no later, whatever is under way */
};

/* known: that this host's clock is not ahead, where it is asked for. */
bool pause_has_ended(const struct pause *e, int64_t now_ms, bool known);

/* Zeroed: empty. */
struct pause_list {
	struct pause v[PAUSES_MAX];
	size_t n;
};

/* The entry with p's scope, made or changed to p, which is of this life. NULL when the list is full. */
struct pause *pause_list_set(struct pause_list *l, const struct msg_pause *p);
void pause_list_remove(struct pause_list *l, struct pause *p);
/* The entry with p's scope: one duty (or all) of one cluster (or all). NULL when there is none. */
struct pause *pause_list_find_scope(struct pause_list *l, const struct msg_pause *p);
/* Some entry pauses this duty of this cluster; known: as of pause_has_ended(). */
bool pause_list_pauses(const struct pause_list *l, const char *cluster_name, uint64_t duty, int64_t now_ms,
		       bool known);
/* Entries in the order they were made, NULL behind the last; good until one is removed. */
struct pause *pause_list_get(struct pause_list *l, size_t i);

#endif
