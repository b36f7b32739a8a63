/* instance_status.h - an instance's answers to CTL_STATUS and CTL_SINKS. Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_INSTANCE_INSTANCE_STATUS_H
#define CLI_INSTANCE_INSTANCE_STATUS_H

#include "cli/options.h"
#include "ipc/msg.h"

struct instance_status {
	struct msg_ctl_supervisor supervisor;
	struct msg_child_stats *children;
	size_t n_children;
	struct msg_ctl_cluster clusters[CLUSTERS_MAX]; /* those that are asked for, in their order */
	struct msg_watch_stats watch[CLUSTERS_MAX];
	struct msg_worker_stats workers[CLUSTERS_MAX];
	struct msg_ctl_tally_row tallies[CLUSTERS_MAX]; /* zero while the reporter does not answer */
	size_t n_clusters;
	struct msg_leader leaders[CLUSTERS_MAX];
	bool elects[CLUSTERS_MAX];
	struct msg_pause *pauses;
	size_t n_pauses;
	struct msg_trouble_row *troubles;
	size_t n_troubles;
	struct msg_ctl_sink_row *sinks;
	size_t n_sinks;
};

/* Ask the instance at `socket` (ctl_open); of the clusters that o names, or all, and of what concerns them or
 * all. reporter: ask it for sinks and tallies, too, where it is ready. *ret is the caller's
 * (instance_status_free) in any case. EXIT_CODE_USAGE where no named one is there.
 */
int instance_status_ask(const struct options *o, const char *socket, bool reporter,
			struct instance_status **ret);
/* Accepts NULL. */
void instance_status_free(struct instance_status **s);
/* The instance leads that cluster, or nobody need lead it. */
bool instance_status_leads(const struct instance_status *s, size_t cluster);

#endif
