/* plan.h - what would be done: rows of the watchers, what a worker said to those that are due, and their
 * printing. Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include <stddef.h>

#include "cli/command.h"
#include "ipc/msg.h"

enum plan_when {
	PLAN_NOW,     /* a worker judged it live and would write */
	PLAN_LATER,   /* not due yet */
	PLAN_HELD,    /* due, held by a guard beyond the object */
	PLAN_REFUSED, /* due, but a rule or the worker forbids it */
	PLAN_GONE,    /* nothing was left when the worker looked */
	PLAN_UNCLEAR, /* the worker could not find out */
	PLAN__MAX
};

struct plan_row {
	struct msg_ctl_plan_row row;
	struct msg_ctl_dry_run_result tried; /* id 0: no worker was asked */
};

struct plan {
	char clusters[CLUSTERS_MAX][64]; /* names by index */
	uint64_t n_clusters;
	bool observe;
	int64_t taken_ms;
	struct plan_row *v;
	size_t n;
};

/* Would be written now but for a person's pause, or for nothing: a worker is asked. */
bool plan_is_due(const struct plan_row *r);
enum plan_when plan_when(const struct plan_row *r);
/* "now", "later", ... */
const char *plan_when_name(enum plan_when w);
/* Reason code that decided: the worker's where one was asked. */
const char *plan_reason(const struct plan_row *r);
/* Order for people: what is done first comes first. */
void plan_sort(struct plan *p);
void plan_print(const struct plan *p, enum output output);

#endif
