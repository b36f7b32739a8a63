/* start.h - become the supervisor: its command line, and where its program is.  Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_INSTANCE_START_H
#define CLI_INSTANCE_START_H

#include <stdbool.h>

/* NULL: not said. Paths are absolute. */
struct start {
	const char *config, *socket; /* always said */
	const char *state_dir, *kubeconfig, *context, *master;
	const char *const *set; /* KEY=VALUE, NULL behind the last: they hold whatever the file says */
};

/* `set` of a run that writes nothing. */
extern const char *const start_dry_run[];

/* `set` of a run that only looks: what could be seen or heard outside of it is off. What the configuration
 * has for the workers of another machine may not be here: without their kubeconfig, without their context. */
#define START_PRIVATE_MAX 12
void start_private(const char *ret[static START_PRIVATE_MAX], bool without_kubeconfig, bool without_context);

/* Does not return but on an error, which it tells; the exit code. */
int start_supervisor(const struct start *s);

#endif
