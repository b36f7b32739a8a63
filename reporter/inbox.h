/* inbox.h - messages to the reporter: what is written down and acknowledged, what is answered, what is
 * counted. Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_INBOX_H
#define REPORTER_INBOX_H

#include "process/process.h"
#include "reporter/report/runner.h"
#include "reporter/history/history.h"
#include "reporter/notifier.h"
#include "reporter/web/stats.h"

struct inbox;

/* Everything must outlive the inbox; *s may change between two calls. What is said of the present goes into
 * state. */
struct inbox *inbox_new(struct process *p, const struct settings *s, struct state *state, struct db *db,
			struct stats *stats, struct digest_runner *runner, struct notifier *notifier);
/* Call it when the settings have changed: rows that are too old by them are removed. */
void inbox_settings_changed(struct inbox *i);
/* Accepts NULL. */
void inbox_free(struct inbox **i);
/* What is written goes through it; borrowed. */
struct history *inbox_history(struct inbox *i);
/* Can all be read that the supervisor has to be told? 0 or negative errno. */
int inbox_check(const struct inbox *i);
/* The history is open and messages may be sent: tell the supervisor what is open, write what has come since.
 * Until then what is to be written waits in memory, and nothing is acknowledged. Negative errno when it
 * cannot be read. */
int inbox_start(struct inbox *i);
void inbox_on_msg(struct inbox *i, const struct msg *m);
/* The channel has room again. */
void inbox_on_room(struct inbox *i);
/* Write what is left. Returns how many messages could not be written. */
uint64_t inbox_finish(struct inbox *i);

#endif
