/* discovery.h - what an API group serves: /api/v1, /apis/GROUP/VERSION as JSON (meta/v1 APIResourceList).
 * Layer: kube. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_DISCOVERY_H
#define KUBE_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>

struct discovery_kind {
	char *resource; /* plural name, as in paths: "deployments" */
	bool namespaced;
	bool has_scale;       /* it serves the subresource `scale` as autoscaling/v1 Scale ... */
	bool scale_patchable; /* ... and patch on it */
};

/* Finds KIND in an APIResourceList. 0; -ENOENT when the list does not serve it; -EBADMSG when body is no such
 * list. Release ret with discovery_kind_done. */
int discovery_find_kind(const char *body, size_t n, const char *kind, struct discovery_kind *ret);
void discovery_kind_done(struct discovery_kind *k);

/* "apps/v1" -> group "apps", version "v1"; "v1" -> group "", version "v1". Results are owned by the caller.
 * 0, or -EINVAL when it is no apiVersion. */
int discovery_split_version(const char *api_version, char **ret_group, char **ret_version);

#endif
