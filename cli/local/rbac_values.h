/* rbac_values.h - what the templates of `rbac` are filled with: rbac.yaml, admission.yaml, binding.yaml.
 * Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_LOCAL_RBAC_VALUES_H
#define CLI_LOCAL_RBAC_VALUES_H

#include <jansson.h>

#include "cli/local/rbac_needs.h"

/* Describe the roles and the duties of a configuration as an object with these members:
 *   home, user (of --writer)   namespace of the accounts; absent when the workers use their service account
 *   roles[]    role, namespace, atHome, guarded, reads, writes, rules[]: why, group, resources, lease, verbs
 *   duties[]   duty, a member of that name (true), named, in, deletes, scalesDown, and the limits of what is
 * due others     expressions of CEL by name: writer, scales, byScale, ... A further line of an expression is
 * indented by eight blanks. Returns a new reference. */
json_t *rbac_values(const struct rbac_request *q);

#endif
