/* rfc3339.h - timestamps as Kubernetes writes them (RFC 3339), Unix milliseconds inside.
 * Layer: base. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_RFC3339_H
#define BASE_RFC3339_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RFC3339_MAX 40

/* "2026-11-21T10:22:48Z", fraction and numeric offset allowed. 0, or -EINVAL (not such a text, or outside
 * years 1-9999). */
int rfc3339_parse(const char *s, size_t n, int64_t *ret_ms);
/* UTC with 'Z'; with_ms adds ".123". */
void rfc3339_format(int64_t ms, bool with_ms, char ret[static RFC3339_MAX]);
/* HTTP date as in RFC 9110 5.6.7 ("Sat, 21 Nov 2026 10:22:48 GMT"). 0 or -EINVAL. */
int http_date_parse(const char *s, size_t n, int64_t *ret_ms);
/* Days since 1970-01-01 of a proleptic Gregorian date; and back. month 1-12. */
int64_t days_from_civil(int64_t year, unsigned month, unsigned day);
void civil_from_days(int64_t days, int64_t *ret_year, unsigned *ret_month, unsigned *ret_day);

#endif
