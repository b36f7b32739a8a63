/* report_requests.h - answers an operator who asks for the report as of now, for what a sink would be sent,
 * or whether a sink takes a message (CTL_REPORT). Nothing of it is written down, and nothing that waits in
 * the outbox waits for it: a test goes by a delivery of its own.  Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_REPORT_REQUESTS_H
#define REPORTER_REPORT_REQUESTS_H

#include "config/settings.h"
#include "ipc/msg.h"
#include "reporter/report/runner.h"

struct event_base;
struct report_requests;

/* send: to the asker; it is kept until the channel has room. *s may change between two calls; it and db must
 * outlive the desk, which must outlive the runner. */
struct report_requests *report_requests_new(struct event_base *base, const struct settings *s, struct db *db,
					    struct digest_runner *runner,
					    void (*send)(void *ctx, const struct msg *m), void *ctx);
/* Accepts NULL. */
void report_requests_free(struct report_requests **d);
void report_requests_on_ask(struct report_requests *d, const struct msg_ctl_report *q);

#endif
