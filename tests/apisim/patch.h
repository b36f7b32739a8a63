/* JSON merge patch (RFC 7386) and JSON patch (RFC 6902). */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_PATCH_H
#define APISIM_PATCH_H

#include <jansson.h>
#include <stdbool.h>

/* The patched document; shares what the patch does not touch. Both inputs stay the caller's and unchanged.
 * strategic: as kube-apiserver merges the lists the tests patch: containers by name, conditions by type,
 * ownerReferences by uid, volumes, env by name; other lists are replaced; {"$patch":"delete"} in such a list
 * removes. */
json_t *patch_merge(const json_t *doc, const json_t *patch, bool strategic);

/* 0 and the result; -EINVAL when `ops` is no JSON patch (a text of what is wrong in why, 160 bytes);
 * -ENOENT when an operation cannot be applied, which includes a failed test. */
int patch_json(const json_t *doc, const json_t *ops, char why[160], json_t **ret);

#endif
