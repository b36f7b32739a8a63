/* Who asks, and what they may do. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_AUTH_H
#define APISIM_AUTH_H

#include "tests/apisim/call.h"

struct auth *auth_new(void);
void auth_free(struct auth *a);

/* "TOKEN=USER" and then rules, each after a colon: "VERB/RESOURCE[/SUB][@NAMESPACE]" forbids, with a + before
 * it allows.
 * * stands for anything; VERB may be several, joined by commas. A user with allowing rules may do nothing
 * else. False when the text is no such thing. */
bool auth_add(struct auth *a, const char *text);

/* Forgets a token; false when there is none. */
bool auth_revoke(struct auth *a, const char *token);

/* Adds a rule {"user", "verb", "resource", "namespace"} at run time, of which an absent one stands for
 * anything, and keeps it; removes those of a user (NULL: of all). */
void auth_deny(struct auth *a, json_t *rule);
void auth_undeny(struct auth *a, const char *user);

/* Sets call->user and returns true, or answers 401. Without any token configured everybody is "admin". */
bool auth_check_token(struct auth *a, struct call *c);

/* The answer to a SelfSubjectAccessReview of whoever calls. */
json_t *auth_review(const struct auth *a, const struct call *c, const json_t *review);

/* True, or answers 403. */
bool auth_check_access(struct auth *a, struct call *c);

#endif
