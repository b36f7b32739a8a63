/* alarm_messages.h - news of what only an operator can change, as it begins and as it ends: troubles of the
 * program (model/troubles.def), reasons that need an operator (reporter/history/attention.h), pauses that are
 * forgotten, and sinks that get nothing.  Layer: process (reporter), notify.
 * What stands is kept in the history as alarms, with which sink was told of which begin: so a begin is told
 * once to each sink, an end only where its begin was told, and a crash changes neither. What comes and goes
 * within tell.gather is not told. Objects that join an alarm are told once, gathered (alarm_stage.h); the end
 * of one of several is not told, that of the last is the alarm's. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NOTIFY_ALARM_MESSAGES_H
#define REPORTER_NOTIFY_ALARM_MESSAGES_H

#include "config/settings.h"
#include "config/zone.h"
#include "reporter/history/db.h"

/* A pause that is older is told. */
#define TELL_PAUSE_MS INT64_C(86400000)

struct alarm_messages;
struct sender;

/* history: where reasons and pauses are read; it must outlive it. */
struct alarm_messages *alarm_messages_new(struct db *history);
/* Accepts NULL. */
void alarm_messages_free(struct alarm_messages **t);
/* A trouble of the program begins, has another detail, or ends. After a start each that stands is said anew.
 */
void alarm_messages_trouble(struct alarm_messages *t, const struct msg_trouble_row *m);
/* Look what stands now. To be called several times within tell.gather. *ret_put: messages were put into the
 * outbox of db, which is the history, or a spare (reporter/notify/spare.h): beside that one a history that
 * cannot be read tells of no reasons and pauses. 0, or negative errno and nothing was told. sender: may be
 * NULL. */
int alarm_messages_put(struct alarm_messages *t, struct db *db, const struct settings *s,
		       const struct zone *zone, const struct sender *sender, bool *ret_put);

#endif
