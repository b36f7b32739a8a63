/* alarms.h - what only an operator can change: the alarms of the present, what is kept of them, and what a
 * sink is to be notified of next. Alarms are kept by key, with a notice for each sink that was notified of
 * them; in the history, or in memory while that cannot be written (fallback.h).  Layer: process (reporter),
 * notify.
 *
 * An alarm of many objects, as pods that cannot be deleted for want of a right, is notified of those that
 * come later in one message a pause. The pause is tell.gather and doubles with each such message, to an hour;
 * where a sink was not notified of the alarm for two hours it is tell.gather again. So the first that come
 * are notified soon, and one that comes every minute rings once an hour. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NOTIFY_ALARMS_H
#define REPORTER_NOTIFY_ALARMS_H

#include "reporter/history/db.h"

/* -- what comes next -- */

#define ALARM_PAUSE_MAX_MS INT64_C(3600000)

/* In the order in which a message has them. */
enum alarm_stage { STAGE_BEGUN, STAGE_MORE, STAGE_LASTS, STAGE_OVER, STAGE__MAX, STAGE_NONE = STAGE__MAX };

/* Times are Unix ms. */
struct alarm_state {
	int64_t begin_at, lasting_ms;
	int64_t gone_at; /* 0 = it stands */
	int64_t newest;  /* the number of the object that joined last; 0 = it has none */
	bool elsewhere;  /* another replica notifies of its begin */
};

/* What a sink was notified of. */
struct alarm_notice {
	bool any;         /* it knows of the begin, and not of the end */
	int64_t at;       /* the last time; 0 = never */
	int64_t up_to;    /* objects up to this number */
	int64_t pause_ms; /* from then on before the next objects */
};

struct alarm_pace {
	int64_t now, gather_ms;
	int64_t remind_ms; /* 0 = never */
};

/* The next message to a sink about an alarm; STAGE_NONE = there is none now. */
enum alarm_stage alarm_stage(const struct alarm_state *a, const struct alarm_notice *notice,
			     const struct alarm_pace *pace);
/* What is to be kept once that stage is notified now. */
struct alarm_notice alarm_notice_now(const struct alarm_state *a, const struct alarm_notice *notice,
				     const struct alarm_pace *pace, enum alarm_stage stage);

/* -- alarms -- */

/* What one is about: where its texts come from. */
#define ALARM_OF_TROUBLE "trouble"
#define ALARM_OF_REASON  "reason"
#define ALARM_OF_PAUSE   "pause"
#define ALARM_OF_SINK    "sink"

struct alarm {
	int64_t duty;
	int64_t n; /* objects of the present; 0 = it is about none */
	struct alarm_state state;
	char *key, *cluster, *kind, *code, *ns, *name;
	struct facts *detail;
	bool is_changed; /* since it was kept */
};
/* Zeroed = empty. */
struct alarms {
	struct alarm *v;
	size_t n;
	uint32_t room;
	bool is_partial; /* reasons and pauses could not be read: none of those has ended */
};

void alarms_done(struct alarms *l);
/* Texts are copied; the detail is left to be set, and owned. Valid until the next one is added. */
struct alarm *alarms_add(struct alarms *l, const char *kind, const char *code, const char *cluster,
			 int64_t duty, const char *ns, const char *name);
/* kept becomes the alarms of the present, and those that have just ended; present is emptied of what is new.
 */
void alarms_merge(struct alarms *kept, struct alarms *present, int64_t now);

/* Each of the following returns 0 or negative errno. */

/* Objects that came since the last time join their alarm. */
int alarms_join(struct db *history);
/* Add the alarms of the history's reasons and pauses. */
int alarms_add_present(struct db *history, struct alarms *ret);
/* Read all that are kept; a time that lies ahead becomes now. */
int alarms_read(struct db *history, struct alarms *ret);
/* Keep what is_changed. */
int alarms_write(struct db *history, struct alarms *l);
/* Forget those that ended before that, Unix ms, with their notices. */
int alarms_forget_over(struct db *history, int64_t before);
/* The notice of a sink about an alarm, all 0 where there is none. To write one of an end removes it. */
int alarm_notice_read(struct db *history, const struct alarm *a, const char *sink, struct alarm_notice *ret);
int alarm_notice_write(struct db *history, const struct alarm *a, const char *sink,
		       const struct alarm_notice *notice);

#endif
