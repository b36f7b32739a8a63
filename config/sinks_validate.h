/* sinks_validate.h - what is wrong with an entry of `sinks`. No message repeats an address: it may be a
 * secret. Layer: config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_SINKS_VALIDATE_H
#define CONFIG_SINKS_VALIDATE_H

#include "config/positions.h"
#include "model/sink_types.h"

/* The part of config_validate() about sinks. */
void config_validate_sinks(const char *path, const struct config *c, const struct positions *positions,
			   struct diags *d);
/* Is that the address of such a sink, and a safe one? 0, or -EINVAL after an error. */
int sink_check_address(enum sink_type type, const char *url, struct diags *d, struct place at);
/* Warn when a secret does not begin as its owner's do. */
void sink_check_secret(enum sink_type type, const char *secret, struct diags *d, struct place at);

#endif
