/* autoscaler.c - before a workload is scaled: would somebody else scale it up again, and has somebody done so
 * before (R21, R22)? What may not be read is said in the evidence and does not block the action: it would
 * show as reverted. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "rules/reverted.h"
#include "worker/action_end.h"
#include "worker/managed_fields.h"

#define KEDA_VERSION STR_LIT("keda.sh/v1alpha1")
#define KEDA_KIND    STR_LIT("ScaledObject")

static struct str or_default(struct str s, struct str otherwise)
{
	return str_empty(s) ? otherwise : s;
}

/* Does spec.scaleTargetRef of an autoscaler name this object? Without apiVersion and kind it is a Deployment
 * (KEDA's default). */
static bool autoscaler_targets(const json_t *scaler, const struct kind_info *kind, struct str name)
{
	struct str version =
		or_default(READ_TEXT(scaler, "spec", "scaleTargetRef", "apiVersion"), STR_LIT("apps/v1"));
	const char *slash = memchr(version.p, '/', version.n);
	struct str group = { version.p, slash ? (size_t)(slash - version.p) : 0 };

	return str_eq(READ_TEXT(scaler, "spec", "scaleTargetRef", "name"), name) &&
	       str_is(or_default(READ_TEXT(scaler, "spec", "scaleTargetRef", "kind"), STR_LIT("Deployment")),
		      kind->kind) &&
	       str_is(group, kind->group);
}

/* spec.minReplicas of a HorizontalPodAutoscaler, 1 when it is absent. */
static int64_t autoscaler_hpa_min(const json_t *hpa)
{
	const json_t *min = READ_AT(hpa, "spec", "minReplicas");

	return json_is_integer(min) ? json_integer_value(min) : 1;
}

/* Condition ScaledToZero of a HorizontalPodAutoscaler: is the last 0 its own? From such a one it scales up,
 * whatever minReplicas says; where it keeps that condition, from no other (KEP-2021; shouldComputeMetrics-
 * ForZeroReplicas in kubernetes pkg/controller/podautoscaler/horizontal.go, 1.36). */
static enum tri autoscaler_hpa_made_zero(const json_t *hpa)
{
	struct str status = READ_TEXT(read_condition(hpa, "ScaledToZero"), "status");

	return str_is(status, "True") ? TRI_YES : str_is(status, "False") ? TRI_NO : TRI_UNKNOWN;
}

/* Is a ScaledObject paused so that it leaves 0 alone? Annotations autoscaling.keda.sh/paused: "true" and
 * autoscaling.keda.sh/paused-replicas: "0" (keda.sh/docs/concepts/scaling-deployments). */
static bool autoscaler_keda_paused(const json_t *scaled_object)
{
	struct str paused = READ_TEXT(scaled_object, "metadata", "annotations", "autoscaling.keda.sh/paused");
	struct str at =
		READ_TEXT(scaled_object, "metadata", "annotations", "autoscaling.keda.sh/paused-replicas");

	if (!str_empty(at)) /* it is kept at this number, paused or not */
		return str_is(at, "0");
	return str_is(paused, "true");
}

/* The mark of a GitOps tool on a workload: its key, or NULL. */
static const char *autoscaler_gitops_mark(const json_t *workload)
{
	static const char *const marks[][2] = {
		{ "annotations", "argocd.argoproj.io/tracking-id" },
		{ "labels", "argocd.argoproj.io/instance" },
		{ "labels", "kustomize.toolkit.fluxcd.io/name" },
		{ "labels", "helm.toolkit.fluxcd.io/name" },
		{ "annotations", "meta.helm.sh/release-name" },
		{ "labels", "app.kubernetes.io/instance" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (!str_empty(READ_TEXT(workload, "metadata", marks[i][0], marks[i][1])))
			return marks[i][1];
	return NULL;
}

/* -- who set the replicas, and who marks the workload as theirs -- */

/* It came back after we had scaled it. Who did it, and is that long enough ago? */
static enum step_then judge_reverted(struct action *a)
{
	struct managed_fields_writer w;
	struct msg *m = &a->result;
	int64_t until;

	if (a->grant.reverts == 0 || !managed_fields_replicas(action_top(a)->json, &w))
		return STEP_NEXT;
	msg_set(m, result.actor, w.manager.p, w.manager.n);
	facts_finding(action_evidence(a), TEXT_CAME_BACK);
	facts_count(action_evidence(a), FACT_REVERTS, (int64_t)a->grant.reverts);
	managed_fields_facts(&w, action_evidence(a));
	until = w.at + reverted_block_ms((uint32_t)a->grant.reverts);
	if (w.at <= 0 || managed_fields_is_us(&w) || action_now(a) >= until)
		return STEP_NEXT;
	a->verdict = (struct verdict){ .kind = VERDICT_WAIT, .reason = REASON_REVERTED, .at_ms = until };
	managed_fields_facts(&w, &a->verdict.evidence);
	return action_refuse(a, &a->verdict);
}

enum step_then autoscaler_judge_writers(struct action *a)
{
	const char *mark = autoscaler_gitops_mark(action_top(a)->json);

	if (mark) {
		facts_finding(action_evidence(a), TEXT_GITOPS);
		facts_name(action_evidence(a), FACT_GITOPS_MARK, STR_C(mark));
	}
	return judge_reverted(a);
}

/* -- autoscalers -- */

static const struct owner_link *target_of(const struct action *a, const json_t *scaler)
{
	for (size_t i = 0; i < a->found.n_owners; i++)
		if (autoscaler_targets(scaler, &a->found.owners[i].kind, a->found.owners[i].ref.name))
			return &a->found.owners[i];
	return NULL;
}

/* A statement about an autoscaler (key) and what it scales. */
static struct facts about(enum text statement, enum fact key, struct str name, const struct owner_link *o)
{
	struct facts f = facts_of(statement);

	facts_name(&f, key, name);
	action_name_owner(&f, FACT_AUTOSCALED, o);
	return f;
}

/* Of several the first is evidence: one that refuses is named by the refusal. */
static void note_hpa(struct action *a, struct facts *f, int64_t min, enum tri made_zero)
{
	struct fact_value v;

	if (facts_find(action_evidence(a), FACT_AUTOSCALER, &v))
		return;
	facts_count(f, FACT_MIN_REPLICAS, min);
	if (made_zero == TRI_NO)
		facts_finding(f, TEXT_HPA_LEAVES);
	facts_add(action_evidence(a), f);
}

enum step_then item_hpa(struct action *a, const json_t *item)
{
	const struct owner_link *o = target_of(a, item);
	const int64_t min = autoscaler_hpa_min(item);
	const enum tri made_zero = autoscaler_hpa_made_zero(item);
	struct str name = READ_TEXT(item, "metadata", "name");

	if (!o)
		return STEP_NEXT;
	struct facts found = about(TEXT_HPA_READ, FACT_AUTOSCALER, name, o);
	const struct facts refusal = about(TEXT_HPA_SCALES, FACT_AUTOSCALER, name, o);

	note_hpa(a, &found, min, made_zero);
	if (min <= 0 && made_zero == TRI_UNKNOWN) {
		free(a->found.hpa);
		a->found.hpa = facts_dup(&refusal);
	}
	return made_zero == TRI_YES ? action_end(a, OUTCOME_REFUSED, REASON_HAS_HPA, &refusal) : STEP_NEXT;
}

enum step_then take_hpa(struct action *a, const struct step_reply *reply)
{
	if (!reply->json)
		facts_finding(action_evidence(a), TEXT_HPA_UNREAD);
	return STEP_NEXT;
}

/* With minReplicas 0, and no word of its own: what does this version make of a 0? */
bool needs_version(const struct action *a)
{
	return a->found.hpa;
}

void ask_version(struct action *a, struct step_request *ret)
{
	(void)a;
	ret->path = xstrdup("/version");
}

/* Up to 1.35 minReplicas 0 alone makes it scale up from 0. kube-controller-manager may be one minor version
 * behind the API server (version skew policy). */
enum step_then take_version(struct action *a, const struct step_reply *reply)
{
	struct str version = READ_TEXT(reply->json, "gitVersion");

	if (!kubernetes_version_is_from(version, 1, 37))
		return action_end(a, OUTCOME_REFUSED, REASON_HAS_HPA, a->found.hpa);
	facts_finding(action_evidence(a), TEXT_HPA_VERSION_LEAVES);
	facts_name(action_evidence(a), FACT_KUBERNETES, version);
	return STEP_NEXT;
}

bool needs_keda(const struct action *a)
{
	struct kind_info k;

	return owner_kinds_find(a->env.kinds, KEDA_VERSION, KEDA_KIND, clock_boot_ms(), &k) !=
	       OWNER_KINDS_ABSENT;
}

enum step_then item_keda(struct action *a, const json_t *item)
{
	const struct owner_link *o = target_of(a, item);
	struct str name = READ_TEXT(item, "metadata", "name");

	if (!o)
		return STEP_NEXT;
	const bool paused = autoscaler_keda_paused(item);
	const struct facts found =
		about(paused ? TEXT_KEDA_PAUSED : TEXT_KEDA_NOT_PAUSED, FACT_SCALED_OBJECT, name, o);
	const struct facts refusal = about(TEXT_KEDA_SCALES, FACT_SCALED_OBJECT, name, o);

	facts_add(action_evidence(a), &found);
	return paused ? STEP_NEXT : action_end(a, OUTCOME_REFUSED, REASON_HAS_KEDA, &refusal);
}

enum step_then take_keda(struct action *a, const struct step_reply *reply)
{
	if (!reply->json && reply->status != 404)
		facts_finding(action_evidence(a), TEXT_KEDA_UNREAD);
	if (reply->status == 404) /* not installed: for a while not asked again */
		owner_kinds_learn(a->env.kinds, KEDA_VERSION, KEDA_KIND, NULL, 0, clock_boot_ms());
	return STEP_NEXT;
}
