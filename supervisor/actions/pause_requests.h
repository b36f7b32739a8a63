/* pause_requests.h - pauses on their way: from an operator to the list, the watchers and the history, and
 * back from the history at its start. In force at once; confirmed to the operator when it is on disk. What is
 * resumed by a crash between the two would be wrong, so the list of a running supervisor is what counts, and
 * a new reporter is corrected by it. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_PAUSE_REQUESTS_H
#define SUPERVISOR_ACTIONS_PAUSE_REQUESTS_H

#include "supervisor/actions/answers.h"
#include "supervisor/actions/dispatch.h"
#include "supervisor/actions/pause_list.h"
#include "supervisor/children/lifecycle.h"

struct pause_requests;

/* All is borrowed; list is the one that d obeys. */
struct pause_requests *pause_requests_new(struct lifecycle *root, struct dispatch *d, struct pause_list *list,
					  struct own_state *own, struct answers *answers);
void pause_requests_free(struct pause_requests **p);

/* The supervisor's own file was read: what it says counts, and the history is corrected by it. When there was
 * none, or a damaged one, what the history holds is paused, too. */
void pause_requests_on_own_state(struct pause_requests *p);
/* Somebody pauses or resumes: CTL_PAUSE, its conn is set. */
void pause_requests_on_ctl_pause(struct pause_requests *p, const struct msg *m);
/* PAUSE from the reporter. Before OPEN_END: what the history holds. Afterwards: it is on disk. */
void pause_requests_on_pause(struct pause_requests *p, const struct msg *m);
/* The history is open. */
void pause_requests_on_open_end(struct pause_requests *p);
void pause_requests_on_reporter_dead(struct pause_requests *p);
void pause_requests_on_watcher_ready(const struct pause_requests *p, uint64_t cluster);
/* Ends pauses that have ended, and tells the history what it did not take. */
void pause_requests_tick(struct pause_requests *p);
/* A PAUSE for each that is in force. */
void pause_requests_send_status(const struct pause_requests *p, uint64_t conn);

#endif
