/* fallback.h - messages about alarms while the history cannot be opened or written: alarms, notices and
 * messages are kept in a database in memory, by the code that keeps them in the history (alarm_messages.h,
 * sender.h), so that a full disk is notified while it is full. It begins with what the history holds, and
 * what it did goes back there: so a sink is notified of an end, and rarely twice of a begin. It dies with the
 * process; the next one begins anew.  Layer: process (reporter), notify. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NOTIFY_FALLBACK_H
#define REPORTER_NOTIFY_FALLBACK_H

#include "reporter/history/db.h"

/* Open a database in memory with what the history holds, as far as it can be read: alarms, notices, and the
 * messages about them that wait. 0 or negative errno. */
int fallback_begin(struct db *history, struct db **ret);
/* Write all of it into the history, in one transaction. 0, or negative errno and nothing was written. */
int fallback_return(struct db *memory, struct db *history);

#endif
