/* node.c - is it safe to delete by force: the pod's node, and whether its volumes are still attached there
 * (R12). What could not be read stays unknown in the context, and the judge refuses. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "kube/path.h"
#include "worker/action_end.h"

bool needs_node(const struct action *a)
{
	return !str_empty(a->pod.node);
}

void ask_node(struct action *a, struct step_request *ret)
{
	_cleanup_free_ char *name = xstrndup(a->pod.node.p, a->pod.node.n);

	ret->path = path_format("", "v1", NULL, "nodes", name, NULL, NULL);
}

enum step_then take_node(struct action *a, const struct step_reply *reply)
{
	struct pod_context *c = &a->found.context;

	if (reply->status == 404) {
		c->node_exists = TRI_NO;
		facts_finding(action_evidence(a), TEXT_NODE_ABSENT);
	}
	if (reply->status == 403)
		facts_finding(action_evidence(a), TEXT_NODE_UNREAD);
	if (reply->json && str_eq(READ_TEXT(reply->json, "metadata", "name"), a->pod.node)) {
		c->node_exists = TRI_YES;
		c->node_ready = read_node_ready(reply->json);
		c->node_out_of_service = read_node_out_of_service(reply->json);
		facts_finding(action_evidence(a),
			      c->node_ready == TRI_YES ? TEXT_NODE_READY : TEXT_NODE_NOT_READY);
		if (c->node_out_of_service == TRI_YES)
			facts_finding(action_evidence(a), TEXT_NODE_TAINTED);
		if (!a->pod.has_pvc)
			facts_finding(action_evidence(a), TEXT_NO_CLAIM);
	}
	return STEP_NEXT;
}

/* -- volumes -- */

/* Volumes matter only where the kubelet's word is the evidence. */
bool needs_attachments(const struct action *a)
{
	const struct pod_context *c = &a->found.context;

	return a->pod.has_pvc && c->node_ready == TRI_YES;
}

enum step_then item_attachment(struct action *a, const json_t *item)
{
	struct str pv = READ_TEXT(item, "spec", "source", "persistentVolumeName");

	if (!str_eq(READ_TEXT(item, "spec", "nodeName"), a->pod.node))
		return STEP_NEXT;
	if (str_empty(pv))
		a->found.attached_unknown = true;
	else
		str_list_add(&a->found.attached, pv.p, pv.n);
	return STEP_NEXT;
}

static enum step_then end_volumes(struct action *a, enum tri attached)
{
	static const enum text texts[] = { [TRI_UNKNOWN] = TEXT_ATTACHED_UNKNOWN,
					   [TRI_NO] = TEXT_ATTACHED_NONE,
					   [TRI_YES] = TEXT_ATTACHED };

	facts_finding(action_evidence(a), texts[attached]);
	a->found.context.volume_attached = attached;
	str_list_done(&a->found.attached);
	a->found.attached = (struct str_list){ 0 };
	return STEP_NEXT;
}

/* The next volume of the pod that is a claim; NULL when there is none. */
static const json_t *next_claim(struct action *a)
{
	const json_t *volumes = READ_AT(a->found.pod_json, "spec", "volumes"), *volume;

	for (; (volume = json_array_get(volumes, a->found.volume)); a->found.volume++)
		if (json_object_get(volume, "persistentVolumeClaim") || json_object_get(volume, "ephemeral"))
			return volume;
	return NULL;
}

enum step_then take_attachments(struct action *a, const struct step_reply *reply)
{
	if (!reply->json || a->found.attached_unknown)
		return end_volumes(a, TRI_UNKNOWN);
	if (a->found.attached.n == 0)
		return end_volumes(a, TRI_NO);
	/* The pod was said to have a claim; when none is found, its volumes are not understood. */
	return next_claim(a) ? STEP_NEXT : end_volumes(a, TRI_UNKNOWN);
}

bool needs_claim(const struct action *a)
{
	return a->found.attached.n > 0;
}

void ask_claim(struct action *a, struct step_request *ret)
{
	const json_t *volume = next_claim(a);
	struct str claim = READ_TEXT(volume, "persistentVolumeClaim", "claimName");
	struct str name = READ_TEXT(volume, "name");
	/* A generic ephemeral volume has a claim of the pod's and its own name. */
	_cleanup_free_ char *of = json_object_get(volume, "ephemeral")
					  ? xasprintf("%s-%.*s", a->grant.name, STR_ARG(name))
					  : xstrndup(claim.p, claim.n);

	ret->path = path_format("", "v1", a->grant.ns, "persistentvolumeclaims", of, NULL, NULL);
}

enum step_then take_claim(struct action *a, const struct step_reply *reply)
{
	if (!reply->json)
		return end_volumes(a, TRI_UNKNOWN);
	if (str_list_has(&a->found.attached, READ_TEXT(reply->json, "spec", "volumeName")))
		return end_volumes(a, TRI_YES);
	a->found.volume++;
	return next_claim(a) ? STEP_MORE : end_volumes(a, TRI_NO);
}
