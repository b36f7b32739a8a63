/* rbac_check.h - `rbac --check`: asks the API server for every right that a configuration needs, by the
 * workers of an instance of its own. Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_RBAC_CHECK_H
#define CLI_RBAC_CHECK_H

#include "cli/options.h"

/* Print what is missing; EXIT_CODE_FAILURE when something is. */
int rbac_check(const struct options *o);

#endif
