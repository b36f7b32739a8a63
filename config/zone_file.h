/* zone_file.h - find and read a time zone, for the loader and the cli: the others open no file.  Layer:
 * config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_ZONE_FILE_H
#define CONFIG_ZONE_FILE_H

#include <stdbool.h>

#include "config/diag.h"
#include "config/zone.h"

/* Can a file of the database have this name ("UTC" and "Local" can)? */
bool zone_is_name(const char *s);
/* Bytes of a zone from /usr/share/zoneinfo (or $TZDIR). "UTC" and "" give
 * *ret NULL; "Local" is $TZ or /etc/localtime. 0 with malloc()ed bytes that zone_parse accepts; else *ret is
 * NULL: -EINVAL (no such name is possible), -ENOENT (no such zone), -ENOPKG (no zone database on this
 * machine), -EBADMSG (not a zone file). */
int zone_load(const char *name, void **ret, size_t *ret_size);
/* Make the sentence about an error of zone_load() or zone_parse() in why, and return it. */
const char *zone_error(char why[static SENTENCE_MAX], int err);

#endif
