/* known_failures.h - since when a workload is known to fail, as a GRANT or PREFETCH says it to a worker.
 * Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_KNOWN_FAILURES_H
#define SUPERVISOR_ACTIONS_KNOWN_FAILURES_H

#include "supervisor/actions/parts.h"

/* Unix ms; 0 for an action that no such time concerns. What is not known, or only from now on, is known since
 * now. */
int64_t known_failures_since(const struct supervisor *s, uint64_t action,
			     const struct failing_since_key *key);
/* It was named at `at`, Unix ms. Without room it is left out, which is logged once. */
void known_failures_add(struct supervisor *s, const struct failing_since_key *key, int64_t at);

/* A watcher says that it fails, or does no more. It says so a moment after it has seen it: so much is
 * believed. */
void known_failures_note(struct supervisor *s, const struct failing_since_key *key, bool fails);

#endif
