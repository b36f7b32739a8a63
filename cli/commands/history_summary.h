/* history_summary.h - the history counted: a line for each duty, namespace, node or cluster.  Process: cli.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_COMMANDS_HISTORY_SUMMARY_H
#define CLI_COMMANDS_HISTORY_SUMMARY_H

#include "ipc/msg.h"
#include "model/actions.h"

struct options;

/* OUTCOME__MAX: open. A refusal by the watcher is refused, too. */
enum outcome history_outcome(const struct msg_ctl_history_row *h);
/* Several names of one kind are asked for as all: is the row of one that was meant? */
bool history_is_meant(const struct options *o, const struct msg_ctl_history_row *h);

/* Ask for the rows, count them as they arrive, and print, most first: an exit code. */
int history_summarize(const struct options *o, const struct msg *request);

#endif
