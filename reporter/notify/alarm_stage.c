/* alarm_stage.c - see alarm_stage.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/notify/alarm_stage.h"

static int64_t at_least(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The pause in force: tell.gather may have been changed since. */
static int64_t pause_of(const struct alarm_notice *told, const struct alarm_pace *pace)
{
	return at_least(told->pause_ms, pace->gather_ms);
}

enum alarm_stage alarm_stage(const struct alarm_state *a, const struct alarm_notice *told,
			     const struct alarm_pace *pace)
{
	const int64_t silent_ms = pace->now - told->at;

	if (!told->any)
		return !a->gone_at && pace->now - a->begin_at >= a->lasting_ms ? STAGE_BEGUN : STAGE_NONE;
	if (a->gone_at)
		return pace->now - a->gone_at >= pace->gather_ms ? STAGE_OVER : STAGE_NONE;
	if (pace->remind_ms > 0 && silent_ms >= pace->remind_ms)
		return STAGE_LASTS; /* with all of its objects */
	return a->newest > told->up_to && silent_ms >= pause_of(told, pace) ? STAGE_MORE : STAGE_NONE;
}

static int64_t next_pause(const struct alarm_notice *told, const struct alarm_pace *pace)
{
	const int64_t twice = 2 * pause_of(told, pace);

	if (pace->now - told->at >= 2 * ALARM_PAUSE_MAX_MS)
		return pace->gather_ms;
	return twice < ALARM_PAUSE_MAX_MS ? twice : ALARM_PAUSE_MAX_MS;
}

struct alarm_notice alarm_notice_now(const struct alarm_state *a, const struct alarm_notice *told,
				     const struct alarm_pace *pace, enum alarm_stage stage)
{
	const int64_t pause_ms = stage == STAGE_MORE ? next_pause(told, pace) : pause_of(told, pace);

	return (struct alarm_notice){
		.any = true, .at = pace->now, .up_to = at_least(a->newest, told->up_to), .pause_ms = pause_ms
	};
}
