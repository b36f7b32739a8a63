/* shares.h - the budgets, and how much of them namespaces and nodes have spent: that is kept over a restart.
 * Layer: watcher.  Threads: none.  Owns: copies of all names it is given. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_SHARES_H
#define WATCHER_GUARDS_SHARES_H

#include "rules/budget.h"
#include "watcher/guards/clocks.h"
#include "watcher/guards/outlet.h"

struct shares;

enum share_kind { SHARE_NAMESPACE, SHARE_NODE };

struct shares *shares_new(void);
void shares_free(struct shares **s);
struct budget *shares_budget(const struct shares *s);
/* The number in the budget of what this duty spends of it; 0 when nothing is known of it. */
uint32_t shares_find(const struct shares *s, enum share_kind kind, enum duty d, struct str name);
/* The same, and it is made known; 0 for the empty name. */
uint32_t shares_make(struct shares *s, enum share_kind kind, enum duty d, struct str name);
/* What was spent of it changed (id 0: nothing). */
void shares_changed(struct shares *s, uint32_t id);

/* SAVED_ROW of a share. */
void shares_on_saved(struct shares *s, const struct msg_saved_row *m, const struct clock_snapshot *now);
/* Is there something to send? */
bool shares_are_unsaved(const struct shares *s);
/* Send what changed until the outlet is full; 0 or what it said. */
int shares_flush(struct shares *s, uint64_t cluster, const struct clock_snapshot *now,
		 const struct outlet *out);
void shares_expire(struct shares *s, const struct clock_snapshot *now);

#endif
