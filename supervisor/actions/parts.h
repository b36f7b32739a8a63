/* parts.h - what the supervisor has above its children: its parts, as supervisor.c has made them, and the
 * state of what is no part of its own. Each group names the file that changes it. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_PARTS_H
#define SUPERVISOR_ACTIONS_PARTS_H

#include "base/bucket.h"
#include "supervisor/actions/answers.h"
#include "supervisor/actions/concurrency.h"
#include "supervisor/actions/end_log.h"
#include "supervisor/actions/failures.h"
#include "supervisor/actions/lease.h"
#include "supervisor/actions/own_state.h"
#include "supervisor/actions/reporter_queue.h"
#include "supervisor/children/lifecycle.h"

/* What is known of a worker, by the index of the child. */
struct worker {
	uint64_t prefetch_id; /* the lease it was last told to prefetch for, 0 = none */
	bool otherwise_busy;  /* by what the idle function gave it */
};

/* What the watcher of a cluster has asked the reporter for. */
struct saved_get {
	bool asked;   /* the present reporter has to answer one */
	bool stale;   /* the watcher that has asked is dead */
	bool pending; /* one waits for OPEN_END, or for the end of a stale one */
};

/* The restore that a cluster is asked about. */
struct restore {
	struct asker asker; /* first: take_answer() finds the restore by it */
	struct supervisor *s;
	uint64_t cluster, id;                                            /* id 0 = none */
	enum { RESTORE_HISTORY, RESTORE_DRY_RUN, RESTORE_ACTION } phase; /* whose answer it waits for */
	struct msg_packed *row; /* CTL_RESTORE_ROW, in RESTORE_DRY_RUN */
};

/* Of status_check_settled(). Zeroed: nothing is known yet. */
struct settled_state {
	uint64_t checked_ms;                  /* boot clock; when this was last looked at */
	uint64_t moves;                       /* nominations, keys given up and writes, at moved_ms */
	uint64_t moved_ms;                    /* boot clock; when something was last under way */
	uint64_t failing_since[CLUSTERS_MAX]; /* boot clock; 0 = the cluster can be loaded and read */
};

/* As PREFERRED last said. */
struct preferred {
	bool home;
	char *replica; /* NULL = not known */
};

struct supervisor {
	struct lifecycle *root;
	struct children *children; /* root's */
	struct own_state *own;
	struct lease_table *leases;
	struct reporter_queue *queue; /* what the reporter could not take */
	struct answers answers;
	struct pause_list pause_list;
	struct control *control; /* NULL without a control socket */
	/* supervisor.c, status_answer.c */
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
	struct settled_state settled;
	/* dispatch.c */
	struct worker workers[CHILDREN_MAX];
	bool history_open; /* OPEN_END of the present reporter has arrived */
	uint64_t done;     /* writes since the start */
	uint64_t floor_ms; /* boot time when the floor was last kept */
	struct bucket nominations[CLUSTERS_MAX];
	struct end_log end_log;
	struct failures failures;
	bool failing_is_full; /* no more can be kept in mind, and that was logged */
	/* The idle function: does this worker work on something else now? See dispatch_cluster(). */
	bool (*idle)(struct supervisor *s, struct child *worker);
	/* lease_history.c */
	/* The first OPEN_END has come. Before it no lease may be opened: its number could be that of an
	 * intent that is open. */
	bool intents_known;
	uint64_t intents_refused; /* in this life of the reporter */
	/* write_guard.c */
	bool limit_reached[CLUSTERS_MAX]; /* said so */
	bool counts_unkept;               /* the file does not hold all that was counted */
	/* replicas.c */
	struct msg leaders[CLUSTERS_MAX]; /* LEADER as it was last said; type 0 = nothing yet */
	char *identity; /* of this replica, as in the last MEMBERS, NULL = there were none */
	char *live;     /* as in the MEMBERS that hold, NULL = not known */
	uint64_t live_changed_ms;
	char *said_live; /* as in the last MEMBERS; NULL = there were none, or they are too old */
	uint64_t said_live_until;
	struct preferred preferred[CLUSTERS_MAX];
	/* worker_pool.c */
	struct concurrency concurrency[CLUSTERS_MAX]; /* most == 0: not loaded yet */
	uint64_t used_ms[CHILDREN_MAX];               /* boot time when a child was last given something */
	struct queued *queued; /* questions that wait for the first worker of their cluster; oldest first */
	size_t n_queued;
	/* dry_run.c */
	struct question *questions; /* oldest first: those that wait, and those at a worker */
	size_t n_questions;
	/* reporter_link.c */
	struct saved_get saved[CLUSTERS_MAX];
	/* trouble_list.c */
	struct trouble_entry *troubles; /* n_troubles of them */
	size_t n_troubles;
	struct log_quota trouble_lines[CLUSTERS_MAX + 1]; /* of the log, by cluster */
	/* pauses.c */
	/* What is paused is known: by our own file, whose word counts and by which the history is corrected,
	 * or because the history was read once. */
	bool pauses_known;
	bool pauses_unkept; /* our own file does not say all of it */
	/* restores.c */
	struct restore restores[CLUSTERS_MAX];
};

/* The generation in force; NULL before the first. */
static inline const struct generation *settings(const struct supervisor *s)
{
	return lifecycle_generation(s->root);
}

/* The cluster's API server bears out that this host's clock is not ahead. */
static inline bool clock_is_borne_out(const struct supervisor *s, uint64_t cluster)
{
	const struct msg_watch_stats *w = &s->watch_stats[cluster].u.watch_stats;

	return w->synced && !w->host_ahead;
}

/* It has ended, and its cluster is configured no more. It keeps its place (children.h). */
static inline bool child_has_left(const struct supervisor *s, const struct child *c)
{
	const struct child_info *at = child_info(c);

	return at->state == FSM_STOPPED && at->cluster < CLUSTERS_MAX && !settings(s)->wanted[at->cluster];
}

#endif
