/* metadata.managedFields, as far as it tells who wrote the replicas: the update that changes them takes them
 * over from whoever had them (apimachinery managedfields). Of other fields nothing is told. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/util.h"
#include "tests/apisim/verbs.h"

#include <string.h>

/* Without fieldManager it is the user agent up to the first "/" (apiserver endpoints/handlers/create.go). */
static json_t *manager_of(const struct call *c)
{
	const char *named = call_query(c, "fieldManager");
	const char *agent = c->agent && *c->agent ? c->agent : "unknown";

	return named && *named ? json_string(named) : json_stringn(agent, strcspn(agent, "/"));
}

static json_t *entry(const struct call *c)
{
	const char *leaf = strchr(c->kind->replicas, '.') + 1;
	char at[21], field[64], version[96];
	json_t *e;

	util_time_format((int64_t)util_now(), at);
	snprintf(field, sizeof(field), "f:%s", leaf);
	e = json_pack("{s:o, s:s, s:s, s:s, s:s, s:{s:{s:{}}}}", "manager", manager_of(c), "operation",
		      "Update", "apiVersion", kinds_api_version(c->kind, version), "time", at, "fieldsType",
		      "FieldsV1", "fieldsV1", "f:spec", field);
	if (*c->sub)
		json_object_set_new(e, "subresource", json_string(c->sub));
	return e;
}

json_t *managed_note(const struct call *c, json_t *tree, const json_t *before)
{
	json_t *old = object_at(before, "metadata.managedFields");
	json_t *had, *now;

	if (!c->kind->replicas)
		return tree;
	had = object_at(before, c->kind->replicas);
	now = object_at(tree, c->kind->replicas);
	/* A 0 through /scale is no field (ScaleSpec.replicas is omitempty): it leaves the replicas without an
	 * owner. */
	if (now && json_integer_value(now) == 0 && strcmp(c->sub, "scale") == 0)
		return object_with(tree, "metadata.managedFields",
				   json_pack("[{s:o, s:s, s:s, s:{s:{}}}]", "manager", manager_of(c),
					     "operation", "Update", "fieldsType", "FieldsV1", "fieldsV1",
					     "f:metadata"));
	if (now && (!had || !json_equal(had, now)))
		return object_with(tree, "metadata.managedFields", json_pack("[o]", entry(c)));
	return object_with(tree, "metadata.managedFields", old ? json_incref(old) : NULL);
}
