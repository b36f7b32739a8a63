/* supervisor.h - the parts that main.c has made, for those that join them: route.c, control.c,
 * service_status.c. Each part has its own state and header.  Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_SUPERVISOR_H
#define SUPERVISOR_SUPERVISOR_H

#include "supervisor/actions/dispatch.h"
#include "supervisor/actions/dry_run.h"
#include "supervisor/actions/pause_requests.h"
#include "supervisor/children/lifecycle.h"

struct control;
struct reporter_outbox;
struct service_status;

struct supervisor {
	struct lifecycle *root;
	struct pause_list *pauses;
	struct dispatch *dispatch;
	struct pause_requests *pause_requests;
	struct dry_runs *dry_runs;
	struct control *control;
	struct reporter_outbox *outbox;
	struct service_status *status;
	struct answers answers; /* by control.c */
	uint64_t credential_ms; /* last load because of a refused credential, boot time */
};

#endif
