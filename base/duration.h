/* duration.h - Go durations ("1h30m", "2.5s"), as in time.ParseDuration and Duration.String.
 * Layer: base.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_DURATION_H
#define BASE_DURATION_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define DURATION_MAX 32

/* Nanoseconds. 0, or -EINVAL (syntax; *reterr says what and, for units Go does not have, what to write) or
 * -ERANGE (more than about 292 years). reterr may be NULL. */
int duration_parse(const char *s, size_t n, int64_t *ret_ns, struct str_error *reterr);
/* "1h30m0s", "1.5s", "0s"; as Go prints it. Returns the length. */
size_t duration_format(int64_t ns, char ret[static DURATION_MAX]);

#endif
