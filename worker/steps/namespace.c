/* namespace.c - the namespace: whether its owner has marked it to be left alone, and its labels where the
 * configuration asks for labels of namespaces. What could not be read stays unknown, and nothing is done. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "kube/path.h"
#include "worker/action_end.h"

bool needs_namespace(const struct action *a)
{
	return a->grant.action != ACTION_RESTORE || !a->grant.by_operator ||
	       policy_needs_namespaces(a->policy);
}

void ask_namespace(struct action *a, struct step_request *ret)
{
	ret->path = path_format("", "v1", NULL, "namespaces", a->grant.ns, NULL, NULL);
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

enum step_then take_namespace(struct action *a, const struct step_reply *reply)
{
	struct findings *f = &a->found;

	f->namespace_at = a->asked_at;
	if (reply->status == 403)
		add_evidence(a, TEXT_NAMESPACE_UNREAD);
	if (!reply->json || !str_is(READ_TEXT(reply->json, "kind"), "Namespace") ||
	    !str_is(READ_TEXT(reply->json, "metadata", "name"), a->grant.ns) || !keep_labels(f, reply->json))
		return STEP_NEXT;
	json_decref(f->namespace_json);
	f->namespace_json = json_incref(reply->json);
	if (!policy_needs_namespaces(a->policy))
		return STEP_NEXT;
	add_evidence(a, TEXT_NAMESPACE_READ);
	facts_count(action_evidence(a), FACT_NAMESPACE_LABELS, (int64_t)f->namespace_labels.n);
	return STEP_NEXT;
}

const struct namespace_labels *namespace_labels(const struct action *a)
{
	return a->found.namespace_json ? &a->found.namespace_labels : NULL;
}
