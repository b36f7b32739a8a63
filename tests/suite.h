/* suite.h - the main function of a test program, and temporary folders that go with it.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

#define SUITE_PATH_MAX 96

/* The main function of a test program: its body adds the cases to t, the first test case of `suite`.
 *
 *     TEST_MAIN("watcher/queue")
 *     {
 *             tcase_add_test(t, keys_are_handed_out_once);
 *     } */
#define TEST_MAIN(name)                                                                                      \
	static void suite_cases(Suite *suite, TCase *t);                                                     \
	int main(void)                                                                                       \
	{                                                                                                    \
		return suite_run(name, suite_cases);                                                         \
	}                                                                                                    \
	static void suite_cases(__attribute__((unused)) Suite *suite, __attribute__((unused)) TCase *t)

/* Runs the cases that `cases` adds, each in a process of its own that ends with this one. Returns the exit
 * code of main(). */
int suite_run(const char *name, void (*cases)(Suite *suite, TCase *t));

/* A further test case of the suite, for cases with another fixture. */
TCase *suite_case(Suite *suite, const char *name);

/* Makes an empty folder (0700) below $TMPDIR, or /tmp, and writes its absolute path. It is removed with all
 * that is in it when this process has ended, however it ends. */
void suite_folder(char ret_path[static SUITE_PATH_MAX]);

#endif
