/* rbac_rights.h - what a configuration asks of an API server, for those that check it; and what the templates
 * of `rbac` are filled with: rbac.yaml, admission.yaml, binding.yaml. Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_LOCAL_RBAC_RIGHTS_H
#define CLI_LOCAL_RBAC_RIGHTS_H

#include <jansson.h>

#include "cli/options.h"
#include "config/config.h"
#include "model/rights.h"

/* The namespace of the accounts. */
#define RBAC_HOME      "ops-pod-cleaner"
#define RBAC_KINDS_MAX 32

struct rbac_request {
	const struct config *config;
	const struct options *o;
	struct kind_desc kinds[RBAC_KINDS_MAX]; /* of --kinds */
	size_t n_kinds;
	struct str_list annotations; /* of --webhook-annotations; owned by the caller */
	unsigned needs;              /* rbac_needs_of() */
};

/* Bits of enum rights_need. */
unsigned rbac_needs_of(const struct config *c);
/* Is it asked for, and not by another row already? */
bool rbac_needs_right(const struct rbac_request *q, const struct right_desc *r);
/* Less is done without it, or less is known, but nothing is wrong: what the admission policy is bound beside,
 * what only a report or the evidence says, and the Lease where it is only a presence. */
bool rbac_is_optional(const struct rbac_request *q, const struct right_desc *r);
/* The kinds that are known, then those of --kinds; NULL behind the last. */
const struct kind_desc *rbac_kind_of(const struct rbac_request *q, size_t i);
/* "fleets.example.com,widgets.example.com", taken apart in place; false when it is no such text. */
bool rbac_read_kinds(struct rbac_request *q, char *text);
/* Add the prefixes "a.example.com/,b.example.com/" to q->annotations; text is taken apart in place. Returns
 * false when one is no beginning of a key with its domain, or reaches our own keys. */
bool rbac_read_annotations(struct rbac_request *q, char *text);
/* Where the Lease is, as far as the configuration says. */
const char *rbac_lease_namespace(const struct rbac_request *q);
/* The Leases that the right is bound to, with commas between; owned by the caller. NULL: it is bound to none.
 */
char *rbac_lease_names(const struct rbac_request *q, const struct right_desc *r);

/* Describe the roles and the duties of a configuration as an object with these members:
 *   home, user (of --writer)   namespace of the accounts; absent when the workers use their service account
 *   roles[]    role, namespace, atHome, guarded, reads, writes, rules[]: why, group, resources, lease, verbs
 *   duties[]   duty, a member of that name (true), named, in, deletes, scalesDown, and the limits of what is
 * due others     expressions of CEL by name: writer, scales, byScale, ... A further line of an expression is
 * indented by eight blanks. Returns a new reference. */
json_t *rbac_values(const struct rbac_request *q);

#endif
