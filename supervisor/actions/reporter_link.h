/* reporter_link.h - what goes to the reporter: at once, or behind what waits for it (reporter_queue.h); and
 * which watchers have asked it for what is saved. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_REPORTER_LINK_H
#define SUPERVISOR_ACTIONS_REPORTER_LINK_H

#include "supervisor/actions/parts.h"

/* Send m to the reporter, behind what waits for it; m waits while it cannot take it. A SAVED_GET is held
 * until OPEN_END. */
void reporter_link_send(struct supervisor *s, const struct msg *m);
/* Send what waits, as far as the reporter takes it. Call when it is ready, and once a second. */
void reporter_link_send_waiting(struct supervisor *s);
/* OPEN_END has come: ask for what watchers wanted before. */
void reporter_link_on_history_open(struct supervisor *s);
/* It answers no SAVED_GET any more. */
void reporter_link_on_reporter_dead(struct supervisor *s);
/* The next watcher of the cluster does not get what its predecessor asked for. */
void reporter_link_on_watcher_dead(struct supervisor *s, uint64_t cluster);
/* m, a row that was asked for or SAVED_END, goes to the watcher, if it is the one that has asked. */
void reporter_link_on_saved(struct supervisor *s, uint64_t cluster, const struct msg *m);

#endif
