/* object.c - the objects that steps read and write: their paths, and how a RESULT names them; and what
 * several rows of the table have in common. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "kube/path.h"
#include "worker/action_state.h"
#include "worker/managed_fields.h"

char *object_path(const struct action *a, const struct owner_link *o, const char *subresource,
		  const char *query)
{
	if (!o)
		return path_format("", "v1", a->grant.ns, "pods", a->grant.name, subresource, query);
	_cleanup_free_ char *name = xstrndup(o->ref.name.p, o->ref.name.n);

	return path_format(o->kind.group, o->kind.version, o->kind.namespaced ? a->grant.ns : NULL,
			   o->kind.resource, name, subresource, query);
}

bool always(const struct action *a)
{
	(void)a;
	return true;
}

void ask_top(struct action *a, struct step_request *ret)
{
	ret->path = object_path(a, action_top(a), NULL, NULL);
}

/* What the steps list; in pages so that the JSON of one (22 KB a pod) stays small. */
static const struct {
	const char *group, *version, *resource;
	enum list_of { OF_NAMESPACE, OF_CLUSTER, OF_POD, OF_WORKLOAD } of;
} lists[STEP__MAX] = {
	[STEP_EVICTIONS] = { "lifecycle.k8s.io", NULL, "evictions", OF_NAMESPACE },
	[STEP_ATTACHMENTS] = { "storage.k8s.io", "v1", "volumeattachments", OF_CLUSTER },
	[STEP_EVENTS] = { "", "v1", "events", OF_POD },
	[STEP_HPA] = { "autoscaling", "v2", "horizontalpodautoscalers", OF_NAMESPACE },
	[STEP_KEDA] = { "keda.sh", "v1alpha1", "scaledobjects", OF_NAMESPACE },
	[STEP_REVISIONS] = { "apps", "v1", "replicasets", OF_WORKLOAD },
	[STEP_LEAVING] = { "", "v1", "pods", OF_WORKLOAD },
	[STEP_PODS] = { "", "v1", "pods", OF_WORKLOAD },
	[STEP_CREDENTIAL] = { "", "v1", "pods", OF_NAMESPACE },
};

/* Without a selector all of the namespace is listed, and each is asked for its owner. */
static enum list_of what_to_list(const struct action *a)
{
	const bool all =
		str_empty(a->found.scale.selector) || (a->step == STEP_REVISIONS && a->found.all_sets);

	return lists[a->step].of == OF_WORKLOAD && all ? OF_NAMESPACE : lists[a->step].of;
}

void ask_list(struct action *a, struct step_request *ret)
{
	const enum list_of of = what_to_list(a);
	_cleanup_free_ char *field = xasprintf("involvedObject.uid=%.*s", STR_ARG(a->pod.uid));
	_cleanup_free_ char *labels = xasprintf("%.*s", STR_ARG(a->found.scale.selector));
	_cleanup_free_ char *value = path_escape(of == OF_POD ? field : labels);
	_cleanup_free_ char *page = path_escape(a->found.page ? a->found.page : "");
	_cleanup_free_ char *query = xconcat("limit=100",
					     of == OF_POD        ? "&fieldSelector="
					     : of == OF_WORKLOAD ? "&labelSelector="
								 : "",
					     of == OF_POD || of == OF_WORKLOAD ? value : "",
					     *page ? "&continue=" : "", page, NULL);

	ret->path = path_format(
		lists[a->step].group, lists[a->step].version ? lists[a->step].version : a->found.evictions,
		of == OF_CLUSTER ? NULL : a->grant.ns, lists[a->step].resource, NULL, NULL, query);
}

bool object_next_page(struct action *a, const json_t *list)
{
	struct str token = READ_TEXT(list, "metadata", "continue");

	free(a->found.page);
	a->found.page = str_empty(token) ? NULL : xstrndup(token.p, token.n);
	return a->found.page != NULL;
}

void object_set_target(struct action *a, const struct owner_link *o)
{
	struct msg *m = &a->result;
	struct str uid = o ? READ_TEXT(o->json, "metadata", "uid") : a->pod.uid;
	struct str rv = o ? READ_TEXT(o->json, "metadata", "resourceVersion") : a->pod.rv;
	struct str name = o ? o->ref.name : STR_C(a->grant.name);
	_cleanup_free_ char *resource = o ? kind_resource(&o->kind) : xstrdup("pods");
	_cleanup_free_ char *target = xasprintf("%s/%s/%.*s", resource, a->grant.ns, STR_ARG(name));

	msg_text(m, result.target, target);
	msg_set(m, result.target_uid, uid.p, uid.n);
	msg_set(m, result.target_rv, rv.p, rv.n);
}

void object_patch(const struct action *a, const struct owner_link *o, const char *subresource,
		  struct step_request *ret)
{
	ret->method = "PATCH";
	ret->path = object_path(a, o, subresource,
				a->grant.observe ? "fieldManager=" MANAGED_US "&dryRun=All"
						 : "fieldManager=" MANAGED_US);
	ret->content_type = "application/merge-patch+json";
}

void object_ask_patch(struct action *a, const struct owner_link *o, const char *subresource,
		      struct step_request *ret)
{
	object_set_target(a, o);
	object_patch(a, o, subresource, ret);
}
