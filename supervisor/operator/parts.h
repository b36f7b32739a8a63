/* parts.h - the parts of the supervisor, as supervisor.c has made them, and what they see of one another.
 * Each has its own state and header. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_OPERATOR_PARTS_H
#define SUPERVISOR_OPERATOR_PARTS_H

#include "supervisor/actions/dispatch.h"
#include "supervisor/actions/dry_run.h"
#include "supervisor/actions/own_state.h"
#include "supervisor/actions/reporter_link.h"
#include "supervisor/children/lifecycle.h"

/* Of settled.h. Zeroed: nothing is known yet. */
struct settled_state {
	uint64_t checked_ms;                  /* boot clock; when this was last looked at */
	uint64_t moves;                       /* nominations, keys given up and writes, at moved_ms */
	uint64_t moved_ms;                    /* boot clock; when something was last under way */
	uint64_t failing_since[CLUSTERS_MAX]; /* boot clock; 0 = the cluster can be loaded and read */
};

struct supervisor {
	struct lifecycle *root;
	struct pause_list *pause_list;
	struct own_state *own;
	struct replicas *replicas;
	struct worker_pool *pool;
	struct dispatch *dispatch;
	struct reporter_link *reporter;
	struct dry_runs *dry_runs;
	struct pauses *pauses;
	struct restores *restores;
	struct trouble_list *troubles;
	struct settled_state settled;
	struct control *control; /* NULL without a control socket */
	struct answers answers;
	int64_t started_at;     /* Unix ms */
	uint64_t credential_ms; /* boot time of the last load because of a refused credential, 0 = none */
	struct msg_log_level log_level;         /* that an operator has asked for; until_ms 0 = none */
	unsigned ticks;                         /* seconds since the start */
	bool no_history;                        /* the present reporter has sent NO_HISTORY */
	struct msg watch_stats[CLUSTERS_MAX];   /* the last of each cluster; type 0 = none yet */
	uint64_t list_started_ms[CLUSTERS_MAX]; /* boot time; start of a first list that still runs, 0 = none
						 */
	bool logged_start;                      /* version and configuration were logged */
	bool logged_identity[CLUSTERS_MAX]; /* server and user were logged; reset when the cluster fails */
};

#endif
