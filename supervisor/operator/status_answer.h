/* status_answer.h - what the supervisor says of the whole: to `status`, in the log, to the reporter. It is
 * built of the messages that the children sent last. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_OPERATOR_STATUS_ANSWER_H
#define SUPERVISOR_OPERATOR_STATUS_ANSWER_H

#include "supervisor/actions/parts.h"

/* Answer CTL_STATUS to the asker of that number. */
void status_answer(struct supervisor *s, uint64_t conn);
/* Log that answer, a line a row, at level info: for a machine where nobody may use the control socket. */
void status_dump(struct supervisor *s);
/* Print "2/2 clusters synced, 1204 pods, 17 actions" into ret. */
void status_describe(const struct supervisor *s, char *ret, size_t size);

/* Note what moves and what fails: whether everything is listed, judged and done, and since when a cluster
 * cannot be seen, which plan, `run --once` and `rbac --check` wait for. Call once a second. */
void status_check_settled(struct supervisor *s);
/* Log version and configuration once, and each cluster's server and user as it is loaded. */
void status_log_identity(struct supervisor *s);
/* Send the reporter WATCH_STATS of a cluster: the last that its watcher sent, or, where that reports no
 * error, with the error of loading. Nothing while there is neither. */
void status_send_watch_stats(struct supervisor *s, uint64_t cluster);
/* Send the reporter CHILD_STATS of c, unless its cluster has left. */
void status_send_child_stats(struct supervisor *s, const struct child *c);
void status_send_worker_stats(struct supervisor *s, uint64_t cluster);

#endif
