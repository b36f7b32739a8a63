/* instance_status.h - an instance's answers to CTL_STATUS and CTL_SINKS, and which replica leads which
 * cluster by them. Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_INSTANCE_INSTANCE_STATUS_H
#define CLI_INSTANCE_INSTANCE_STATUS_H

#include "cli/instance/ctl.h"
#include "cli/options.h"

/* Ask the instance on that connection for its status. Keep of the answer only what concerns the named
 * clusters (none: all of them) or the whole instance. EXIT_CODE_USAGE, and a line on stderr, where no named
 * one is there. */
int instance_status_request(struct ctl *c, const struct option_names *clusters, struct rows *ret);
/* The same of the instance at `socket` (ctl_open). reporter: ask it for sinks and tallies, too, where it is
 * ready. */
int instance_status_ask(const struct options *o, const char *socket, bool reporter, struct rows *ret);

/* What it says of the instance as a whole; zero where it was not answered. */
const struct msg_ctl_supervisor *supervisor_status(const struct rows *r);
/* One cluster of an answer. What was not answered is zero. */
struct cluster_status {
	const struct msg_ctl_cluster *at;
	const struct msg_watch_stats *watch;
	const struct msg_worker_stats *workers;
	const struct msg_ctl_tally_row *tally;
	const struct msg_leader *leader; /* NULL: there is no election */
};
struct cluster_status cluster_status_of(const struct rows *r, size_t i);
/* The instance leads that cluster, or nobody need lead it. */
bool cluster_status_leads(const struct cluster_status *c);

/* Add to a list of names for people, NULL at first, of which only the first few are written out; *n counts
 * them all. */
void names_add(char **names, size_t *n, const char *name);
/* That list of n: "a, b, c, d and 30 more". Takes names; the caller frees what it returns, NULL of none. */
char *names_end(char *names, size_t n);

/* This replica leads by what it says, and its Lease has not run out since. */
bool leaders_is_here(const struct msg_leader *l);
/* Of one cluster who leads it; of several a line for each replica, this one first. */
void leaders_print(const struct rows *status, FILE *out, const struct table_view *view);
/* Ask, and say on stderr which replicas lead what this one does not: it knows nothing of what they do there.
 * Nothing for machines, when the instance does not answer, or when those replicas are asked, too. */
void leaders_tell_others(const struct options *o);

#endif
