/* write_guard.h - holds the leases of a cluster to the supervisor's own, coarse limit of writes: so
 * many in a minute, so many in an hour. The watcher's budgets are finer and lower; this one holds when the
 * watcher or the history says what is not true. What was written is counted by the workers' results, on disk
 * (own_state.h), and never less there: it is written ahead, so that not every write costs one to the disk.
 * While the limit is reached, or the count cannot be kept, nothing is granted. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_WRITE_GUARD_H
#define SUPERVISOR_ACTIONS_WRITE_GUARD_H

#include "supervisor/actions/parts.h"

/* Block or unblock the cluster; under_way: leases that its workers hold. True: it is blocked. Said when it
 * changes. */
bool write_guard_check(struct supervisor *s, uint64_t cluster, uint64_t under_way);
/* A worker of the cluster has ended a lease. */
void write_guard_on_result(struct supervisor *s, uint64_t cluster, const struct lease *l,
			   const struct msg_result *r);
/* Once a second: what could not be kept is tried again. */
void write_guard_tick(struct supervisor *s);
/* It is blocked somewhere. */
bool write_guard_blocks(const struct supervisor *s);

#endif
