/* pause.h - what a person has paused: a list of scopes (a cluster or all, a duty or all) with an end or
 * without. Pure: no I/O, no clock. Process: supervisor. Times: Unix ms. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_PAUSE_H
#define SUPERVISOR_PAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/msg.h"

/* Most scopes at once: every duty and "all" of every cluster and of all of them. */
#define PAUSES_MAX (((size_t)CLUSTERS_MAX + 1) * 5)

struct pauses;

struct pauses *pauses_new(void);
void pauses_free(struct pauses **p);

/* Pause a scope (p->on), replacing what is said of the same scope. False when the list is full. */
bool pauses_add(struct pauses *l, const struct msg_pause *p);
/* Take one entry that lies within `scope` (cluster_name "" and duty -1 hold everything) off the list: true
 * with *ret the entry, its `on` false. */
bool pauses_take_within(struct pauses *l, const struct msg_pause *scope, struct msg_pause *ret);
/* The same for one entry that has ended. */
bool pauses_take_ended(struct pauses *l, int64_t now_ms, struct msg_pause *ret);
/* The entry that holds this duty of this cluster, or NULL; borrowed until the next change. */
const struct msg_pause *pauses_find(const struct pauses *l, const char *cluster_name, uint64_t duty,
				    int64_t now_ms);
/* Entries in the order they were made, NULL behind the last. */
const struct msg_pause *pauses_get(const struct pauses *l, size_t i);
/* The entry says of its scope exactly what p says. */
bool pauses_have(const struct pauses *l, const struct msg_pause *p);
/* Some entry has p's scope. */
bool pauses_have_scope(const struct pauses *l, const struct msg_pause *p);

#endif
