/* owner_kinds.c - see owner_kinds.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/owner_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "worker/read.h"

/* Bounds what a cluster can make us remember. */
#define LEARNT_MAX 128

static const struct kind_info builtin[] = {
#define KIND(group, version, kind, resource, namespaced, scale, suspend)                                     \
	{ group, version, kind, resource, namespaced, scale, true },
#include "model/kinds.def"
#undef KIND
};

struct learnt {
	struct kind_info info;
	uint64_t expires;
};

struct owner_kinds {
	struct learnt learnt[LEARNT_MAX]; /* a ring: each is believed equally long */
	size_t n;                         /* learnt so far */
};

char *kind_resource(const struct kind_info *kind)
{
	return xconcat(kind->resource, kind->group[0] ? "." : "", kind->group, NULL);
}

struct owner_kinds *owner_kinds_new(void)
{
	return xcalloc(1, sizeof(struct owner_kinds));
}

void owner_kinds_free(struct owner_kinds **k)
{
	free(*k);
	*k = NULL;
}

static bool copy(char *dst, size_t size, const char *s, size_t n)
{
	if (n >= size)
		return false;
	memcpy(dst, s, n);
	dst[n] = '\0';
	return true;
}

/* A name of the API (DNS label or subdomain): nothing in it could add a path segment or a parameter. */
static bool is_api_name(const char *s)
{
	return s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-.")] == '\0' && *s != '.' && *s != '-';
}

/* Group, version and kind of a reference. False when one is not a name or too long to be one. */
static bool read_gvk(struct str api_version, struct str kind, struct kind_info *ret)
{
	const char *slash = api_version.n ? memchr(api_version.p, '/', api_version.n) : NULL;
	const char *version = slash ? slash + 1 : api_version.p;
	const size_t group_n = slash ? (size_t)(slash - api_version.p) : 0;
	const size_t version_n = api_version.n - (slash ? group_n + 1 : 0);

	*ret = (struct kind_info){ 0 };
	return slash != api_version.p && version_n > 0 &&
	       copy(ret->group, sizeof(ret->group), api_version.p, group_n) && is_api_name(ret->group) &&
	       copy(ret->version, sizeof(ret->version), version, version_n) && is_api_name(ret->version) &&
	       copy(ret->kind, sizeof(ret->kind), kind.p, kind.n);
}

static bool same_gvk(const struct kind_info *a, const struct kind_info *b)
{
	return strcmp(a->group, b->group) == 0 && strcmp(a->version, b->version) == 0 &&
	       strcmp(a->kind, b->kind) == 0;
}

enum owner_kinds_answer owner_kinds_find(const struct owner_kinds *k, struct str api_version, struct str kind,
					 uint64_t now, struct kind_info *ret_info)
{
	struct kind_info want;

	if (str_empty(kind) || !read_gvk(api_version, kind, &want))
		return OWNER_KINDS_ABSENT;
	for (size_t i = 0; i < ARRAY_SIZE(builtin); i++)
		if (same_gvk(&builtin[i], &want)) {
			*ret_info = builtin[i];
			return OWNER_KINDS_FOUND;
		}
	for (size_t i = 0; i < LEARNT_MAX && i < k->n; i++)
		if (same_gvk(&k->learnt[i].info, &want) && now < k->learnt[i].expires) {
			*ret_info = k->learnt[i].info;
			return ret_info->resource[0] ? OWNER_KINDS_FOUND : OWNER_KINDS_ABSENT;
		}
	return OWNER_KINDS_ASK;
}

bool owner_kinds_resource(struct str group, struct str resource, struct kind_info *ret_info)
{
	struct kind_info *k = ret_info;

	for (size_t i = 0; i < ARRAY_SIZE(builtin); i++)
		if (str_is(group, builtin[i].group) && str_is(resource, builtin[i].resource)) {
			*ret_info = builtin[i];
			return true;
		}
	*k = (struct kind_info){ .namespaced = true, .scale = true };
	return !str_empty(group) && copy(k->group, sizeof(k->group), group.p, group.n) &&
	       is_api_name(k->group) && copy(k->resource, sizeof(k->resource), resource.p, resource.n) &&
	       is_api_name(k->resource) && copy(k->kind, sizeof(k->kind), resource.p, resource.n);
}

char *owner_kinds_path(struct str api_version)
{
	struct kind_info gv;

	if (!read_gvk(api_version, STR_LIT("-"), &gv))
		return NULL;
	if (gv.group[0] == '\0')
		return xasprintf("/api/%s", gv.version);
	return xasprintf("/apis/%s/%s", gv.group, gv.version);
}

/* The resource of that kind; name NULL: the kind's own, not one of its subresources (which may carry the same
 * kind: "deployments/status"). */
static const json_t *find_resource(const json_t *resources, const char *kind, const char *name)
{
	const json_t *r;
	size_t i;

	json_array_foreach (resources, i, r) {
		const struct str n = READ_TEXT(r, "name");

		if (!str_empty(n) && str_is(READ_TEXT(r, "kind"), kind) &&
		    (name ? str_is(n, name) : !memchr(n.p, '/', n.n)))
			return r;
	}
	return NULL;
}

static bool can_patch(const json_t *resource)
{
	const json_t *verbs = json_object_get(resource, "verbs"), *v;
	size_t i;

	json_array_foreach (verbs, i, v)
		if (json_is_string(v) && strcmp(json_string_value(v), "patch") == 0)
			return true;
	return false;
}

/* What the resources of a group and version (meta/v1 APIResourceList) say of a kind; nothing when it is not
 * among them. */
static void describe(const json_t *resources, struct kind_info *info)
{
	const json_t *found = find_resource(resources, info->kind, NULL);
	const struct str name = READ_TEXT(found, "name");
	_cleanup_free_ char *subresource = xasprintf("%.*s/scale", STR_ARG(name));

	info->namespaced = json_is_true(json_object_get(found, "namespaced"));
	info->scale = can_patch(find_resource(resources, "Scale", subresource));
	(void)copy(info->resource, sizeof(info->resource), name.p, name.n);
}

void owner_kinds_learn(struct owner_kinds *k, struct str api_version, struct str kind, const char *body,
		       size_t n, uint64_t now)
{
	struct kind_info info;
	json_auto_t *list = json_loadb(n > 0 ? body : "", n, 0, NULL);

	if (!read_gvk(api_version, kind, &info))
		return;
	if (str_is(READ_TEXT(list, "kind"), "APIResourceList"))
		describe(json_object_get(list, "resources"), &info);
	k->learnt[k->n++ % LEARNT_MAX] = (struct learnt){ info, now + OWNER_KINDS_EXPIRY_MS };
}
