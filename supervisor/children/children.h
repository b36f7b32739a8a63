/* children.h - all children of the supervisor: the reporter, then for each cluster its watcher and its
 * workers. They are made once and keep their places, also when their cluster goes.
 * Process: supervisor.  Owns: the children. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_CHILDREN_CHILDREN_H
#define SUPERVISOR_CHILDREN_CHILDREN_H

#include "supervisor/children/child.h"
#include "supervisor/children/generation.h"

struct children;

/* Empty. env is kept for all that are made later. */
struct children *children_new(const struct child_env *env);
void children_free(struct children **s);
/* Make those of this generation that are not there yet, none of them started. */
void children_make(struct children *s, const struct generation *g);

size_t children_count(const struct children *s);
/* i below children_count(). */
struct child *children_get(const struct children *s, size_t i);
/* The first that is ready of that role (reporter: of any cluster), or NULL. */
struct child *children_find(const struct children *s, enum role role, uint64_t cluster);
/* Queue m for that one; false when there is none or it does not take it. */
bool children_send(const struct children *s, enum role role, uint64_t cluster, const struct msg *m);
/* The next such one behind number *i, which begins as 0; NULL behind the last. */
struct child *children_next(const struct children *s, enum role role, uint64_t cluster, size_t *i);
/* The same, whatever state they are in. */
struct child *children_next_of(const struct children *s, enum role role, uint64_t cluster, size_t *i);

#endif
