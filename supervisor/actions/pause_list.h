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

/* Both speak of one duty (or all) of one cluster (or all). */
bool pause_same_scope(const struct msg_pause *a, const struct msg_pause *b);

struct pause_list;

struct pause_list *pause_list_new(void);
void pause_list_free(struct pause_list **p);

/* Pause a scope (p->on), replacing what is said of the same scope. False when the list is full. */
bool pause_list_add(struct pause_list *l, const struct msg_pause *p);
/* Take one entry that lies within `scope` (cluster_name "" and duty -1 cover everything) off the list: true
 * with *ret the entry, its `on` false. */
bool pause_list_take_within(struct pause_list *l, const struct msg_pause *scope, struct msg_pause *ret);
/* The same for one entry that has ended. */
bool pause_list_take_ended(struct pause_list *l, int64_t now_ms, struct msg_pause *ret);
/* The entry that pauses this duty of this cluster, or NULL; borrowed until the next change. */
const struct msg_pause *pause_list_find(const struct pause_list *l, const char *cluster_name, uint64_t duty,
					int64_t now_ms);
/* Entries in the order they were made, NULL behind the last. */
const struct msg_pause *pause_list_get(const struct pause_list *l, size_t i);
/* Some entry has p's scope. */
bool pause_list_have_scope(const struct pause_list *l, const struct msg_pause *p);

#endif
