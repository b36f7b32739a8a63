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

/* Bytes of a zone from /usr/share/zoneinfo (or $TZDIR); for the loader and the cli only. "UTC" and "" give
 * *ret NULL; "Local" is $TZ or /etc/localtime. 0 with malloc()ed bytes that zone_parse accepts; -EINVAL (no
 * such name is possible), -ENOENT (no such zone), -ENOPKG (no zone database on this machine), -EBADMSG (not a
 * zone file). */
int zone_load(const char *name, void **ret, size_t *ret_size);
/* The text about an error of zone_load. */
const char *zone_error(int err);

#endif
