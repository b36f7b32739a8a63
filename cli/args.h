/* args.h - values of options that several commands take.
 * Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stdint.h>

#include <jansson.h>

/* "2h" before now, or an RFC 3339 time -> Unix ms. 0 or -1. */
int args_parse_since(const char *s, int64_t *ret);
/* "2h", more than nothing -> ms. 0 or -1. */
int args_parse_span(const char *s, int64_t *ret);
/* Name of a duty that acts -> enum duty. 0 or -1. */
int args_parse_duty(const char *s, int64_t *ret);
/* Name of an outcome, or "open" -> its set (model/outcomes.h). 0 or -1. */
int args_parse_outcome(const char *s, uint64_t *ret);
#define ARGS_DUTIES "deleteEvictedPod, deleteTerminatingPod or errImagePull"

/* Name of a rung of the ladder: "duty", "retry", "restore". */
const char *args_action_name(uint64_t action);

/* RFC 3339 or null for 0. */
json_t *args_json_time(int64_t ms);
/* Print and free. */
void args_print_json(json_t *root);

#endif
