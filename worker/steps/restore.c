/* restore.c - taking a scale-down back: only when the workload is the same object, still wants no
 * replicas, and nobody but this program wanted that last (R20). An operator asks for it; without one our own
 * mark on the workload has to say the same as the history, and somebody must have corrected the workload
 * since. */
// SPDX-License-Identifier: Apache-2.0
#include "text/facts_text.h"
#include "worker/steps/step.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "kube/path.h"
#include "rules/correction.h"
#include "rules/select.h"
#include "worker/action_end.h"
#include "worker/managed_fields.h"

static enum step_then refuse(struct action *a, enum reason reason, const char *why)
{
	return action_end(a, OUTCOME_REFUSED, reason, "%s: %s", a->grant.want_target, why);
}

/* Whatever an operator, or the history, says: an excluded namespace is not touched. Without an operator the
 * duty has to serve it, too, and to be in mode enforce. */
static bool may_touch(struct action *a)
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
	if (!may)
		(void)refuse(a, why, "nothing is scaled up there");
	return may;
}

enum step_then take_intent(struct action *a, const struct step_reply *reply)
{
	struct owner_link *o = &a->found.owners[0];
	struct object_name name;

	(void)reply;
	if (!may_touch(a))
		return STEP_END;
	if (!read_object_name(a->grant.want_target, &name) || !str_is(name.ns, a->grant.ns) ||
	    !a->grant.want_uid[0] || a->grant.want_replicas <= 0)
		return refuse(a, REASON_INCOMPLETE_FACTS, "what should be put back is not known");
	*o = (struct owner_link){ .ref = { .name = name.name, .uid = STR_C(a->grant.want_uid) } };
	a->found.n_owners = 1;
	a->found.restores = a->grant.want_replicas;
	if (!owner_kinds_resource(name.group, name.resource, &o->kind))
		return refuse(a, REASON_KIND_NOT_SCALABLE, "not a workload");
	return o->kind.scale ? STEP_NEXT : refuse(a, REASON_KIND_NOT_SCALABLE, "no replicas");
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
		return refuse(a, REASON_OWNER_UNREADABLE, "the server knows no such group");
	(void)snprintf(k->version, sizeof(k->version), "%.*s", STR_ARG(version));
	return STEP_NEXT;
}

enum step_then take_workload(struct action *a, const struct step_reply *reply)
{
	if (!str_eq(READ_TEXT(reply->json, "metadata", "uid"), action_top(a)->ref.uid))
		return refuse(a, REASON_OWNER_UID_DIFFERS, "another object bears this name now");
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
static bool is_corrected(struct action *a)
{
	const json_t *o = action_top(a)->json;
	char now[TEMPLATE_HASH_MAX];

	if (!approve_above(a))
		return false;
	if (!knows_settings(a)) {
		(void)refuse(a, REASON_INCOMPLETE_FACTS, "which settings hold for it is not known");
		return false;
	}
	template_hash(o, now);
	const struct correction_facts f = { .action = a->grant.origin,
					    .replicas = a->grant.want_replicas,
					    .marked = mark_read(o, MARK_ACTION),
					    .from = mark_read(o, MARK_FROM),
					    .template = mark_read(o, MARK_TEMPLATE),
					    .now = STR_C(now),
					    .asked = READ_TEXT(o, "metadata", "annotations",
							       ANNOTATION_RESTORE) };

	correction_judge(action_policy(a), &f, &a->verdict);
	_cleanup_free_ char *why = facts_render(&a->verdict.evidence, NULL);

	if (a->verdict.kind == VERDICT_ACT)
		facts_add(&a->result.u.result.evidence, &a->verdict.evidence);
	else
		(void)refuse(a, a->verdict.reason, why);
	return a->verdict.kind == VERDICT_ACT;
}

/* Nobody but this program wanted no replicas, as far as the server can tell. */
static bool is_ours(struct action *a)
{
	const json_t *o = action_top(a)->json;
	struct managed_fields_writer w;
	char text[MANAGED_TEXT_MAX] = "nobody is named";
	bool ours = false;

	if (managed_fields_replicas(o, &w)) {
		struct msg *m = &a->result;

		ours = managed_fields_is_us(&w);
		managed_fields_text(&w, text);
		msg_set(m, result.actor, w.manager.p, w.manager.n);
	} else if (managed_fields_zero_by_scale(o)) {
		/* As we did, by the history; nobody else's number is left. */
		ours = true;
		(void)snprintf(text, sizeof(text),
			       "a 0 through /scale, which leaves no owner, as action %llu wrote",
			       (unsigned long long)a->grant.origin);
	}
	action_add_evidence(a, "replicas last set by: %s", text);
	if (!ours)
		(void)action_end(a, OUTCOME_REFUSED, REASON_NOT_OUR_ZERO, "%s: replicas last set by: %s",
				 a->grant.want_target, text);
	return ours;
}

/* An operator asked, but the number is the history's word: the mark of that action has to say the same. Of a
 * kind whose scale alone is known the mark is a second write, which may be missing: there the supervisor's
 * signature suffices. Without the signature (the key is lost, say) the mark alone does. */
static bool agrees_with_mark(struct action *a)
{
	const json_t *o = action_top(a)->json;
	const struct str marked = mark_read(o, MARK_ACTION), from = mark_read(o, MARK_FROM);
	uint64_t action = 0, replicas = 0;
	const bool ours = str_to_u64(marked.p, marked.n, &action) == 0 && action == a->grant.origin;
	const bool same =
		str_to_u64(from.p, from.n, &replicas) == 0 && replicas == (uint64_t)a->found.restores;
	const bool scale_alone =
		!action_top(a)->kind.builtin && (str_empty(marked) || ours) && str_empty(from);

	if ((ours && same) || (scale_alone && a->grant.vouched))
		return true;
	(void)refuse(a, a->grant.vouched ? REASON_NOT_MARKED : REASON_ORIGIN_NOT_SIGNED,
		     ours && !str_empty(from) ? "its mark says another number of replicas"
					      : "its mark is gone, or that of another action");
	return false;
}

enum step_then take_zero(struct action *a, const struct step_reply *reply)
{
	const struct scale_facts *scale = &a->found.scale;
	const long long want = (long long)a->grant.want_replicas;
	const enum step_then then = scale_take(a, reply);

	if (then != STEP_NEXT)
		return then;
	if (scale->replicas == want && action_may_be_ours(a)) {
		(void)action_end(a, OUTCOME_UNCONFIRMED, REASON_PROBABLY_DONE,
				 want == 1 ? "it wants %lld replica" : "it wants %lld replicas", want);
		return mark_look(a);
	}
	if (a->in_doubt)
		return STEP_END; /* not scaled: what was said of the write stands */
	action_add_evidence(a,
			    scale->replicas == 1 ? "%s (uid %s) at resourceVersion %.*s: %lld replica"
						 : "%s (uid %s) at resourceVersion %.*s: %lld replicas",
			    a->grant.want_target, a->grant.want_uid, STR_ARG(scale->rv),
			    (long long)scale->replicas);
	if (scale->replicas != 0)
		return action_end(a, OUTCOME_REFUSED, REASON_NOT_ZERO_ANYMORE,
				  scale->replicas == 1 ? "%s wants %lld replica" : "%s wants %lld replicas",
				  a->grant.want_target, (long long)scale->replicas);
	/* Who wrote it was read a moment before: it must be the same version. */
	if (!str_eq(scale->rv, READ_TEXT(action_top(a)->json, "metadata", "resourceVersion")))
		return action_again(a, OUTCOME_CONFLICT, REASON_PRECONDITION_FAILED,
				    "it changes all the time");
	if (!is_ours(a) || !(a->grant.by_operator ? agrees_with_mark(a) : is_corrected(a)))
		return STEP_END;
	a->verdict = (struct verdict){ .kind = VERDICT_ACT,
				       .reason = a->grant.by_operator ? REASON_RESTORED : REASON_CORRECTED };
	char said[128];

	(void)snprintf(said, sizeof(said),
		       want == 1 ? "from 0 to %lld replica, as before action %llu"
				 : "from 0 to %lld replicas, as before action %llu",
		       want, (unsigned long long)a->grant.origin);
	facts_said(&a->verdict.evidence, said);
	a->write = scale_write(a);
	return STEP_NEXT;
}
