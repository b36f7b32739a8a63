/* restore.c - taking a scale-down back: only when the workload is the same object, still wants no
 * replicas, and nobody but this program wanted that last (R20). */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "kube/discovery.h"
#include "kube/path.h"
#include "worker/managed_fields.h"
#include "worker/steps/step.h"

static struct owner *workload(struct action *e)
{
	return &e->owners[0];
}

static enum step refuse(struct action *e, enum reason reason, const char *why)
{
	return step_finish(e, OUTCOME_REFUSED, reason, "%s: %s", e->grant.want_target, why);
}

enum step step_restore(struct action *e)
{
	struct owner *o = workload(e);
	struct target t;

	if (!read_target(e->grant.want_target, &t) || !str_is(t.ns, e->grant.ns) || !e->grant.want_uid[0] ||
	    e->grant.want_replicas <= 0)
		return refuse(e, REASON_INCOMPLETE_FACTS, "what should be put back is not known");
	*o = (struct owner){ .ref = { .name = t.name,
				      .uid = { e->grant.want_uid, strlen(e->grant.want_uid) } } };
	e->n_owners = 1;
	if (!owner_kinds_resource(t.group, t.resource, &o->kind))
		return refuse(e, REASON_KIND_NOT_SCALABLE, "not a workload");
	if (o->kind.version[0] == '\0')
		return STEP_GROUP;
	return o->kind.scale ? STEP_WORKLOAD : refuse(e, REASON_KIND_NOT_SCALABLE, "no replicas");
}

void ask_group(struct action *e, struct ask *ret)
{
	_cleanup_free_ char *group = path_escape(workload(e)->kind.group);

	ret->path = xasprintf("/apis/%s", group);
}

enum step take_group(struct action *e, const struct answer *a)
{
	struct kind_info *k = &workload(e)->kind;
	struct str version = READ_TEXT(a->json, "preferredVersion", "version");

	if (str_empty(version) || version.n >= sizeof(k->version))
		return refuse(e, REASON_OWNER_UNREADABLE, "the server knows no such group");
	memcpy(k->version, version.p, version.n);
	k->version[version.n] = '\0';
	return STEP_WORKLOAD;
}

void ask_workload(struct action *e, struct ask *ret)
{
	const struct owner *o = workload(e);
	_cleanup_free_ char *name = xstrndup(o->ref.name.p, o->ref.name.n);

	ret->path =
		path_format(o->kind.group, o->kind.version, e->grant.ns, o->kind.resource, name, NULL, NULL);
}

enum step take_workload(struct action *e, const struct answer *a)
{
	if (!a->json)
		return step_gone(e, REASON_WORKLOAD_GONE, e->grant.want_target);
	if (!str_eq(READ_TEXT(a->json, "metadata", "uid"), workload(e)->ref.uid))
		return refuse(e, REASON_OWNER_UID_DIFFERS, "another object bears this name now");
	workload(e)->json = json_incref(a->json);
	return STEP_SCALE;
}

/* Nobody but this program wanted no replicas, as far as the server can tell. */
static bool is_ours(struct action *e)
{
	struct managed_fields_writer w;
	char text[MANAGED_TEXT_MAX] = "nobody is named";
	bool ours = false;

	if (managed_fields_replicas(workload(e)->json, &w)) {
		struct msg *m = &e->result;

		ours = managed_fields_is_us(&w);
		managed_fields_text(&w, text);
		msg_set(m, result.actor, w.manager.p, w.manager.n);
	} else if (managed_fields_zero_by_scale(workload(e)->json)) {
		/* As we did, by the history; nobody else's number is left. */
		ours = true;
		(void)snprintf(text, sizeof(text),
			       "a 0 through /scale, which leaves no owner, as action %llu wrote",
			       (unsigned long long)e->grant.origin);
	}
	step_prove(e, "replicas last set by: %s", text);
	if (!ours)
		(void)step_finish(e, OUTCOME_REFUSED, REASON_NOT_OUR_ZERO, "%s: replicas last set by: %s",
				  e->grant.want_target, text);
	return ours;
}

enum step step_restore_scale(struct action *e, const struct scale_facts *scale)
{
	const long long want = (long long)e->grant.want_replicas;

	if (scale->replicas == want && step_may_be_ours(e))
		return step_finish(e, OUTCOME_UNCONFIRMED, REASON_PROBABLY_DONE, "it wants %lld replicas",
				   want);
	if (e->in_doubt)
		return STEP_END; /* not scaled: what was said of the write stands */
	step_prove(e, "%s (uid %s) at resourceVersion %.*s: %lld replicas", e->grant.want_target,
		   e->grant.want_uid, STR_ARG(scale->rv), (long long)scale->replicas);
	if (scale->replicas != 0)
		return step_finish(e, OUTCOME_REFUSED, REASON_NOT_ZERO_ANYMORE, "%s wants %lld replicas",
				   e->grant.want_target, (long long)scale->replicas);
	/* Who wrote it was read a moment before: it must be the same version. */
	if (!str_eq(scale->rv, READ_TEXT(workload(e)->json, "metadata", "resourceVersion")))
		return step_again(e, OUTCOME_CONFLICT, REASON_PRECONDITION_FAILED, "it changes all the time");
	if (!is_ours(e))
		return STEP_END;
	e->verdict = (struct verdict){ .kind = VERDICT_ACT, .reason = REASON_RESTORED };
	(void)snprintf(e->verdict.evidence, sizeof(e->verdict.evidence),
		       "from 0 to %lld replicas, as before action %llu", want,
		       (unsigned long long)e->grant.origin);
	return STEP_PATCH;
}
