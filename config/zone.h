/* zone.h - time zones from TZif bytes (RFC 8536), so that a process without files can use them.
 * Layer: config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_ZONE_H
#define CONFIG_ZONE_H

#include <stddef.h>
#include <stdint.h>

#define ZONE_SIZE_MAX 65536u

struct zone;

/* TZif version 1 to 4, with the rule at its end for times after the table. 0, or -EBADMSG. Every access is
 * bounded by n; the bytes are copied. Free with zone_free. */
int zone_parse(const void *p, size_t n, struct zone **ret);
void zone_free(struct zone **z);

/* Seconds east of UTC at t (Unix seconds). *ret_until is the first second at which that may change
 * (INT64_MAX: never). z NULL = UTC. */
int32_t zone_offset(const struct zone *z, int64_t t, int64_t *ret_until);

#endif
