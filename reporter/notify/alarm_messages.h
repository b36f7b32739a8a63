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
	struct db *memory; /* while the history cannot be written: keeps alarms, notices and messages; else
			      NULL */
};

/* Put messages about the alarms of the present into the outbox of the history, or of the database in memory,
 * in one transaction. With that one nothing has ended that the history cannot tell of. To be called several
 * times within tell.gather. *ret_put: there are some. 0, or negative errno and nothing was written. */
int alarm_messages_put(const struct alarm_sources *from, bool *ret_put);

#endif
