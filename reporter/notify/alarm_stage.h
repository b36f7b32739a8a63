/* alarm_stage.h - what a sink hears next of an alarm: its begin, objects that came since, that it lasts, its
 * end, or nothing.  Layer: process (reporter), notify.  Pure.
 * An alarm of many objects, as pods that cannot be deleted for want of a right, is told of those that come
 * later in one message a pause. The pause is tell.gather and doubles with each such message, to an hour;
 * where the sink heard nothing of the alarm for two hours it is tell.gather again. So the first that come are
 * told soon, and one that comes every minute rings once an hour. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NOTIFY_ALARM_STAGE_H
#define REPORTER_NOTIFY_ALARM_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#define ALARM_PAUSE_MAX_MS INT64_C(3600000)

/* In the order in which a message has them. */
enum alarm_stage { STAGE_BEGUN, STAGE_MORE, STAGE_LASTS, STAGE_OVER, STAGE__MAX, STAGE_NONE = STAGE__MAX };

/* Times are Unix ms. */
struct alarm_state {
	int64_t begin_at, lasting_ms;
	int64_t gone_at; /* 0 = it stands */
	int64_t newest;  /* the number of the object that joined last; 0 = it has none */
};

/* What a sink heard of it. */
struct alarm_notice {
	bool any;
	int64_t at;       /* the last time */
	int64_t up_to;    /* objects up to this number */
	int64_t pause_ms; /* from then on before it hears of more */
};

struct alarm_pace {
	int64_t now, gather_ms;
	int64_t remind_ms; /* 0 = never */
};

enum alarm_stage alarm_stage(const struct alarm_state *a, const struct alarm_notice *told,
			     const struct alarm_pace *pace);
/* What is to be remembered once that stage is told now. */
struct alarm_notice alarm_notice_now(const struct alarm_state *a, const struct alarm_notice *told,
				     const struct alarm_pace *pace, enum alarm_stage stage);

#endif
