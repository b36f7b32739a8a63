/* start.h - start an instance: become the supervisor, or have one that lives as long as a command, started
 * for it, asked by it, ended with it, also when it is interrupted or fails; and wait for what it does.
 * Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_INSTANCE_START_H
#define CLI_INSTANCE_START_H

#include "cli/instance/ctl.h"
#include "cli/options.h"

/* What holds whatever the configuration says. */
enum start_kind {
	START_AS_CONFIGURED,
	START_DRY_RUN, /* nothing is written */
	START_ROUND,   /* one round is over before anybody could notice it, and notices nobody */
	START_LOOKING, /* what could be seen or heard outside of it is off */
	START__MAX
};

/* NULL: not said. Paths are absolute. */
struct start {
	const char *config, *socket; /* always said */
	const char *state_dir, *kubeconfig, *context, *master;
	enum start_kind kind;
};

/* Does not return but on an error, which it tells; the exit code. */
int start_supervisor(const struct start *s);

struct private_instance {
	const struct options *o;    /* configuration, kubeconfig, context, server, folder of its state */
	const char *socket;         /* NULL: with its state in a folder of its own, removed at the end */
	const char *default_config; /* text of the configuration where o names none; NULL: as `run` */
	enum start_kind kind; /* START_LOOKING: it logs only when it fails, and nothing is open at its end */
	/* Asks the instance, in a process of its own, so that nothing can keep this one from cleaning up;
	 * returns the exit code. */
	int (*ask)(const void *ctx, const char *socket, struct ctl *c);
	const void *ctx;
};
/* The exit code of ask(); of the instance, when that ends before; 128 and the signal that interrupted it. */
int private_instance_run(const struct private_instance *a);

/* -- wait until an instance has listed its clusters and judged all that is in them, as it says itself -- */

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
