/* Every check of a duty is told in order, and tells the same verdict as the judgement itself. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "base/cleanup.h"
#include "tests/english.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

#include <stdio.h>

struct heard {
	size_t n, passed, decided, not_reached;
	enum verdict_kind kind;
	enum reason reason;
	char rule[32];
	char facts[4096];
};

static void hear(void *ctx, const struct check_report *told)
{
	struct heard *h = ctx;

	h->n++;
	ck_assert_uint_le(strlen(told->rule), 24);
	ck_assert_uint_gt(strlen(told->rule), 0);
	ck_assert_int_lt(told->question, TEXT__MAX);
	if (told->holds == TRI_YES) {
		ck_assert_uint_eq(h->decided, 0);
		h->passed++;
	} else if (told->holds == TRI_NO) {
		h->decided++;
		h->kind = told->kind;
		h->reason = told->reason;
		(void)snprintf(h->rule, sizeof(h->rule), "%s", told->rule);
	} else {
		ck_assert_uint_eq(h->decided, 1);
		ck_assert(facts_empty(told->found));
		h->not_reached++;
	}
	strncat(h->facts, EN(*told->found), sizeof(h->facts) - strlen(h->facts) - 1);
	strncat(h->facts, "\n", sizeof(h->facts) - strlen(h->facts) - 1);
}

static struct heard trace(enum duty d, const struct pod_facts *p, struct pod_context s, struct verdict *v)
{
	struct heard h = { 0 };
	struct verdict plain;

	judge_trace(d, p, &policy, &s, NOW, hear, &h, v);
	ck_assert_uint_eq(h.decided, 1);
	ck_assert_uint_eq(h.n, h.passed + h.decided + h.not_reached);
	ck_assert_str_eq(h.rule, v->rule);
	ck_assert_int_eq(h.kind, v->kind);
	ck_assert_int_eq(h.reason, v->reason);
	judge_duty(d, p, &policy, &s, NOW, &plain);
	ck_assert_int_eq(plain.kind, v->kind);
	ck_assert_int_eq(plain.reason, v->reason);
	ck_assert_int_eq(plain.at_ms, v->at_ms);
	ck_assert_str_eq(EN(plain.evidence), EN(v->evidence));
	ck_assert_str_eq(plain.rule, v->rule);
	return h;
}

TEST(an_act_passes_every_check)
{
	static struct pod_facts (*const pods[DUTY__MAX])(
		void) = { [DUTY_EVICTED] = pod_evicted,         [DUTY_FINISHED] = pod_finished,
			  [DUTY_CRASH_LOOP] = pod_crashing,     [DUTY_TERMINATING] = pod_terminating,
			  [DUTY_IMAGE_PULL] = pod_pull_failing, [DUTY_RESTARTS] = pod_crashing };

	for (enum duty d = 0; d < DUTY__MAX; d++) {
		ck_assert_msg(pods[d] != NULL, "%s: no pod of the fixture is due", duty_name(d));
		struct pod_facts p = pods[d]();
		struct verdict v;
		const struct heard h =
			trace(d, &p, d == DUTY_TERMINATING ? live_node_gone() : live_pull(), &v);

		ck_assert_int_eq(v.kind, VERDICT_ACT);
		ck_assert_uint_eq(h.not_reached, 0);
		ck_assert_str_eq(v.rule, duty_acts(d) ? "Act" : "Report");
	}
}

TEST(facts_and_thresholds_are_told)
{
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = live_pull();
	struct verdict v;
	struct heard h;

	s.failing_since = NOW - MIN;
	h = trace(DUTY_IMAGE_PULL, &p, s, &v);
	ck_assert_int_eq(v.kind, VERDICT_WAIT);
	ck_assert_str_eq(v.rule, "R4");
	ck_assert_uint_gt(h.not_reached, 0);
	ck_assert_ptr_nonnull(strstr(h.facts, "container app: ImagePullBackOff"));
	ck_assert_ptr_nonnull(strstr(h.facts, "threshold 2m"));
	ck_assert_ptr_nonnull(strstr(h.facts, "reached in 1m"));
}

static void hear_chinese(void *ctx, const struct check_report *told)
{
	unsigned *n = ctx;

	english_told_facts(told->found);
	*n += !facts_empty(told->found);
}

/* Every pod by every duty, at any time, with whatever else is known. */
TEST(all_of_it_is_told_in_chinese)
{
	static struct pod_facts (*const pods[])(void) = { pod_healthy,  pod_evicted,     pod_finished,
							  pod_crashing, pod_terminating, pod_pull_failing };
	static struct pod_context (*const contexts[])(void) = { cache, live, live_pull, live_node_gone,
								live_node_ready };
	unsigned n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(pods) * ARRAY_SIZE(contexts) * DUTY__MAX * 3; i++) {
		static const int64_t now[] = { NOW, NOW - 3 * HOUR, NOW + 100 * HOUR };
		const struct pod_facts p = pods[i % ARRAY_SIZE(pods)]();
		const struct pod_context s = contexts[i / ARRAY_SIZE(pods) % ARRAY_SIZE(contexts)]();
		const size_t rest = i / ARRAY_SIZE(pods) / ARRAY_SIZE(contexts);
		struct verdict v;

		judge_trace((enum duty)(rest % DUTY__MAX), &p, &policy, &s, now[rest / DUTY__MAX],
			    hear_chinese, &n, &v);
		english_told_facts(&v.evidence);
	}
	ck_assert_uint_gt(n, 1000);
}

POLICY_SUITE("rules/trace");
