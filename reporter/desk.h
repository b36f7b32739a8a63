/* desk.h - answers an operator who asks for the report as of now, for what a sink would be sent, or whether a
 * sink takes a message (CTL_REPORT). Nothing of it is written down, and nothing that waits in the outbox
 * waits for it: a test goes by a delivery of its own.  Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_DESK_H
#define REPORTER_DESK_H

#include "config/settings.h"
#include "ipc/msg.h"
#include "reporter/digest/runner.h"

struct event_base;
struct desk;

struct desk_ops {
	/* To the asker; it is kept until the channel has room. */
	void (*send)(void *ctx, const struct msg *m);
};

/* *s may change between two calls; it and db must outlive the desk, which must outlive the runner. */
struct desk *desk_new(struct event_base *base, const struct settings *s, struct db *db,
		      struct digest_runner *runner, const struct desk_ops *ops, void *ctx);
/* Accepts NULL. */
void desk_free(struct desk **d);
void desk_on_ask(struct desk *d, const struct msg_ctl_report *q);

#endif
