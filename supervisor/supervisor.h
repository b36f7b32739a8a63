/* supervisor.h - the parts that main.c has made, for those that join them: route.c, control.c,
 * service_status.c; and messages on their way to the reporter. Each part has its own state and header.
 * Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_SUPERVISOR_H
#define SUPERVISOR_SUPERVISOR_H

#include "supervisor/actions/dispatch.h"
#include "supervisor/actions/dry_run.h"
#include "supervisor/actions/pause_requests.h"
#include "supervisor/children/lifecycle.h"

struct control;

#define OUTBOX_MAX 4096u /* what comes behind is dropped: stats, mostly, that come again */

struct supervisor {
	struct lifecycle *root;
	struct pause_list *pauses;
	struct dispatch *dispatch;
	struct pause_requests *pause_requests;
	struct dry_runs *dry_runs;
	struct control *control;
	struct answers answers;                /* by control.c */
	uint64_t credential_ms;                /* last load because of a refused credential, boot time */
	struct msg_packed *outbox[OUTBOX_MAX]; /* for the reporter, which could not take them */
	size_t n_outbox;
	/* service_status.c */
	int64_t started_at;
	unsigned ticks;
	struct msg watch_stats[CLUSTERS_MAX]; /* the last of each cluster; type 0 = nothing yet */
};

/* What the reporter cannot take just now is kept, up to a limit, until it is back. */
void supervisor_send_reporter(struct supervisor *s, const struct msg *m);
/* The reporter is ready: it gets what was kept. */
void supervisor_on_reporter_ready(struct supervisor *s);

#endif
