/* policy.h - what the operator asked for, as the rules read it. Made by config/, read by rules/; it stands
 * here because those two layers do not see one another. Layer: base.  Owner: whoever filled it
 * (config/settings frees it). Times are milliseconds. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_POLICY_H
#define BASE_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/duty.h"
#include "base/str.h"

struct duty_policy {
	bool enable;
	struct str_list namespaces; /* "*" means every namespace; empty means none */
	int64_t hours_ms;           /* threshold; the key is called `hours`, its value is a Go duration */
	struct str_list status;     /* container reasons that count (errImagePull, tooManyRestart) */
	int64_t counts;             /* restarts that are too many (tooManyRestart) */
	bool include_jobs;          /* deleteEvictedPod: also pods of Jobs, which carry exit information */
	bool unreachable_nodes; /* deleteTerminatingPod: force where the node is NotReady (dangerous, opt-in)
				 */
};

enum policy_mode { MODE_ENFORCE, MODE_OBSERVE };

struct policy {
	enum policy_mode mode;
	struct duty_policy duty[DUTY__MAX];
	struct str_list exclude_namespaces;         /* the operator's: beats `namespaces` */
	struct str_list default_exclude_namespaces; /* ours: yields to a namespace named explicitly */
	char *own_namespace; /* NULL outside a cluster; treated as a default exclusion */
	char *own_pod;       /* NULL outside a cluster; never acted on */
};

#endif
