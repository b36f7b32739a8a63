/* wait_settled.h - wait until an instance has listed its clusters and judged all that is in them, as it says
 * itself. Process: cli. Asks for its status now and then; on a terminal it says how far it is. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_INSTANCE_WAIT_SETTLED_H
#define CLI_INSTANCE_WAIT_SETTLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/instance/ctl.h"

struct wait_limits {
	uint64_t trouble_ms; /* a cluster that is in trouble for so long is given up; unless it acts, at once
			      * when it cannot be loaded or its credential is refused */
	uint64_t leader_ms;  /* the Lease of another replica is waited for so long; 0: not at all */
	bool acts;           /* wait, too, until everything that was begun has ended */
};

/* Clusters that were given up. */
struct wait_lost {
	bool is[CLUSTERS_MAX]; /* by index */
	int code;              /* EXIT_CODE_OK: none was; else as wait_settled() says of the first one */
};

/* Wait for the instance at this socket, which may still be starting. Returns EXIT_CODE_OK when every cluster
 * is judged; else prints on stderr what is wrong with the first one that is not, and returns
 * EXIT_CODE_CREDENTIAL when its API server refuses the credential, EXIT_CODE_CONFIG when it acts and there
 * has been no history for some seconds, else EXIT_CODE_UNAVAILABLE. With ret_lost (NULL = all have to be
 * judged) one judged cluster is enough when all others are judged or given up; prints what is wrong with each
 * of those. */
int wait_settled(struct ctl *c, const struct wait_limits *limits, struct wait_lost *ret_lost);

/* Wait until all processes of the instance are ready, whether or not its clusters can be listed. Returns as
 * wait_settled(); EXIT_CODE_UNAVAILABLE, too, when they are not within timeout_ms. */
int wait_ready(struct ctl *c, uint64_t timeout_ms);

#endif
