/* scale.c - the workload as a whole: its scale, its newest revision, all its pods; then replicas 0 (R17-R19).
 */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <stdio.h>
#include <string.h>

#include "kube/decode_json.h"
#include "kube/write_body.h"
#include "worker/action_end.h"

void ask_scale(struct action *a, struct step_request *ret)
{
	ret->path = object_path(a, action_top(a), "scale", NULL);
}

enum step_then scale_take(struct action *a, const struct step_reply *reply)
{
	struct scale_facts scale;

	if (!read_scale(reply->json, &scale))
		return a->in_doubt
			       ? STEP_END
			       : action_end_at(a, OUTCOME_FAILED, REASON_BAD_ANSWER, TEXT_ANSWER_NO_SCALE);
	if (!str_eq(scale.uid, action_top(a)->ref.uid))
		return action_may_be_ours(a) ? action_gone(a, REASON_OWNER_UID_DIFFERS, NULL)
					     : owner_refuse(a, REASON_OWNER_UID_DIFFERS, TEXT_REPLACED);
	json_decref(a->found.scale_json);
	a->found.scale_json = json_incref(reply->json);
	a->found.scale = scale;
	a->fresh_from = a->asked_at;
	return STEP_NEXT;
}

bool scale_is_of_workload(struct action *a)
{
	return str_eq(a->found.scale.rv, READ_TEXT(action_top(a)->json, "metadata", "resourceVersion"));
}

/* A workload without a version is of no API server that we know. */
static bool is_changed_since(struct action *a)
{
	return !str_empty(READ_TEXT(action_top(a)->json, "metadata", "resourceVersion")) &&
	       !scale_is_of_workload(a);
}

enum step_then scale_read_again(struct action *a)
{
	const struct facts why = facts_of(TEXT_CHANGES);

	return action_again(a, OUTCOME_CONFLICT, REASON_PRECONDITION_FAILED, &why);
}

/* Is the ReplicaSet of the template that its controller has now? As EqualIgnoreHash (kubernetes
 * pkg/controller/deployment/util/deployment_util.go) compares them. */
static bool is_of_template(const json_t *set, const json_t *controller)
{
	json_auto_t *template = json_deep_copy(READ_AT(set, "spec", "template"));
	json_t *labels = json_object_get(json_object_get(template, "metadata"), "labels");

	(void)json_object_del(labels, "pod-template-hash");
	(void)json_object_del(labels, "rollouts-pod-template-hash");
	return template && json_equal(template, READ_AT(controller, "spec", "template"));
}

/* Paused, it makes no ReplicaSet of a template that was changed since: what is newest does not fail, it
 * waits. */
static bool is_held_back(const struct findings *f)
{
	return f->rule == REVISION_BY_OWNER && json_is_true(READ_AT(f->owners[1].json, "spec", "paused")) &&
	       !is_of_template(f->owners[0].json, f->owners[1].json);
}

/* Which pods are those of the newest revision, and is ours among them? */
static enum step_then choose_revision(struct action *a)
{
	struct findings *f = &a->found;
	const struct owner_link *o = &f->owners[0];
	struct str update = READ_TEXT(o->json, "status", "updateRevision");

	f->rule = f->n_owners > 1 && owner_is(o, "apps", "ReplicaSet") ? REVISION_BY_OWNER : REVISION_ALL;
	if (is_held_back(f))
		return owner_refuse(a, REASON_NOT_NEWEST_REVISION, TEXT_HELD_BACK);
	if (owner_is(o, "apps", "StatefulSet") && !str_empty(update)) {
		if (!str_eq(update, a->pod.revision))
			return owner_refuse(a, REASON_NOT_NEWEST_REVISION, TEXT_OTHER_REVISION);
		f->rule = REVISION_BY_LABEL;
	}
	return STEP_NEXT;
}

enum step_then take_scale(struct action *a, const struct step_reply *reply)
{
	const struct scale_facts *scale = &a->found.scale;
	const enum step_then then = scale_take(a, reply);

	if (then != STEP_NEXT)
		return then;
	if (scale->replicas == 0) {
		(void)action_gone(a, REASON_ALREADY_ZERO, NULL);
		return mark_look(a);
	}
	if (a->in_doubt)
		return STEP_END; /* not scaled: what was said of the write stands */
	if (is_changed_since(a)) /* its marks, claims and template were read a moment before */
		return scale_read_again(a);
	a->found.all_sets = str_empty(scale->selector);
	facts_finding(action_evidence(a), TEXT_SCALE_READ);
	facts_name(action_evidence(a), FACT_SCALE_VERSION, scale->rv);
	facts_count(action_evidence(a), FACT_REPLICAS, scale->replicas);
	if (a->found.all_sets)
		facts_finding(action_evidence(a), TEXT_NO_SELECTOR);
	return choose_revision(a);
}

/* -- the newest revision -- */

bool needs_revisions(const struct action *a)
{
	return a->found.rule == REVISION_BY_OWNER;
}

/* revision: of what is Ready. */
static enum step_then refuse_serving(struct action *a, struct str revision)
{
	struct str stable = READ_TEXT(action_top(a)->json, "status", "stableRS");

	if (owner_is(action_top(a), "argoproj.io", "Rollout") && !str_empty(stable) &&
	    str_eq(stable, revision) && !str_eq(stable, a->pod.revision))
		return owner_refuse(a, REASON_ROLLOUT_STABLE_SERVING, TEXT_ONLY_NEW_FAILS);
	return owner_refuse(a, REASON_WORKLOAD_HAS_READY_PODS, TEXT_SERVES);
}

enum step_then item_revision(struct action *a, const json_t *rs)
{
	struct findings *f = &a->found;
	const uint64_t number = read_revision(rs);
	const int64_t created = read_created(rs);
	struct str uid = READ_TEXT(rs, "metadata", "uid");
	struct owner_facts owner;

	if (!read_controller(rs, &owner) || !str_eq(owner.uid, f->owners[1].ref.uid))
		return STEP_NEXT;
	if (json_integer_value(READ_AT(rs, "status", "readyReplicas")) > 0)
		return refuse_serving(a, READ_TEXT(rs, "metadata", "labels", "rollouts-pod-template-hash"));
	f->set_seen |= str_eq(uid, f->owners[0].ref.uid);
	if (f->newest[0] &&
	    (number < f->newest_number || (number == f->newest_number && created < f->newest_created)))
		return STEP_NEXT;
	f->newest_number = number;
	f->newest_created = created;
	(void)snprintf(f->newest, sizeof(f->newest), "%.*s", STR_ARG(uid));
	return STEP_NEXT;
}

enum step_then take_revisions(struct action *a, const struct step_reply *reply)
{
	if (!reply->json)
		return owner_refuse(a, REASON_TALLY_UNKNOWN, TEXT_NO_SETS);
	/* They need not carry the labels of their pods. */
	if (!a->found.set_seen && !a->found.all_sets) {
		a->found.all_sets = true;
		return STEP_MORE;
	}
	if (!str_is(a->found.owners[0].ref.uid, a->found.newest))
		return owner_refuse(a, REASON_NOT_NEWEST_REVISION, TEXT_OTHER_SET);
	return STEP_NEXT;
}

/* -- the tally -- */

static bool of_newest_revision(const struct findings *f, const struct pod_facts *p, struct str revision)
{
	if (f->rule == REVISION_BY_OWNER)
		return str_is(p->owner.uid, f->newest);
	if (f->rule == REVISION_BY_LABEL)
		return str_eq(p->owner.uid, f->owners[0].ref.uid) && str_eq(p->revision, revision);
	return true;
}

/* Of a namespace whose pods are told apart by their owners: is it for somebody else to say whose it is? */
static bool is_of_others(const struct action *a, const struct pod_facts *p)
{
	return str_empty(a->found.scale.selector) && !peers_is_ours(a, p->owner.uid);
}

/* What a live pod of the newest revision says. */
enum says { SAYS_FAILS, SAYS_FAILS_OTHERWISE, SAYS_NOTHING, SAYS_NO };

static bool fails_by_any(const struct action *a, const struct pod_facts *p)
{
	for (size_t i = 0; i < WORKLOAD_DUTIES; i++)
		if (judge_fails(duty_of_workload(i), p, a->policy, action_now(a), NULL))
			return true;
	return false;
}

static enum says says_of(const struct action *a, const struct pod_facts *p)
{
	const enum duty duty = (enum duty)a->grant.duty;
	const int64_t now = action_now(a);

	if (judge_blames(duty, p, a->policy, now))
		return SAYS_FAILS;
	if (judge_fails(duty, p, a->policy, now, NULL)) /* its node is at fault */
		return SAYS_NO;
	if (fails_by_any(a, p))
		return SAYS_FAILS_OTHERWISE;
	return judge_proves(p, a->pod.containers[a->verdict.container].kind) ? SAYS_NO : SAYS_NOTHING;
}

/* On how many nodes do pods fail: on one or on several? Of a node-bound cause only several blame the
 * workload.
 */
static void count_node(struct findings *f, struct str node)
{
	if (f->context.failing_nodes == 0 && node.n > 0) {
		(void)snprintf(f->failing_node, sizeof(f->failing_node), "%.*s", STR_ARG(node));
		f->context.failing_nodes = 1;
	} else if (node.n > 0 && !str_is(node, f->failing_node)) {
		f->context.failing_nodes = 2;
	}
}

static void count_pod(struct action *a, enum says says)
{
	struct pod_context *c = &a->found.context;

	c->pods += says != SAYS_NOTHING;
	c->silent += says == SAYS_NOTHING;
	c->failing += says == SAYS_FAILS;
	c->otherwise += says == SAYS_FAILS_OTHERWISE;
}

/* Of an older revision, and not Ready at this moment: a probe that fails once, or a node that is drained,
 * makes no wreck of what served. */
static void note_older(struct action *a, const struct pod_facts *p)
{
	if (!pod_is_finished(p) && !fails_by_any(a, p))
		floors_add(&a->found.floors, FLOOR_SERVED,
			   p->unready_since > 0 ? p->unready_since : p->created);
}

enum step_then item_pod(struct action *a, const json_t *item)
{
	struct pod_facts p;
	enum says says;

	if (decode_pod_json(item, &p) < 0)
		return owner_refuse(a, REASON_TALLY_UNKNOWN, TEXT_POD_UNREAD);
	p.namespace_labels = namespace_labels(a);
	const bool others = is_of_others(a, &p), is_over = p.deletion > 0 || pod_is_finished(&p);

	if (!is_over && !others && approve_beside(a, &p) != STEP_NEXT)
		return STEP_END;
	/* Whoever owns it: when a selector reaches too far, better nothing is done. */
	if (pod_is_serving(&p))
		return others ? peers_add(a, item, true) : refuse_serving(a, p.revision);
	if (!of_newest_revision(&a->found, &p, a->pod.revision)) {
		if (!others)
			note_older(a, &p);
		return STEP_NEXT;
	}
	if (!others)
		floors_add(&a->found.floors, FLOOR_WORKED,
			   judge_worked_at((enum duty)a->grant.duty, &p, action_now(a)));
	if (is_over)
		return STEP_NEXT;
	says = says_of(a, &p);
	if (others)
		return says == SAYS_FAILS || says == SAYS_NOTHING ? STEP_NEXT : peers_add(a, item, false);
	count_pod(a, says);
	if (says == SAYS_FAILS)
		count_node(&a->found, p.node);
	if (says == SAYS_FAILS && str_is(p.uid, a->grant.uid))
		a->found.pod_seen = true;
	return STEP_NEXT;
}

enum step_then take_pods(struct action *a, const struct step_reply *reply)
{
	struct pod_context *c = &a->found.context;
	const struct facts other = facts_of(TEXT_NOT_SELECTED);

	if (!reply->json)
		return owner_refuse(a, REASON_TALLY_UNKNOWN, TEXT_NO_PODS);
	/* It was read as failing a moment ago. */
	if (!a->found.pod_seen)
		return action_again(a, OUTCOME_REFUSED, REASON_TALLY_UNKNOWN, &other);
	c->tally_known = TRI_YES;
	facts_finding(action_evidence(a), TEXT_COUNTED);
	facts_count(action_evidence(a), FACT_PODS, c->pods);
	facts_count(action_evidence(a), FACT_FAILING, c->failing);
	facts_count(action_evidence(a), FACT_READY, c->ready);
	return STEP_NEXT;
}

/* -- the write -- */

static int64_t wanted(const struct action *a)
{
	return a->grant.action == ACTION_RESTORE ? a->found.restores : 0;
}

enum step scale_write(const struct action *a)
{
	const struct kind_info *k = &a->found.owners[a->found.n_owners - 1].kind;
	const bool restores = a->grant.action == ACTION_RESTORE;

	if (k->builtin && !a->by_scale)
		return restores ? STEP_RAISE : STEP_LOWER;
	return restores ? STEP_SCALE_UP : STEP_SCALE_DOWN;
}

/* Bound to the version whose scale was read. */
static void ask_patch(struct action *a, const char *subresource, struct step_request *ret)
{
	struct msg *m = &a->result;
	const struct scale_facts *scale = &a->found.scale;

	object_ask_patch(a, action_top(a), subresource, ret);
	msg_set(m, result.target_uid, scale->uid.p, scale->uid.n);
	msg_set(m, result.target_rv, scale->rv.p, scale->rv.n);
	m->u.result.replicas = scale->replicas;
}

void ask_replicas(struct action *a, struct step_request *ret)
{
	ask_patch(a, "scale", ret);
	ret->body = write_body_scale(a->result.u.result.target_uid, a->result.u.result.target_rv, wanted(a));
}

void ask_workload(struct action *a, struct step_request *ret)
{
	struct write_annotation mark[MARK_LIST];

	ask_patch(a, NULL, ret);
	if (a->bare) {
		ret->body = write_body_scale(a->result.u.result.target_uid, a->result.u.result.target_rv,
					     wanted(a));
		return;
	}
	mark_list(a, action_top(a), mark);
	ret->body = write_body_replicas(a->result.u.result.target_uid, a->result.u.result.target_rv,
					wanted(a), mark, MARK_LIST);
	mark_list_done(mark);
}

/* It was accepted, and the number is another one all the same. */
static enum step_then end_not_scaled(struct action *a)
{
	struct facts detail = action_at(a, TEXT_NOT_SCALED);

	facts_count(&detail, FACT_REPLICAS, wanted(a));
	return action_end(a, OUTCOME_FAILED, REASON_SERVER_REJECTED, &detail);
}

/* Whoever may not write the object itself writes its scale. To whatever else objects, an admission plugin
 * say, only the mark is given up: it sees a change of the replicas of this object as it sees everybody's. */
static enum step_then go_another_way(struct action *a, const struct step_reply *reply)
{
	mark_refused(a, reply);
	a->by_scale = reply->by_rights;
	a->bare = true;
	a->write = scale_write(a);
	return a->by_scale ? STEP_NEXT : STEP_SAME;
}

enum step_then take_written(struct action *a, const struct step_reply *reply)
{
	const json_t *replicas = READ_AT(reply->json, "spec", "replicas");

	if (!reply->json)
		return go_another_way(a, reply);
	if (!json_is_integer(replicas) || json_integer_value(replicas) != wanted(a))
		return end_not_scaled(a);
	if (!a->grant.observe && !a->bare)
		mark_written(a, reply->json);
	return action_end_as_judged(a, OUTCOME_DONE);
}

enum step_then take_replicas(struct action *a, const struct step_reply *reply)
{
	struct scale_facts scale;

	if (!read_scale(reply->json, &scale) || scale.replicas != wanted(a))
		return end_not_scaled(a);
	(void)action_end_as_judged(a, OUTCOME_DONE);
	return mark_begin(a, scale.rv);
}
