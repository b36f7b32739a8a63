/* leaders.h - which replica leads which cluster, by an instance's answer to CTL_STATUS. Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_INSTANCE_LEADERS_H
#define CLI_INSTANCE_LEADERS_H

#include <stdio.h>

#include "cli/view/table.h"
#include "ipc/msg.h"

/* Of clusters with an election, in their order. Zeroed: none. */
struct cluster_leaders {
	struct {
		char cluster[64];
		char holder[254]; /* "" = nobody leads that is known */
		bool here;        /* this replica does */
	} v[CLUSTERS_MAX];
	size_t n;
};

/* This replica leads by what it says, and its Lease has not run out since. */
bool leaders_is_here(const struct msg_leader *l);
void leaders_add(struct cluster_leaders *l, const char *cluster, const struct msg_leader *leader);
/* Of one cluster who leads it; of several a line for each replica, this one first. */
void leaders_print(const struct cluster_leaders *l, FILE *out, const struct table_view *view);
/* Ask, and say on stderr which replicas lead what this one does not: it knows nothing of what they do there.
 * Nothing when the instance does not answer, or when those replicas are asked, too. */
void leaders_tell_others(const char *socket, const struct table_view *view);

#endif
