/* settled.h - whether everything is listed, judged and done, and since when a cluster cannot be seen: the
 * members of CTL_SUPERVISOR and CTL_CLUSTER that plan, `run --once` and `rbac --check` wait for. Process:
 * supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_OPERATOR_SETTLED_H
#define SUPERVISOR_OPERATOR_SETTLED_H

#include "supervisor/actions/parts.h"

/* Note what moves and what fails. Call once a second, and before the functions below. */
void settled_check(struct supervisor *s);
/* Set quiet_ms of a CTL_SUPERVISOR. */
void settled_describe(const struct supervisor *s, struct msg_ctl_supervisor *ret);
/* Set judged and failing_ms of a CTL_CLUSTER, of that cluster. */
void settled_describe_cluster(const struct supervisor *s, uint64_t cluster, struct msg_ctl_cluster *ret);

#endif
