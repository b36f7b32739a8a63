/* end_log.h - the log's lines about actions that ended. What was written has one each; what failed, would be
 * done or was announced has a quota a cluster; what found nothing to do is counted, and told once a minute,
 * as a watcher that was taken over could nominate without end. The history holds each of them. Process:
 * supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_END_LOG_H
#define SUPERVISOR_ACTIONS_END_LOG_H

#include "base/log.h"
#include "ipc/msg.h"
#include "model/actions.h"

#define END_LOG_SUM_MS 60000u

/* All zero at first. */
struct end_log {
	struct end_log_cluster {
		struct log_quota lines;
		uint64_t counted[OUTCOME__MAX]; /* since the last sum */
		bool dry_run_forbidden;         /* the last dry run there was */
	} clusters[CLUSTERS_MAX];
	uint64_t summed_ms; /* boot time */
};

void end_log_note(struct end_log *e, const char *cluster_name, const struct msg_intent *i,
		  const struct msg_record *r);
/* Keep whether the server allows dry runs there; log it once, however many workers meet it. */
void end_log_note_dry_run(struct end_log *e, uint64_t cluster, const char *cluster_name,
			  const struct msg_result *r);
/* Once a second; names are those of the clusters, n of them. */
void end_log_tick(struct end_log *e, const char (*names)[64], uint64_t n, uint64_t now_ms);

#endif
