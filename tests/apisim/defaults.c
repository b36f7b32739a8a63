// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/defaults.h"
#include "tests/apisim/object.h"
#include "tests/apisim/util.h"

#include <stdlib.h>
#include <string.h>

/* Sets a member only when it is absent; value is taken. o is not shared yet. */
static void set_default(json_t *o, const char *key, json_t *value)
{
	if (json_object_get(o, key))
		json_decref(value);
	else
		json_object_set_new(o, key, value);
}

static void default_containers(json_t *list)
{
	json_t *c;
	size_t i;

	json_array_foreach (list, i, c) {
		set_default(c, "resources", json_object());
		set_default(c, "terminationMessagePath", json_string("/dev/termination-log"));
		set_default(c, "terminationMessagePolicy", json_string("File"));
		set_default(c, "imagePullPolicy", json_string("IfNotPresent"));
	}
}

static void default_toleration(json_t *list, const char *key)
{
	json_t *t;
	size_t i;

	json_array_foreach (list, i, t) {
		const char *have = util_str(t, "key");

		if (util_streq(have, key) ||
		    ((!have || !*have) && util_streq(util_str(t, "operator"), "Exists")))
			return;
	}
	json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:i}", "key", key, "operator", "Exists",
					      "effect", "NoExecute", "tolerationSeconds", 300));
}

static void default_pod_spec(json_t *spec)
{
	set_default(spec, "restartPolicy", json_string("Always"));
	set_default(spec, "terminationGracePeriodSeconds", json_integer(30));
	set_default(spec, "dnsPolicy", json_string("ClusterFirst"));
	set_default(spec, "securityContext", json_object());
	set_default(spec, "schedulerName", json_string("default-scheduler"));
	default_containers(json_object_get(spec, "containers"));
	default_containers(json_object_get(spec, "initContainers"));
}

static void default_pod(json_t *tree)
{
	json_t *spec = json_object_get(tree, "spec");

	if (!spec)
		json_object_set_new(tree, "spec", spec = json_object());
	default_pod_spec(spec);
	set_default(spec, "enableServiceLinks", json_true());
	set_default(spec, "preemptionPolicy", json_string("PreemptLowerPriority"));
	set_default(spec, "priority", json_integer(0));
	set_default(spec, "tolerations", json_array());
	default_toleration(json_object_get(spec, "tolerations"), "node.kubernetes.io/not-ready");
	default_toleration(json_object_get(spec, "tolerations"), "node.kubernetes.io/unreachable");
	json_object_set_new(tree, "status",
			    json_pack("{s:s, s:s}", "phase", "Pending", "qosClass", "BestEffort"));
}

static void default_workload(json_t *tree)
{
	json_t *spec = json_object_get(tree, "spec"), *template = object_at(spec, "template.spec");

	if (!spec)
		json_object_set_new(tree, "spec", spec = json_object());
	set_default(spec, "replicas", json_integer(1));
	if (template)
		default_pod_spec(template);
}

static void default_name(json_t *meta)
{
	static const char set[] = "bcdfghjklmnpqrstvwxz2456789";
	const char *base = util_str(meta, "generateName"), *name = util_str(meta, "name");
	char suffix[6] = "", *full;

	if ((name && *name) || !base || !*base)
		return;
	for (int i = 0; i < 5; i++)
		suffix[i] = set[util_random() % (sizeof(set) - 1)];
	full = util_format("%s%s", base, suffix);
	json_object_set_new(meta, "name", json_string(full));
	free(full);
}

json_t *defaults_create(const struct kind *kind, json_t *tree, const char *ns)
{
	json_t *t = json_deep_copy(tree), *meta = json_object_get(t, "metadata");
	uint64_t hi = util_random(), lo = util_random();
	char text[40];

	json_decref(tree);
	default_name(meta);
	if (*ns)
		json_object_set_new(meta, "namespace", json_string(ns));
	util_uuid(text, hi, lo);
	json_object_set_new(meta, "uid", json_string(text));
	util_time_format((int64_t)util_now(), text);
	json_object_set_new(meta, "creationTimestamp", json_string(text));
	json_object_del(meta, "deletionTimestamp");
	json_object_del(meta, "deletionGracePeriodSeconds");
	json_object_del(meta, "selfLink");
	if (json_object_get(t, "spec"))
		json_object_set_new(meta, "generation", json_integer(1));
	if (kind->status && !kind->keep_status) {
		json_object_del(t, "status");
		if (!kind->crd)
			json_object_set_new(t, "status", json_object());
	}
	if (kind == kinds_pods())
		default_pod(t);
	else if (kind->replicas && !kind->crd)
		default_workload(t);
	else if (!strcmp(kind->plural, "namespaces"))
		set_default(t, "status", json_pack("{s:s}", "phase", "Active"));
	return t;
}
