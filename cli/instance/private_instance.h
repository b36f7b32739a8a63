/* private_instance.h - a command with an instance of its own: the same processes as `run` has, started for
 * it, asked by it, ended with it, also when it is interrupted or fails.  Process: cli. This process only
 * waits and cleans up; what asks runs beside it, so that nothing can keep it from that. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_INSTANCE_PRIVATE_INSTANCE_H
#define CLI_INSTANCE_PRIVATE_INSTANCE_H

#include <stdint.h>

#include "cli/options.h"

struct private_instance {
	const struct options *o;        /* configuration, kubeconfig, context, server */
	const char *socket, *state_dir; /* NULL: in a folder of its own, removed at the end */
	const char
		*default_config; /* text of the configuration where the options name none; NULL: as `run` */
	const char *const *set;  /* KEY=VALUE, NULL behind the last */
	bool logs;               /* to standard error; else it is shown only when the instance fails */
	uint64_t drain_ms;       /* what is open at the end may take this long; 0: it writes nothing */
	/* Asks the instance at this socket, in a process of its own; returns the exit code. */
	int (*ask)(const void *ctx, const char *socket);
	const void *ctx;
};

/* The exit code of ask(); of the instance, when that ends before; 128 and the signal that interrupted it. */
int private_instance_run(const struct private_instance *a);

#endif
