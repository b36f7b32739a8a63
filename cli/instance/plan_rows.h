/* plan_rows.h - what would be done, as an instance answers it: its watchers judge, then a worker does a dry
 * run of each action. Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_INSTANCE_PLAN_ROWS_H
#define CLI_INSTANCE_PLAN_ROWS_H

#include "cli/instance/dry_run_rows.h"
#include "cli/instance/stops.h"
#include "cli/instance/wait_settled.h"
#include "cli/options.h"

struct plan {
	char clusters[CLUSTERS_MAX][64]; /* names by index; empty: there is none any more */
	uint64_t n_clusters, answered;   /* indexes; those that answered */
	bool left_out[CLUSTERS_MAX];     /* by index: known not to answer, which was told; or it did not */
	struct msg_ctl_plan_seen seen[CLUSTERS_MAX]; /* by index; of several namespaces the sum */
	bool has_seen[CLUSTERS_MAX];
	uint64_t duties;          /* that are on: bit 1 << enum duty */
	bool leads[CLUSTERS_MAX]; /* by index: this replica does, or none need lead */
	struct stops stops;
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
