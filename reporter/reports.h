/* reports.h - the digest on the loop: questions to the watchers, posts to the chat, and how they ended into
 * log and metrics.  Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_REPORTS_H
#define REPORTER_REPORTS_H

#include "process/process.h"
#include "reporter/digest/runner.h"
#include "reporter/web/stats.h"

struct reports;

/* on_drained(ctx): after reports_drain returned false, nothing is in flight any more. Everything must outlive
 * it. */
struct reports *reports_new(struct process *p, struct db *db, struct stats *stats,
			    void (*on_drained)(void *ctx), void *ctx);
/* Cancels what runs. Accepts NULL. */
void reports_free(struct reports **r);
/* Where to: once before anything is sent, and whenever that changes. */
void reports_set_address(struct reports *r, const struct settings *s);
/* Go on where the last end of this process left off; contents of *o are taken over. Once. */
void reports_start(struct reports *r, struct digest_options *o);
/* For what the watchers say, and for new options; borrowed. */
struct digest_runner *reports_runner(struct reports *r);
/* Start nothing any more. True: nothing is in flight. */
bool reports_drain(struct reports *r);

#endif
