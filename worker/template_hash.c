/* template_hash.c - see template_hash.h. The hash is FNV-1a: it has to notice a change, not to resist
 * anybody, for who can write a template can write the replicas, too. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/template_hash.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/fnv.h"
#include "worker/read.h"

static const char *const of_metadata[] = { "labels", "annotations", NULL };
static const char *const of_spec[] = { "imagePullSecrets", "serviceAccountName", "nodeSelector", "volumes",
				       NULL };
static const char *const of_container[] = {
	"name",    "image",     "imagePullPolicy", "command",       "args",         "workingDir", "env",
	"envFrom", "resources", "volumeMounts",    "livenessProbe", "startupProbe", NULL
};

static json_t *pick(const json_t *o, const char *const keys[])
{
	json_t *picked = json_object();

	for (; *keys; keys++)
		(void)json_object_set_new(picked, *keys, json_incref(json_object_get(o, *keys)));
	return picked;
}

static json_t *pick_each(const json_t *list)
{
	json_t *all = json_array(), *container;
	size_t i;

	json_array_foreach (list, i, container)
		(void)json_array_append_new(all, pick(container, of_container));
	return all;
}

void template_hash(const json_t *workload, char ret[static TEMPLATE_HASH_MAX])
{
	const json_t *template = READ_AT(workload, "spec", "template");
	const json_t *spec = json_object_get(template, "spec");

	ret[0] = '\0';
	if (!json_is_object(spec))
		return;
	json_auto_t *all = json_pack(
		"{s:o, s:o, s:o, s:o}", "metadata", pick(json_object_get(template, "metadata"), of_metadata),
		"spec", pick(spec, of_spec), "containers", pick_each(json_object_get(spec, "containers")),
		"initContainers", pick_each(json_object_get(spec, "initContainers")));
	_cleanup_free_ char *text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);

	(void)snprintf(ret, TEMPLATE_HASH_MAX, "%016" PRIx64, fnv_text(FNV_START, text ? text : ""));
}
