/* fuzz_facts.c - any JSON as a Pod that a worker reads. Properties: all of it, and what is projected of it,
 * give the same verdicts of every duty, now or at the ends of time; their evidence may be shown. */
// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/unicode.h"
#include "kube/decode_json.h"
#include "rules/judge.h"
#include "rules/status.h"
#include "worker/json_project.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int ok)
{
	if (!ok)
		abort();
}

static void set_policy(struct policy *p)
{
	static char all[] = "*", pull[] = "ErrImagePull";
	static char *v[] = { all }, *status[] = { pull, all };

	for (size_t d = 0; d < DUTY__MAX; d++)
		p->duty[d] = (struct duty_policy){ .enable = true,
						   .namespaces = { v, 1 },
						   .phases = { v, 1 },
						   .status = { status, 2 },
						   .hours_ms = 3600000,
						   .counts = 1,
						   .announce_ms = 1000 };
}

static void judge_all(const struct pod_facts *a, const struct pod_facts *b)
{
	static const int64_t times[] = { 0, 1, INT64_C(1790000000000), INT64_MAX - 1 };
	struct policy policy = { 0 };

	set_policy(&policy);
	for (size_t i = 0; i < 2 * DUTY__MAX * ARRAY_SIZE(times); i++) {
		const enum duty d = (enum duty)(i / 2 % DUTY__MAX);
		const int64_t now = times[i / 2 / DUTY__MAX];
		const struct pod_context around = { .stage = i % 2 ? STAGE_LIVE : STAGE_CACHE,
						    .failing_since = 1,
						    .tally_known = TRI_YES,
						    .pods = 1,
						    .failing = 1 };
		struct verdict v, w;

		judge_duty(d, a, &policy, &around, now, &v);
		judge_duty(d, b, &policy, &around, now, &w);
		require(v.kind == w.kind && v.reason == w.reason && v.at_ms == w.at_ms);
		require(facts_equal(&v.evidence, &w.evidence));
		require(judge_worked_at(d, a, now) == judge_worked_at(d, b, now) &&
			judge_worked_at(d, a, now) >= 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pod_facts whole, projected;
	json_error_t error;
	json_auto_t *all = json_loadb((const char *)data, size, 0, &error);
	json_auto_t *some = json_project_loadb((const char *)data, size, project_pod, &error);

	require(!all == !some);
	if (!all || decode_pod_json(all, &whole) < 0) {
		require(!some || decode_pod_json(some, &projected) < 0);
		return 0;
	}
	require(decode_pod_json(some, &projected) == 0);
	require(whole.n_containers <= POD_CONTAINERS_MAX && whole.n_labels <= POD_LABELS_MAX);
	judge_all(&whole, &projected);
	return 0;
}
