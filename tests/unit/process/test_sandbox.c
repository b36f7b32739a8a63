/* test_sandbox.c - every probe in a child: denied inside the sandbox of each role, and working without it. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/probe/probe.h"
#include "process/sandbox.h"
#include "tests/suite.h"

static int listener(uint16_t *ret_port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(sa);
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	ck_assert_int_eq(listen(fd, 5), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
	*ret_port = ntohs(sa.sin_port);
	return fd;
}

/* 0: it worked; > 0: denied with this errno; < 0: killed by this signal. */
static int try(const char *probe, int64_t arg, enum role role, enum sandbox_mode mode, uint16_t port)
{
	int status;
	const pid_t pid = fork();

	if (pid == 0) {
		struct sandbox_params p = { .role = role, .mode = mode, .port = port };
		char text[256];

		if (sandbox_enter(&p, text) < 0)
			_exit(200);
		_exit(-probe_run(probe, arg) & 0x7f);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		return -WTERMSIG(status);
	ck_assert_int_ne(WEXITSTATUS(status), 200);
	return WEXITSTATUS(status);
}

static int64_t arg_for(const char *probe, uint16_t port)
{
	return strcmp(probe, "connect-port") == 0                             ? port
	       : strcmp(probe, "ptrace") == 0 || strcmp(probe, "signal") == 0 ? getppid()
									      : 0;
}

static const enum role roles[] = { ROLE_WATCHER, ROLE_WORKER, ROLE_REPORTER };

START_TEST(denied_inside_and_working_outside)
{
	uint16_t port;
	const int fd = listener(&port);
	const char *probe = probe_name((size_t)_i);
	const pid_t victim = fork();

	if (victim == 0) {
		(void)pause();
		_exit(0);
	}
	int64_t arg = arg_for(probe, port);

	if (arg && strcmp(probe, "connect-port") != 0)
		arg = victim;
	ck_assert_msg(try(probe, arg, ROLE_WORKER, SANDBOX_OFF, 0) == 0,
		      "%s does not work without sandbox: empty test", probe);
	for (size_t r = 0; r < sizeof(roles) / sizeof(roles[0]); r++)
		ck_assert_msg(try(probe, arg, roles[r], SANDBOX_AUTO, 0) != 0,
			      "%s works inside the sandbox of %s", probe, role_name(roles[r]));
	(void)kill(victim, SIGKILL);
	(void)waitpid(victim, NULL, 0);
	(void)close(fd);
}

START_TEST(the_allowed_port_works)
{
	uint16_t port;
	const int fd = listener(&port);

	for (size_t r = 0; r < sizeof(roles) / sizeof(roles[0]); r++)
		ck_assert_int_eq(try("connect-port", port, roles[r], SANDBOX_REQUIRE, port), 0);
	(void)close(fd);
}

/* The reporter's directory, and nothing beside it. */
START_TEST(reporter_writes_below_its_directory_only)
{
	char dir[SUITE_PATH_MAX], beside[SUITE_PATH_MAX], file[SUITE_PATH_MAX + 8], other[SUITE_PATH_MAX + 8];
	int status;

	suite_folder(dir);
	suite_folder(beside);
	(void)snprintf(other, sizeof(other), "%s/x", beside);
	(void)snprintf(file, sizeof(file), "%s/x", dir);
	const pid_t pid = fork();

	if (pid == 0) {
		const struct sandbox_params p = { .role = ROLE_REPORTER,
						  .mode = SANDBOX_REQUIRE,
						  .writable_dir = dir };
		char text[256];

		if (sandbox_enter(&p, text) < 0)
			_exit(200);
		const int fd = open(file, O_CREAT | O_RDWR, 0600);

		if (fd < 0 || write(fd, "x", 1) != 1 || fsync(fd) < 0)
			_exit(1);
		if (open(other, O_CREAT | O_RDWR, 0600) >= 0)
			_exit(2);
		_exit(open("/etc/passwd", O_RDONLY) >= 0 ? 3 : 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

START_TEST(report_names_the_layers)
{
	int pipefd[2];
	char text[256] = "";

	ck_assert_int_eq(pipe(pipefd), 0);
	const pid_t pid = fork();

	if (pid == 0) {
		const struct sandbox_params p = { .role = ROLE_WORKER, .mode = SANDBOX_REQUIRE };
		char own[256];

		(void)sandbox_enter(&p, own);
		(void)!write(pipefd[1], own, strlen(own));
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_gt(read(pipefd[0], text, sizeof(text) - 1), 0);
	ck_assert_ptr_nonnull(strstr(text, "nnp"));
	ck_assert_ptr_nonnull(strstr(text, "dumpable0"));
	ck_assert_ptr_nonnull(strstr(text, "landlock"));
	ck_assert_ptr_nonnull(strstr(text, "seccomp"));
}

static int probes(void)
{
	int n = 0;

	while (probe_name((size_t)n))
		n++;
	return n;
}

TEST_MAIN("process/sandbox")
{
#if defined(OPC_NO_SANDBOX)
	printf("0 passed, 0 failed, 1 skipped\nskipped: the sandbox is built out together with the "
	       "sanitizers\n");
	(void)t;
	(void)probes;
	(void)denied_inside_and_working_outside;
	(void)the_allowed_port_works;
	(void)reporter_writes_below_its_directory_only;
	(void)report_names_the_layers;
#else
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, denied_inside_and_working_outside, 0, probes());
	tcase_add_test(t, the_allowed_port_works);
	tcase_add_test(t, reporter_writes_below_its_directory_only);
	tcase_add_test(t, report_names_the_layers);
#endif
}
