/* mark.c - what this program leaves on a workload that it has scaled to 0 or suspended, for whoever finds it
 * so: annotations that say who did it, when, why, from how many replicas, and how to undo it; a restore takes
 * them away. Where the field of the replicas is known they are written in the same patch (scale.c). Else, and
 * when the end of such a write is looked for, right after it, bound to the version that it made, or to one
 * that was read since. The act is done whatever becomes of its mark: that is told in the evidence. */
// SPDX-License-Identifier: Apache-2.0
#include "text/facts_text.h"
#include "text/short_line.h"
#include "worker/steps/step.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "kube/write_body.h"
#include "worker/action_end.h"
#include "worker/managed_fields.h"

/* Its controller writes its status in the same moment: such a conflict means nothing. */
#define MARK_TRIES 5

/* -- what it says -- */

/* Is it our zero as far as anybody knows, but without an answer that says so? */
static bool is_unconfirmed(const struct action *a)
{
	return a->result.u.result.outcome == OUTCOME_UNCONFIRMED;
}

static char *say_why(const struct action *a)
{
	const bool judged = a->verdict.kind == VERDICT_ACT;
	const enum text row = is_unconfirmed(a) ? TEXT_MARK_WHY_LIKELY : TEXT_MARK_WHY;
	struct facts f = { 0 };

	facts_name(&f, FACT_DUTY, STR_C(duty_name((enum duty)a->grant.duty)));
	facts_name(&f, FACT_REASON, STR_C(a->grant.reason));
	_cleanup_free_ char *what = facts_fill(text_in(row, LANGUAGE_EN), &f, NULL);
	const struct facts *evidence = judged ? &a->verdict.evidence : &a->grant.evidence;
	_cleanup_free_ char *at_a_glance = short_line(evidence, NULL, LANGUAGE_EN);
	_cleanup_free_ char *all = facts_render(evidence, NULL);

	return xconcat(what, ": ", *at_a_glance ? at_a_glance : all, NULL);
}

char *mark_undo(const struct action *a, const struct owner_link *o)
{
	_cleanup_free_ char *resource = kind_resource(&o->kind);

	if (a->found.way == SCALE_SUSPENDS)
		return xasprintf(
			"kubectl -n %s patch %s %.*s --type=merge -p '{\"spec\":{\"suspend\":false}}'",
			a->grant.ns, resource, STR_ARG(o->ref.name));
	if (a->result.u.result.replicas > 0)
		return xasprintf("ops-pod-cleaner restore %llu", (unsigned long long)a->grant.id);
	return xasprintf("kubectl -n %s scale %s %.*s --replicas=...", a->grant.ns, resource,
			 STR_ARG(o->ref.name));
}

/* A Job is not restored: its mark needs no hash. */
static char *say_template(const struct action *a, const struct owner_link *o)
{
	char now[TEMPLATE_HASH_MAX];

	if (a->found.way == SCALE_SUSPENDS)
		return NULL;
	if (a->found.template[0])
		return xstrdup(a->found.template);
	template_hash(o->json, now);
	return now[0] ? xstrdup(now) : NULL;
}

/* What that part of the mark of o says; NULL: nothing. Owned by the caller. */
static char *say(enum mark_part part, const struct action *a, const struct owner_link *o)
{
	const int64_t before = a->result.u.result.replicas;
	char at[RFC3339_MAX];

	switch (part) {
	case MARK_BY:
		return xstrdup(MANAGED_US);
	case MARK_ACTION:
		return xasprintf("%" PRIu64, a->grant.id);
	case MARK_HISTORY: /* another one gives the same numbers to other actions */
		return a->grant.history[0] ? xstrdup(a->grant.history) : NULL;
	case MARK_AT:
		rfc3339_format(action_now(a), false, at);
		return xstrdup(at);
	case MARK_WHY:
		return say_why(a);
	case MARK_FROM:
		return before > 0 ? xasprintf("%" PRId64, before) : NULL;
	case MARK_UNDO:
		return mark_undo(a, o);
	default:
		return say_template(a, o);
	}
}

void mark_list(const struct action *a, const struct owner_link *o,
	       struct write_annotation ret[static MARK_LIST])
{
	const bool removes = a->grant.action == ACTION_RESTORE;

	for (enum mark_part i = 0; i < MARK__MAX; i++)
		ret[i] = (struct write_annotation){ annotations_mark_key(i), removes ? NULL : say(i, a, o) };
	ret[MARK__MAX] = (struct write_annotation){ ANNOTATION_RESTORE, NULL };
}

void mark_list_done(struct write_annotation list[static MARK_LIST])
{
	for (size_t i = 0; i < MARK_LIST; i++)
		free(list[i].value);
}

/* -- what is on the object -- */

struct str mark_read(const json_t *o, enum mark_part part)
{
	return READ_TEXT(o, "metadata", "annotations", annotations_mark_key(part));
}

static bool is_marked(const json_t *o)
{
	for (enum mark_part i = 0; i < MARK__MAX; i++)
		if (!str_empty(mark_read(o, i)))
			return true;
	return false;
}

bool mark_is_of_history(const struct action *a, const json_t *o)
{
	return str_is(mark_read(o, MARK_HISTORY), a->grant.history);
}

/* By the action that is carried out. */
static bool is_marked_by(const struct action *a, const json_t *o)
{
	struct str id = mark_read(o, MARK_ACTION);
	uint64_t n;

	return str_to_u64(id.p, id.n, &n) == 0 && n == a->grant.id && mark_is_of_history(a, o);
}

/* Nobody else has set the replicas since. */
static bool is_our_zero(const json_t *o)
{
	struct managed_fields_writer w;

	return json_integer_value(READ_AT(o, "spec", "replicas")) == 0 &&
	       (!managed_fields_replicas(o, &w) || managed_fields_is_us(&w));
}

/* -- the steps -- */

enum step_then mark_begin(struct action *a, struct str rv)
{
	struct findings *f = &a->found;

	if (!f->template[0] && a->grant.action != ACTION_RESTORE)
		template_hash(action_top(a)->json, f->template);
	f->mark_due = !a->grant.observe && !a->by_scale &&
		      (a->grant.action != ACTION_RESTORE || is_marked(action_top(a)->json));
	(void)snprintf(f->mark_rv, sizeof(f->mark_rv), "%.*s", STR_ARG(rv));
	return f->mark_due ? STEP_NEXT : STEP_END;
}

enum step_then mark_look(struct action *a)
{
	a->in_doubt = false;
	a->found.mark_due = is_unconfirmed(a);
	return a->found.mark_due ? STEP_DOUBT : STEP_END;
}

bool needs_mark(const struct action *a)
{
	return a->found.mark_due;
}

bool needs_marked(const struct action *a)
{
	return a->found.mark_due && !a->found.mark_rv[0];
}

void mark_written(struct action *a, const json_t *o)
{
	const bool restores = a->grant.action == ACTION_RESTORE;

	if (restores ? is_marked(o) : !is_marked_by(a, o))
		facts_finding(action_evidence(a), TEXT_MARK_LEFT_OUT);
	else if (!restores || is_marked(action_top(a)->json))
		facts_finding(action_evidence(a), restores ? TEXT_MARK_TAKEN : TEXT_MARKED);
}

static void note_refusal(struct action *a, const struct step_reply *reply)
{
	struct refusal s;

	read_refusal(reply->body, reply->body_len, &s);
	facts_finding(action_evidence(a), reply->status ? TEXT_MARK_REFUSED : TEXT_MARK_UNANSWERED);
	facts_count(action_evidence(a), FACT_MARK_STATUS, reply->status ? reply->status : -1);
	facts_quoted(action_evidence(a), FACT_MARK_MESSAGE, STR_C(s.message));
	if (s.by_rights && a->env.unmarked)
		a->env.unmarked(a->env.ctx, s.message);
}

static enum step_then not_marked(struct action *a, const struct step_reply *reply)
{
	note_refusal(a, reply);
	return STEP_END;
}

void mark_refused(struct action *a, const struct step_reply *reply)
{
	if (!a->grant.observe && !a->bare)
		note_refusal(a, reply);
}

bool mark_proves(const struct action *a, const json_t *o)
{
	return a->grant.action == ACTION_SCALE_DOWN && action_may_be_ours(a) && is_marked_by(a, o);
}

enum step_then mark_confirm(struct action *a)
{
	struct msg_result *r = &a->result.u.result;
	const struct str from = mark_read(action_top(a)->json, MARK_FROM);
	uint64_t before;

	object_set_target(a, action_top(a));
	if (str_to_u64(from.p, from.n, &before) == 0 && before <= INT32_MAX)
		r->replicas = (int64_t)before;
	struct facts why = facts_of(TEXT_MARK_SAYS);

	facts_add(&why, &a->grant.evidence);
	return action_end(a, OUTCOME_DONE, reason_parse(a->grant.reason), &why);
}

static enum step_then not_ours_any_more(struct action *a)
{
	facts_finding(action_evidence(a), TEXT_MARK_SOMEBODY);
	return STEP_END;
}

enum step_then take_marked(struct action *a, const struct step_reply *reply)
{
	struct owner_link *o = action_top(a);
	struct str rv = READ_TEXT(reply->json, "metadata", "resourceVersion");

	if (!reply->json || str_empty(rv))
		return not_marked(a, reply);
	if (!str_eq(READ_TEXT(reply->json, "metadata", "uid"), o->ref.uid))
		return STEP_END;
	json_decref(o->json);
	o->json = json_incref(reply->json);
	if (a->grant.action == ACTION_RESTORE && !is_marked(o->json))
		return STEP_END;
	if (a->grant.action != ACTION_RESTORE && is_marked_by(a, o->json))
		return is_unconfirmed(a) ? mark_confirm(a) : STEP_END;
	if (a->grant.action != ACTION_RESTORE && !is_our_zero(o->json))
		return not_ours_any_more(a);
	a->found.mark_asks = !o->kind.builtin;
	(void)snprintf(a->found.mark_rv, sizeof(a->found.mark_rv), "%.*s", STR_ARG(rv));
	return STEP_NEXT;
}

bool needs_still(const struct action *a)
{
	return a->found.mark_due && a->found.mark_asks;
}

/* Should it have changed since the object was read, the mark is bound to what was read and meets a conflict.
 */
enum step_then take_still(struct action *a, const struct step_reply *reply)
{
	struct scale_facts scale;

	a->found.mark_asks = false;
	if (!read_scale(reply->json, &scale))
		return not_marked(a, reply);
	return scale.replicas == 0 ? STEP_NEXT : not_ours_any_more(a);
}

void ask_mark(struct action *a, struct step_request *ret)
{
	const struct owner_link *o = action_top(a);
	_cleanup_free_ char *uid = xstrndup(o->ref.uid.p, o->ref.uid.n);
	struct write_annotation mark[MARK_LIST];

	mark_list(a, o, mark);
	object_patch(a, o, NULL, ret);
	ret->body = write_body_annotations(uid, a->found.mark_rv, mark, MARK_LIST);
	mark_list_done(mark);
}

enum step_then take_mark(struct action *a, const struct step_reply *reply)
{
	if (reply->status == 409 && ++a->found.mark_tries < MARK_TRIES) {
		a->found.mark_rv[0] = '\0';
		return STEP_MORE;
	}
	if (!reply->json)
		return not_marked(a, reply);
	facts_finding(action_evidence(a), a->grant.action == ACTION_RESTORE ? TEXT_MARK_TAKEN : TEXT_MARKED);
	return STEP_END;
}
