/* judge.h - the decisions: (facts, context, policy, now) -> verdict. Pure: no I/O, no clock, no
 * allocation. The watcher judges what its cache holds (STAGE_CACHE), the worker judges again what it has just
 * read (STAGE_LIVE) with the same functions. A fact that is unknown never leads to ACT in STAGE_LIVE. Layer:
 * rules.  Rules R1-R31: docs/judgement.md. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_JUDGE_H
#define RULES_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/pod.h"
#include "model/policy.h"
#include "rules/verdict.h"

/* By one duty. now is Unix ms by the API server's clock. Of a duty that reports, VERDICT_ACT = it belongs
 * into the digest. */
void judge_duty(enum duty d, const struct pod_facts *p, const struct policy *policy,
		const struct pod_context *s, int64_t now, struct verdict *ret);
/* By every duty that acts, in their order: the first ACT wins, else the WAIT with the earliest at_ms, else
 * the first REFUSE, else NONE. */
void judge_pod(const struct pod_facts *p, const struct policy *policy, const struct pod_context *s,
	       int64_t now, struct verdict *ret);

/* As judge_duty, and reports every check of the duty in order: those before the decision, the one that
 * decided, and those not reached. */
void judge_trace(enum duty d, const struct pod_facts *p, const struct policy *policy,
		 const struct pod_context *s, int64_t now, check_report_fn *report, void *ctx,
		 struct verdict *ret);

/* When the state that the duty judges began by our evidence, Unix ms; 0 when nothing tells. */
int64_t judge_began(enum duty d, const struct pod_facts *p, const struct pod_context *s);
/* Of a duty that keeps the newest of what has ended: is the pod in its state by these settings of it?
 * *ret_at: since when, 0 or less: nothing tells. Never for another duty. */
bool judge_is_ended(enum duty d, const struct pod_facts *p, const struct duty_policy *dp, int64_t *ret_at);
/* Does this pod fail in the way that the duty scales its workload down for? *ret_container, when not NULL:
 * which container does. Never for a duty that concerns pods alone. */
bool judge_fails(enum duty d, const struct pod_facts *p, const struct policy *policy, int64_t now,
		 uint32_t *ret_container);
/* Has it begun to fail in that way, so that the clock of its revision runs? Earlier than it fails, where a
 * duty asks how often. */
bool judge_begins(enum duty d, const struct pod_facts *p, const struct policy *policy, int64_t now);
/* Does a failure of this pod count against its workload? Not one that is its node's. */
bool judge_blames(enum duty d, const struct pod_facts *p, const struct policy *policy, int64_t now);
/* Does a live pod that fails by no duty speak for a workload of which another pod fails by a container of
 * that kind? Where no image of that kind was pulled yet it proves nothing. */
bool judge_proves(const struct pod_facts *p, enum container_kind kind);
/* Does it prove that its revision works, so that nothing of it has failed "since" before? */
bool judge_works(enum duty d, const struct pod_facts *p, int64_t now);
/* Until when this pod, which may be over, shows that its revision worked, Unix ms; 0: nothing tells. */
int64_t judge_worked_at(enum duty d, const struct pod_facts *p, int64_t now);
/* Since when a pod that cannot start is not Ready, but not while its init containers still worked; `now` when
 * nothing tells. */
int64_t judge_unready_since(const struct pod_facts *p, int64_t now);
/* Since when a pod that fails has at least, by itself and whoever watched. Of a crash loop, which is Ready
 * with each start where no probe says otherwise, its restarts tell: those since the clock began at `since`,
 * by when there were `before`. */
int64_t judge_told_since(enum duty d, const struct pod_facts *p, int64_t since, int32_t before, int64_t now);

#endif
