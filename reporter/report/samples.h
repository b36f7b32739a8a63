/* samples.h - how often containers restarted, and when: every watcher is asked once an hour what restarted
 * since, and a restart count that changed is written down with the time it was seen. From that comes how
 * often something restarted in a window, also across restarts of this program. Layer: process (reporter),
 * report. A ring, pruned with the rest of the history: HISTORY_SAMPLE_DAYS, and HISTORY_SAMPLES_MAX rows at
 * most. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_DIGEST_SAMPLES_H
#define REPORTER_DIGEST_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "ipc/msg.h"
#include "reporter/history/db.h"

#define DELTA_UNKNOWN (-1)

/* Write down what a row says, seen at now_ms, in the transaction of the caller. 0 or negative errno. */
int samples_put(struct db *db, const struct msg_digest_row *row, const char *cluster_name, int64_t now_ms);
/* A question to this cluster was answered in full; `all`: about all its containers. What is first seen after
 * a full answer has restarted since, every time that it has. 0 or negative errno. */
int samples_answered(struct db *db, const char *cluster_name, bool all, int64_t now_ms);
/* What to ask this cluster for: containers that ended since *ret (Unix ms); 0: all that ever restarted. */
int samples_since(struct db *db, const char *cluster_name, int64_t now_ms, int64_t *ret);
/* Restarts of the row's container after from_ms, whether the row was put before or not; DELTA_UNKNOWN: it was
 * there before and nobody counted. 0 or negative errno. */
int samples_delta(struct db *db, const struct msg_digest_row *row, const char *cluster_name, int64_t from_ms,
		  int64_t *ret);

/* -- the hourly question: knows no sockets and no loop, as runner.h; answers with another number than its own
 * are not for it -- */

#define SAMPLER_MS       3600000u /* between two questions */
#define SAMPLER_AGAIN_MS 300000u  /* after one that was not answered in full, and for an answer */
/* More rows of one answer are not counted. */
#define SAMPLER_ROWS_MAX 50000u
/* Numbers of its questions have this bit. */
#define SAMPLER_NUMBERS (UINT64_C(1) << 63)

struct sampler;

struct sampler *sampler_new(struct db *db, void (*send)(void *ctx, const struct msg *question), void *ctx);
/* Accepts NULL. */
void sampler_free(struct sampler **s);
/* From now on; the names are copied. */
void sampler_set(struct sampler *s, bool enable, const struct str_list *clusters);
/* Of another's question they are left alone. 0, or negative errno when it cannot be written down: it is asked
 * again. */
int sampler_on_row(struct sampler *s, const struct msg_digest_row *row);
int sampler_on_end(struct sampler *s, const struct msg_digest_end *end);
/* Ask whom it is time for, of those whose cache is complete (synced, by index). Returns when to call it
 * again, in ms. */
uint64_t sampler_tick(struct sampler *s, const bool *synced);

#endif
