/* plan_rows.h - what would be done, as an instance answers it: its watchers judge, then a worker does a dry
 * run of each action. Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_INSTANCE_PLAN_ROWS_H
#define CLI_INSTANCE_PLAN_ROWS_H

#include "cli/instance/dry_run_rows.h"
#include "cli/instance/wait_settled.h"
#include "cli/options.h"

/* A cluster that was asked for. */
struct plan_cluster {
	char name[64];                 /* empty: there is none of this index */
	bool leads;                    /* this replica does, or none need lead */
	bool left_out;                 /* known not to answer, which was told; or it did not */
	bool has_seen;                 /* seen is what it said */
	struct msg_ctl_plan_seen seen; /* of several namespaces the sum */
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
/* When a row would be done. */
enum plan_when plan_when(const struct dry_run_row *r);
/* Would anything be done now, or as soon as a guard lets it? */
bool plan_any_due(const struct plan *p);

#endif
