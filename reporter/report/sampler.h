/* sampler.h - asks every watcher once an hour what restarted, and writes it down as samples.
 * Layer: process (reporter), report. Knows no sockets and no loop, as runner.h; answers with another number
 * than its own are not for it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_DIGEST_SAMPLER_H
#define REPORTER_DIGEST_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "ipc/msg.h"
#include "reporter/history/db.h"

#define SAMPLER_MS       3600000u /* between two questions */
#define SAMPLER_AGAIN_MS 300000u  /* after one that was not answered in full, and for an answer */
/* More rows of one answer are not counted. */
#define SAMPLER_ROWS_MAX 50000u
/* Numbers of its questions have this bit. */
#define SAMPLER_NUMBERS (UINT64_C(1) << 63)

struct sampler;

typedef void sampler_ask_fn(void *ctx, const struct msg_digest_get *question);

struct sampler *sampler_new(struct db *db, sampler_ask_fn *ask, void *ctx);
/* Accepts NULL. */
void sampler_free(struct sampler **s);
/* From now on; the names are copied. */
void sampler_set(struct sampler *s, bool enable, const struct str_list *clusters);
/* Is the cache of this cluster complete? */
void sampler_synced(struct sampler *s, uint64_t cluster, bool synced);
/* Of another's question they are left alone. 0, or negative errno when it cannot be written down: it is asked
 * again. */
int sampler_on_row(struct sampler *s, const struct msg_digest_row *row);
int sampler_on_end(struct sampler *s, const struct msg_digest_end *end);
/* Ask whom it is time for. Returns when to call it again, in ms. */
uint64_t sampler_tick(struct sampler *s);

#endif
