/* suspend.c - what has no replicas to take away: a Job, and the CronJob that would make the next one,
 * are suspended (R24). First the CronJob, so that none is made in between. */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "kube/write_body.h"
#include "worker/steps/step.h"

static bool is_batch(const struct owner *o, const char *kind)
{
	return strcmp(o->kind.group, "batch") == 0 && strcmp(o->kind.kind, kind) == 0;
}

bool step_is_job(const struct action *e)
{
	return is_batch(&e->owners[0], "Job") &&
	       (e->n_owners == 1 || (e->n_owners == 2 && is_batch(&e->owners[1], "CronJob")));
}

static bool is_suspended(const json_t *o)
{
	return json_is_true(READ_AT(o, "spec", "suspend"));
}

/* Selects the pods of a Job by its matchLabels; NULL when it has none, or selects by more. Owned by the
 * caller.
 */
static char *selector_of(const json_t *job)
{
	const json_t *selector = READ_AT(job, "spec", "selector"), *value;
	json_t *labels = json_object_get(selector, "matchLabels");
	char *text = NULL;
	const char *key;

	if (json_array_size(json_object_get(selector, "matchExpressions")) > 0)
		return NULL;
	json_object_foreach (labels, key, value) {
		char *longer = json_is_string(value)
				       ? xasprintf("%s%s%s=%s", text ? text : "", text ? "," : "", key,
						   json_string_value(value))
				       : NULL;

		free(text);
		text = longer;
		if (!text)
			return NULL;
	}
	return text;
}

/* The next that is not suspended, from the top; n_owners when all are. */
static size_t next_running(const struct action *e, size_t from)
{
	while (from > 0)
		if (!is_suspended(e->owners[--from].json))
			return from;
	return e->n_owners;
}

enum step step_suspend(struct action *e)
{
	const struct owner *job = &e->owners[0];
	const int64_t created = read_created(job->json);

	e->suspended = next_running(e, e->n_owners);
	if (e->suspended == e->n_owners)
		return step_gone(e, REASON_ALREADY_SUSPENDED, "");
	free(e->selector);
	e->selector = selector_of(job->json);
	if (!e->selector)
		return step_finish(e, OUTCOME_REFUSED, REASON_TALLY_UNKNOWN,
				   "Job %.*s selects its pods in another way", STR_ARG(job->ref.name));
	if (e->around.failing_since < created)
		e->around.failing_since = created;
	e->suspends = true;
	e->scale.selector = (struct str){ e->selector, strlen(e->selector) };
	e->rule = REVISION_BY_OWNER;
	(void)snprintf(e->newest, sizeof(e->newest), "%.*s", STR_ARG(job->ref.uid));
	e->fresh_from = e->asked_at;
	return STEP_PODS;
}

static const struct owner *target(const struct action *e)
{
	return &e->owners[e->suspended];
}

void ask_suspend(struct action *e, struct ask *ret)
{
	_cleanup_free_ char *query = step_write_query(e);

	step_target(e, target(e));
	ret->method = "PATCH";
	ret->path = step_object_path(e, target(e), query);
	ret->content_type = "application/merge-patch+json";
	ret->body = write_body_suspend(e->result.u.result.target_uid, e->result.u.result.target_rv);
}

enum step take_suspend(struct action *e, const struct answer *a)
{
	if (!a->json)
		return step_gone(e, REASON_WORKLOAD_GONE, "it was gone when the patch arrived");
	if (!is_suspended(a->json))
		return step_finish(e, OUTCOME_FAILED, REASON_SERVER_REJECTED,
				   "patch: accepted, but it is not suspended afterwards");
	step_prove(e, "%s %.*s was suspended", target(e)->kind.kind, STR_ARG(target(e)->ref.name));
	e->suspended = next_running(e, e->suspended);
	if (e->suspended < e->n_owners)
		return STEP_SUSPEND;
	return step_finish(e, OUTCOME_DONE, REASON_SUSPENDED, "%s", e->verdict.evidence);
}

/* -- the answer was lost: is it suspended? ----------------------------------------------------------------
 */

void ask_suspended(struct action *e, struct ask *ret)
{
	ret->path = step_object_path(e, target(e), NULL);
}

enum step take_suspended(struct action *e, const struct answer *a)
{
	if (!a->json)
		return step_gone(e, REASON_WORKLOAD_GONE, "");
	return is_suspended(a->json) ? step_gone(e, REASON_ALREADY_SUSPENDED, "") : STEP_END;
}
