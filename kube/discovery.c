/* discovery.c - see discovery.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/discovery.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

static const char *member(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static bool has_verb(const json_t *resource, const char *verb)
{
	const json_t *verbs = json_object_get(resource, "verbs");

	for (size_t i = 0; i < json_array_size(verbs); i++) {
		const char *s = json_string_value(json_array_get(verbs, i));

		if (s && strcmp(s, verb) == 0)
			return true;
	}
	return false;
}

/* Of that kind; name NULL: the resource itself, not one of its subresources (which may carry the same kind:
 * "deployments/status"). */
static const json_t *find(const json_t *resources, const char *kind, const char *name)
{
	for (size_t i = 0; i < json_array_size(resources); i++) {
		const json_t *r = json_array_get(resources, i);
		const char *n = member(r, "name");

		if (*n && strcmp(member(r, "kind"), kind) == 0 &&
		    (name ? strcmp(n, name) == 0 : !strchr(n, '/')))
			return r;
	}
	return NULL;
}

int discovery_find_kind(const char *body, size_t n, const char *kind, struct discovery_kind *ret)
{
	json_t *list = json_loadb(body, n, 0, NULL);
	const json_t *resources = json_object_get(list, "resources");
	const json_t *found = find(resources, kind, NULL);
	_cleanup_free_ char *subresource = xconcat(member(found, "name"), "/scale", NULL);
	const json_t *scale = found ? find(resources, "Scale", subresource) : NULL;
	int r = found ? 0 : -ENOENT;

	*ret = (struct discovery_kind){ 0 };
	if (strcmp(member(list, "kind"), "APIResourceList") != 0 || !json_is_array(resources))
		r = -EBADMSG;
	if (r == 0)
		*ret = (struct discovery_kind){
			.resource = xstrdup(member(found, "name")),
			.namespaced = json_is_true(json_object_get(found, "namespaced")),
			.has_scale = scale != NULL,
			.scale_patchable = scale && has_verb(scale, "patch"),
		};
	json_decref(list);
	return r;
}

void discovery_kind_done(struct discovery_kind *k)
{
	free(k->resource);
	*k = (struct discovery_kind){ 0 };
}

int discovery_split_version(const char *api_version, char **ret_group, char **ret_version)
{
	const char *slash = strchr(api_version, '/');
	const char *version = slash ? slash + 1 : api_version;

	if (*version == '\0' || strchr(version, '/') || slash == api_version)
		return -EINVAL;
	*ret_group = xstrndup(api_version, slash ? (size_t)(slash - api_version) : 0);
	*ret_version = xstrdup(version);
	return 0;
}
