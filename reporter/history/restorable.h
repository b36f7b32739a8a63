/* restorable.h - what has to be done to take a scale-down back, by what the history knows of it. Whether it
 * may be done is judged live by a worker.  Layer: process (reporter), history. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_HISTORY_RESTORABLE_H
#define REPORTER_HISTORY_RESTORABLE_H

#include "ipc/msg.h"
#include "reporter/history/db.h"
#include "reporter/history/history.h"

/* *ret becomes CTL_RESTORE_ROW (action RESTORE on the action key of the scale-down, with the object, its uid
 * and the replicas it had), or CTL_END with a sentence when there is nothing that could be taken back. */
void restorable_find(struct db *db, const struct history *h, const struct msg_ctl_restore *q,
		     struct msg *ret);

#endif
