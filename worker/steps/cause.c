/* cause.c - why the image cannot be pulled, when the pod does not say: kubelets before 1.32 write only
 * "Back-off pulling image", and the cause stands in the pod's Events (R3). */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "kube/path.h"
#include "rules/cause.h"
#include "worker/steps/step.h"

static struct container_facts *failing(struct action *e)
{
	uint32_t i;

	return judge_fails(DUTY_IMAGE_PULL, &e->pod, e->policy, &i) ? &e->pod.containers[i] : NULL;
}

static void prove(struct action *e, const char *source, struct str text)
{
	const struct container_facts *c = failing(e);

	if (c)
		step_prove(e, "container %.*s: %.*s, cause %s by its %s: %.*s", STR_ARG(c->name),
			   STR_ARG(c->reason), cause_name(cause_of(c)), source,
			   text.n > 160 ? 160 : (int)text.n, text.p);
}

enum step step_cause(struct action *e)
{
	const struct container_facts *c = failing(e);

	if (c && cause_of(c) == CAUSE_UNKNOWN)
		return STEP_EVENTS;
	if (c)
		prove(e, str_empty(c->message) ? "reason" : "message", c->message);
	return step_owner(e, &e->pod.owner);
}

void ask_events(struct action *e, struct ask *ret)
{
	_cleanup_free_ char *selector = xasprintf("involvedObject.uid=%.*s", STR_ARG(e->pod.uid));
	_cleanup_free_ char *escaped = path_escape(selector);
	_cleanup_free_ char *page = path_escape(e->page ? e->page : "");
	_cleanup_free_ char *query =
		xasprintf(PAGE "&fieldSelector=%s%s%s", escaped, *page ? "&continue=" : "", page);

	ret->path = path_format("", "v1", e->grant.ns, "events", NULL, NULL, query);
}

/* When an Event was last seen, in whichever way its writer counts. */
static int64_t event_time(const json_t *event)
{
	const struct str said[] = { READ_TEXT(event, "series", "lastObservedTime"),
				    READ_TEXT(event, "lastTimestamp"), READ_TEXT(event, "eventTime") };
	int64_t at, last = read_created(event);

	for (size_t i = 0; i < ARRAY_SIZE(said); i++)
		if (rfc3339_parse(said[i].p, said[i].n, &at) == 0 && at > last)
			last = at;
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
static void take_event(struct action *e, const json_t *event)
{
	struct str reason = READ_TEXT(event, "reason"), message = READ_TEXT(event, "message");
	const enum pull_cause cause = cause_classify(message);
	const int64_t at = event_time(event);

	if (cause == CAUSE_UNKNOWN || !str_eq(READ_TEXT(event, "involvedObject", "uid"), e->pod.uid) ||
	    (!str_is(reason, "Failed") && !str_is(reason, "BackOff")))
		return;
	for (uint32_t i = 0; i < e->pod.n_containers; i++) {
		if (at < e->event_at[i] || !is_about(event, e->pod.containers[i].name))
			continue;
		e->event_at[i] = at;
		e->pod.containers[i].cause = cause;
		free(e->event_text);
		e->event_text = xstrndup(message.p, message.n);
	}
}

enum step take_events(struct action *e, const struct answer *a)
{
	const json_t *items = json_object_get(a->json, "items"), *item;
	size_t i;

	json_array_foreach (items, i, item)
		take_event(e, item);
	if (a->json && step_next_page(e, a->json))
		return STEP_EVENTS;
	if (e->event_text)
		prove(e, "Event", (struct str){ e->event_text, strlen(e->event_text) });
	else
		step_prove(e, a->status == 403 ? "Events may not be read"
					       : "no Event tells why it cannot be pulled");
	return step_owner(e, &e->pod.owner);
}
