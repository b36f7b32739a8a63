/* alarm_messages.h - messages about what only an operator can change, as it begins and as it ends: troubles
 * of the program (model/troubles.def), reasons that need an operator (reporter/history/attention.h), pauses
 * that last for a day, and sinks that get nothing.  Layer: process (reporter), notify. Alarms are kept with a
 * notice for each sink: so a sink is notified of a begin once, of an end only where it was notified of the
 * begin, and a crash changes neither. What comes and goes within tell.gather is left out. Of objects that
 * join an alarm a sink is notified once, gathered (alarms.h); the end of one of several is left out, that of
 * the last one is the alarm's. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NOTIFY_ALARM_MESSAGES_H
#define REPORTER_NOTIFY_ALARM_MESSAGES_H

#include "config/settings.h"
#include "config/zone.h"
#include "reporter/news/document.h"
#include "reporter/notify/alarms.h"
#include "reporter/state/state.h"

struct sender;

/* Where alarms come from; all is borrowed. */
struct alarm_sources {
	struct db *history;          /* reasons and pauses */
	const struct state *state;   /* troubles */
	const struct sender *sender; /* sinks that are down; NULL = none */
	const struct settings *settings;
	const struct zone *zone; /* of times in texts; NULL = UTC */
};

/* Put messages about the alarms of the present into the outbox of the history, in one transaction. To be
 * called several times within tell.gather. *ret_put: there are some. 0, or negative errno and nothing was
 * written. */
int alarm_messages_put(const struct alarm_sources *from, bool *ret_put);

/* -- for fallback.h -- */

/* Of one sink and one alarm. */
struct sink_alarm_state {
	struct alarm_notice notice; /* what the sink was notified of */
	enum alarm_stage stage;     /* of the message */
	struct alarm_notice next;   /* with the message; as notice where stage is STAGE_NONE */
};

/* Add the alarms of the present, as far as the history can be read (ret->is_partial). */
void alarm_messages_find(const struct alarm_sources *from, struct alarms *ret);
/* The message to a sink about those alarms: of[i].notice goes in, of[i].stage and next come out. 1, with *ret
 * to be freed by document_done(); 0 = there is nothing to say, or negative errno, with *ret empty. */
int alarm_messages_compose(const struct alarm_sources *from, const struct sink_settings *sink,
			   const struct alarms *all, int64_t now, struct sink_alarm_state *of,
			   struct document *ret);

#endif
