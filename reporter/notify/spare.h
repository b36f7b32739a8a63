/* spare.h - the outbox in memory, for as long as the history cannot be written or opened: a database of the
 * same schema, which holds what needs an operator (alarms, who was told of them, the messages), so that a
 * full disk is told while it is full. It begins with what the history holds, and goes back into it in one
 * transaction: so nothing is told twice, and no end is missed. What is in it dies with the process. The next
 * one cannot know what was told and tells it again, saying that it may have arrived before; of a begin that
 * only the dead one told no end is told. Layer: process (reporter), notify. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NOTIFY_SPARE_H
#define REPORTER_NOTIFY_SPARE_H

#include <stdbool.h>

#include "reporter/history/db.h"

/* It grows no larger. */
#define SPARE_BYTES_MAX (UINT64_C(4) << 20)
/* Messages of the history that wait, and go with it: so many of the newest. Their ids stay. */
#define SPARE_TAKEN_MAX 50

/* 1: it begins with what the history holds; 0: that cannot be read, and it begins empty: what the history
 * knows to be told may be told again; either way *ret is to be closed by db_close(). Or negative errno. */
int spare_open(struct db *history, struct db **ret);
/* Before something is put into it: what has ended needs no room. in_doubt: of what was put since the last
 * call nobody knows whether a process before this one has told it. */
int spare_trim(struct db *spare);
int spare_doubt(struct db *spare);
/* Write it into the history. Nothing of it may be on its way. knew: what spare_open() returned; what began
 * empty changes nothing that only the history knows. 0, or negative errno and nothing was written. */
int spare_return(struct db *spare, struct db *history, bool knew);

#endif
