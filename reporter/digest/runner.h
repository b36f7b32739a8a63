/* runner.h - one scheduled run of the digest after the other: when it is due, ask the watchers, send the
 * parts, never one run twice. Knows no sockets and no loop: time comes from base/clock.h, everything else
 * goes through digest_ops.  Layer: process (reporter), digest. A run that was due while nothing ran is sent
 * once, late; of several only the last. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_DIGEST_RUNNER_H
#define REPORTER_DIGEST_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "reporter/digest/options.h"
#include "reporter/digest/run_log.h"
#include "reporter/history/db.h"
#include "reporter/sinks/parts.h"

/* How long it waits for caches that are not complete yet, and then for answers. */
#define DIGEST_SYNC_MS   60000u
#define DIGEST_ANSWER_MS 20000u
/* A run this long overdue when it starts is called late. */
#define DIGEST_LATE_MS 60000
/* Tries of one part, and how long they may take. */
#define DIGEST_TRIES_MAX 5u
#define DIGEST_RETRY_MS  600000u

struct digest_ops {
	/* Ask one cluster's watcher (DIGEST_GET). */
	void (*ask)(void *ctx, uint64_t cluster, uint64_t digest);
	/* Post a body (now the callee's, free it); digest_runner_on_answer follows, not from within. */
	void (*post)(void *ctx, char *body);
	/* Call digest_runner_tick after ms; replaces an earlier wish. */
	void (*wake)(void *ctx, uint64_t ms);
	/* A run ended. */
	void (*ended)(void *ctx, const struct scheduled_run *run);
	/* The database failed; nothing was sent, it is tried again. */
	void (*trouble)(void *ctx, int err, const char *what);
	/* After digest_runner_drain returned false: nothing is in flight any more. */
	void (*drained)(void *ctx);
};

struct digest_runner;

struct digest_runner *digest_runner_new(struct db *db, const struct digest_ops *ops, void *ctx);
/* Accepts NULL. */
void digest_runner_free(struct digest_runner **r);
/* Close what was left at the last end of this process; *ret_in_doubt runs became unconfirmed. Once, before
 * the first options. 0 or negative errno. */
int digest_runner_recover(struct digest_runner *r, uint64_t *ret_in_doubt);
/* Contents of *o are taken over. */
void digest_runner_set_options(struct digest_runner *r, struct digest_options *o);
void digest_runner_tick(struct digest_runner *r);

/* Is the cache of this cluster complete? */
void digest_runner_synced(struct digest_runner *r, uint64_t cluster, bool synced);
void digest_runner_on_row(struct digest_runner *r, const struct msg_digest_row *row);
void digest_runner_on_end(struct digest_runner *r, const struct msg_digest_end *end);
void digest_runner_on_answer(struct digest_runner *r, const struct sink_answer *a);

/* Start nothing any more. True: nothing is in flight. */
bool digest_runner_drain(struct digest_runner *r);

#endif
