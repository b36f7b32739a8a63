/* action_end.c - see action_end.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/action_end.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "model/object_events.h"
#include "rules/cause.h"
#include "rules/select.h"
#include "text/facts_text.h"
#include "text/texts.h"
#include "worker/read.h"

#define RETRY_MAX_MS   3600000
#define CLOCK_RETRY_MS 5000 /* the watcher nominates again when a clock was set, and no later than this */

/* A dry run wrote nothing, whatever it did. */
static enum outcome as_dry_run(const struct action *a, enum outcome outcome)
{
	const bool writes = outcome == OUTCOME_ANNOUNCED || OUTCOMES_WRITTEN >> outcome & 1;

	return a->grant.observe && writes ? OUTCOME_WOULD : outcome;
}

#define CONTACT_BYTES 128

void action_note_contact(struct action *a)
{
	const char *keys = a->env.contact_keys ? *a->env.contact_keys : NULL;
	struct str contact = { "", 0 };
	struct fact_value known;

	if (facts_find(action_evidence(a), FACT_CONTACT, &known))
		return;
	for (size_t i = a->found.n_owners; i-- > 0 && str_empty(contact);)
		contact = read_contact(a->found.owners[i].json, keys);
	if (str_empty(contact))
		contact = read_contact(a->found.pod_json, keys);
	if (str_empty(contact))
		contact = read_contact(a->found.namespace_json, keys);
	facts_quoted_within(action_evidence(a), FACT_CONTACT, contact, CONTACT_BYTES);
}

/* Of two the first is suspended: so much was done, whatever becomes of the other. */
static enum step_then end_half_done(struct action *a, enum reason reason, const struct facts *detail)
{
	struct msg_result *r = &a->result.u.result;
	struct facts why = { 0 };

	memcpy(r->target, a->written->target, sizeof(r->target));
	memcpy(r->target_uid, a->written->target_uid, sizeof(r->target_uid));
	memcpy(r->target_rv, a->written->target_rv, sizeof(r->target_rv));
	memcpy(r->request, a->written->request, sizeof(r->request));

	facts_name(&why, FACT_REASON, STR_C(reason_code(reason)));
	facts_add(&why, detail);
	return action_end(a, OUTCOME_DONE, REASON_SUSPENDED, &why);
}

enum step_then action_end(struct action *a, enum outcome outcome, enum reason reason,
			  const struct facts *detail)
{
	struct msg *m = &a->result;

	if (a->written && !(OUTCOMES_WRITTEN >> outcome & 1))
		return end_half_done(a, reason, detail);
	if (a->in_doubt &&
	    outcome == OUTCOME_REFUSED) /* nothing is to be done any more that could be refused */
		return STEP_END;
	m->u.result.outcome = as_dry_run(a, outcome);
	msg_text(m, result.reason, reason_code(reason));
	facts_set(&m->u.result.detail, detail);
	if (reason_desc(reason)->attention == ATTENTION_OBJECT)
		action_note_contact(a);
	return STEP_END;
}

struct facts action_at(const struct action *a, enum text statement)
{
	struct facts f = facts_of(statement);

	facts_text(&f, FACT_STEP, step_desc(a->step)->at);
	return f;
}

enum step_then action_end_text(struct action *a, enum outcome outcome, enum reason reason,
			       enum text statement)
{
	const struct facts detail = facts_of(statement);

	return action_end(a, outcome, reason, &detail);
}

enum step_then action_end_at(struct action *a, enum outcome outcome, enum reason reason, enum text statement)
{
	const struct facts detail = action_at(a, statement);

	return action_end(a, outcome, reason, &detail);
}

enum step_then action_end_as_judged(struct action *a, enum outcome outcome)
{
	return action_end(a, outcome, a->verdict.reason, &a->verdict.evidence);
}

struct facts *action_evidence(struct action *a)
{
	return a->in_doubt ? &a->unkept : &a->result.u.result.evidence;
}

void action_name(struct facts *f, enum fact key, struct str kind, struct str name)
{
	_cleanup_free_ char *whole = xasprintf("%.*s/%.*s", STR_ARG(kind), STR_ARG(name));

	facts_name(f, key, STR_C(whole));
}

bool action_may_be_ours(const struct action *a)
{
	return (a->grant.verify_first || a->in_doubt) && !a->grant.observe;
}

enum step_then action_gone(struct action *a, enum reason reason, const struct facts *detail)
{
	struct facts why = { 0 };

	if (!action_may_be_ours(a))
		return action_end(a, OUTCOME_GONE, reason, detail ? detail : &why);
	facts_name(&why, FACT_REASON, STR_C(reason_code(reason)));
	if (detail)
		facts_add(&why, detail);
	return action_end(a, OUTCOME_UNCONFIRMED, REASON_PROBABLY_DONE, &why);
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
		return action_gone(a, v->reason, &v->evidence);
	return action_end(a, OUTCOME_REFUSED, v->reason, &v->evidence);
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
	free(f->secrets);
	str_list_done(&f->refused);
	free(f->holds_up);
	free(f->hpa);
	free(f->selector);
	for (size_t i = 0; i < f->n_peers; i++)
		json_decref(f->peers[i].ref);
	*f = (struct findings){ 0 };
	a->write = STEP_NONE;
	a->result.u.result.evidence = a->written ? a->written->evidence : (struct facts){ 0 };
}

enum step_then action_again(struct action *a, enum outcome outcome, enum reason reason,
			    const struct facts *detail)
{
	static const struct backoff_policy pauses = { .base_ms = 100, .cap_ms = 1600, .jitter = 0.2 };
	const bool restores = a->grant.action == ACTION_RESTORE;

	if (++a->round >= (restores ? ACTION_RESTORE_ROUNDS : ACTION_ROUNDS))
		return action_end(a, outcome, reason, detail);
	action_forget(a);
	if (!restores)
		return STEP_FIRST;
	a->env.wait(a->env.ctx, backoff_delay_ms(&pauses, a->round, backoff_random()));
	return STEP_SENT;
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

	if (ahead != 0) { /* nobody knows how long anything has lasted; that is no fault of the pod */
		action_set_retry(a, CLOCK_RETRY_MS);
		struct facts why = facts_of(ahead > 0 ? TEXT_CLOCK_AHEAD : TEXT_HOST_AHEAD);

		facts_duration(&why, FACT_CLOCK_AHEAD, ahead > 0 ? ahead : -ahead);
		(void)action_end(a, OUTCOME_REFUSED, REASON_CLOCK_UNCERTAIN, &why);
		return false;
	}
	a->found.context.stage = stage;
	judge_duty((enum duty)a->grant.duty, &a->pod, a->policy, &a->found.context, action_now(a),
		   &a->verdict);
	if (a->found.holds_up)
		facts_add(&a->verdict.evidence, a->found.holds_up);
	if (a->found.other_image[0]) {
		facts_finding(&a->verdict.evidence, TEXT_REFUSED_ALIKE);
		facts_name(&a->verdict.evidence, FACT_OTHER_IMAGE, STR_C(a->found.other_image));
	}
	if (a->verdict.kind != VERDICT_ACT)
		(void)action_refuse(a, &a->verdict);
	return a->verdict.kind == VERDICT_ACT;
}

void action_heed_floors(struct action *a)
{
	enum text why;
	const int64_t since = floors_since(&a->found.floors, (enum duty)a->grant.duty, a->grant.since, &why);

	if (since == a->found.context.failing_since)
		return;
	a->found.context.failing_since = since;
	if (why == TEXT__MAX)
		return;
	facts_finding(action_evidence(a), TEXT_FAILS_SINCE);
	facts_time(action_evidence(a), FACT_FAILING_SINCE, since);
	facts_text(action_evidence(a), FACT_FLOOR, why);
}

/* -- words of others that are kept with it -- */

/* A message of the status. A longer one than the facts surely hold is quoted as well. */
#define MESSAGE_MAX 2048u
#define FACT_HOLDS  400u

static void post_quote(struct action *a, uint64_t *number, enum quote_kind kind,
		       const struct container_facts *c, struct str container, struct str text)
{
	struct msg m = { .type = MSG_QUOTE };
	const size_t n = kind == QUOTE_MESSAGE ? unicode_cut(text.p, text.n, MESSAGE_MAX) : text.n;
	_cleanup_free_ char *whole = xasprintf("%.*s%s", (int)n, text.p, n < text.n ? "…" : "");

	if (n == 0 || *number >= QUOTES_MAX)
		return;
	m.u.quote.id = a->grant.id;
	m.u.quote.number = (*number)++;
	m.u.quote.quote = kind;
	msg_text(&m, quote.pod, a->grant.name);
	msg_set(&m, quote.container, container.p, container.n);
	if (c)
		msg_set(&m, quote.image, c->image.p, c->image.n);
	msg_text(&m, quote.text, whole);
	a->env.quote(a->env.ctx, &m);
}

static bool waits_for_image(const struct container_facts *c)
{
	return c->kind != CONTAINER_EPHEMERAL && cause_concerns(c) && !str_empty(c->message);
}

static void post_messages(struct action *a, uint64_t *number)
{
	unsigned waiting = 0;

	for (uint32_t i = 0; i < a->pod.n_containers; i++)
		waiting += waits_for_image(&a->pod.containers[i]);
	for (uint32_t i = 0; i < a->pod.n_containers; i++) {
		const struct container_facts *c = &a->pod.containers[i];

		if (waits_for_image(c) && (waiting > 1 || c->message.n > FACT_HOLDS))
			post_quote(a, number, QUOTE_MESSAGE, c, c->name, c->message);
	}
}

void action_post_quotes(struct action *a)
{
	const uint64_t acts = OUTCOMES_SPENT | UINT64_C(1) << OUTCOME_ANNOUNCED;
	uint64_t number = 0;

	if (a->dry_run || !(acts >> a->result.u.result.outcome & 1))
		return;
	if (a->log)
		post_quote(a, &number, QUOTE_LOG, NULL, STR_C(a->log_container), STR_C(a->log));
	if (duty_workload((enum duty)a->grant.duty) >= 0)
		post_messages(a, &number);
	else if (a->pod.message.n > FACT_HOLDS)
		post_quote(a, &number, QUOTE_MESSAGE, NULL, STR_LIT(""), a->pod.message);
}

/* -- what it says on the object, in an Event: in English -- */

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
	if (a->grant.action != ACTION_SCALE_DOWN || a->found.way == SCALE_DELETES)
		return xstrdup("");
	_cleanup_free_ char *command = mark_undo(a, about_workload(a));
	_cleanup_free_ char *undo = xasprintf(SAY(NEWS_UNDO), command);

	return xconcat("; ", undo, NULL);
}

static void tell_done(const struct action *a, struct object_event *ret)
{
	const struct msg_result *r = &a->result.u.result;
	const struct object_event_desc *desc =
		object_event_of((enum action_kind)a->grant.action, a->found.way);
	const bool restores = a->grant.action == ACTION_RESTORE;
	_cleanup_free_ char *act =
		object_event_say_done((enum action_kind)a->grant.action, a->found.way,
				      restores ? a->grant.want_replicas : r->replicas, LANGUAGE_EN);
	_cleanup_free_ char *undo = say_undo(a);
	_cleanup_free_ char *detail = facts_render(&r->detail, NULL);
	_cleanup_free_ char *text =
		xasprintf(SAY(NEWS_DONE), act, reason_find(r->reason)->text[LANGUAGE_EN].sentence, detail);

	(void)snprintf(ret->reason, sizeof(ret->reason), "%s", desc->done);
	(void)snprintf(ret->message, sizeof(ret->message), "%s%s", text, undo);
	ret->warning = desc->warning;
}

/* What an owner may write who does not want it. Owned by the caller. */
static char *refusing_command(const struct action *a)
{
	const struct owner_link *o = about_workload(a);
	const struct str name = o ? o->ref.name : a->pod.name;
	_cleanup_free_ char *resource = o ? kind_resource(&o->kind) : xstrdup("pods");

	return xasprintf("kubectl -n %s annotate %s %.*s %s=%s", a->grant.ns, resource, STR_ARG(name),
			 ANNOTATION_SKIP, duty_name((enum duty)a->grant.duty));
}

static void tell_announced(const struct action *a, struct object_event *ret)
{
	const struct object_event_desc *desc =
		object_event_of((enum action_kind)a->grant.action, a->found.way);
	_cleanup_free_ char *command = refusing_command(a);
	_cleanup_free_ char *evidence = facts_render(&a->verdict.evidence, NULL);
	char end[RFC3339_MAX];

	rfc3339_format(action_now(a) + action_policy(a)->announce_ms, false, end);
	(void)snprintf(ret->reason, sizeof(ret->reason), "%s", desc->will);
	(void)snprintf(ret->message, sizeof(ret->message), SAY(NEWS_WILL),
		       phrase_text(desc->will_phrase, LANGUAGE_EN), end,
		       reason_find(a->grant.reason)->text[LANGUAGE_EN].sentence, command, evidence);
	ret->warning = desc->warning;
}

static void tell_refused(const struct action *a, struct object_event *ret)
{
	const struct msg_result *r = &a->result.u.result;
	const struct reason_desc *reason = reason_find(r->reason);
	_cleanup_free_ char *detail = facts_render(&r->detail, NULL);

	(void)snprintf(ret->reason, sizeof(ret->reason), "%s", r->reason);
	(void)snprintf(ret->message, sizeof(ret->message), SAY(NEWS_REFUSED),
		       reason->text[LANGUAGE_EN].sentence, detail, reason->text[LANGUAGE_EN].remedy);
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
