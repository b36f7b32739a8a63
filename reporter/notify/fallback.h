/* fallback.h - messages about alarms while the history cannot be opened or written: alarms and notices are
 * kept in arrays, and messages go straight to the sinks, so that a full disk is notified while it is full. It
 * begins with what the history holds, and what it did goes back there: so a sink is notified of an end, and
 * rarely twice of a begin. It dies with the process; the next one begins anew.  Layer: process (reporter),
 * notify. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NOTIFY_FALLBACK_H
#define REPORTER_NOTIFY_FALLBACK_H

#include <stdbool.h>

#include "reporter/notify/alarm_messages.h"

struct fallback;

/* Hand a message to a sink. False: the sink takes none now. */
typedef bool fallback_send_fn(void *ctx, const char *sink, const struct document *doc);

/* Read what the history holds, as far as it can be read. A sink for which messages about alarms wait in the
 * outbox, which may not be sent before it can be written, is notified again. is_repeat: an earlier process
 * may have sent the first messages already, which they then say. */
struct fallback *fallback_new(const struct alarm_sources *from, bool is_repeat);
/* Accepts NULL. */
void fallback_free(struct fallback **f);
/* Look what there is now, and send each sink what it is to be notified of. To be called several times within
 * tell.gather; the sources are those of fallback_new(), with other contents. */
void fallback_look(struct fallback *f, const struct alarm_sources *from, fallback_send_fn *send, void *ctx);
/* The message to that sink ended. is_settled: it is not to be sent again. */
void fallback_sent(struct fallback *f, const char *sink, bool is_settled);
/* Write alarms and notices into the history, in one transaction. 0, or negative errno and nothing was
 * written. */
int fallback_return(struct fallback *f, struct db *history);

#endif
