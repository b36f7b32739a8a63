/* write_limit.c - see write_limit.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/write_limit.h"

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS   INT64_C(3600000)

/* Begins anew when its time is over. When the clock went back it begins now and keeps its count. */
static void roll(struct write_span *s, int64_t length_ms, int64_t now_ms)
{
	if (now_ms < s->at)
		s->at = now_ms;
	else if (now_ms - s->at >= length_ms)
		*s = (struct write_span){ .at = now_ms };
}

static uint64_t left_of(const struct write_span *s, uint64_t limit)
{
	if (limit == 0)
		return UINT64_MAX;
	return s->used < limit ? limit - s->used : 0;
}

uint64_t write_limit_left(struct write_count *c, const struct write_limit *l, int64_t now_ms)
{
	roll(&c->minute, MINUTE_MS, now_ms);
	roll(&c->hour, HOUR_MS, now_ms);
	const uint64_t minute = left_of(&c->minute, l->per_minute), hour = left_of(&c->hour, l->per_hour);

	return minute < hour ? minute : hour;
}

static bool charge(struct write_span *s)
{
	const bool ahead = s->used < s->kept;

	s->used++;
	if (!ahead)
		s->kept = s->used + WRITE_LIMIT_AHEAD - 1;
	return !ahead;
}

bool write_limit_charge(struct write_count *c, const struct write_limit *l, int64_t now_ms)
{
	if (l->per_minute == 0 && l->per_hour == 0)
		return false; /* nothing to keep */
	(void)write_limit_left(c, l, now_ms);
	const bool minute = charge(&c->minute), hour = charge(&c->hour);

	return minute || hour;
}
