/* test_correction.c - when replicas come back without an operator: by the object's own mark and nothing else.
 */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <string.h>

#include "base/cleanup.h"
#include "rules/correction.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

/* By the history it was action 7, which took so many replicas. */
static const struct {
	int64_t replicas;
	const char *marked, *from, *template, *now, *asked;
	enum reason reason; /* REASON_CORRECTED = it acts */
} rows[] = {
	{ 3, "7", "3", "old", "new", "", REASON_CORRECTED },
	{ 3, "7", "3", "old", "old", "", REASON_TEMPLATE_UNCHANGED },
	{ 3, "7", "3", "old", "old", "now", REASON_CORRECTED },
	{ 3, "7", "3", "old", "old", "nowadays", REASON_TEMPLATE_UNCHANGED },
	{ 3, "7", "3", "old", "old", "no", REASON_TEMPLATE_UNCHANGED },
	/* Marked by a version that kept no hash, or a workload without a template. */
	{ 3, "7", "3", "", "new", "", REASON_TEMPLATE_UNCHANGED },
	{ 3, "7", "3", "old", "", "", REASON_TEMPLATE_UNCHANGED },
	{ 3, "7", "3", "", "new", "now", REASON_CORRECTED },
	/* The mark is gone, or of another action, or says another number than the history. */
	{ 3, "", "3", "old", "new", "now", REASON_NOT_MARKED },
	{ 3, "8", "3", "old", "new", "now", REASON_NOT_MARKED },
	{ 3, "7", "1000", "old", "new", "now", REASON_NOT_MARKED },
	{ 3, "7", "2", "old", "new", "", REASON_NOT_MARKED },
	{ 3, "7", "", "old", "new", "", REASON_NOT_MARKED },
	{ 3, "7", "3x", "old", "new", "", REASON_NOT_MARKED },
	{ 1000, "7", "3", "old", "new", "", REASON_NOT_MARKED },
	{ 0, "7", "0", "old", "new", "", REASON_NOT_MARKED },
};

TEST_LOOP(by_the_mark, 0, (int)ARRAY_SIZE(rows))
{
	const struct duty_policy on = { .restore = RESTORE_WHEN_TEMPLATE_CHANGES }, off = { 0 };
	const struct correction_facts f = { .action = 7,
					    .replicas = rows[_i].replicas,
					    .marked = STR_C(rows[_i].marked),
					    .is_of_history = true,
					    .from = STR_C(rows[_i].from),
					    .template = STR_C(rows[_i].template),
					    .now = STR_C(rows[_i].now),
					    .asked = STR_C(rows[_i].asked) };
	struct verdict v;

	correction_judge(&on, &f, &v);
	ck_assert_str_eq(reason_code(v.reason), reason_code(rows[_i].reason));
	ck_assert_int_eq(v.kind, rows[_i].reason == REASON_CORRECTED ? VERDICT_ACT : VERDICT_REFUSE);
	ck_assert_uint_gt(strlen(EN(v.evidence)), 0);
	correction_judge(&off, &f, &v);
	ck_assert_int_eq(v.kind, VERDICT_REFUSE);
	ck_assert_int_eq(v.reason, REASON_RESTORE_OFF);
}

/* The same number in another history is another action. */
TEST(of_another_history)
{
	const struct duty_policy on = { .restore = RESTORE_WHEN_TEMPLATE_CHANGES };
	struct correction_facts f = { .action = 7,
				      .replicas = 3,
				      .marked = STR_LIT("7"),
				      .from = STR_LIT("3"),
				      .asked = STR_LIT("now") };
	struct verdict v;

	correction_judge(&on, &f, &v);
	ck_assert_int_eq(v.reason, REASON_NOT_MARKED);
	f.is_of_history = true;
	correction_judge(&on, &f, &v);
	ck_assert_int_eq(v.reason, REASON_CORRECTED);
}

TEST_MAIN("rules/correction")
{
	(void)t;
}
