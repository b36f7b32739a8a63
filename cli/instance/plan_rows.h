/* plan_rows.h - what would be done, as an instance answers it: its watchers judge, then a worker does a dry
 * run of each action. Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_INSTANCE_PLAN_ROWS_H
#define CLI_INSTANCE_PLAN_ROWS_H

#include <jansson.h>

#include "cli/instance/start.h"
#include "cli/options.h"

/* Nothing is written while it lasts. */
bool plan_is_stopped_by(enum trouble t);

/* -- rows that a watcher judged from its cache, and what only others know of them: would a worker that reads
 * live do it (a dry run), and when did one last refuse it (the history)? -- */

struct dry_run_row {
	struct msg_ctl_plan_row row;           /* as the watcher judged */
	struct msg_ctl_dry_run_result dry_run; /* id 0: no worker has answered */
	const struct msg_ctl_history_row
		*refused;                      /* newest refusal of its action key within a day, or NULL */
	const struct msg_trouble_row *stopped; /* nothing is written while it lasts; NULL: nothing stops it */
};

/* Zeroed = empty. */
struct dry_run_rows {
	struct dry_run_row *v;
	size_t n;
	struct rows refusals;
};

void dry_run_rows_done(struct dry_run_rows *l);
void dry_run_rows_add(struct dry_run_rows *l, const struct msg_ctl_plan_row *row);

/* A worker was asked and said no, or could not tell. */
bool dry_run_was_declined(const struct dry_run_row *r);

/* Find the newest refusals, those of a namespace or (NULL) of all. Without an answer there are none, which is
 * said on stderr. Before dry_run_rows_ask_workers: an answer that comes too late belongs to nothing else. */
void dry_run_rows_find_refusals(struct dry_run_rows *l, struct ctl *c, const char *ns);
/* Ask workers about every row that is due, many at once; each answer may take timeout_ms. The exit code;
 * what was answered before an error is kept. */
int dry_run_rows_ask_workers(struct dry_run_rows *l, struct ctl *c, uint64_t timeout_ms);

/* "; last refused 2026-11-22T10:00:00Z: NodeNotReady", or "", also of r NULL; owned by the caller. */
char *dry_run_refusal_text(const struct dry_run_row *r, const struct table_view *view);
/* Set the members live, what a worker answered, and lastRefusal, the newest with its sentence and remedy;
 * null where there is none, and of r NULL. */
void dry_run_set_json(json_t *to, const struct dry_run_row *r);
/* Print, once a reason, what can be done about the live and the newest refusals. */
void dry_run_rows_print_remedies(const struct dry_run_rows *l, const struct table_view *view);

/* -- a plan of them -- */

/* A cluster that was asked for. */
struct plan_cluster {
	char name[64];                 /* empty: there is none of this index */
	bool leads;                    /* this replica does, or none need lead */
	bool left_out;                 /* known not to answer, which was told; or it did not */
	bool has_seen;                 /* seen is what it said */
	struct msg_ctl_plan_seen seen; /* of several namespaces the sum */
	struct facts unread;           /* why a part of it cannot be read at present; none: all can */
	bool forbidden;                /* that is a right which is missing: it has never been read */
};

struct plan {
	struct plan_cluster clusters[CLUSTERS_MAX]; /* by index, as in the rows */
	uint64_t n_clusters, answered;              /* indexes; clusters that answered */
	uint64_t duties;                            /* that are on: bit 1 << enum duty */
	struct msg_trouble_row stops[8];            /* while which nothing is written: what is due waits */
	size_t n_stops;
	const struct options *o;
	const char *ns; /* that is asked for just now; NULL: all */
	bool observe;
	int64_t taken_ms;
	struct dry_run_rows rows;
};

enum plan_when {
	PLAN_NOW,     /* a worker judged it live and would write */
	PLAN_LATER,   /* not due yet */
	PLAN_BLOCKED, /* due, but a guard says not now */
	PLAN_REFUSED, /* due, but a rule or the worker forbids it */
	PLAN_GONE,    /* nothing was left when the worker looked */
	PLAN_UNCLEAR, /* the worker could not find out */
	PLAN__MAX
};

/* Ask the instance at `socket` (ctl_open). lost: clusters that are known not to answer; NULL = none is. What
 * some clusters say is there whatever is wrong with the others, of which the exit code tells. Rows are in the
 * order in which they would be done. The caller's (plan_free). */
struct plan *plan_new(const struct options *o, const char *socket, const struct wait_lost *lost,
		      int *ret_code);
void plan_free(struct plan **p);
/* Add what another replica answered: clusters that it leads, and those that are new. Its rows point into
 * `more`, which must live as long. */
void plan_join(struct plan *p, const struct plan *more);
/* Is a cluster that was asked for left out? */
bool plan_leaves_out(const struct plan *p);
/* Is there a cluster of which rights forbid a part? Then nothing is known of what is due there. */
bool plan_is_forbidden(const struct plan *p);
/* When a row would be done. */
enum plan_when plan_when(const struct dry_run_row *r);
/* Would anything be done now, or as soon as a guard lets it? */
bool plan_any_due(const struct plan *p);

#endif
