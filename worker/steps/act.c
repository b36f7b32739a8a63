/* act.c - the last gate: all was read and judged, and now the object itself is asked. Its owner may
 * have refused the act, and where a grace is configured it is announced on the object first. */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "kube/path.h"
#include "kube/write_body.h"
#include "rules/announce.h"
#include "rules/select.h"
#include "worker/managed_fields.h"
#include "worker/steps/step.h"

const struct duty_policy *step_policy(const struct action *e)
{
	return &policy_of(e->policy, &e->pod)[e->grant.duty];
}

bool step_on_workload(const struct action *e)
{
	return duty_desc((enum duty)e->grant.duty)->key == KEY_WORKLOAD;
}

/* The object that is written to. Of the owners only the topmost counts: controllers copy annotations down and
 * do not take them away again (kubernetes pkg/controller/deployment/util SetNewReplicaSetAnnotations). */
static const struct owner *workload(const struct action *e)
{
	return step_on_workload(e) ? &e->owners[e->n_owners - 1] : NULL;
}

static struct annotations marks_of(const struct action *e)
{
	const struct owner *o = workload(e);
	struct annotations m = { 0 };

	if (!o)
		m = e->pod.annotations;
	else
		read_annotations(o->json, &m);
	/* An announcement older than the state that is judged was made for another one. */
	if (m.announced[e->grant.duty] < judge_began((enum duty)e->grant.duty, &e->pod, &e->around))
		m.announced[e->grant.duty] = 0;
	return m;
}

static enum step write_step(const struct action *e)
{
	if (action_desc(e->grant.action)->target == TARGET_POD)
		return STEP_DELETE;
	return e->suspends ? STEP_SUSPEND : STEP_PATCH;
}

static enum step wait_for_grace(struct action *e, const struct annotations *m, int64_t until)
{
	char at[RFC3339_MAX], end[RFC3339_MAX];

	rfc3339_format(m->announced[e->grant.duty], false, at);
	rfc3339_format(until, false, end);
	e->verdict.kind = VERDICT_WAIT;
	e->verdict.reason = REASON_ANNOUNCED;
	e->verdict.at_ms = until + 1;
	(void)snprintf(e->verdict.evidence, sizeof(e->verdict.evidence), "announced %s, acts after %s%s", at,
		       end, m->extend_ms > 0 ? " (extended)" : "");
	return step_refuse(e, &e->verdict);
}

static enum step refuse_marked(struct action *e, const struct annotations *m)
{
	const struct owner *o = workload(e);
	const char *mark = m->ignore ? ANNOTATION_IGNORE : ANNOTATION_SKIP;

	return step_finish(e, OUTCOME_REFUSED, m->ignore ? REASON_IGNORE_ANNOTATION : REASON_SKIP_ANNOTATION,
			   "%s on %s %.*s", mark, o ? o->kind.kind : "Pod",
			   STR_ARG((o ? o->ref.name : e->pod.name)));
}

enum step step_act(struct action *e)
{
	struct duty_policy dp = *step_policy(e);
	const struct annotations m = marks_of(e);
	int64_t until;

	if (e->suspends)
		e->verdict.reason = REASON_SUSPENDED;
	if (e->grant.action == ACTION_FRESH_ATTEMPT) { /* a fresh attempt is no loss: it needs no grace */
		dp.announce_ms = 0;
		e->verdict.reason = REASON_FRESH_ATTEMPT;
	}
	switch (announce_judge(&m, (enum duty)e->grant.duty, &dp, step_now(e), &until)) {
	case ANNOUNCE_REFUSED:
		return refuse_marked(e, &m);
	case ANNOUNCE_WAIT:
		return wait_for_grace(e, &m, until);
	case ANNOUNCE_NEEDED:
		e->verdict.reason = REASON_ANNOUNCED;
		return STEP_ANNOUNCE;
	case ANNOUNCE_GO:
		break;
	}
	if (dp.announce_ms > 0)
		step_prove(e, "was announced, its grace is over");
	return write_step(e);
}

/* -- the announcement ------------------------------------------------------------------------------------ */

char *step_write_query(const struct action *e)
{
	return xasprintf("fieldManager=" MANAGED_US "%s", e->grant.observe ? "&dryRun=All" : "");
}

void step_target(struct action *e, const struct owner *o)
{
	struct msg *m = &e->result;
	struct str uid = o ? READ_TEXT(o->json, "metadata", "uid") : e->pod.uid;
	struct str rv = o ? READ_TEXT(o->json, "metadata", "resourceVersion") : e->pod.rv;
	char target[400];

	if (o)
		(void)snprintf(target, sizeof(target), "%s%s%s/%s/%.*s", o->kind.resource,
			       o->kind.group[0] ? "." : "", o->kind.group, e->grant.ns, STR_ARG(o->ref.name));
	else
		(void)snprintf(target, sizeof(target), "pods/%s/%s", e->grant.ns, e->grant.name);
	msg_set(m, result.target, target, strlen(target));
	msg_set(m, result.target_uid, uid.p, uid.n);
	msg_set(m, result.target_rv, rv.p, rv.n);
}

char *step_object_path(const struct action *e, const struct owner *o, const char *query)
{
	_cleanup_free_ char *name = o ? xstrndup(o->ref.name.p, o->ref.name.n) : xstrdup(e->grant.name);

	return path_format(o ? o->kind.group : "", o ? o->kind.version : "v1", e->grant.ns,
			   o ? o->kind.resource : "pods", name, NULL, query);
}

void ask_announce(struct action *e, struct ask *ret)
{
	const struct owner *o = workload(e);
	const struct annotations m = marks_of(e);
	_cleanup_free_ char *query = step_write_query(e);
	char value[ANNOTATIONS_ANNOUNCED_MAX];

	annotations_announced_format(&m, (enum duty)e->grant.duty, step_now(e), value);
	step_target(e, o);
	ret->method = "PATCH";
	ret->path = step_object_path(e, o, query);
	ret->content_type = "application/merge-patch+json";
	ret->body = write_body_annotation(e->result.u.result.target_uid, e->result.u.result.target_rv,
					  ANNOTATION_ANNOUNCED, value);
}

enum step take_announce(struct action *e, const struct answer *a)
{
	const int64_t grace = step_policy(e)->announce_ms;
	char end[RFC3339_MAX];

	if (!a->json)
		return step_gone(e, workload(e) ? REASON_WORKLOAD_GONE : REASON_POD_GONE,
				 "it was gone when the announcement arrived");
	rfc3339_format(step_now(e) + grace, false, end);
	e->result.u.result.retry_ms = grace < (int64_t)RETRY_MS_MAX ? (uint64_t)grace + 1 : RETRY_MS_MAX;
	return step_finish(e, OUTCOME_ANNOUNCED, REASON_ANNOUNCED, "acts after %s: %s", end,
			   e->verdict.evidence);
}
