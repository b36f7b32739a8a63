/* path.h - the paths of requests.  Layer: kube.  Pure. The texts are owned by the caller. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_PATH_H
#define KUBE_PATH_H

/* group "" = core/v1. ns NULL = cluster-scoped; name NULL = collection; subresource NULL = none; query NULL =
 * none. Each part is checked and percent-encoded: a name can never add a path segment or a parameter. NULL
 * when a part is empty or is "." or "..". */
char *path_format(const char *group, const char *version, const char *ns, const char *resource,
		  const char *name, const char *subresource, const char *query);

/* Percent-encodes everything but RFC 3986's unreserved characters: one path segment or one query value. */
char *path_escape(const char *s);

#endif
