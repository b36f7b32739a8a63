/* credential.c - is it this image that the registry hides, or does it refuse the credential as a whole?
 * Another image of the registry that pods of the namespace cannot pull with the same pull secrets says the
 * latter, unless the registry does not know that one; so does an image that was let in only just, after a
 * wait: the pod that is judged may not have tried again since. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "rules/cause.h"
#include "worker/action_end.h"

/* The kubelet's longest back-off between two tries; and twice that, after which each has tried again. */
#define TRIED_MS   300000
#define SETTLED_MS 600000

/* The container that is refused; NULL when none is. */
static const struct container_facts *refused(const struct action *a)
{
	uint32_t i;

	if (!judge_fails((enum duty)a->grant.duty, &a->pod, a->policy, action_now(a), &i) ||
	    cause_of(&a->pod.containers[i]) != CAUSE_AUTH)
		return NULL;
	return &a->pod.containers[i];
}

bool needs_credential(const struct action *a)
{
	return refused(a) && cause_may_act(action_policy(a), CAUSE_AUTH, 0, 0);
}

/* Names of the pull secrets, in their order; empty: the credential is the node's. */
static char *secrets_of(const json_t *pod)
{
	const json_t *list = READ_AT(pod, "spec", "imagePullSecrets");
	char *all = xstrdup("");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const struct str name = READ_TEXT(json_array_get(list, i), "name");
		_cleanup_free_ char *more = xasprintf("%.*s,", STR_ARG(name));

		xappend(&all, "", more);
	}
	return all;
}

/* Is this container refused? It may be where nothing tells: a kubelet that leaves the cause to the Events, or
 * whose last try came to nothing before the registry saw the credential ("pull QPS exceeded", a timeout). */
static bool may_be_refused(const json_t *status)
{
	const struct container_facts c = { .state = CONTAINER_WAITING,
					   .reason = READ_TEXT(status, "state", "waiting", "reason"),
					   .message = READ_TEXT(status, "state", "waiting", "message") };
	const enum pull_cause cause = cause_of(&c);

	return cause_concerns(&c) && (cause == CAUSE_AUTH || cause == CAUSE_UNKNOWN || cause_may_heal(cause));
}

/* Was it let in less than SETTLED_MS ago, after it had waited for longer than one try? */
static bool is_let_in(const struct action *a, const json_t *status, int64_t created)
{
	const int64_t at = READ_TIME(status, "state", "running", "startedAt");

	return at > time_add(action_now(a), -SETTLED_MS) && at > time_add(created, TRIED_MS);
}

/* "secrets repository" of each image that counts. */
static void note_image(struct action *a, const json_t *pod, struct str image)
{
	_cleanup_free_ char *secrets = secrets_of(pod);
	const struct str repository = image_repository(image);
	_cleanup_free_ char *key = xasprintf("%s %.*s", secrets, STR_ARG(repository));

	if (!str_list_has(&a->found.refused, STR_C(key)))
		str_list_add(&a->found.refused, key, strlen(key));
}

enum step_then item_credential(struct action *a, const json_t *item)
{
	static const char *const lists[] = { "containerStatuses", "initContainerStatuses" };
	const struct container_facts *ours = refused(a);
	const struct str host = image_host(ours->image);

	if (str_eq(READ_TEXT(item, "metadata", "uid"), a->pod.uid)) {
		free(a->found.secrets);
		a->found.secrets = secrets_of(item);
	}
	for (size_t k = 0; k < ARRAY_SIZE(lists); k++) {
		const json_t *list = READ_AT(item, "status", lists[k]);

		for (size_t i = 0; i < json_array_size(list); i++) {
			const json_t *status = json_array_get(list, i);
			const struct str image = READ_TEXT(status, "image");

			if (str_eq(image_host(image), host) &&
			    (may_be_refused(status) || is_let_in(a, status, read_created(item))))
				note_image(a, item, image);
		}
	}
	return STEP_NEXT;
}

enum step_then take_credential(struct action *a, const struct step_reply *reply)
{
	const struct str repository = image_repository(refused(a)->image);
	const size_t n = a->found.secrets ? strlen(a->found.secrets) : 0;

	if (!reply->json || !a->found.secrets)
		return STEP_NEXT;
	a->found.context.others_refused = TRI_NO;
	for (size_t i = 0; i < a->found.refused.n; i++) {
		const char *key = a->found.refused.v[i];

		if (strncmp(key, a->found.secrets, n) != 0 || key[n] != ' ' ||
		    str_is(repository, key + n + 1))
			continue;
		a->found.context.others_refused = TRI_YES;
		(void)snprintf(a->found.other_image, sizeof(a->found.other_image), "%s", key + n + 1);
		break;
	}
	return STEP_NEXT;
}
