/* Who wrote the replicas. */
// SPDX-License-Identifier: Apache-2.0
#include "fake.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "worker/managed_fields.h"

#define ENTRY(manager, sub, at, fields)                                                                      \
	"{\"manager\":\"" manager "\",\"operation\":\"Update\",\"subresource\":\"" sub "\",\"time\":\"" at   \
	"\",\"fieldsV1\":{\"f:spec\":{" fields "}}}"
#define REPLICAS "\"f:replicas\":{}"
#define SIZE     "\"f:size\":{}"

static const struct {
	const char *entries, *manager;
	bool us;
} cases[] = {
	{ "", NULL, false },
	{ ENTRY("kubectl", "", LIVE, "\"f:template\":{}"), NULL, false },
	{ ENTRY("kubectl", "", LIVE, REPLICAS), "kubectl", false },
	{ ENTRY("ops-pod-cleaner", "scale", LIVE, REPLICAS), "ops-pod-cleaner", true },
	{ ENTRY("ops-pod-cleaner", "", LIVE, REPLICAS), "ops-pod-cleaner", true },
	{ "{\"manager\":\"ops-pod-cleaner\",\"operation\":\"Apply\",\"fieldsV1\":{\"f:spec\":{" REPLICAS
	  "}}}",
	  "ops-pod-cleaner", false },
	{ ENTRY("ops-pod-cleaner", "scale", LIVE, REPLICAS) "," ENTRY("flux", "", "2026-09-20T14:13:21Z",
								      REPLICAS),
	  "flux", false },
	{ ENTRY("flux", "", "2026-09-20T14:13:19Z", REPLICAS) "," ENTRY("ops-pod-cleaner", "scale", LIVE,
									REPLICAS),
	  "ops-pod-cleaner", true },
	/* A custom kind calls them otherwise; f:replicas of its spec may be something else. */
	{ ENTRY("ops-pod-cleaner", "scale", LIVE, SIZE) "," ENTRY("x", "", "2026-09-20T14:13:21Z", REPLICAS),
	  "ops-pod-cleaner", true },
	{ ENTRY("ops-pod-cleaner", "scale", LIVE, SIZE) "," ENTRY("x", "", "2026-09-20T14:13:21Z", SIZE), "x",
	  false },
	{ "1,null,{\"fieldsV1\":7}", NULL, false },
};

TEST_LOOP(who, 0, sizeof(cases) / sizeof(cases[0]))
{
	char text[2000];
	struct managed_fields_writer w;

	(void)snprintf(text, sizeof(text), "{\"metadata\":{\"managedFields\":[%s]}}", cases[_i].entries);
	json_t *o = json_loads(text, 0, NULL);

	ck_assert_ptr_nonnull(o);
	ck_assert_int_eq(managed_fields_replicas(o, &w), cases[_i].manager != NULL);
	if (cases[_i].manager) {
		ck_assert(str_is(w.manager, cases[_i].manager));
		ck_assert_int_eq(managed_fields_is_us(&w), cases[_i].us);
	}
	json_decref(o);
}

TEST(as_text)
{
	const struct managed_fields_writer w = { STR_LIT("argocd-controller"), STR_LIT("Apply"), STR_LIT(""),
						 NOW };
	struct facts f = { 0 };

	managed_fields_facts(&w, &f);
	ck_assert_str_eq(EN(f), "replicas last set by: argocd-controller (Apply, 2026-09-21T14:13:20Z)");
}

SUITE("worker/managed_fields");
