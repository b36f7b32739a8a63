/* run.h - one digest after the other: when a slot is due, ask the watchers, send the parts, never one
 * slot twice. Knows no sockets and no loop: time comes from base/clock.h, acts go out through digest_ops.
 * Layer: process (reporter).
 * A slot that passed while nothing ran is sent once, late; of several only the last. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_DIGEST_RUN_H
#define REPORTER_DIGEST_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "config/cron.h"
#include "config/zone.h"
#include "reporter/history/db.h"
#include "reporter/digest/store.h"
#include "reporter/sinks/feishu.h"

/* How long it waits for caches that are not complete yet, and then for answers. */
#define DIGEST_SYNC_MS   60000u
#define DIGEST_ANSWER_MS 20000u
/* A slot this old when it starts is called late. */
#define DIGEST_LATE_MS 60000
/* Tries of one part, and how long they may take. */
#define DIGEST_TRIES_MAX 5u
#define DIGEST_RETRY_MS  600000u

struct digest_plan {
	bool enable;
	struct cron cron;
	struct zone *zone; /* NULL = UTC */
	char *schedule;    /* expression and zone: what makes a slot of this schedule */
	char *title, *secret;
	struct str_list clusters;
};
void digest_plan_done(struct digest_plan *p);

struct digest_end {
	struct digest_progress progress;
	bool late;
	const char *incomplete; /* clusters without a full answer, or "" */
};

struct digest_ops {
	/* Ask one cluster's watcher. */
	void (*ask)(void *ctx, uint64_t cluster, uint64_t digest);
	/* Post a body (now the callee's, free it); digest_run_answer follows, not from within. */
	void (*post)(void *ctx, char *body);
	/* Call digest_run_tick after ms; replaces an earlier wish. */
	void (*wake)(void *ctx, uint64_t ms);
	/* A slot came to its end. */
	void (*ended)(void *ctx, const struct digest_end *e);
	/* The database failed; nothing was sent, it is tried again. */
	void (*trouble)(void *ctx, int err, const char *what);
	/* After digest_run_drain returned false: nothing is in flight any more. */
	void (*drained)(void *ctx);
};

struct digest_run;

struct digest_run *digest_run_new(struct db *db, const struct digest_ops *ops, void *ctx);
void digest_run_free(struct digest_run **r);
/* Close what an earlier life left; *ret_in_doubt slots became unconfirmed. Once, before the first plan. */
int digest_run_recover(struct digest_run *r, uint64_t *ret_in_doubt);
/* Contents of *p are taken over. */
void digest_run_set_plan(struct digest_run *r, struct digest_plan *p);
void digest_run_tick(struct digest_run *r);

/* Is the cache of this cluster complete? */
void digest_run_synced(struct digest_run *r, uint64_t cluster, bool synced);
void digest_run_row(struct digest_run *r, const struct msg_digest_row *row);
void digest_run_end(struct digest_run *r, const struct msg_digest_end *end);
void digest_run_answer(struct digest_run *r, const struct feishu_answer *a);

/* Start nothing any more. True: nothing is in flight. */
bool digest_run_drain(struct digest_run *r);

#endif
