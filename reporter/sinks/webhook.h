/* webhook.h - posts a message to the address of a chat and says what the answer means.
 * Layer: process (reporter), sinks.  Trusts what the system trusts (http/client.h). Redirects are not
 * followed; the address never reaches a log. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_SINKS_WEBHOOK_H
#define REPORTER_SINKS_WEBHOOK_H

#include "reporter/sinks/parts.h"

struct event_base;
struct webhook;

/* Whole time of one post. */
#define WEBHOOK_TIMEOUT_MS 10000u

typedef void webhook_answer_fn(void *ctx, const struct sink_answer *a);

struct webhook *webhook_new(struct event_base *base, webhook_answer_fn *fn, void *ctx);
/* Cancels what runs. Accepts NULL. */
void webhook_free(struct webhook **w);
/* Where to; copied. url NULL or "" = nowhere. address: resolved "ip:port" of its host, NULL when it is an IP
 * literal. A post that runs ends where it began. */
void webhook_set_url(struct webhook *w, const char *url, const char *address);
/* body is the webhook's from now on. One post at a time; fn is called once for each, from the loop. */
void webhook_post(struct webhook *w, char *body);

#endif
