/* suite.c - see suite.h. A process of its own removes a folder: it waits for the end of the process that made
 * it by a pipe that only that one (and what it forks) holds open, so that a crash and a SIGKILL count as
 * well. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/suite.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CASES_MAX 256
#define MARKS_ALL 1000

static struct {
	const TTest *test;
	int from, to;
} cases[CASES_MAX];
static size_t n_cases;
static pid_t program;
static const char *suite_name;

void suite_add(const TTest *test, int from, int to)
{
	if (n_cases == CASES_MAX)
		abort();
	cases[n_cases].test = test;
	cases[n_cases].from = from;
	cases[n_cases++].to = to;
}

/* libcheck writes every assertion that holds into a file, and reads them all at the end, to say after which
 * one a case crashed. A loop makes a million of them: behind the first ones, one of many is enough. What
 * fails says its own place. */
void __wrap__mark_point(const char *file, int line);
void __real__mark_point(const char *file, int line);

void __wrap__mark_point(const char *file, int line)
{
	static unsigned long passed; /* each case is a process of its own */

	if (passed < MARKS_ALL || passed % MARKS_ALL == 0)
		__real__mark_point(file, line);
	passed++;
}

/* Who wants to know whether any case fails, and not which (tests/mutants), sets this: the first one ends the
 * program. What crashes or takes too long does not. */
static void end_at_failure(const char *file, int line)
{
	if (!getenv("OPC_STOP_AT_FAILURE") || getpid() == program)
		return;
	(void)dprintf(1, "%s:%d:F:%s:line_%d:0: the first failure\n", file, line, suite_name, line);
	(void)kill(program, SIGKILL);
	_exit(EXIT_FAILURE);
}

_Noreturn void __wrap__ck_assert_failed(const char *file, int line, const char *expr, const char *msg, ...);
_Noreturn void __real__ck_assert_failed(const char *file, int line, const char *expr, const char *msg, ...);

__attribute__((format(printf, 4, 5))) _Noreturn void
__wrap__ck_assert_failed(const char *file, int line, const char *expr, const char *msg, ...)
{
	char text[4096] = "";
	va_list ap;

	end_at_failure(file, line);
	va_start(ap, msg);
	if (msg)
		(void)vsnprintf(text, sizeof(text), msg, ap);
	va_end(ap);
	__real__ck_assert_failed(file, line, expr, msg ? "%s" : NULL, text);
}

/* libcheck waits for its children for ever, but a test program that is killed leaves them running. */
static void end_with_parent(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

TCase *suite_case(Suite *s, const char *name)
{
	TCase *t = tcase_create(name);

	tcase_add_checked_fixture(t, end_with_parent, NULL);
	suite_add_tcase(s, t);
	return t;
}

int suite_run(const char *name, void (*prepare)(Suite *s, TCase *t))
{
	program = getpid();
	suite_name = name;
	Suite *s = suite_create(name);
	TCase *t = suite_case(s, name);
	SRunner *r = srunner_create(s);

	if (prepare)
		prepare(s, t);
	for (size_t i = 0; i < n_cases; i++)
		tcase_add_loop_test(t, cases[i].test, cases[i].from, cases[i].to);
	srunner_run_all(r, CK_ENV);
	const int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int open_up(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)at;
	if (kind == FTW_D || kind == FTW_DNR)
		(void)chmod(path, 0700); /* nftw reads it after this call */
	return 0;
}

static int take_away(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	(void)remove(path);
	return 0;
}

static _Noreturn void remove_after(int pipe_fd, const char *path)
{
	char byte;

	(void)dup2(pipe_fd, 0);
	(void)close_range(1, ~0u, 0);
	(void)prctl(PR_SET_PDEATHSIG, 0);
	(void)signal(SIGTERM, SIG_IGN);
	(void)!read(0, &byte, 1);
	(void)nftw(path, open_up, 16, FTW_PHYS);
	(void)nftw(path, take_away, 16, FTW_PHYS | FTW_DEPTH);
	_exit(0);
}

void suite_folder(char ret_path[static SUITE_PATH_MAX])
{
	const char *parent = getenv("TMPDIR");
	int ends[2];

	(void)snprintf(ret_path, SUITE_PATH_MAX, "%s/opc-test-XXXXXX", parent ? parent : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(ret_path));
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	const pid_t pid = fork();

	if (pid == 0) {
		(void)setsid(); /* libcheck kills the process group of a case that has ended */
		if (fork() == 0) {
			(void)close(ends[1]);
			remove_after(ends[0], ret_path);
		}
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	(void)close(ends[0]); /* the other end stays open for as long as this process runs */
}

char *suite_file(const char *folder, const char *name, const char *text)
{
	char *path = NULL;

	ck_assert_int_gt(asprintf(&path, "%s/%s", folder, name), 0);
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	(void)fputs(text, f);
	(void)fclose(f);
	return path;
}
