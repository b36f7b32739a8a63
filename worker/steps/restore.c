/* restore.c - taking a scale-down back: only when the workload is the same object, still wants no
 * replicas, and nobody but this program wanted that last (R20). An operator asks for it; without one our own
 * mark on the workload has to say the same as the history, and somebody must have corrected the workload
 * since. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "kube/path.h"
#include "rules/correction.h"
#include "rules/select.h"
#include "worker/action_end.h"
#include "worker/managed_fields.h"

struct facts restore_statement(const struct action *a, enum text why)
{
	struct facts f = { 0 };

	facts_name(&f, FACT_TARGET, STR_C(a->grant.want_target));
	facts_finding(&f, why);
	return f;
}

enum step_then restore_refuse(struct action *a, enum reason reason, enum text why)
{
	const struct facts f = restore_statement(a, why);

	return action_end(a, OUTCOME_REFUSED, reason, &f);
}

/* Whatever an operator, or the history, says: an excluded namespace is not touched. Without an operator the
 * duty has to serve it, too, and to be in mode enforce. */
static enum step_then judge_place(struct action *a)
{
	const enum duty duty = (enum duty)a->grant.duty;
	enum reason why = REASON_RESTORE_OFF;
	bool may;

	a->pod.ns = STR_C(a->grant.ns);
	a->pod.namespace_labels = namespace_labels(a);
	if (a->grant.by_operator)
		may = select_unprotected(a->policy, duty, &a->pod, &why);
	else
		may = a->policy->mode == MODE_ENFORCE && select_namespace(a->policy, duty, &a->pod, &why);
	return may ? STEP_NEXT : restore_refuse(a, why, TEXT_NOT_UP_THERE);
}

enum step_then take_intent(struct action *a, const struct step_reply *reply)
{
	const enum step_then then = judge_place(a);
	struct owner_link *o = &a->found.owners[0];
	struct object_name name;

	(void)reply;
	if (then != STEP_NEXT)
		return then;
	if (!read_object_name(a->grant.want_target, &name) || !str_is(name.ns, a->grant.ns) ||
	    !a->grant.want_uid[0] || a->grant.want_replicas <= 0)
		return restore_refuse(a, REASON_INCOMPLETE_FACTS, TEXT_RESTORES_UNKNOWN);
	*o = (struct owner_link){ .ref = { .name = name.name, .uid = STR_C(a->grant.want_uid) } };
	a->found.n_owners = 1;
	a->found.restores = a->grant.want_replicas;
	if (!owner_kinds_resource(name.group, name.resource, &o->kind))
		return restore_refuse(a, REASON_KIND_NOT_SCALABLE, TEXT_NO_WORKLOAD);
	return o->kind.scale ? STEP_NEXT : restore_refuse(a, REASON_KIND_NOT_SCALABLE, TEXT_NO_REPLICAS);
}

bool needs_group(const struct action *a)
{
	return a->found.owners[0].kind.version[0] == '\0';
}

void ask_group(struct action *a, struct step_request *ret)
{
	_cleanup_free_ char *group = path_escape(action_top(a)->kind.group);

	ret->path = xconcat("/apis/", group, NULL);
}

enum step_then take_group(struct action *a, const struct step_reply *reply)
{
	struct kind_info *k = &action_top(a)->kind;
	struct str version = READ_TEXT(reply->json, "preferredVersion", "version");

	if (str_empty(version) || version.n >= sizeof(k->version))
		return restore_refuse(a, REASON_OWNER_UNREADABLE, TEXT_NO_GROUP);
	(void)snprintf(k->version, sizeof(k->version), "%.*s", STR_ARG(version));
	return STEP_NEXT;
}

enum step_then take_workload(struct action *a, const struct step_reply *reply)
{
	if (!str_eq(READ_TEXT(reply->json, "metadata", "uid"), action_top(a)->ref.uid))
		return restore_refuse(a, REASON_OWNER_UID_DIFFERS, TEXT_OTHER_NAME);
	action_top(a)->json = json_incref(reply->json);
	read_template_labels(reply->json, &a->pod);
	return STEP_NEXT;
}

/* Do we know which settings hold for what this template makes? */
static bool knows_settings(const struct action *a)
{
	return select_overrides_known(a->policy, &a->pod) &&
	       (a->policy->n_overrides == 0 || !(select_labels(a->policy, &a->pod) & SELECT_LABELS_UNKNOWN));
}

/* Nobody asked: do the settings of this workload and its own mark allow it? */
static enum step_then judge_correction(struct action *a)
{
	const enum step_then then = approve_above(a);
	const json_t *o = action_top(a)->json;
	char now[TEMPLATE_HASH_MAX];

	if (then != STEP_NEXT)
		return then;
	if (!knows_settings(a))
		return restore_refuse(a, REASON_INCOMPLETE_FACTS, TEXT_SETTINGS_UNKNOWN);
	template_hash(o, now);
	const struct correction_facts f = {
		.action = a->grant.origin,
		.replicas = a->grant.want_replicas,
		.marked = mark_read(o, MARK_ACTION),
		.is_of_history = str_empty(mark_read(o, MARK_HISTORY)) || mark_is_of_history(a, o),
		.from = mark_read(o, MARK_FROM),
		.template = mark_read(o, MARK_TEMPLATE),
		.now = STR_C(now),
		.asked = READ_TEXT(o, "metadata", "annotations", ANNOTATION_RESTORE)
	};

	correction_judge(action_policy(a), &f, &a->verdict);
	struct facts why = { 0 };

	facts_name(&why, FACT_TARGET, STR_C(a->grant.want_target));
	facts_add(&why, &a->verdict.evidence);
	if (a->verdict.kind != VERDICT_ACT)
		return action_end(a, OUTCOME_REFUSED, a->verdict.reason, &why);
	facts_add(&a->result.u.result.evidence, &a->verdict.evidence);
	return STEP_NEXT;
}

/* Did nobody but this program want no replicas, as far as the server can tell? */
static enum step_then judge_setter(struct action *a)
{
	const json_t *o = action_top(a)->json;
	struct managed_fields_writer w;
	struct facts setter = { 0 }, refusal = { 0 };
	bool ours = false;

	if (managed_fields_replicas(o, &w)) {
		struct msg *m = &a->result;

		ours = managed_fields_is_us(&w);
		managed_fields_facts(&w, &setter);
		msg_set(m, result.actor, w.manager.p, w.manager.n);
	} else if (managed_fields_zero_by_scale(o)) {
		/* As we did, by the history; nobody else's number is left. */
		ours = true;
		facts_finding(&setter, TEXT_REPLICAS_SET_BY_SCALE);
		if (a->grant.origin)
			facts_count(&setter, FACT_ACTION, (int64_t)a->grant.origin);
	} else {
		facts_finding(&setter, TEXT_REPLICAS_SET_BY_NOBODY);
	}
	facts_add(action_evidence(a), &setter);
	facts_name(&refusal, FACT_TARGET, STR_C(a->grant.want_target));
	facts_add(&refusal, &setter);
	return ours ? STEP_NEXT : action_end(a, OUTCOME_REFUSED, REASON_NOT_OUR_ZERO, &refusal);
}

/* No history knows of it: whatever is put back stands in a mark of ours. */
static enum step_then judge_mark_alone(struct action *a)
{
	const json_t *o = action_top(a)->json;
	const struct str from = mark_read(o, MARK_FROM);
	uint64_t replicas = 0;

	if (str_is(mark_read(o, MARK_BY), MANAGED_US) && str_to_u64(from.p, from.n, &replicas) == 0 &&
	    replicas == (uint64_t)a->found.restores)
		return STEP_NEXT;
	return restore_refuse(a, REASON_NOT_MARKED, TEXT_MARK_OTHER_NUMBER);
}

/* An operator asked, but the number is the history's word: the mark of that action has to say the same. Of a
 * kind whose scale alone is known the mark is a second write, which may be missing: there the supervisor's
 * signature suffices. Without the signature (the key is lost, say) the mark alone does. */
static enum step_then judge_mark(struct action *a)
{
	const json_t *o = action_top(a)->json;
	const struct str marked = mark_read(o, MARK_ACTION), from = mark_read(o, MARK_FROM);
	uint64_t action = 0, replicas = 0;
	/* An older version did not write of which history it is; a supervisor that has lost its key cannot
	 * say. */
	const bool history =
		!a->grant.vouched || str_empty(mark_read(o, MARK_HISTORY)) || mark_is_of_history(a, o);
	const bool ours =
		history && str_to_u64(marked.p, marked.n, &action) == 0 && action == a->grant.origin;
	const bool same =
		str_to_u64(from.p, from.n, &replicas) == 0 && replicas == (uint64_t)a->found.restores;
	const bool scale_alone =
		!action_top(a)->kind.builtin && (str_empty(marked) || ours) && str_empty(from);

	if ((ours && same) || (scale_alone && a->grant.vouched))
		return STEP_NEXT;
	return restore_refuse(a, a->grant.vouched ? REASON_NOT_MARKED : REASON_ORIGIN_NOT_SIGNED,
			      ours && !str_empty(from) ? TEXT_MARK_OTHER_NUMBER : TEXT_MARK_OTHER);
}

static enum step_then judge_return(struct action *a)
{
	if (!a->grant.by_operator)
		return judge_correction(a);
	return a->grant.origin ? judge_mark(a) : judge_mark_alone(a);
}

static void add_target(struct action *a)
{
	struct facts *f = action_evidence(a);

	facts_finding(f, TEXT_TARGET_READ);
	facts_name(f, FACT_TARGET, STR_C(a->grant.want_target));
	facts_name(f, FACT_TARGET_UID, STR_C(a->grant.want_uid));
	facts_name(f, FACT_SCALE_VERSION, a->found.scale.rv);
	facts_count(f, FACT_REPLICAS, a->found.scale.replicas);
}

static enum step_then end_with_replicas(struct action *a, enum outcome outcome, enum reason reason)
{
	struct facts detail = restore_statement(a, TEXT_TARGET_WANTS);

	facts_count(&detail, FACT_REPLICAS, a->found.scale.replicas);
	return action_end(a, outcome, reason, &detail);
}

enum step_then take_zero(struct action *a, const struct step_reply *reply)
{
	const struct scale_facts *scale = &a->found.scale;
	const int64_t want = a->grant.want_replicas;
	enum step_then then = scale_take(a, reply);

	if (then != STEP_NEXT)
		return then;
	if (scale->replicas == want && action_may_be_ours(a)) {
		(void)end_with_replicas(a, OUTCOME_UNCONFIRMED, REASON_PROBABLY_DONE);
		return mark_look(a);
	}
	if (a->in_doubt)
		return STEP_END; /* not scaled: what was said of the write stands */
	add_target(a);
	if (scale->replicas != 0)
		return end_with_replicas(a, OUTCOME_REFUSED, REASON_NOT_ZERO_ANYMORE);
	if (!scale_is_of_workload(a)) /* who wrote it was read a moment before */
		return scale_read_again(a);
	then = judge_setter(a);
	if (then == STEP_NEXT)
		then = judge_return(a);
	if (then != STEP_NEXT)
		return then;
	a->verdict = (struct verdict){ .kind = VERDICT_ACT,
				       .reason = a->grant.by_operator ? REASON_RESTORED : REASON_CORRECTED };
	facts_finding(&a->verdict.evidence, a->grant.origin ? TEXT_FROM_ZERO : TEXT_FROM_ZERO_BY_MARK);
	facts_count(&a->verdict.evidence, FACT_REPLICAS, want);
	if (a->grant.origin)
		facts_count(&a->verdict.evidence, FACT_ACTION, (int64_t)a->grant.origin);
	a->write = scale_write(a);
	return STEP_NEXT;
}
