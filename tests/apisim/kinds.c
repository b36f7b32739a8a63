// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/kinds.h"
#include "tests/apisim/util.h"

#include <ctype.h>
#include <string.h>

#define SCALED .replicas = "spec.replicas", .status_replicas = "status.replicas", .selector = "spec.selector"

const struct kind kinds[] = {
	{ "", "v1", "pods", "Pod", .namespaced = true, .status = true },
	{ "", "v1", "nodes", "Node", .status = true, .keep_status = true },
	{ "", "v1", "namespaces", "Namespace", .status = true, .keep_status = true },
	{ "", "v1", "replicationcontrollers", "ReplicationController", .namespaced = true, .status = true,
	  SCALED },
	{ "", "v1", "events", "Event", .namespaced = true },
	{ "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", .namespaced = true, .status = true },
	{ "", "v1", "persistentvolumes", "PersistentVolume", .status = true },
	{ "", "v1", "configmaps", "ConfigMap", .namespaced = true },
	{ "", "v1", "secrets", "Secret", .namespaced = true },
	{ "", "v1", "services", "Service", .namespaced = true, .status = true },
	{ "", "v1", "serviceaccounts", "ServiceAccount", .namespaced = true },
	{ "apps", "v1", "deployments", "Deployment", .namespaced = true, .status = true, SCALED },
	{ "apps", "v1", "replicasets", "ReplicaSet", .namespaced = true, .status = true, SCALED },
	{ "apps", "v1", "statefulsets", "StatefulSet", .namespaced = true, .status = true, SCALED },
	{ "apps", "v1", "daemonsets", "DaemonSet", .namespaced = true, .status = true },
	{ "apps", "v1", "controllerrevisions", "ControllerRevision", .namespaced = true },
	{ "batch", "v1", "jobs", "Job", .namespaced = true, .status = true },
	{ "batch", "v1", "cronjobs", "CronJob", .namespaced = true, .status = true },
	{ "autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", .namespaced = true,
	  .status = true },
	{ "autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler", .namespaced = true,
	  .status = true },
	{ "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", .namespaced = true, .status = true },
	{ "coordination.k8s.io", "v1", "leases", "Lease", .namespaced = true },
	{ "events.k8s.io", "v1", "events", "Event", .namespaced = true },
	{ "storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", .status = true },
	{ "lifecycle.k8s.io", "v1alpha1", "evictions", "Eviction", .namespaced = true, .status = true },
	{ "argoproj.io", "v1alpha1", "rollouts", "Rollout", .namespaced = true, .status = true, .crd = true,
	  .replicas = "spec.replicas", .status_replicas = "status.HPAReplicas",
	  .selector = "status.selector" },
	{ "keda.sh", "v1alpha1", "scaledobjects", "ScaledObject", .namespaced = true, .status = true,
	  .crd = true },
	{ "example.com", "v1", "fleets", "Fleet", .namespaced = true, .status = true, .crd = true,
	  .replicas = "spec.size", .status_replicas = "status.size", .selector = "status.selector" },
	{ "example.com", "v1", "widgets", "Widget", .namespaced = true, .status = true, .crd = true },
};
const size_t kinds_count = sizeof(kinds) / sizeof(kinds[0]);

const struct kind *kinds_find(const char *group, const char *version, const char *plural)
{
	for (size_t i = 0; i < kinds_count; i++) {
		const struct kind *k = &kinds[i];

		if (!strcmp(k->group, group) && !strcmp(k->version, version) && !strcmp(k->plural, plural))
			return k;
	}
	return NULL;
}

bool kinds_has_group(const char *group)
{
	for (size_t i = 0; i < kinds_count; i++)
		if (!strcmp(kinds[i].group, group))
			return true;
	return false;
}

size_t kinds_index(const struct kind *kind)
{
	return (size_t)(kind - kinds);
}

const struct kind *kinds_pods(void)
{
	return &kinds[0];
}

const char *kinds_api_version(const struct kind *kind, char out[96])
{
	const size_t n = strlen(kind->group);

	util_copy(out, 96, kind->group);
	if (n)
		out[n] = '/';
	util_copy(out + n + (n > 0), 96 - n - 1, kind->version);
	return out;
}

const char *kinds_qualified(const struct kind *kind, const char *sub, char out[128])
{
	snprintf(out, 128, "%s%s%s%s%s", kind->plural, *sub ? "/" : "", sub, *kind->group ? "." : "",
		 kind->group);
	return out;
}

static json_t *discovery_row(const struct kind *k, const char *sub, const char *kind_name, const char *verbs)
{
	char name[128];
	char singular[64];
	size_t n = 0;
	json_t *row, *list = json_array();
	const char *p = verbs;

	snprintf(name, sizeof(name), "%s%s%s", k->plural, *sub ? "/" : "", sub);
	for (; k->kind[n] && n + 1 < sizeof(singular); n++)
		singular[n] = (char)tolower((unsigned char)k->kind[n]);
	singular[n] = '\0';
	while (*p) {
		size_t len = strcspn(p, " ");

		json_array_append_new(list, json_stringn(p, len));
		p += len + (p[len] == ' ');
	}
	row = json_pack("{s:s, s:s, s:b, s:s, s:o}", "name", name, "singularName", *sub ? "" : singular,
			"namespaced", k->namespaced, "kind", kind_name, "verbs", list);
	if (!strcmp(sub, "scale")) {
		json_object_set_new(row, "group", json_string("autoscaling"));
		json_object_set_new(row, "version", json_string("v1"));
	}
	return row;
}

static json_t *resource_list(const char *group, const char *version)
{
	json_t *rows = json_array(), *doc;
	char gv[96];

	for (size_t i = 0; i < kinds_count; i++) {
		const struct kind *k = &kinds[i];

		if (strcmp(k->group, group) != 0 || strcmp(k->version, version) != 0)
			continue;
		kinds_api_version(k, gv);
		json_array_append_new(
			rows, discovery_row(k, "", k->kind, "create delete get list patch update watch"));
		if (k->status)
			json_array_append_new(rows, discovery_row(k, "status", k->kind, "get patch update"));
		if (k->replicas)
			json_array_append_new(rows, discovery_row(k, "scale", "Scale", "get patch update"));
	}
	if (!json_array_size(rows)) {
		json_decref(rows);
		return NULL;
	}
	doc = json_pack("{s:s, s:s, s:s, s:o}", "kind", "APIResourceList", "apiVersion", "v1", "groupVersion",
			gv, "resources", rows);
	return doc;
}

static json_t *group_entry(const char *group)
{
	json_t *versions = json_array();
	char gv[96];

	for (size_t i = 0; i < kinds_count; i++) {
		const struct kind *k = &kinds[i];
		bool seen = false;
		json_t *v;
		size_t n;

		if (strcmp(k->group, group) != 0)
			continue;
		json_array_foreach (versions, n, v)
			seen |= util_streq(util_str(v, "version"), k->version);
		if (!seen)
			json_array_append_new(versions,
					      json_pack("{s:s, s:s}", "groupVersion",
							kinds_api_version(k, gv), "version", k->version));
	}
	if (!json_array_size(versions)) {
		json_decref(versions);
		return NULL;
	}
	return json_pack("{s:s, s:o, s:O}", "name", group, "versions", versions, "preferredVersion",
			 json_array_get(versions, 0));
}

static json_t *group_list(void)
{
	json_t *groups = json_array();

	for (size_t i = 0; i < kinds_count; i++) {
		bool first = *kinds[i].group != '\0';

		for (size_t j = 0; j < i; j++)
			first &= strcmp(kinds[i].group, kinds[j].group) != 0;
		if (first)
			json_array_append_new(groups, group_entry(kinds[i].group));
	}
	return json_pack("{s:s, s:s, s:o}", "kind", "APIGroupList", "apiVersion", "v1", "groups", groups);
}

json_t *kinds_discovery(const char *path)
{
	char group[64], version[32], rest;
	json_t *doc;

	if (!strcmp(path, "/api"))
		return json_pack("{s:s, s:[s], s:[]}", "kind", "APIVersions", "versions", "v1",
				 "serverAddressByClientCIDRs");
	if (!strcmp(path, "/apis"))
		return group_list();
	if (!strcmp(path, "/api/v1"))
		return resource_list("", "v1");
	if (sscanf(path, "/apis/%63[^/]/%31[^/]%c", group, version, &rest) == 2)
		return resource_list(group, version);
	if (sscanf(path, "/apis/%63[^/]%c", group, &rest) != 1 || !(doc = group_entry(group)))
		return NULL;
	json_object_set_new(doc, "kind", json_string("APIGroup"));
	json_object_set_new(doc, "apiVersion", json_string("v1"));
	return doc;
}

bool kinds_has_protobuf(const struct kind *kind)
{
	return kind == kinds_pods() || !strcmp(kind->plural, "leases") || !strcmp(kind->plural, "namespaces");
}
