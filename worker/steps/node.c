/* node.c - is it safe to delete by force: the pod's node, and whether its volumes are still attached
 * there (R12). */
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "kube/path.h"
#include "worker/steps/step.h"

void ask_node(struct action *e, struct ask *ret)
{
	_cleanup_free_ char *name = xstrndup(e->pod.node.p, e->pod.node.n);

	ret->path = path_format("", "v1", NULL, "nodes", name, NULL, NULL);
}

enum step take_node(struct action *e, const struct answer *a)
{
	struct pod_context *s = &e->around;

	if (a->status == 404) {
		s->node_exists = TRI_NO;
		step_prove(e, "node %.*s does not exist", STR_ARG(e->pod.node));
	}
	if (a->status == 403)
		step_prove(e, "node %.*s may not be read", STR_ARG(e->pod.node));
	if (a->json && str_eq(READ_TEXT(a->json, "metadata", "name"), e->pod.node)) {
		s->node_exists = TRI_YES;
		s->node_ready = read_node_ready(a->json);
		s->node_out_of_service = read_node_out_of_service(a->json);
		step_prove(e, "node %.*s%s is%s Ready%s", STR_ARG(e->pod.node),
			   s->node_out_of_service == TRI_YES ? " is tainted out-of-service," : "",
			   s->node_ready == TRI_YES ? "" : " not",
			   e->pod.has_pvc ? "" : ", the pod claims no volume");
	}
	/* Volumes matter only where the kubelet's word is the proof. */
	if (e->pod.has_pvc && s->node_ready == TRI_YES && s->node_out_of_service == TRI_NO)
		return STEP_ATTACHMENTS;
	return step_judge_live(e);
}

void ask_attachments(struct action *e, struct ask *ret)
{
	_cleanup_free_ char *query = step_list_query(e, (struct str){ "", 0 });

	ret->path = path_format("storage.k8s.io", "v1", NULL, "volumeattachments", NULL, NULL, query);
}

static enum step judge_volumes(struct action *e, enum tri attached)
{
	static const char *const words[] = { [TRI_UNKNOWN] =
						     "unknown whether volumes of the pod are attached",
					     [TRI_NO] = "no volume of the pod is attached there",
					     [TRI_YES] = "a volume of the pod is attached there" };

	step_prove(e, "VolumeAttachments: %s", words[attached]);
	e->around.volume_attached = attached;
	return step_judge_live(e);
}

static const json_t *volumes(const struct action *e)
{
	return READ_AT(e->pod_json, "spec", "volumes");
}

/* The claim behind a volume, "" when it is none or has no name. Owned by the caller. */
static char *claim_name(const struct action *e, const json_t *volume)
{
	struct str claim = READ_TEXT(volume, "persistentVolumeClaim", "claimName");
	struct str name = READ_TEXT(volume, "name");

	if (json_object_get(volume, "ephemeral")) /* the claim of a generic ephemeral volume */
		return xasprintf("%s-%.*s", e->grant.name, STR_ARG(name));
	return xstrndup(claim.p, claim.n);
}

static bool is_claim(const json_t *volume)
{
	return json_object_get(volume, "persistentVolumeClaim") || json_object_get(volume, "ephemeral");
}

static enum step next_claim(struct action *e)
{
	while (e->volume < json_array_size(volumes(e)) && !is_claim(json_array_get(volumes(e), e->volume)))
		e->volume++;
	if (e->volume < json_array_size(volumes(e)))
		return STEP_CLAIM;
	/* The pod was said to have a claim; when none was found, its volumes are not understood. */
	return judge_volumes(e, e->claim_seen ? TRI_NO : TRI_UNKNOWN);
}

enum step take_attachments(struct action *e, const struct answer *a)
{
	const json_t *items = json_object_get(a->json, "items"), *item;
	size_t i;

	if (!json_is_array(items))
		return judge_volumes(e, TRI_UNKNOWN);
	json_array_foreach (items, i, item) {
		struct str pv = READ_TEXT(item, "spec", "source", "persistentVolumeName");

		if (!str_eq(READ_TEXT(item, "spec", "nodeName"), e->pod.node))
			continue;
		if (str_empty(pv))
			return judge_volumes(e, TRI_UNKNOWN);
		str_list_add(&e->attached, pv.p, pv.n);
	}
	if (step_next_page(e, a->json))
		return STEP_ATTACHMENTS;
	return e->attached.n == 0 ? judge_volumes(e, TRI_NO) : next_claim(e);
}

void ask_claim(struct action *e, struct ask *ret)
{
	_cleanup_free_ char *name = claim_name(e, json_array_get(volumes(e), e->volume));

	ret->path = path_format("", "v1", e->grant.ns, "persistentvolumeclaims", name, NULL, NULL);
}

enum step take_claim(struct action *e, const struct answer *a)
{
	struct str volume = READ_TEXT(a->json, "spec", "volumeName");

	if (!a->json)
		return judge_volumes(e, TRI_UNKNOWN);
	if (str_list_has(&e->attached, volume))
		return judge_volumes(e, TRI_YES);
	e->claim_seen = true;
	e->volume++;
	return next_claim(e);
}
