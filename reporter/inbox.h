/* inbox.h - messages to the reporter: what is written down and acknowledged, what is answered, what is
 * counted. Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_INBOX_H
#define REPORTER_INBOX_H

#include "process/process.h"
#include "reporter/report/runner.h"
#include "reporter/history/history.h"
#include "reporter/status_snapshot.h"
#include "reporter/notifier.h"
#include "reporter/web/stats.h"

struct inbox;

/* Everything must outlive the inbox; *s may change between two calls. */
/* The settings changed: what is too old by them goes now. */
void inbox_settings_changed(struct inbox *i);
struct inbox *inbox_new(struct process *p, const struct settings *s, struct db *db, struct stats *stats,
			struct digest_runner *runner, struct notifier *notifier);
/* Accepts NULL. */
void inbox_free(struct inbox **i);
/* What is written goes through it; borrowed. */
struct history *inbox_history(struct inbox *i);
/* What it was told of the present; borrowed. */
const struct status_snapshot *inbox_snapshot(const struct inbox *i);
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
