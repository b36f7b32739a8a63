/* suite.h - the main function of a test program, and temporary folders that go with it.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

#define SUITE_PATH_MAX 96

/* A case, which runs in a process of its own but in an instrumented build (cmake/OpcTest.cmake). It is in the
 * program's suite by being defined. */
#define TEST(name) TEST_LOOP(name, 0, 1)

/* A case that runs for each value of _i from `from` to below `to`. */
#define TEST_LOOP(name, from, to)                                                                            \
	static void name##_fn(int _i);                                                                       \
	static const TTest name##_ttest = { #name, name##_fn, __FILE__, __LINE__ };                          \
	__attribute__((constructor)) static void name##_add(void)                                            \
	{                                                                                                    \
		suite_add(&name##_ttest, (int)(from), (int)(to));                                            \
	}                                                                                                    \
	static void name##_fn(__attribute__((unused)) int _i)

/* The main function of a test program that runs its cases as they are. */
#define SUITE(name)                                                                                          \
	int main(void)                                                                                       \
	{                                                                                                    \
		return suite_run(name, NULL);                                                                \
	}                                                                                                    \
	_Static_assert(1, "")

/* The same with a body that prepares t, the test case they are in: fixtures, its timeout. More may be added
 * to it and to `suite`. */
#define TEST_MAIN(name)                                                                                      \
	static void suite_cases(Suite *suite, TCase *t);                                                     \
	int main(void)                                                                                       \
	{                                                                                                    \
		return suite_run(name, suite_cases);                                                         \
	}                                                                                                    \
	static void suite_cases(__attribute__((unused)) Suite *suite, __attribute__((unused)) TCase *t)

void suite_add(const TTest *test, int from, int to);

/* Runs all cases; a process of a case ends with this one. prepare may be NULL. Returns the exit code of
 * main(). */
int suite_run(const char *name, void (*prepare)(Suite *suite, TCase *t));

/* A further test case of the suite, for cases with another fixture. */
TCase *suite_case(Suite *suite, const char *name);

/* Makes an empty folder (0700) below $TMPDIR, or /tmp, and writes its absolute path. It is removed with all
 * that is in it when this process has ended, however it ends. */
void suite_folder(char ret_path[static SUITE_PATH_MAX]);

/* Writes a file; its path, which the caller frees. */
char *suite_file(const char *folder, const char *name, const char *text);

#endif
