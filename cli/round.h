/* round.h - wait until an instance has listed its clusters and judged all that is in them.  Process: cli.
 * Asks for its status now and then; on a terminal it says how far it is. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_ROUND_H
#define CLI_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/ctl.h"

struct round_limits {
	uint64_t trouble_ms; /* a cluster that is in trouble for so long is given up; unless it acts, at once
			      * when it cannot be loaded or its credential is refused */
	uint64_t leader_ms;  /* the Lease of another replica is waited for so long; 0: not at all */
	bool acts;           /* wait, too, until everything that was begun has ended */
};

/* Clusters that were given up. */
struct round_lost {
	bool is[CLUSTERS_MAX]; /* by index */
	int code;              /* EXIT_CODE_OK: none was; else as round_await says of the first one */
};

/* The instance at this socket, which may still be starting. EXIT_CODE_OK when every cluster is through; else
 * what is wrong with the first one that is not stands on stderr: EXIT_CODE_CREDENTIAL when its API server
 * refuses the credential, EXIT_CODE_CONFIG when it acts and there has been no history for some seconds, else
 * EXIT_CODE_UNAVAILABLE. With ret_lost (NULL = all have to be) it is enough that one of them is, and that all
 * others are through or lost; what is wrong with each of those stands on stderr. */
int round_await(struct ctl *c, const struct round_limits *limits, struct round_lost *ret_lost);

/* Until its workers are ready, whatever its watchers may see. As round_await; EXIT_CODE_UNAVAILABLE, too,
 * when they are not within timeout_ms. */
int round_await_workers(struct ctl *c, uint64_t timeout_ms);

#endif
