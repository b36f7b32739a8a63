/* last_log.c - what a container said before it crashed: the last lines of its log, which go with its pods.
 * They are read just before the write, once, as a slow kubelet must not keep the reads from being fresh. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "kube/path.h"
#include "worker/action_end.h"
#include "worker/action_quotes.h"

/* A kubelet keeps the beginning of what is longer: so much that the end of long lines is in it. */
#define LIMIT_BYTES "65536"

/* Where nothing is written the log stays, and the credential may be one that reads no logs. */
bool needs_log(const struct action *a)
{
	return !a->dry_run && !a->grant.observe && !a->log_asked && a->grant.action == ACTION_SCALE_DOWN &&
	       a->write != STEP_ANNOUNCE && action_policy(a)->log_lines > 0;
}

/* The run that ended last: of a container that waits for its next start, or runs again, the previous one
 * (kubernetes pkg/kubelet/kubelet_pods.go, validateContainerLogStatus). */
void ask_log(struct action *a, struct step_request *ret)
{
	const struct container_facts *c = &a->pod.containers[a->verdict.container];
	_cleanup_free_ char *name = xstrndup(c->name.p, c->name.n), *value = path_escape(name);
	_cleanup_free_ char *query = xasprintf(
		"container=%s&limitBytes=" LIMIT_BYTES "&tailLines=%" PRId64 "%s", value,
		action_policy(a)->log_lines, c->state == CONTAINER_TERMINATED ? "" : "&previous=true");

	a->log_asked = true;
	(void)snprintf(a->log_container, sizeof(a->log_container), "%s", name);
	ret->path = object_path(a, NULL, "log", query);
}

enum step_then take_log(struct action *a, const struct step_reply *reply)
{
	if (reply->status == 200) {
		a->log = quotes_last_lines(reply->body, reply->body_len, action_policy(a)->log_lines);
		return STEP_NEXT;
	}
	facts_finding(action_evidence(a), TEXT_LOG_UNREAD);
	facts_name(action_evidence(a), FACT_CONTAINER, STR_C(a->log_container));
	if (reply->status > 0)
		facts_count(action_evidence(a), FACT_HTTP_STATUS, reply->status);
	return STEP_NEXT;
}
