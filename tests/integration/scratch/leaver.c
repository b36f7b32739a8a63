/* leaver.c - a test program whose cases end in every way without cleaning up. One case each, by its argument.
 */
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/suite.h"

static const char *how;

TEST(leaves)
{
	char path[SUITE_PATH_MAX], inner[SUITE_PATH_MAX + 16];

	suite_folder(path);
	(void)snprintf(inner, sizeof(inner), "%s/inner", path);
	ck_assert_int_eq(mkdir(inner, 0700), 0);
	(void)snprintf(inner, sizeof(inner), "%s/inner/file", path);
	ck_assert_int_ge(open(inner, O_CREAT | O_WRONLY | O_CLOEXEC, 0600), 0);
	(void)snprintf(inner, sizeof(inner), "%s/inner", path);
	ck_assert_int_eq(chmod(inner, 0), 0);
	(void)printf("made %s\n", path);
	(void)fflush(stdout);
	ck_assert_str_ne(how, "fails");
	if (strcmp(how, "crashes") == 0)
		(void)raise(SIGSEGV);
	if (strcmp(how, "waits") == 0)
		(void)pause();
}

static void cases(__attribute__((unused)) Suite *suite, TCase *t)
{
	tcase_set_timeout(t, 60);
}

int main(int argc, char **argv)
{
	how = argc == 2 ? argv[1] : "";
	return suite_run("leaver", cases);
}
