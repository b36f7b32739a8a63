/* zone_rule.h - the POSIX TZ rule at the end of a TZif file ("CET-1CEST,M3.5.0,M10.5.0/3"), for times after
 * its table. Layer: config.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_ZONE_RULE_H
#define CONFIG_ZONE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zone_day {
	enum { ZONE_DAY_JULIAN, ZONE_DAY_ZERO, ZONE_DAY_WEEK } kind; /* Jn, n, Mm.w.d */
	int64_t month, week, day;
	int64_t second; /* of that day, local time; may be negative or above a day (RFC 8536 3.3.1) */
};

struct zone_rule {
	int32_t standard, summer; /* seconds east of UTC */
	bool has_summer;
	struct zone_day begin, end; /* of summer time */
};

/* 0 or -EBADMSG. */
int zone_rule_parse(const char *s, size_t n, struct zone_rule *ret);
/* As zone_offset. */
int32_t zone_rule_offset(const struct zone_rule *rule, int64_t t, int64_t *ret_until);

#endif
