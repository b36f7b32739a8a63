/* write_guard.h - holds the leases of a cluster to the supervisor's own limit of writes (write_limit.h): what
 * was written is counted by the workers' results, on disk (own_state.h). While the limit is reached, or the
 * count cannot be kept, nothing is granted there. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_WRITE_GUARD_H
#define SUPERVISOR_ACTIONS_WRITE_GUARD_H

#include "supervisor/actions/parts.h"

#define WRITE_GUARD_LIMITED                                                                                  \
	"the supervisor's own limit of writes is reached: nothing more is written to that cluster for a "    \
	"while; the duties' budgets should have held before, so look at what was done (history)"

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
