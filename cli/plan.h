/* plan.h - what would be done: rows of the watchers, what a worker said to those that are due, and their
 * printing. Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include <stddef.h>

#include "cli/command.h"
#include "ipc/msg.h"

struct plan_row {
	struct msg_ctl_plan_row row;
	struct msg_ctl_dry_run_result dry_run; /* id 0: no worker was asked */
};

struct plan {
	char clusters[CLUSTERS_MAX][64]; /* names by index */
	uint64_t n_clusters;
	bool observe;
	int64_t taken_ms;
	struct plan_row *v;
	size_t n;
};

/* Would be written now, if at all but for an operator's pause: a worker is asked. */
bool plan_is_due(const struct plan_row *r);
/* Order for people: what is done first comes first. */
void plan_sort(struct plan *p);
void plan_print(const struct plan *p, enum output output);

#endif
