/* autoscaler.c - before a workload is scaled: would somebody else scale it up again, and has somebody done
 * so before (R21, R22)? What may not be read is said in the proof and does not hold the act: a fight would
 * show. */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/clock.h"
#include "kube/path.h"
#include "rules/reverted.h"
#include "worker/managed_fields.h"
#include "worker/autoscaler.h"
#include "worker/steps/step.h"

#define KEDA_VERSION STR_LIT("keda.sh/v1alpha1")
#define KEDA_KIND    STR_LIT("ScaledObject")

static char *list_path(const struct action *e, const char *group, const char *version, const char *resource)
{
	char *query = step_list_query(e, (struct str){ "", 0 });
	char *path = path_format(group, version, e->grant.ns, resource, NULL, NULL, query);

	free(query);
	return path;
}

static const struct owner *target_of(const struct action *e, const json_t *scaler)
{
	for (size_t i = 0; i < e->n_owners; i++)
		if (autoscaler_targets(scaler, &e->owners[i].kind, e->owners[i].ref.name))
			return &e->owners[i];
	return NULL;
}

/* -- who set the replicas, and who marks the workload as theirs ------------------------------------------ */

static void prove_gitops(struct action *e)
{
	const char *mark = autoscaler_gitops_mark(e->owners[e->n_owners - 1].json);

	if (mark)
		step_prove(e, "carries the mark %s: whoever manages it may put the replicas back", mark);
}

/* It came back after we had scaled it. Who did it, and is that long enough ago? */
static enum step judge_fight(struct action *e, enum step next)
{
	struct managed_fields_writer w;
	struct msg *m = &e->result;
	char text[MANAGED_TEXT_MAX];
	int64_t until;

	if (e->grant.reverts == 0 || !managed_fields_replicas(e->owners[e->n_owners - 1].json, &w))
		return next;
	managed_fields_text(&w, text);
	msg_set(m, result.actor, w.manager.p, w.manager.n);
	step_prove(e, "came back %llu times, replicas last set by: %s", (unsigned long long)e->grant.reverts,
		   text);
	until = w.at + reverted_block_ms((uint32_t)e->grant.reverts);
	if (w.at <= 0 || managed_fields_is_us(&w) || step_now(e) >= until)
		return next;
	e->verdict = (struct verdict){ .kind = VERDICT_WAIT, .reason = REASON_REVERTED, .at_ms = until };
	(void)snprintf(e->verdict.evidence, sizeof(e->verdict.evidence), "replicas last set by: %s", text);
	return step_refuse(e, &e->verdict);
}

enum step step_scaler(struct action *e)
{
	prove_gitops(e);
	return judge_fight(e, STEP_HPA);
}

/* -- HorizontalPodAutoscalers --------------------------------------------------------------------------- */

static enum step after_hpa(struct action *e)
{
	struct kind_info k;

	if (owner_kinds_find(e->env.kinds, KEDA_VERSION, KEDA_KIND, clock_boot_ms(), &k) == KINDS_ABSENT)
		return STEP_SCALE;
	return STEP_KEDA;
}

void ask_hpa(struct action *e, struct ask *ret)
{
	ret->path = list_path(e, "autoscaling", "v2", "horizontalpodautoscalers");
}

enum step take_hpa(struct action *e, const struct answer *a)
{
	const json_t *items = json_object_get(a->json, "items"), *item;
	size_t i;

	json_array_foreach (items, i, item) {
		const struct owner *o = target_of(e, item);
		struct str name = READ_TEXT(item, "metadata", "name");

		if (!o)
			continue;
		step_prove(e, "HorizontalPodAutoscaler %.*s of %s %.*s has minReplicas %lld", STR_ARG(name),
			   o->kind.kind, STR_ARG(o->ref.name), (long long)autoscaler_hpa_min(item));
		if (autoscaler_hpa_min(item) <= 0)
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

void ask_keda(struct action *e, struct ask *ret)
{
	ret->path = list_path(e, "keda.sh", "v1alpha1", "scaledobjects");
}

enum step take_keda(struct action *e, const struct answer *a)
{
	const json_t *items = json_object_get(a->json, "items"), *item;
	size_t i;

	json_array_foreach (items, i, item) {
		const struct owner *o = target_of(e, item);
		struct str name = READ_TEXT(item, "metadata", "name");

		if (!o)
			continue;
		step_prove(e, "ScaledObject %.*s of %s %.*s is%s paused at 0", STR_ARG(name), o->kind.kind,
			   STR_ARG(o->ref.name), autoscaler_keda_paused(item) ? "" : " not");
		if (!autoscaler_keda_paused(item))
			return step_finish(e, OUTCOME_REFUSED, REASON_HAS_KEDA, "%.*s scales %s %.*s",
					   STR_ARG(name), o->kind.kind, STR_ARG(o->ref.name));
	}
	if (a->status == 403)
		step_prove(e, "ScaledObjects may not be read");
	if (a->status == 404) /* not installed: for a while not asked again */
		owner_kinds_learn(e->env.kinds, KEDA_VERSION, KEDA_KIND, NULL, 0, clock_boot_ms());
	return a->json && step_next_page(e, a->json) ? STEP_KEDA : STEP_SCALE;
}
