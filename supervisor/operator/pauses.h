/* pauses.h - pauses on their way: from an operator to the list, the watchers and the history, and
 * back from the history at its start. In force at once; confirmed to the operator when it is on disk. What is
 * resumed by a crash between the two would be wrong, so the list of a running supervisor is what counts, and
 * a new reporter is corrected by it. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_OPERATOR_PAUSES_H
#define SUPERVISOR_OPERATOR_PAUSES_H

#include "supervisor/actions/parts.h"

/* Somebody pauses or resumes: CTL_PAUSE, its conn is set. */
void pauses_on_ctl_pause(struct supervisor *s, const struct msg *m);
/* PAUSE from the reporter. Before OPEN_END: what the history holds. Afterwards: it is on disk. */
void pauses_on_pause(struct supervisor *s, const struct msg *m);
/* The history is open. */
void pauses_on_open_end(struct supervisor *s);
void pauses_on_reporter_dead(struct supervisor *s);
void pauses_on_watcher_ready(const struct supervisor *s, uint64_t cluster);
/* New settings have replaced `older`: the pause of a cluster that left goes on for one that came with the
 * same address, which is the same by another name. */
void pauses_on_replaced(struct supervisor *s, const struct generation *older);
/* Ends pauses that have ended, and tells the history what it did not take. */
void pauses_tick(struct supervisor *s);
/* A PAUSE for each that is in force: not that of a cluster which is configured no more. */
void pauses_send_status(const struct supervisor *s, uint64_t conn);
/* Is any? */
bool pauses_any(const struct supervisor *s);

#endif
