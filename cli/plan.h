/* plan.h - what would be done now, for other commands than `plan`.  Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include <stddef.h>

#include "cli/options.h"

/* Ends a line with how many things that are due have not been done, then prints them. In a dry run they are
 * what would be done, and none is left. The exit code of asking. */
int plan_print_left(const struct options *o, const char *socket, size_t *ret_left);

#endif
