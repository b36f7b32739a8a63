/* owner_kinds.c - see owner_kinds.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/owner_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "kube/discovery.h"

/* Bounds what a cluster can make us remember. */
#define LEARNT_MAX 128

static const struct kind_info builtin[] = {
	{ "apps", "v1", "Deployment", "deployments", true, true, true },
	{ "apps", "v1", "StatefulSet", "statefulsets", true, true, true },
	{ "apps", "v1", "ReplicaSet", "replicasets", true, true, true },
	{ "apps", "v1", "DaemonSet", "daemonsets", true, false, true },
	{ "", "v1", "ReplicationController", "replicationcontrollers", true, true, true },
	{ "", "v1", "Node", "nodes", false, false, true },
	{ "batch", "v1", "Job", "jobs", true, false, true },
	{ "batch", "v1", "CronJob", "cronjobs", true, false, true },
	{ "argoproj.io", "v1alpha1", "Rollout", "rollouts", true, true, true },
};

struct learnt {
	struct kind_info info;
	uint64_t expires;
};

struct owner_kinds {
	struct learnt learnt[LEARNT_MAX]; /* a ring: each is believed equally long */
	size_t n;                         /* learnt so far */
};

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
	_cleanup_free_ char *text = xstrndup(api_version.p, api_version.n);
	_cleanup_free_ char *group = NULL, *version = NULL;

	*ret = (struct kind_info){ 0 };
	return discovery_split_version(text, &group, &version) == 0 && is_api_name(group) &&
	       is_api_name(version) && copy(ret->group, sizeof(ret->group), group, strlen(group)) &&
	       copy(ret->version, sizeof(ret->version), version, strlen(version)) &&
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

void owner_kinds_learn(struct owner_kinds *k, struct str api_version, struct str kind, const char *body,
		       size_t n, uint64_t now)
{
	struct kind_info info;
	struct discovery_kind found;

	if (!read_gvk(api_version, kind, &info))
		return;
	if (n > 0 && discovery_find_kind(body, n, info.kind, &found) == 0) {
		info.namespaced = found.namespaced;
		info.scale = found.has_scale && found.scale_patchable;
		(void)copy(info.resource, sizeof(info.resource), found.resource, strlen(found.resource));
		discovery_kind_done(&found);
	}
	k->learnt[k->n++ % LEARNT_MAX] = (struct learnt){ info, now + OWNER_KINDS_EXPIRY_MS };
}
