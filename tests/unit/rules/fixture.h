/* fixture.h - a policy that serves everything, pods in the states of interest, and a check runner.  Layer:
 * tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_UNIT_RULES_FIXTURE_H
#define TESTS_UNIT_RULES_FIXTURE_H

#include <check.h>
#include <string.h>

#include "rules/judge.h"
#include "rules/select.h"

#define S      ((int64_t)1000)
#define MIN    (60 * S)
#define HOUR   (60 * MIN)
#define NOW    INT64_C(1790000000000)
#define BORN   (NOW - 24 * HOUR)
#define HOURS  (2 * MIN) /* threshold of every duty */
#define FINISH MIN       /* a half-deleted pod is finished this long after its deadline */

/* Every duty enabled for "*", threshold HOURS, counts 5. Released by policy_done. */
void policy_init(struct policy *p);
void policy_done(struct policy *p);
/* Such a one, anew for each case of a POLICY_SUITE. */
extern struct policy policy;
void policy_setup(void);
void policy_teardown(void);
#define POLICY_SUITE(name)                                                                                   \
	TEST_MAIN(name)                                                                                      \
	{                                                                                                    \
		tcase_add_checked_fixture(t, policy_setup, policy_teardown);                                 \
	}                                                                                                    \
	_Static_assert(1, "")
/* Replace a list by the comma-separated names. */
void list_set(struct str_list *l, const char *names);

struct pod_facts pod_healthy(void); /* Running, Ready, owned by ReplicaSet web-1 */
struct pod_facts pod_evicted(void);
struct pod_facts pod_finished(void);    /* Failed, NodeShutdown, not Ready since just over the threshold */
struct pod_facts pod_terminating(void); /* deletion at NOW - HOURS - 1: just over the threshold */
struct pod_facts pod_pull_failing(void);
struct pod_facts pod_crashing(void);

struct pod_context cache(void);     /* STAGE_CACHE, first seen just over the threshold */
struct pod_context live_pull(void); /* STAGE_LIVE, 3 of 3 pods failing */
struct pod_context live_node_gone(void);
struct pod_context live_node_ready(void);

struct pod_context live(void); /* STAGE_LIVE, nothing else is known */

/* By that duty and `policy`. */
struct verdict judge_one(enum duty d, const struct pod_facts *p, struct pod_context s, int64_t now);
/* Returns v. */
struct verdict expect(struct verdict v, enum verdict_kind kind, enum reason reason, int line);
/* A DELETE that was cut off leaves p marked at grace 0: duty d finishes it, by whom it was marked does not
 * matter. What has a grace or is held by a finalizer is somebody's who is at it. */
void finishes_half_deleted(enum duty d, struct pod_facts p, enum reason reason);
#define EXPECT(v, kind, reason) expect(v, VERDICT_##kind, REASON_##reason, __LINE__)

#endif
