/* sinks_validate.h - what is wrong with an entry of `sinks`, or other than people may think, only when
 * several keys are seen together.  Layer: config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_SINKS_VALIDATE_H
#define CONFIG_SINKS_VALIDATE_H

#include "config/diag.h"
#include "config/positions.h"

void config_validate_sinks(const char *path, const struct config *c, const struct positions *positions,
			   struct diags *d);

#endif
