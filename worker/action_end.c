/* action_end.c - see action_end.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/action_end.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "model/object_events.h"
#include "rules/select.h"

#define RETRY_MAX_MS   3600000
#define CLOCK_RETRY_MS 5000 /* the watcher nominates again when a clock was set, and no later than this */

/* A dry run wrote nothing, whatever it did. */
static enum outcome as_dry_run(const struct action *a, enum outcome outcome)
{
	const bool writes = outcome == OUTCOME_ANNOUNCED || OUTCOMES_WRITTEN >> outcome & 1;

	return a->grant.observe && writes ? OUTCOME_WOULD : outcome;
}

enum step_then action_end(struct action *a, enum outcome outcome, enum reason reason, const char *fmt, ...)
{
	struct msg *m = &a->result;
	const char *code = reason_code(reason);
	char detail[512];
	va_list ap;

	if (a->in_doubt &&
	    outcome == OUTCOME_REFUSED) /* nothing is to be done any more that could be refused */
		return STEP_END;
	va_start(ap, fmt);
	(void)vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	m->u.result.outcome = as_dry_run(a, outcome);
	msg_set(m, result.reason, code, strlen(code));
	msg_set(m, result.detail, detail, strlen(detail));
	return STEP_END;
}

enum step_then action_end_as_judged(struct action *a, enum outcome outcome)
{
	return action_end(a, outcome, a->verdict.reason, "%s", a->verdict.evidence);
}

void action_add_evidence(struct action *a, const char *fmt, ...)
{
	struct msg *m = &a->result;
	char fact[300], evidence[sizeof(m->u.result.evidence) + sizeof(fact) + 2];
	int n;
	va_list ap;

	if (a->in_doubt)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(fact, sizeof(fact), fmt, ap);
	va_end(ap);
	n = snprintf(evidence, sizeof(evidence), "%s%s%s", m->u.result.evidence,
		     m->u.result.evidence[0] ? "; " : "", fact);
	msg_set(m, result.evidence, evidence, (size_t)n);
}

bool action_may_be_ours(const struct action *a)
{
	return (a->grant.verify_first || a->in_doubt) && !a->grant.observe;
}

enum step_then action_gone(struct action *a, enum reason reason, const char *detail)
{
	if (action_may_be_ours(a))
		return action_end(a, OUTCOME_UNCONFIRMED, REASON_PROBABLY_DONE, "%s%s%s", reason_code(reason),
				  *detail ? ": " : "", detail);
	return action_end(a, OUTCOME_GONE, reason, "%s", detail);
}

void action_set_retry(struct action *a, int64_t ms)
{
	if (ms > 0)
		a->result.u.result.retry_ms = ms < RETRY_MAX_MS ? (uint64_t)ms : RETRY_MAX_MS;
}

enum step_then action_refuse(struct action *a, const struct verdict *v)
{
	if (v->kind == VERDICT_WAIT && v->at_ms > 0)
		action_set_retry(a, v->at_ms - action_now(a));
	if (v->reason == REASON_GRACE_ALREADY_ZERO || v->reason == REASON_BEING_DELETED)
		return action_gone(a, v->reason, v->evidence);
	return action_end(a, OUTCOME_REFUSED, v->reason, "%s", v->evidence);
}

void action_forget(struct action *a)
{
	struct findings *f = &a->found;

	json_decref(f->namespace_json);
	free(f->labels);
	a->pod.namespace_labels = NULL;
	json_decref(f->pod_json);
	json_decref(f->scale_json);
	for (size_t i = 0; i < f->n_owners; i++)
		json_decref(f->owners[i].json);
	str_list_done(&f->attached);
	free(f->page);
	free(f->event_text);
	free(f->selector);
	peers_forget(f);
	*f = (struct findings){ 0 };
	a->write = STEP_NONE;
	a->result.u.result.evidence[0] = '\0';
}

enum step_then action_again(struct action *a, enum outcome outcome, enum reason reason, const char *detail)
{
	if (++a->round >= ACTION_ROUNDS)
		return action_end(a, outcome, reason, "%s", detail);
	action_forget(a);
	return STEP_FIRST;
}

int64_t action_now(const struct action *a)
{
	return server_clock_now(a->env.clock, clock_wall_ms(), clock_boot_ms());
}

const struct duty_policy *action_policy(const struct action *a)
{
	return &policy_of(a->policy, &a->pod)[a->grant.duty];
}

bool action_judge(struct action *a, enum judge_stage stage)
{
	const int64_t ahead = server_clock_excess(a->env.clock, clock_wall_ms(), clock_boot_ms());

	if (ahead > 0) { /* nobody knows how long anything has lasted; that is no fault of the pod */
		action_set_retry(a, CLOCK_RETRY_MS);
		(void)action_end(a, OUTCOME_REFUSED, REASON_CLOCK_UNCERTAIN,
				 "the API server is %lld s ahead of this host", (long long)(ahead / 1000));
		return false;
	}
	a->found.context.stage = stage;
	judge_duty((enum duty)a->grant.duty, &a->pod, a->policy, &a->found.context, action_now(a),
		   &a->verdict);
	if (a->verdict.kind != VERDICT_ACT)
		(void)action_refuse(a, &a->verdict);
	return a->verdict.kind == VERDICT_ACT;
}

void action_heed_floors(struct action *a)
{
	char at[RFC3339_MAX];
	const char *why;
	const int64_t since = floors_since(&a->found.floors, (enum duty)a->grant.duty, a->grant.since, &why);

	if (since == a->found.context.failing_since)
		return;
	a->found.context.failing_since = since;
	if (!why)
		return;
	rfc3339_format(since, false, at);
	action_add_evidence(a, "fails since %s at most: %s", at, why);
}

/* -- what is said on the object, in the language of Events -- */

#define SAY(ID) phrase(ID, LANGUAGE_EN)

/* The workload that the action is about; NULL: the pod. */
static const struct owner_link *about_workload(const struct action *a)
{
	const struct owner_link *top = a->found.n_owners > 0 ? &a->found.owners[a->found.n_owners - 1] : NULL;

	return top && top->json && a->grant.action != ACTION_FRESH_ATTEMPT ? top : NULL;
}

/* How it is undone, with what stands before it, or nothing. Owned by the caller. */
static char *say_undo(const struct action *a)
{
	if (a->grant.action != ACTION_SCALE_DOWN)
		return xstrdup("");
	_cleanup_free_ char *command = mark_undo(a, about_workload(a));
	_cleanup_free_ char *undo = xasprintf(SAY(NEWS_UNDO), command);

	return xconcat("; ", undo, NULL);
}

static void tell_done(const struct action *a, struct object_event *ret)
{
	const struct msg_result *r = &a->result.u.result;
	const struct object_event_desc *desc =
		object_event_of((enum action_kind)a->grant.action, a->found.suspends);
	const bool restores = a->grant.action == ACTION_RESTORE;
	_cleanup_free_ char *act =
		object_event_say_done((enum action_kind)a->grant.action, a->found.suspends,
				      restores ? a->grant.want_replicas : r->replicas, LANGUAGE_EN);
	_cleanup_free_ char *undo = say_undo(a);
	_cleanup_free_ char *text =
		xasprintf(SAY(NEWS_DONE), act, reason_find(r->reason)->text[LANGUAGE_EN].sentence, r->detail);

	(void)snprintf(ret->reason, sizeof(ret->reason), "%s", desc->done);
	(void)snprintf(ret->message, sizeof(ret->message), "%s%s", text, undo);
	ret->warning = desc->warning;
}

/* What an owner may write who does not want it. Owned by the caller. */
static char *refusing_command(const struct action *a)
{
	const struct owner_link *o = about_workload(a);
	const struct str name = o ? o->ref.name : a->pod.name;

	return xasprintf("kubectl -n %s annotate %s%s%s %.*s %s=%s", a->grant.ns,
			 o ? o->kind.resource : "pods", o && o->kind.group[0] ? "." : "",
			 o ? o->kind.group : "", STR_ARG(name), ANNOTATION_SKIP,
			 duty_name((enum duty)a->grant.duty));
}

static void tell_announced(const struct action *a, struct object_event *ret)
{
	const struct object_event_desc *desc =
		object_event_of((enum action_kind)a->grant.action, a->found.suspends);
	_cleanup_free_ char *command = refusing_command(a);
	char end[RFC3339_MAX];

	rfc3339_format(action_now(a) + action_policy(a)->announce_ms, false, end);
	(void)snprintf(ret->reason, sizeof(ret->reason), "%s", desc->will);
	(void)snprintf(ret->message, sizeof(ret->message), SAY(NEWS_WILL),
		       phrase_text(desc->will_phrase, LANGUAGE_EN), end,
		       reason_find(a->grant.reason)->text[LANGUAGE_EN].sentence, command,
		       a->verdict.evidence);
	ret->warning = desc->warning;
}

static void tell_refused(const struct action *a, struct object_event *ret)
{
	const struct msg_result *r = &a->result.u.result;
	const struct reason_desc *reason = reason_find(r->reason);

	(void)snprintf(ret->reason, sizeof(ret->reason), "%s", r->reason);
	(void)snprintf(ret->message, sizeof(ret->message), SAY(NEWS_REFUSED),
		       reason->text[LANGUAGE_EN].sentence, r->detail, reason->text[LANGUAGE_EN].remedy);
	ret->warning = true;
}

/* Who tells of this end of an action; NULL: it is no news. Of a refusal the reason says whether anybody
 * should know; waiting is no news. */
static void (*teller_of(const struct msg_result *r))(const struct action *a, struct object_event *ret)
{
	switch (r->outcome) {
	case OUTCOME_DONE:
		return tell_done;
	case OUTCOME_ANNOUNCED:
		return tell_announced;
	case OUTCOME_REFUSED:
		return reason_find(r->reason)->event == REASON_EVENT_WARNING ? tell_refused : NULL;
	default:
		return NULL;
	}
}

static bool is_about(struct object_event *ret, const struct kind_info *kind, struct str name, struct str uid)
{
	if (!kind->version[0] || str_empty(name) || name.n >= sizeof(ret->name) || str_empty(uid) ||
	    uid.n >= sizeof(ret->uid))
		return false;
	(void)snprintf(ret->api_version, sizeof(ret->api_version), "%s%s%s", kind->group,
		       kind->group[0] ? "/" : "", kind->version);
	(void)snprintf(ret->kind, sizeof(ret->kind), "%s", kind->kind);
	(void)snprintf(ret->name, sizeof(ret->name), "%.*s", STR_ARG(name));
	(void)snprintf(ret->uid, sizeof(ret->uid), "%.*s", STR_ARG(uid));
	return true;
}

bool action_event(const struct action *a, struct object_event *ret)
{
	static const struct kind_info pod = { .version = "v1", .kind = "Pod" };
	const struct owner_link *workload = about_workload(a);
	void (*tell)(const struct action *, struct object_event *) = teller_of(&a->result.u.result);

	*ret = (struct object_event){ 0 };
	if (a->dry_run || a->grant.observe || !tell)
		return false;
	tell(a, ret);
	(void)snprintf(ret->ns, sizeof(ret->ns), "%s", a->grant.ns);
	if (workload)
		return workload->kind.namespaced &&
		       is_about(ret, &workload->kind, workload->ref.name, workload->ref.uid);
	return a->grant.action != ACTION_RESTORE &&
	       is_about(ret, &pod, STR_C(a->grant.name), STR_C(a->grant.uid));
}
