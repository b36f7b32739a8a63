/* duration.h - Go durations ("1h30m", "2.5s"), as in time.ParseDuration and Duration.String, and days ("3d").
 * Layer: base.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_DURATION_H
#define BASE_DURATION_H

#include <stddef.h>
#include <stdint.h>

#define DURATION_MAX 32

enum duration_fault { DURATION_NONE, DURATION_NO_UNIT, DURATION_UNIT, DURATION_RANGE };

/* Why a text is no duration. */
struct duration_error {
	enum duration_fault kind;
	char text[48];  /* from where it is none on, printable */
	uint64_t hours; /* DURATION_UNIT: what the days or weeks are in hours; 0 = the unit is another */
};

/* Parse into nanoseconds. 0, or -EINVAL (syntax) or -ERANGE (more than about 292 years) with *reterr, which
 * may be NULL. */
int duration_parse(const char *s, size_t n, int64_t *ret_ns, struct duration_error *reterr);
/* "1h30m0s", "1.5s", "0s"; as Go prints it. Returns the length. */
size_t duration_format(int64_t ns, char ret[static DURATION_MAX]);
/* Milliseconds for people, the two largest units: "3d4h", "2m5s", "850ms", "0s". Negative counts as 0.
 * Returns buf. */
const char *duration_short(int64_t ms, char buf[static DURATION_MAX]);

#endif
