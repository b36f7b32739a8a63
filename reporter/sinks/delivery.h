/* delivery.h - sends one document at a time to one sink and says what became of it. It knows how to reach
 * the sink (HTTP or SMTP, directly or by a proxy), at what rate, and which form it takes; not when to try
 * again.  Layer: process (reporter), sinks. The address of a sink never reaches a log. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_SINKS_DELIVERY_H
#define REPORTER_SINKS_DELIVERY_H

#include "config/settings.h"
#include "reporter/news/document.h"
#include "reporter/sinks/sink.h"

struct event_base;
struct delivery;

typedef void delivery_answer_fn(void *ctx, const struct sink_answer *a);

/* s is copied. */
struct delivery *delivery_new(struct event_base *base, const struct sink_settings *s, delivery_answer_fn *fn,
			      void *ctx);
/* Cancels what runs; fn is not called any more. Accepts NULL. */
void delivery_free(struct delivery **d);
/* Other settings from the next document on; what runs ends as it began. True: what decides whether it gets
 * through is another (address, secret, proxy, certificates, sender, recipients). */
bool delivery_set(struct delivery *d, const struct sink_settings *s);
/* A message is given up after that time: the readers of a mail wait for one of them for a part of it. */
void delivery_set_patience(struct delivery *d, uint64_t give_up_ms);
/* ms (boot clock) to wait before the sink may be sent another one. */
uint64_t delivery_wait(const struct delivery *d);
/* Send doc, which is only read during the call. fn is called once, later, from the loop. Not while another
 * one runs. */
void delivery_send(struct delivery *d, const struct document *doc);
/* Does it know a message by its id, so that one that is sent twice is one? */
bool delivery_knows_ids(const struct delivery *d);

#endif
