/* supervisor.h - the parts that wire.c has made, for those that join them: route.c and control.c;
 * and what is said of the whole: to the reporter, to an operator, to the service manager. Each part has its
 * own state and header.  Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_SUPERVISOR_H
#define SUPERVISOR_SUPERVISOR_H

#include "supervisor/actions/dispatch.h"
#include "supervisor/actions/dry_run.h"
#include "supervisor/actions/own_state.h"
#include "supervisor/actions/pause_requests.h"
#include "supervisor/actions/restores.h"
#include "supervisor/children/lifecycle.h"
#include "base/log.h"
#include "supervisor/reporter_queue.h"
#include "supervisor/trouble_list.h"

struct control;

/* Of settled.h. Zeroed: nothing is known yet. */
struct settled_state {
	uint64_t moves;                       /* nominations, keys given up and writes, at moved_ms */
	uint64_t moved_ms;                    /* boot clock; when something was last under way */
	uint64_t failing_since[CLUSTERS_MAX]; /* boot clock; 0 = the cluster can be loaded and read */
};

struct supervisor {
	struct lifecycle *root;
	struct pause_list *pauses;
	struct own_state *own;
	struct dispatch *dispatch;
	struct pause_requests *pause_requests;
	struct dry_runs *dry_runs;
	struct restores *restores;
	struct trouble_list *troubles;
	struct settled_state settled;
	struct log_quota trouble_lines[CLUSTERS_MAX + 1]; /* one a cluster, and one of none */
	struct control *control;
	struct answers answers;
	uint64_t credential_ms;                /* last load because of a refused credential, boot time */
	struct reporter_queue *reporter_queue; /* what the reporter could not take */
	int64_t started_at;
	struct msg_log_level log_level; /* asked for, until_ms 0 = never */
	unsigned ticks;
	unsigned saved_asked[CLUSTERS_MAX];    /* SAVED_GETs that the present reporter has to answer */
	uint64_t saved_asked_ms[CLUSTERS_MAX]; /* boot time: the last of them */
	bool saved_stale[CLUSTERS_MAX];        /* the watcher that has asked is dead */
	bool saved_held[CLUSTERS_MAX];        /* one that waits for OPEN_END, or for the end of a stale one */
	bool no_history;                      /* the present reporter has said so */
	struct msg watch_stats[CLUSTERS_MAX]; /* the last of each cluster; type 0 = nothing yet */
	uint64_t waits_since[CLUSTERS_MAX];   /* boot ms; its list only takes its time since then, 0 = it does
						 not */
	bool announced;                       /* the line at start */
	bool placed[CLUSTERS_MAX];            /* so is that of this cluster; again after a trouble */
};

/* Send m to the reporter, behind what waits for it; m waits (reporter_queue.h) while it cannot take it. */
void supervisor_send_reporter(struct supervisor *s, const struct msg *m);
/* Send the reporter what waits for it, as far as it takes it. Call when it is ready. */
void supervisor_send_waiting(struct supervisor *s);
/* OPEN_END: what watchers asked for in vain is answered now. */
void supervisor_on_history_open(struct supervisor *s);
/* Nobody answers any more what it was asked. */
void supervisor_on_reporter_dead(struct supervisor *s);
/* What is on its way to it is not for the next one. */
void supervisor_on_watcher_dead(struct supervisor *s, uint64_t cluster);
/* A row of what is saved for that watcher, or the end of them, has come: is it for the present one? */
bool supervisor_takes_saved(struct supervisor *s, uint64_t cluster, bool ends);
/* LOG_LEVEL to a child, when an operator has asked for one. */
void supervisor_send_log_level(const struct supervisor *s, struct child *c);
/* All members of CHILD_STATS. */
void supervisor_child_stats(const struct supervisor *s, const struct child *c, struct msg *ret);
/* CHILD_STATS to the reporter. */
void supervisor_send_child_stats(struct supervisor *s, const struct child *c);
/* Once a second. */
void supervisor_tick(struct supervisor *s);

/* "2/2 clusters synced, 1204 pods, 17 actions" */
void supervisor_describe(const struct supervisor *s, char *ret, size_t size);

#endif
