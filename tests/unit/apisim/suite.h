/* The main function of the tests of this folder. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_TEST_SUITE_H
#define APISIM_TEST_SUITE_H

#include <check.h>

static inline int suite_run(const char *name, const TTest *const *tests)
{
	Suite *s = suite_create(name);
	TCase *t = tcase_create("all");
	SRunner *r;
	int failed;

	for (; *tests; tests++)
		tcase_add_test(t, *tests);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}

#endif
