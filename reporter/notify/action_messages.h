/* action_messages.h - news of what was done: every action that ended since the last message, in one message
 * for each sink that it concerns.  Layer: process (reporter), notify. Nothing is written for this when an
 * action is: which were told stands in the history (notified_actions), and moves on in the transaction that
 * puts the messages into the outbox. So each is told once, whatever dies when. A history without that begins
 * now: what is old is not told. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NOTIFY_ACTION_MESSAGES_H
#define REPORTER_NOTIFY_ACTION_MESSAGES_H

#include "config/settings.h"
#include "config/zone.h"
#include "reporter/history/db.h"

/* What only failed is told with what was done, or alone this long after the last message. */
#define TELL_FAILURES_MS INT64_C(3600000)

/* What is left once messages were put: the next part of many actions, or (later) only failures, which wait
 * for something that was done. */
enum actions_left { ACTIONS_LEFT_NONE, ACTIONS_LEFT_NOW, ACTIONS_LEFT_LATER };

/* From here on is told; the first time from now on. 0 or negative errno. */
int action_messages_begin(struct db *db);
/* *ret_put: messages were put into the outbox. 0, or negative errno and nothing was told. zone NULL = UTC. */
int action_messages_put(struct db *db, const struct settings *s, const struct zone *zone, bool *ret_put,
			enum actions_left *ret_left);

#endif
