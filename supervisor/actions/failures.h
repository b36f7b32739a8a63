/* failures.h - which duties cannot do what they have to: the last action of a duty in a cluster that was
 * forbidden or failed, until one succeeds, or an hour after it.
 * Process: supervisor.  Pure but for what it remembers. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_FAILURES_H
#define SUPERVISOR_ACTIONS_FAILURES_H

#include "ipc/msg.h"

#define FAILURE_LASTS_MS UINT64_C(3600000)

struct failure {
	uint64_t at_ms; /* boot time; 0 = none */
	bool forbidden; /* else it failed */
	struct facts detail;
};

struct failures {
	struct failure v[CLUSTERS_MAX][DUTY__MAX];
};

/* How an action has ended; detail: what the server said. */
void failures_note(struct failures *f, uint64_t cluster, enum duty duty, enum outcome outcome,
		   const struct facts *detail, uint64_t now_ms);
/* NULL when all is well. */
const struct failure *failures_get(const struct failures *f, uint64_t cluster, enum duty duty,
				   uint64_t now_ms);

#endif
