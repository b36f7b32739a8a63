/* eviction.c - before a pod is deleted by force: is somebody at work on its eviction? An Eviction (group
 * lifecycle.k8s.io, KEP-4563, alpha in 1.37) hands a pod from responder to responder, each of which may move
 * data or release what the pod holds; they end in their own time. What may not be read is a refusal, but
 * where the server has no such kind: that costs one request, remembered for a while. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "worker/action_end.h"

#define GROUP    "lifecycle.k8s.io"
#define ANY      STR_LIT(GROUP "/v1") /* under which it is remembered that there is none, of whatever version */
#define EVICTION STR_LIT("Eviction")

/* Added to every Eviction of a pod. It asks for the pod's deletion, and makes no attempt at one that is
 * terminating: so it stays Active for as long as the pod is stuck. */
#define LAST_RESPONDER "imperative-eviction.k8s.io/evictor"

static enum step_then refuse_unread(struct action *a)
{
	return action_end_text(a, OUTCOME_REFUSED, REASON_EVICTIONS_UNKNOWN, TEXT_EVICTIONS_UNREAD);
}

static enum step_then note_absent(struct action *a)
{
	a->found.evictions[0] = '\0';
	owner_kinds_learn(a->env.kinds, ANY, EVICTION, NULL, 0, clock_boot_ms());
	return STEP_NEXT;
}

bool needs_eviction_group(const struct action *a)
{
	struct kind_info k;

	return owner_kinds_find(a->env.kinds, ANY, EVICTION, clock_boot_ms(), &k) != OWNER_KINDS_ABSENT;
}

void ask_eviction_group(struct action *a, struct step_request *ret)
{
	(void)a;
	ret->path = xstrdup("/apis/" GROUP);
}

enum step_then take_eviction_group(struct action *a, const struct step_reply *reply)
{
	struct str version = READ_TEXT(reply->json, "preferredVersion", "version");

	if (reply->status == 404)
		return note_absent(a);
	if (str_empty(version) || version.n >= sizeof(a->found.evictions))
		return refuse_unread(a);
	(void)snprintf(a->found.evictions, sizeof(a->found.evictions), "%.*s", STR_ARG(version));
	return STEP_NEXT;
}

bool needs_evictions(const struct action *a)
{
	return a->found.evictions[0];
}

/* Has it come to its end? Both conditions are final when they are True. */
static bool is_over(const json_t *eviction)
{
	return str_is(READ_TEXT(read_condition(eviction, "Failed"), "status"), "True") ||
	       str_is(READ_TEXT(read_condition(eviction, "TargetEvicted"), "status"), "True");
}

/* Of the granted pod; one that names no uid may be. */
static bool is_of_pod(const struct action *a, const json_t *eviction)
{
	struct str uid = READ_TEXT(eviction, "spec", "target", "pod", "uid");

	return str_empty(uid) ? str_is(READ_TEXT(eviction, "spec", "target", "pod", "name"), a->grant.name)
			      : str_is(uid, a->grant.uid);
}

/* Is this responder at work, or will it be? */
static bool is_to_come(const json_t *responder)
{
	struct str state = READ_TEXT(responder, "state");

	return !str_is(state, "Completed") && !str_is(state, "Interrupted") && !str_is(state, "Canceled") &&
	       !str_is(READ_TEXT(responder, "name"), LAST_RESPONDER);
}

static struct facts about(enum text statement, struct str eviction)
{
	struct facts f = facts_of(statement);

	facts_name(&f, FACT_EVICTION, eviction);
	return f;
}

/* responder NULL: its controller has not chosen any yet. */
static enum step_then refuse_at_work(struct action *a, struct str eviction, const json_t *responder)
{
	struct facts why = about(responder ? TEXT_EVICTION_AT_WORK : TEXT_EVICTION_BEGINS, eviction);

	if (responder) {
		facts_name(&why, FACT_RESPONDER, READ_TEXT(responder, "name"));
		facts_name(&why, FACT_RESPONDER_STATE, READ_TEXT(responder, "state"));
	}
	return action_end(a, OUTCOME_REFUSED, REASON_EVICTION_AT_WORK, &why);
}

enum step_then item_eviction(struct action *a, const json_t *item)
{
	const json_t *responders = READ_AT(item, "status", "targetResponders"), *r;
	struct str name = READ_TEXT(item, "metadata", "name");
	size_t i;

	if (!is_of_pod(a, item) || is_over(item))
		return STEP_NEXT;
	json_array_foreach (responders, i, r)
		if (is_to_come(r))
			return refuse_at_work(a, name, r);
	if (json_array_size(responders) == 0)
		return refuse_at_work(a, name, NULL);
	const struct facts idle = about(TEXT_EVICTION_IDLE, name);

	facts_add(action_evidence(a), &idle);
	return STEP_NEXT;
}

enum step_then take_evictions(struct action *a, const struct step_reply *reply)
{
	if (reply->status == 404) /* the group is there, without the kind */
		return note_absent(a);
	return reply->json ? STEP_NEXT : refuse_unread(a);
}
