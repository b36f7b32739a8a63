/* The kinds this server has, one row each, and the discovery documents made from the rows. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_KINDS_H
#define APISIM_KINDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct kind {
	const char *group; /* "" for core */
	const char *version;
	const char *plural;
	const char *kind;
	bool namespaced;
	bool status;      /* has a status subresource: the main resource does not write .status */
	bool keep_status; /* but a create may bring one (nodes, namespaces) */
	bool crd;         /* custom resource: no protobuf, no strategic merge, scale ignores uid */
	/* Dotted paths of the scale subresource; replicas NULL: there is none. selector names a
	 * LabelSelector, a map or, in custom resources, a string. */
	const char *replicas;
	const char *status_replicas;
	const char *selector;
};

extern const struct kind kinds[];
extern const size_t kinds_count;

/* The row, or NULL. */
const struct kind *kinds_find(const char *group, const char *version, const char *plural);

bool kinds_has_group(const char *group);

/* Index of the row in kinds[]. */
size_t kinds_index(const struct kind *kind);

/* Is the kind described in pod_schema.def? */
bool kinds_has_protobuf(const struct kind *kind);
const struct kind *kinds_pods(void);

/* "v1" or "apps/v1"; out holds 96 bytes. */
const char *kinds_api_version(const struct kind *kind, char out[96]);

/* "deployments.apps", "pods", with a subresource "deployments/scale.apps"; out holds 128 bytes. */
const char *kinds_qualified(const struct kind *kind, const char *sub, char out[128]);

/* The discovery document of a path such as "/api", "/apis", "/apis/apps", "/apis/apps/v1"; NULL when there is
 * none. The result is the caller's. */
json_t *kinds_discovery(const char *path);

#endif
