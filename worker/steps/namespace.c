/* namespace.c - the namespace: whether its owner has marked it to be left alone, and its labels where the
 * configuration asks for labels of namespaces. What could not be read stays unknown, and nothing is done. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "kube/path.h"
#include "worker/action_end.h"

bool needs_namespace(const struct action *a)
{
	return a->grant.action != ACTION_RESTORE || !a->grant.by_operator ||
	       policy_needs_namespaces(a->policy);
}

/* False when they are not what labels are. */
static bool keep_labels(struct findings *f, const json_t *ns)
{
	json_t *labels = json_object_get(json_object_get(ns, "metadata"), "labels"), *value;
	const char *key;
	size_t n = 0;

	if (labels && !json_is_object(labels))
		return false;
	free(f->labels);
	f->labels = xcalloc(json_object_size(labels) + 1, sizeof(*f->labels));
	json_object_foreach (labels, key, value) {
		if (!json_is_string(value))
			return false;
		f->labels[n].key = STR_C(key);
		f->labels[n++].value = (struct str){ json_string_value(value), json_string_length(value) };
	}
	f->namespace_labels = (struct namespace_labels){ f->labels, n };
	return true;
}

static void add_evidence(struct action *a, enum text statement)
{
	facts_finding(action_evidence(a), statement);
	facts_name(action_evidence(a), FACT_NAMESPACE, STR_C(a->grant.ns));
}

/* False when its labels are not what labels are. */
static bool keep(struct action *a, json_t *ns)
{
	struct findings *f = &a->found;

	if (!keep_labels(f, ns))
		return false;
	json_incref(ns);
	json_decref(f->namespace_json);
	f->namespace_json = ns;
	if (policy_needs_namespaces(a->policy)) {
		add_evidence(a, TEXT_NAMESPACE_READ);
		facts_count(action_evidence(a), FACT_NAMESPACE_LABELS, (int64_t)f->namespace_labels.n);
	}
	return true;
}

/* Of the many deletions in one namespace each second one reads it. What is read again after a conflict, and
 * whatever is done to a workload, reads all of its own. */
static bool keep_known(struct action *a)
{
	if (!a->env.namespaces || !action_is_on_pod(a) || a->round > 0)
		return false;
	json_t *ns =
		namespace_cache_find(a->env.namespaces, a->grant.ns, clock_boot_ms(), &a->found.namespace_at);

	return ns && keep(a, ns);
}

void ask_namespace(struct action *a, struct step_request *ret)
{
	ret->known = keep_known(a);
	if (!ret->known)
		ret->path = path_format("", "v1", NULL, "namespaces", a->grant.ns, NULL, NULL);
}

enum step_then take_namespace(struct action *a, const struct step_reply *reply)
{
	if (!reply)
		return STEP_NEXT;
	a->found.namespace_at = a->asked_at;
	if (reply->status == 403)
		add_evidence(a, TEXT_NAMESPACE_UNREAD);
	if (reply->json && str_is(READ_TEXT(reply->json, "kind"), "Namespace") &&
	    str_is(READ_TEXT(reply->json, "metadata", "name"), a->grant.ns))
		(void)keep(a, reply->json);
	return STEP_NEXT;
}

const struct namespace_labels *namespace_labels(const struct action *a)
{
	return a->found.namespace_json ? &a->found.namespace_labels : NULL;
}
