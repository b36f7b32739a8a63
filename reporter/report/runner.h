/* runner.h - one scheduled run of the digest after the other: when it is due, ask the watchers, put
 * a message for each sink into the outbox, never one run twice, also across a crash: a run ends in the
 * transaction that puts its messages into the outbox. Knows no sockets and no loop: time comes from
 * base/clock.h, everything else goes through digest_ops.  Layer: process (reporter), report. A run that was
 * due while nothing ran is sent once, late; of several only the last. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_REPORT_RUNNER_H
#define REPORTER_REPORT_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "reporter/report/schedule.h"
#include "reporter/history/db.h"
#include "reporter/report/report_run.h"

/* How long it waits for caches that are not complete yet, then for answers, then for workers that look. */
#define DIGEST_SYNC_MS       60000u
#define DIGEST_ANSWER_MS     20000u
#define DIGEST_INSPECTION_MS 20000u
/* A preview waits for caches this long. */
#define DIGEST_PREVIEW_MS 2000u
/* A run this long overdue when it starts is called late. */
#define DIGEST_LATE_MS 60000

struct digest_ops {
	/* Send a question: DIGEST_GET to a watcher, INSPECT to a worker. */
	void (*send)(void *ctx, const struct msg *question);
	/* Call digest_runner_tick after ms; replaces an earlier wish. */
	void (*wake)(void *ctx, uint64_t ms);
	/* A run ended: what it has to say is in the outbox. */
	void (*ended)(void *ctx, const struct scheduled_run *run);
	/* The database failed; nothing was sent, it is tried again. */
	void (*trouble)(void *ctx, int err, const char *what);
};

struct digest_runner;

struct digest_runner *digest_runner_new(struct db *db, const struct digest_ops *ops, void *ctx);
/* Accepts NULL. */
void digest_runner_free(struct digest_runner **r);
/* Take up the newest run that was claimed before the last end of this process; older ones are skipped. Once,
 * before the first schedule. 0 or negative errno. */
int digest_runner_recover(struct digest_runner *r);
/* Work by that schedule from now on; it is borrowed. Call it again when its contents have changed. */
void digest_runner_set_schedule(struct digest_runner *r, const struct report_schedule *s);
void digest_runner_tick(struct digest_runner *r);

/* Is the cache of this cluster complete? */
void digest_runner_synced(struct digest_runner *r, uint64_t cluster, bool synced);
/* Does this replica lead there? A report of the schedule tells only of such clusters, so that of several
 * replicas one tells of each. Until it is said it does. */
void digest_runner_leads(struct digest_runner *r, uint64_t cluster, bool leads);
void digest_runner_on_row(struct digest_runner *r, const struct msg_digest_row *row);
void digest_runner_on_end(struct digest_runner *r, const struct msg_digest_end *end);

void digest_runner_on_inspected(struct digest_runner *r, const struct msg_inspected *inspected);

/* What a report would say now: asks as for a report, claims, remembers and sends nothing. fn is called once,
 * later, with an report_run to compose from, which goes after the call; with NULL when it comes to nothing.
 * 0, or -EBUSY: a report or another preview is under way. s: who will be shown it; only read during the call.
 */
typedef void digest_preview_fn(void *ctx, const struct report_run *e, const struct report_schedule *schedule);
int digest_runner_preview(struct digest_runner *r, const struct sink_settings *s, digest_preview_fn *fn,
			  void *ctx);

/* Start nothing any more. */
void digest_runner_drain(struct digest_runner *r);

#endif
