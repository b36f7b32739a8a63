/* scale.c - the workload as a whole: its scale, its newest revision, all its pods; then replicas 0
 * (R17-R19). */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "kube/decode_json.h"
#include "kube/path.h"
#include "kube/write_body.h"
#include "worker/steps/step.h"

static const struct owner *top(const struct action *e)
{
	return &e->owners[e->n_owners - 1];
}

static bool is_kind(const struct owner *o, const char *group, const char *kind)
{
	return strcmp(o->kind.group, group) == 0 && strcmp(o->kind.kind, kind) == 0;
}

static char *scale_path(const struct action *e, const char *query)
{
	const struct owner *o = top(e);
	_cleanup_free_ char *name = xstrndup(o->ref.name.p, o->ref.name.n);

	return path_format(o->kind.group, o->kind.version, e->grant.ns, o->kind.resource, name, "scale",
			   query);
}

static enum step refuse(struct action *e, enum reason reason, const char *why)
{
	return step_finish(e, OUTCOME_REFUSED, reason, "%s %.*s: %s", top(e)->kind.kind,
			   STR_ARG(top(e)->ref.name), why);
}

void ask_scale(struct action *e, struct ask *ret)
{
	ret->path = scale_path(e, NULL);
}

/* Which pods are those of the newest revision, and is ours among them? A revision's clock cannot be older
 * than the revision. */
static enum step choose_revision(struct action *e)
{
	const struct owner *o = &e->owners[0];
	struct str update = READ_TEXT(o->json, "status", "updateRevision");
	const int64_t created = read_created(o->json);

	if (e->around.failing_since < created)
		e->around.failing_since = created;
	if (e->n_owners > 1 && is_kind(o, "apps", "ReplicaSet")) {
		e->rule = REVISION_BY_OWNER;
		return STEP_REVISIONS;
	}
	e->rule = REVISION_ALL;
	if (is_kind(o, "apps", "StatefulSet") && !str_empty(update)) {
		if (!str_eq(update, e->pod.revision))
			return refuse(e, REASON_NOT_NEWEST_REVISION, "the pod is of another revision");
		e->rule = REVISION_BY_LABEL;
	}
	return STEP_PODS;
}

enum step take_scale(struct action *e, const struct answer *a)
{
	struct scale_facts scale;

	if (!a->json)
		return step_gone(e, REASON_WORKLOAD_GONE, "");
	if (!read_scale(a->json, &scale))
		return e->in_doubt ? STEP_END
				   : step_finish(e, OUTCOME_FAILED, REASON_BAD_ANSWER,
						 "get scale: the answer is no scale");
	if (!str_eq(scale.uid, top(e)->ref.uid))
		return step_may_be_ours(e) ? step_gone(e, REASON_OWNER_UID_DIFFERS, "")
					   : refuse(e, REASON_OWNER_UID_DIFFERS, "replaced meanwhile");
	if (scale.replicas == 0 && e->grant.action != ACTION_RESTORE)
		return step_gone(e, REASON_ALREADY_ZERO, "");
	if (e->in_doubt && e->grant.action != ACTION_RESTORE)
		return STEP_END; /* not scaled: what was said of the write stands */
	if (e->grant.action != ACTION_RESTORE && str_empty(scale.selector))
		return refuse(e, REASON_TALLY_UNKNOWN, "its scale has no selector");
	json_decref(e->scale_json);
	e->scale_json = json_incref(a->json);
	e->scale = scale;
	e->fresh_from = e->asked_at;
	if (e->grant.action == ACTION_RESTORE)
		return step_restore_scale(e, &scale);
	step_prove(e, "scale at resourceVersion %.*s: %lld replicas", STR_ARG(scale.rv),
		   (long long)scale.replicas);
	return choose_revision(e);
}

void ask_revisions(struct action *e, struct ask *ret)
{
	_cleanup_free_ char *query = step_list_query(e, e->scale.selector);

	ret->path = path_format("apps", "v1", e->grant.ns, "replicasets", NULL, NULL, query);
}

static void count_revision(struct action *e, const json_t *rs)
{
	const uint64_t number = read_revision(rs);
	const int64_t created = read_created(rs);
	struct str uid = READ_TEXT(rs, "metadata", "uid");
	struct owner_facts owner;

	if (!read_controller(rs, &owner) || !str_eq(owner.uid, e->owners[1].ref.uid))
		return;
	if (json_integer_value(READ_AT(rs, "status", "readyReplicas")) > 0)
		e->revision_serves = true;
	if (e->newest[0] &&
	    (number < e->newest_number || (number == e->newest_number && created < e->newest_created)))
		return;
	e->newest_number = number;
	e->newest_created = created;
	(void)snprintf(e->newest, sizeof(e->newest), "%.*s", STR_ARG(uid));
}

static enum step refuse_serving(struct action *e)
{
	struct str stable = READ_TEXT(top(e)->json, "status", "stableRS");

	if (is_kind(top(e), "argoproj.io", "Rollout") && !str_empty(stable) &&
	    !str_eq(stable, e->pod.revision))
		return refuse(e, REASON_ROLLOUT_STABLE_SERVING, "only the new revision fails");
	return refuse(e, REASON_WORKLOAD_HAS_READY_PODS, "it serves");
}

enum step take_revisions(struct action *e, const struct answer *a)
{
	const json_t *items = json_object_get(a->json, "items"), *item;
	size_t i;

	if (!json_is_array(items))
		return refuse(e, REASON_TALLY_UNKNOWN, "no list of replicasets");
	json_array_foreach (items, i, item)
		count_revision(e, item);
	if (step_next_page(e, a->json))
		return STEP_REVISIONS;
	if (e->revision_serves)
		return refuse_serving(e);
	if (!str_is(e->owners[0].ref.uid, e->newest))
		return refuse(e, REASON_NOT_NEWEST_REVISION, "the pod is of another ReplicaSet");
	return STEP_PODS;
}

void ask_pods(struct action *e, struct ask *ret)
{
	_cleanup_free_ char *query = step_list_query(e, e->scale.selector);

	ret->path = path_format("", "v1", e->grant.ns, "pods", NULL, NULL, query);
}

static bool of_newest_revision(const struct action *e, const struct pod_facts *p)
{
	if (e->rule == REVISION_BY_OWNER)
		return str_is(p->owner.uid, e->newest);
	if (e->rule == REVISION_BY_LABEL)
		return str_eq(p->owner.uid, e->owners[0].ref.uid) && str_eq(p->revision, e->pod.revision);
	return true;
}

/* A Ready pod counts whoever owns it: when a selector reaches too far, better nothing is done. */
static void count_pod(struct action *e, const struct pod_facts *p)
{
	const bool ended = pod_is_finished(p);
	bool failing;

	if (p->ready)
		e->around.ready++;
	if (p->deletion > 0 || ended || !of_newest_revision(e, p))
		return;
	failing = judge_fails(DUTY_IMAGE_PULL, p, e->policy, NULL);
	e->around.pods++;
	e->around.failing += failing;
	if (failing && str_is(p->uid, e->grant.uid))
		e->pod_seen = true;
}

static enum step judge_tally(struct action *e)
{
	if (e->around.ready > 0)
		return refuse_serving(e);
	/* It was read as failing a moment ago. */
	if (!e->pod_seen)
		return step_again(e, OUTCOME_REFUSED, REASON_TALLY_UNKNOWN,
				  "the pod is not among those that its workload's scale selects");
	e->around.tally_known = TRI_YES;
	step_prove(e, "%u pods of the newest revision, %u fail to pull, %u of the workload Ready",
		   e->around.pods, e->around.failing, e->around.ready);
	return step_judge_live(e);
}

enum step take_pods(struct action *e, const struct answer *a)
{
	const json_t *items = json_object_get(a->json, "items"), *item;
	struct pod_facts p;
	size_t i;

	if (!json_is_array(items))
		return refuse(e, REASON_TALLY_UNKNOWN, "no list of pods");
	json_array_foreach (items, i, item) {
		if (decode_pod_json(item, &p) < 0)
			return refuse(e, REASON_TALLY_UNKNOWN, "a pod cannot be read");
		count_pod(e, &p);
	}
	if (e->around.ready == 0 && step_next_page(e, a->json))
		return STEP_PODS;
	return judge_tally(e);
}

static int64_t wanted(const struct action *e)
{
	return e->grant.action == ACTION_RESTORE ? e->grant.want_replicas : 0;
}

void ask_patch(struct action *e, struct ask *ret)
{
	struct msg *m = &e->result;
	const struct msg_result *r = &m->u.result;
	_cleanup_free_ char *query = step_write_query(e);

	step_target(e, top(e));
	msg_set(m, result.target_uid, e->scale.uid.p, e->scale.uid.n);
	msg_set(m, result.target_rv, e->scale.rv.p, e->scale.rv.n);
	m->u.result.replicas = e->scale.replicas;
	ret->method = "PATCH";
	ret->path = scale_path(e, query);
	ret->content_type = "application/merge-patch+json";
	ret->body = write_body_scale(r->target_uid, r->target_rv, wanted(e));
}

enum step take_patch(struct action *e, const struct answer *a)
{
	struct scale_facts scale;

	if (!a->json)
		return step_gone(e, REASON_WORKLOAD_GONE, "it was gone when the patch arrived");
	if (!read_scale(a->json, &scale) || scale.replicas != wanted(e))
		return step_finish(e, OUTCOME_FAILED, REASON_SERVER_REJECTED,
				   "patch scale: accepted, but replicas are not %lld afterwards",
				   (long long)wanted(e));
	return step_finish(e, OUTCOME_DONE, e->verdict.reason, "%s", e->verdict.evidence);
}
