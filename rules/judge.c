/* judge.c - the duties in their order; see judge.h. */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "rules/guard.h"

typedef void judge_fn(const struct pod_facts *p, const struct policy *policy, const struct surroundings *s,
		      int64_t now, struct verdict *ret);

static judge_fn *const chain[] = {
	[DUTY_EVICTED] = judge_evicted,
	[DUTY_TERMINATING] = judge_terminating,
	[DUTY_IMAGE_PULL] = judge_image_pull,
};
#define CHAIN_LEN (sizeof(chain) / sizeof(chain[0]))

void judge_duty(enum duty d, const struct pod_facts *p, const struct policy *policy,
		const struct surroundings *s, int64_t now, struct verdict *ret)
{
	if ((unsigned)d < CHAIN_LEN) {
		chain[d](p, policy, s, now, ret);
		return;
	}
	memset(ret, 0, sizeof(*ret));
	ret->duty = d;
	verdict_set(ret, VERDICT_NONE, REASON_NOTHING_TO_DO);
}

/* A wait without a time ends with a change, so any wait with one is earlier. */
static bool earlier(const struct verdict *a, const struct verdict *b)
{
	return a->at_ms > 0 && (b->at_ms == 0 || a->at_ms < b->at_ms);
}

void judge_pod(const struct pod_facts *p, const struct policy *policy, const struct surroundings *s,
	       int64_t now, struct verdict *ret)
{
	static const int rank[] = {
		[VERDICT_NONE] = 0, [VERDICT_REFUSE] = 1, [VERDICT_WAIT] = 2, [VERDICT_ACT] = 3
	};
	struct verdict v;

	memset(ret, 0, sizeof(*ret));
	verdict_set(ret, VERDICT_NONE, REASON_NOTHING_TO_DO);
	for (size_t d = 0; d < CHAIN_LEN; d++) {
		chain[d](p, policy, s, now, &v);
		if (rank[v.kind] > rank[ret->kind] ||
		    (v.kind == VERDICT_WAIT && ret->kind == VERDICT_WAIT && earlier(&v, ret)))
			*ret = v;
		if (ret->kind == VERDICT_ACT)
			return;
	}
}

void judge_trace(enum duty d, const struct pod_facts *p, const struct policy *policy,
		 const struct surroundings *s, int64_t now, check_told_fn *told, void *ctx,
		 struct verdict *ret)
{
	(void)told;
	(void)ctx;
	judge_duty(d, p, policy, s, now, ret);
}
