/* telling.h - what people are told: gathers the news, and sends what waits in the outbox to the sinks of the
 * settings. Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_TELLING_H
#define REPORTER_TELLING_H

#include "process/process.h"
#include "reporter/history/db.h"
#include "reporter/web/stats.h"

struct telling;

/* Everything must outlive it; *s may change between two calls. drained: after telling_drain() returned
 * false, when nothing is on its way any more. */
struct telling *telling_new(struct process *p, const struct settings *s, struct db *db, struct stats *stats,
			    void (*drained)(void *ctx), void *ctx);
/* Accepts NULL. */
void telling_free(struct telling **t);
/* Messages may be sent: the first settings are in force, or others now. */
void telling_use_settings(struct telling *t);
/* Something was put into the outbox. */
void telling_wake(struct telling *t);
/* Send nothing any more. True: nothing is on its way. */
bool telling_drain(struct telling *t);

#endif
