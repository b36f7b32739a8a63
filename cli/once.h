/* once.h - `run --once`: one round with an instance of its own, for a CronJob.  Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_ONCE_H
#define CLI_ONCE_H

#include "cli/options.h"

/* List, act within the budgets, drain, end, and say what was done and what is left. EXIT_CODE_FAILURE when
 * something failed or is left. */
int once_run(const struct options *o, const char *socket);

#endif
