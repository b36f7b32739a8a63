/* pull_events.c - why the image cannot be pulled, when the pod does not say: kubelets before 1.32 write only
 * "Back-off pulling image", and the cause stands in the pod's Events (R3). */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "rules/cause.h"
#include "worker/action_end.h"

#define TEXT_BYTES 160 /* of a text that is kept as evidence */

/* The container that fails for want of an image; NULL when none does. */
static const struct container_facts *failing(const struct action *a)
{
	const struct container_facts *c;
	uint32_t i;

	if (!judge_fails((enum duty)a->grant.duty, &a->pod, a->policy, action_now(a), &i))
		return NULL;
	c = &a->pod.containers[i];
	return cause_concerns(c) || action_policy(a)->causes.n > 0 ? c : NULL;
}

static void add_evidence(struct action *a, enum text source, struct str text)
{
	const struct container_facts *c = failing(a);
	struct facts *f = action_evidence(a);

	if (!c)
		return;
	facts_finding(f, TEXT_CAUSE_READ);
	facts_name(f, FACT_CONTAINER, c->name);
	facts_name(f, FACT_CONTAINER_REASON, c->reason);
	facts_code(f, FACT_CAUSE, cause_name(cause_of(c)));
	facts_text(f, FACT_CAUSE_SOURCE, source);
	facts_quoted_within(f, FACT_CAUSE_TEXT, text, TEXT_BYTES);
}

bool needs_events(const struct action *a)
{
	const struct container_facts *c = failing(a);

	return c && cause_of(c) == CAUSE_UNKNOWN;
}

void pull_events_add_known_cause(struct action *a)
{
	const struct container_facts *c = failing(a);

	if (c && cause_of(c) != CAUSE_UNKNOWN)
		add_evidence(a, str_empty(c->message) ? TEXT_CAUSE_BY_REASON : TEXT_CAUSE_BY_MESSAGE,
			     c->message);
}

/* When an Event was last seen, in whichever way its writer counts. */
static int64_t event_time(const json_t *event)
{
	const int64_t said[] = { READ_TIME(event, "series", "lastObservedTime"),
				 READ_TIME(event, "lastTimestamp"), READ_TIME(event, "eventTime") };
	int64_t last = read_created(event);

	for (size_t i = 0; i < ARRAY_SIZE(said); i++)
		last = said[i] > last ? said[i] : last;
	return last;
}

/* "spec.containers{app}" and "spec.initContainers{app}"; an Event of the pod as a whole is about each. */
static bool is_about(const json_t *event, struct str container)
{
	struct str path = READ_TEXT(event, "involvedObject", "fieldPath");
	const char *brace = memchr(path.p, '{', path.n);
	struct str name;

	if (!brace)
		return true;
	name = (struct str){ brace + 1, path.n - (size_t)(brace + 1 - path.p) };
	return name.n == container.n + 1 && memcmp(name.p, container.p, container.n) == 0;
}

/* Of each container the newest Event that tells a cause counts; rules/cause.h prefers the message. */
enum step_then item_event(struct action *a, const json_t *event)
{
	struct findings *f = &a->found;
	struct str reason = READ_TEXT(event, "reason"), message = READ_TEXT(event, "message");
	const enum pull_cause cause = cause_classify(message);
	const int64_t at = event_time(event);

	if (cause == CAUSE_UNKNOWN || !str_eq(READ_TEXT(event, "involvedObject", "uid"), a->pod.uid) ||
	    (!str_is(reason, "Failed") && !str_is(reason, "BackOff")))
		return STEP_NEXT;
	for (uint32_t i = 0; i < a->pod.n_containers; i++) {
		if (at < f->event_at[i] || !is_about(event, a->pod.containers[i].name))
			continue;
		f->event_at[i] = at;
		a->pod.containers[i].cause = cause;
		free(f->event_text);
		f->event_text = xstrndup(message.p, message.n);
	}
	return STEP_NEXT;
}

enum step_then take_events(struct action *a, const struct step_reply *reply)
{
	if (a->found.event_text)
		add_evidence(a, TEXT_CAUSE_BY_EVENT, STR_C(a->found.event_text));
	else
		facts_finding(action_evidence(a), reply->status == 403 ? TEXT_EVENTS_UNREAD : TEXT_NO_EVENT);
	return STEP_NEXT;
}
