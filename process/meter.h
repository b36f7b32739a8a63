/* meter.h - what a watcher or a worker counts and times, added up for two seconds and then told to the
 * reporter. Layer: process.  Bounded: what cannot be told yet is added up further; an idle process never
 * wakes for it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef PROCESS_METER_H
#define PROCESS_METER_H

#include "http/call.h"
#include "ipc/msg.h"

struct event_base;
struct meter;

#define METER_MS 2000
/* Different (verb, status) at once; more are counted as the last of them. */
#define METER_CODES_MAX 64u

/* send: as process_send. cluster: whose. */
struct meter *meter_new(struct event_base *base, uint64_t cluster,
			int (*send)(void *ctx, const struct msg *m), void *ctx);
/* What was not told is lost. Accepts NULL. */
void meter_free(struct meter **m);
void meter_time(struct meter *m, enum timing t, uint64_t us);
/* An http_seen_fn; ctx is a struct meter. */
void meter_request(void *ctx, const struct http_seen *seen);
/* The same, and how long a worker waited for the answer. */
void meter_timed_request(void *ctx, const struct http_seen *seen);
/* Tell now what there is. */
void meter_flush(struct meter *m);

#endif
