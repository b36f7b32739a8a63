/* clock.h - the only source of time. Tests install a fake.
 * Layer: base.
 * Wall time is Unix milliseconds (comparable with the API server's timestamps, steps when somebody sets the
 * clock); boot time is CLOCK_BOOTTIME milliseconds (never steps, counts suspend): for timers and validity. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <sys/time.h>

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS   INT64_C(3600000)
#define DAY_MS    INT64_C(86400000)

int64_t clock_wall_ms(void);
/* Wall time so long ago: 1 where that was before 1970. 0 means "not known", or "ever". */
int64_t clock_wall_ago(int64_t ms);
uint64_t clock_boot_ms(void);
/* The same clock in microseconds: for what takes less than one of those. */
uint64_t clock_boot_us(void);

static inline struct timeval clock_timeval(uint64_t ms)
{
	return (struct timeval){ (time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000) };
}
/* A span as libevent takes it: evtimer_add(timer, CLOCK_TIMEVAL(ms)). Lasts as long as the block. */
#define CLOCK_TIMEVAL(ms) ((const struct timeval[]){ clock_timeval(ms) })

/* The sooner of two times; UINT64_MAX is never. */
static inline uint64_t clock_sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Freeze both clocks at these values (tests only); clock_fake_advance moves both. */
void clock_fake_set(int64_t wall_ms, uint64_t boot_ms);
void clock_fake_advance(int64_t ms);
void clock_fake_clear(void);

#endif
