/* start.h - start an instance: become the supervisor, or have one that lives as long as a command, started
 * for it, asked by it, ended with it, also when it is interrupted or fails. Process: cli. */
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

#endif
