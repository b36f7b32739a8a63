/* steps_scaler.c - before a workload is scaled: would somebody else scale it up again, and has somebody done
 * so before (R21, R22)? What may not be read is said in the proof and does not hold the act: a fight would
 * show. */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/clock.h"
#include "kube/request.h"
#include "rules/fight.h"
#include "worker/managed.h"
#include "worker/scaler.h"
#include "worker/step.h"

#define KEDA_VERSION STR_LIT("keda.sh/v1alpha1")
#define KEDA_KIND    STR_LIT("ScaledObject")

static char *list_path(const struct errand *e, const char *group, const char *version, const char *resource)
{
	char *query = step_list_query(e, (struct str){ "", 0 });
	char *path = request_path(group, version, e->grant.ns, resource, NULL, NULL, query);

	free(query);
	return path;
}

static const struct owner *target_of(const struct errand *e, const json_t *scaler)
{
	for (size_t i = 0; i < e->n_owners; i++)
		if (scaler_targets(scaler, &e->owners[i].kind, e->owners[i].ref.name))
			return &e->owners[i];
	return NULL;
}

/* -- who set the replicas, and who marks the workload as theirs ------------------------------------------ */

static void prove_gitops(struct errand *e)
{
	const char *mark = scaler_gitops_mark(e->owners[e->n_owners - 1].json);

	if (mark)
		step_prove(e, "carries the mark %s: whoever manages it may put the replicas back", mark);
}

/* It came back after we had scaled it. Who did it, and is that long enough ago? */
static enum step judge_fight(struct errand *e, enum step next)
{
	struct managed_writer w;
	struct msg *m = &e->result;
	char text[MANAGED_TEXT_MAX];
	int64_t until;

	if (e->grant.fights == 0 || !managed_replicas(e->owners[e->n_owners - 1].json, &w))
		return next;
	managed_text(&w, text);
	msg_set(m, result.actor, w.manager.p, w.manager.n);
	step_prove(e, "came back %llu times, replicas last set by: %s", (unsigned long long)e->grant.fights,
		   text);
	until = w.at + fight_hold_ms((uint32_t)e->grant.fights);
	if (w.at <= 0 || managed_is_us(&w) || serverclock_now(e->env.clock) >= until)
		return next;
	e->verdict = (struct verdict){ .kind = VERDICT_WAIT, .reason = REASON_FIGHT, .at_ms = until };
	(void)snprintf(e->verdict.evidence, sizeof(e->verdict.evidence), "replicas last set by: %s", text);
	return step_refuse(e, &e->verdict);
}

enum step step_scaler(struct errand *e)
{
	prove_gitops(e);
	return judge_fight(e, STEP_HPA);
}

/* -- HorizontalPodAutoscalers --------------------------------------------------------------------------- */

static enum step after_hpa(struct errand *e)
{
	struct kind_info k;

	if (kinds_find(e->env.kinds, KEDA_VERSION, KEDA_KIND, clock_boot_ms(), &k) == KINDS_ABSENT)
		return STEP_SCALE;
	return STEP_KEDA;
}

void ask_hpa(struct errand *e, struct ask *ret)
{
	ret->path = list_path(e, "autoscaling", "v2", "horizontalpodautoscalers");
}

enum step take_hpa(struct errand *e, const struct answer *a)
{
	const json_t *items = json_object_get(a->json, "items"), *item;
	size_t i;

	json_array_foreach(items, i, item)
	{
		const struct owner *o = target_of(e, item);
		struct str name = READ_TEXT(item, "metadata", "name");

		if (!o)
			continue;
		step_prove(e, "HorizontalPodAutoscaler %.*s of %s %.*s has minReplicas %lld", STR_ARG(name),
			   o->kind.kind, STR_ARG(o->ref.name), (long long)scaler_hpa_min(item));
		if (scaler_hpa_min(item) <= 0)
			return step_finish(e, OUTCOME_REFUSED, REASON_HAS_HPA,
					   "%.*s may scale %s %.*s up again", STR_ARG(name), o->kind.kind,
					   STR_ARG(o->ref.name));
	}
	if (a->status == 403)
		step_prove(e, "HorizontalPodAutoscalers may not be read");
	return a->json && step_next_page(e, a->json) ? STEP_HPA : after_hpa(e);
}

/* -- ScaledObjects of KEDA --------------------------------------------------------------------------------
 */

void ask_keda(struct errand *e, struct ask *ret)
{
	ret->path = list_path(e, "keda.sh", "v1alpha1", "scaledobjects");
}

enum step take_keda(struct errand *e, const struct answer *a)
{
	const json_t *items = json_object_get(a->json, "items"), *item;
	size_t i;

	json_array_foreach(items, i, item)
	{
		const struct owner *o = target_of(e, item);
		struct str name = READ_TEXT(item, "metadata", "name");

		if (!o)
			continue;
		step_prove(e, "ScaledObject %.*s of %s %.*s is%s paused at 0", STR_ARG(name), o->kind.kind,
			   STR_ARG(o->ref.name), scaler_keda_paused(item) ? "" : " not");
		if (!scaler_keda_paused(item))
			return step_finish(e, OUTCOME_REFUSED, REASON_HAS_KEDA, "%.*s scales %s %.*s",
					   STR_ARG(name), o->kind.kind, STR_ARG(o->ref.name));
	}
	if (a->status == 403)
		step_prove(e, "ScaledObjects may not be read");
	if (a->status == 404) /* not installed: for a while not asked again */
		kinds_learn(e->env.kinds, KEDA_VERSION, KEDA_KIND, NULL, 0, clock_boot_ms());
	return a->json && step_next_page(e, a->json) ? STEP_KEDA : STEP_SCALE;
}
