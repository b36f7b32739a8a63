/* approve.c - all was read: judge it, ask the object itself, and choose the write. Its owner may have refused
 * the action, and where a grace is configured it is announced on the object first. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <string.h>

#include "kube/write_body.h"
#include "rules/escalation.h"
#include "worker/action_end.h"

/* The object that is asked, NULL = the pod. Of the owners only the topmost counts: controllers copy
 * annotations down and do not take them away again (kubernetes pkg/controller/deployment/util
 * SetNewReplicaSetAnnotations). */
static const struct owner_link *workload(struct action *a)
{
	return duty_desc((enum duty)a->grant.duty)->key == KEY_WORKLOAD ? action_top(a) : NULL;
}

static struct annotations annotations_of(struct action *a)
{
	const struct owner_link *o = workload(a);
	struct annotations m = a->pod.annotations;

	if (o)
		read_annotations(o->json, &m);
	/* An announcement older than the state that is judged was made for another one. */
	if (m.announced[a->grant.duty] < judge_began((enum duty)a->grant.duty, &a->pod, &a->found.context))
		m.announced[a->grant.duty] = 0;
	return m;
}

static enum step_then wait_for_grace(struct action *a, const struct annotations *m, int64_t until)
{
	a->verdict.kind = VERDICT_WAIT;
	a->verdict.reason = REASON_ANNOUNCED;
	a->verdict.at_ms = until + 1;
	a->verdict.evidence = (struct facts){ 0 };
	facts_time(&a->verdict.evidence, FACT_ANNOUNCED, m->announced[a->grant.duty]);
	facts_time(&a->verdict.evidence, FACT_ACTS_AFTER, until);
	if (m->extend_ms > 0)
		facts_finding(&a->verdict.evidence, TEXT_EXTENDED);
	return action_refuse(a, &a->verdict);
}

/* That object is marked to be left alone. */
static enum step_then refuse_annotated(struct action *a, const struct annotations *m, const char *kind,
				       struct str name)
{
	const bool skips = !m->ignore && m->skip & 1u << a->grant.duty;
	struct facts why = facts_of(TEXT_ANNOTATED);

	facts_name(&why, FACT_ANNOTATION, STR_C(skips ? ANNOTATION_SKIP : ANNOTATION_IGNORE));
	action_name(&why, FACT_OBJECT, STR_C(kind), name);
	return action_end(a, OUTCOME_REFUSED, skips ? REASON_SKIP_ANNOTATION : REASON_IGNORE_ANNOTATION,
			  &why);
}

enum step_then approve_beside(struct action *a, const struct pod_facts *p)
{
	const bool marked = p->skip || p->annotations.skip >> a->grant.duty & 1;

	if (!marked || action_writes_pod(a))
		return STEP_NEXT;
	return refuse_annotated(a, &p->annotations, "Pod", p->name);
}

/* -- what stands above the object: its namespace, and what owns the pod -- */

static bool refuses(const struct annotations *m, const json_t *o, enum duty duty)
{
	return m->ignore || m->skip & 1u << duty ||
	       str_is(READ_TEXT(o, "metadata", "labels", ANNOTATION_IGNORE), "true");
}

/* Of a ReplicaSet below something else: its controller copies annotations down and does not take them away.
 */
static bool is_copied(const struct action *a, size_t i)
{
	return i + 1 < a->found.n_owners && strcmp(a->found.owners[i].kind.kind, "ReplicaSet") == 0;
}

enum step_then approve_above(struct action *a)
{
	const enum duty duty = (enum duty)a->grant.duty;
	const json_t *ns = a->found.namespace_json;
	struct annotations m;

	if (!ns)
		return action_end(a, OUTCOME_REFUSED, REASON_NAMESPACE_UNKNOWN, &(struct facts){ 0 });
	read_annotations(ns, &m);
	if (refuses(&m, ns, duty))
		return refuse_annotated(a, &m, "Namespace", STR_C(a->grant.ns));
	/* What refuses is not remembered: a mark that is taken away counts at once. */
	if (a->env.namespaces && !m.skip && !policy_needs_namespaces(a->policy))
		namespace_cache_put(a->env.namespaces, a->grant.ns, a->found.namespace_json,
				    a->found.namespace_at);
	for (size_t i = 0; i < a->found.n_owners; i++) {
		const struct owner_link *o = &a->found.owners[i];

		read_annotations(o->json, &m);
		if (!is_copied(a, i) && refuses(&m, o->json, duty))
			return refuse_annotated(a, &m, o->kind.kind, o->ref.name);
	}
	return STEP_NEXT;
}

static enum step choose_write(const struct action *a)
{
	if (action_writes_pod(a))
		return STEP_DELETE;
	return a->found.way == SCALE_SUSPENDS ? STEP_SUSPEND : scale_write(a);
}

enum step_then take_approval(struct action *a, const struct step_reply *reply)
{
	const struct owner_link *o;
	struct duty_policy dp;
	int64_t until;

	(void)reply;
	action_heed_floors(a);
	const enum step_then then = action_judge(a, STAGE_LIVE) ? approve_above(a) : STEP_END;

	if (then != STEP_NEXT)
		return then;
	const struct annotations m = annotations_of(a);

	o = workload(a);
	dp = *action_policy(a);
	action_note_contact(a);
	a->write = choose_write(a);
	if (a->found.way != SCALE_TO_ZERO)
		a->verdict.reason =
			a->found.way == SCALE_SUSPENDS ? REASON_SUSPENDED : REASON_ORDINAL_DELETED;
	if (a->grant.action == ACTION_FRESH_ATTEMPT) { /* it is no loss: it needs no grace */
		dp.announce_ms = 0;
		a->verdict.reason = REASON_FRESH_ATTEMPT;
	}
	switch (announce_judge(&m, (enum duty)a->grant.duty, &dp, action_now(a), &until)) {
	case ANNOUNCE_REFUSED:
		return refuse_annotated(a, &m, o ? o->kind.kind : "Pod", o ? o->ref.name : a->pod.name);
	case ANNOUNCE_WAIT:
		return wait_for_grace(a, &m, until);
	case ANNOUNCE_NEEDED:
		a->verdict.reason = REASON_ANNOUNCED;
		a->write = STEP_ANNOUNCE;
		break;
	case ANNOUNCE_GO:
		if (dp.announce_ms > 0)
			facts_finding(action_evidence(a), TEXT_WAS_ANNOUNCED);
		break;
	}
	return STEP_NEXT;
}

/* -- the announcement -- */

void ask_announce(struct action *a, struct step_request *ret)
{
	const struct annotations m = annotations_of(a);
	char value[ANNOTATIONS_ANNOUNCED_MAX];

	annotations_announced_format(&m, (enum duty)a->grant.duty, action_now(a), value);
	object_ask_patch(a, workload(a), NULL, ret);
	ret->body = write_body_annotations(a->result.u.result.target_uid, a->result.u.result.target_rv,
					   &(struct write_annotation){ ANNOTATION_ANNOUNCED, value }, 1);
}

enum step_then take_announce(struct action *a, const struct step_reply *reply)
{
	const int64_t grace = action_policy(a)->announce_ms;
	struct facts why = { 0 };

	(void)reply;
	a->result.u.result.retry_ms = grace < (int64_t)RETRY_MS_MAX ? (uint64_t)grace + 1 : RETRY_MS_MAX;
	facts_time(&why, FACT_ACTS_AFTER, action_now(a) + grace);
	facts_add(&why, &a->verdict.evidence);
	return action_end(a, OUTCOME_ANNOUNCED, REASON_ANNOUNCED, &why);
}
