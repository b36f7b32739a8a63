/* suspend.c - what has no replicas to take away: a Job is suspended (R24), and, where suspendCronJobs says so
 * and nothing of it succeeds, the CronJob that would make the next one: that first, so that none is made in
 * between. The admission policy demands the same of the status (cli/admission_suspend.c). */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "kube/write_body.h"
#include "worker/action_end.h"

bool suspend_fits(const struct action *a)
{
	const struct findings *f = &a->found;

	return owner_is(&f->owners[0], "batch", "Job") &&
	       (f->n_owners == 1 || (f->n_owners == 2 && owner_is(&f->owners[1], "batch", "CronJob")));
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
		if (!json_is_string(value)) {
			free(text);
			return NULL;
		}
		xappend(&text, ",", key);
		xappend(&text, "=", json_string_value(value));
	}
	return text;
}

/* Something of it is still active, and none has succeeded since the last was made (status.lastScheduleTime,
 * lastSuccessfulTime: batch/v1 CronJobStatus), nor for as long as a revision has to fail. */
static bool is_failing_cron(const struct action *a, const json_t *cron)
{
	const int64_t made = READ_TIME(cron, "status", "lastScheduleTime"),
		      worked = READ_TIME(cron, "status", "lastSuccessfulTime"),
		      since = worked ? worked : read_created(cron);

	return json_array_size(READ_AT(cron, "status", "active")) > 0 && made > worked && since > 0 &&
	       action_now(a) - since > action_policy(a)->hours_ms;
}

static bool may_suspend(const struct action *a, size_t i)
{
	const struct owner_link *o = &a->found.owners[i];

	if (is_suspended(o->json))
		return false;
	return i == 0 || (action_policy(a)->suspend_cron_jobs && is_failing_cron(a, o->json));
}

/* The next that is to be suspended, from the top; n_owners when none is. */
static size_t next_running(const struct action *a, size_t from)
{
	while (from > 0)
		if (may_suspend(a, --from))
			return from;
	return a->found.n_owners;
}

enum step_then suspend_begin(struct action *a)
{
	struct findings *f = &a->found;
	const struct owner_link *job = &f->owners[0];

	f->suspended = next_running(a, f->n_owners);
	floors_add(&f->floors, FLOOR_REVISION,
		   READ_TIME(job->json, "status", "startTime")); /* when it was last resumed */
	if (f->suspended == f->n_owners)
		return action_gone(a, REASON_ALREADY_SUSPENDED, NULL);
	f->selector = selector_of(job->json);
	if (!f->selector)
		return owner_refuse(a, REASON_TALLY_UNKNOWN, TEXT_JOB_SELECTS);
	f->way = SCALE_SUSPENDS;
	f->scale.selector = STR_C(f->selector);
	f->rule = REVISION_BY_OWNER;
	(void)snprintf(f->newest, sizeof(f->newest), "%.*s", STR_ARG(job->ref.uid));
	a->fresh_from = a->asked_at;
	return STEP_NEXT;
}

static const struct owner_link *target(const struct action *a)
{
	return &a->found.owners[a->found.suspended];
}

void ask_suspend(struct action *a, struct step_request *ret)
{
	struct write_annotation mark[MARK_LIST];

	object_ask_patch(a, target(a), NULL, ret);
	mark_list(a, target(a), mark);
	ret->body = write_body_suspend(a->result.u.result.target_uid, a->result.u.result.target_rv, mark,
				       MARK_LIST);
	mark_list_done(mark);
}

enum step_then take_suspend(struct action *a, const struct step_reply *reply)
{
	if (!is_suspended(reply->json))
		return action_end_at(a, OUTCOME_FAILED, REASON_SERVER_REJECTED, TEXT_NOT_SUSPENDED);
	action_name_owner(action_evidence(a), FACT_SUSPENDED, target(a));
	mark_written(a, reply->json);
	if (!a->grant.observe && !a->written) {
		a->written = xmemdup(&a->result.u.result, sizeof(*a->written));
		a->written->evidence = (struct facts){ 0 };
		action_name_owner(&a->written->evidence, FACT_SUSPENDED, target(a));
	}
	a->found.suspended = next_running(a, a->found.suspended);
	if (a->found.suspended < a->found.n_owners)
		return STEP_MORE;
	return action_end_as_judged(a, OUTCOME_DONE);
}

void ask_suspended(struct action *a, struct step_request *ret)
{
	ret->path = object_path(a, target(a), NULL, NULL);
}

enum step_then take_suspended(struct action *a, const struct step_reply *reply)
{
	return is_suspended(reply->json) ? action_gone(a, REASON_ALREADY_SUSPENDED, NULL) : STEP_END;
}
