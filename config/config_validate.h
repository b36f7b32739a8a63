/* config_validate.h - what is wrong, or other than people may think, only when several keys are seen
 * together. Layer: config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_CONFIG_VALIDATE_H
#define CONFIG_CONFIG_VALIDATE_H

#include "config/positions.h"

void config_validate(const char *path, const struct config *c, const struct positions *positions,
		     struct diags *d);

#endif
