/* reporter_outbox.h - messages for the reporter. What it cannot take just now is kept, up to a limit, until
 * it is back. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_REPORTER_OUTBOX_H
#define SUPERVISOR_REPORTER_OUTBOX_H

#include "supervisor/children/children.h"

struct reporter_outbox;

/* children is borrowed. */
struct reporter_outbox *reporter_outbox_new(const struct children *children);
void reporter_outbox_free(struct reporter_outbox **o);

void reporter_outbox_send(struct reporter_outbox *o, const struct msg *m);
/* The reporter is ready: it gets what was kept. */
void reporter_outbox_on_reporter_ready(struct reporter_outbox *o);

#endif
