/* hook.h - posts a body to the bot's address and says what the answer means.
 * Layer: process (reporter).  Trusts what the system trusts (http/client.h). Redirects are not followed; the
 * address never reaches a log. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_HOOK_H
#define REPORTER_HOOK_H

#include "reporter/feishu.h"

struct event_base;
struct hook;

/* Whole time of one post. */
#define HOOK_TIMEOUT_MS 10000u

typedef void hook_answer_fn(void *ctx, const struct feishu_answer *a);

struct hook *hook_new(struct event_base *base, hook_answer_fn *fn, void *ctx);
/* Cancels what runs. Accepts NULL. */
void hook_free(struct hook **h);
/* Where to; copied. url NULL or "" = nowhere. address: resolved "ip:port" of its host, NULL when it is an IP
 * literal. A post that runs ends where it began. */
void hook_set_url(struct hook *h, const char *url, const char *address);
/* body is the hook's from now on. One post at a time; fn is called once for each, from the loop. */
void hook_post(struct hook *h, char *body);

#endif
