/* reporter.h - what the files of this process share: the one struct, and who wires what. Nothing else
 * includes it.  Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_REPORTER_H
#define REPORTER_REPORTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "process/process.h"
#include "reporter/history/query.h"
#include "reporter/history/response_stream.h"
#include "reporter/web/stats.h"
#include "reporter/sinks/webhook.h"
#include "reporter/digest/plan.h"
#include "reporter/web/routes.h"

struct event;

struct reporter {
	struct process *process;
	struct settings settings, next;
	struct digest_plan next_plan; /* of `next`; before on_ready of `settings` */
	struct db *db;
	struct history *history;
	struct stats figures;
	struct listener *listener;
	struct webhook *hook;
	struct digest_run *digests;
	struct response_stream *feed;
	struct event *flush, *prune, *digest_wake, *drain_limit;
	unsigned commit_failures;
	uint64_t committed_ms; /* boot clock: when the last commit ended */
	struct msg *acks;      /* that the channel did not take */
	size_t n_acks;
	bool lost; /* a message had to be dropped: the supervisor sends it again to the next life */
	bool draining;
	char hold_noted[CLUSTERS_MAX +
			1]; /* by cluster: 'y' or 'n', whether a full budget was written down */
};

/* inbox.c: messages that are written down or answered. */
extern const struct response_stream_ops inbox_feed_ops;
void inbox_committed(void *ctx, const struct history_entry *e); /* a history_committed_fn */
void inbox_flush(struct reporter *r);
void inbox_msg(struct process *p, const struct msg *m);
void inbox_room(struct process *p);
void inbox_prune(struct reporter *r);

/* reports.c: digests. */
extern const struct digest_ops reports_ops;
void reports_recover(struct reporter *r);
void reports_hook_answer(void *ctx, const struct feishu_answer *a); /* a webhook_answer_fn */
/* End the drain: flush, say how much is left. Once; again it does nothing. */
void reports_finish_drain(void *ctx);

#endif
