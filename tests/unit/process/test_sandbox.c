/* test_sandbox.c - every probe in a child: denied inside the sandbox of each role, and working without it. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

static void log_is_a_file(void)
{
	if (dup2(open("/tmp", O_TMPFILE | O_RDWR | O_APPEND, 0600), STDERR_FILENO) < 0)
		_exit(200);
}

/* As the supervisor gives it to its children. */
static void log_is_a_pipe(void)
{
	int ends[2];

	if (pipe(ends) < 0 || dup2(ends[1], STDERR_FILENO) < 0)
		_exit(200);
}

/* 0: it worked; > 0: denied with this errno; < 0: killed by this signal. */
static int try(const char *probe, int64_t arg, enum role role, enum sandbox_mode mode, uint16_t port)
{
	int status;
	const pid_t pid = fork();

	if (pid == 0) {
		struct sandbox_params p = { .role = role, .mode = mode, .ports = { 443, port } };
		char text[256];

		if (mode == SANDBOX_OFF)
			log_is_a_file();
		else
			log_is_a_pipe();
		if (sandbox_enter(&p, text) < 0 || sandbox_seal(&p, text) < 0)
			_exit(200);
		_exit(-probe_run(probe, arg) & 0x7f);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		return -WTERMSIG(status);
	ck_assert_int_ne(WEXITSTATUS(status), 200);
	return WEXITSTATUS(status);
}

static int64_t arg_for(const char *probe, uint16_t port, pid_t victim)
{
	if (strcmp(probe, "connect-port") == 0 || strstr(probe, "fast-open"))
		return port;
	return strcmp(probe, "ptrace") == 0 || strcmp(probe, "signal") == 0 ? victim : 0;
}

static const enum role roles[] = { ROLE_WATCHER, ROLE_WORKER, ROLE_REPORTER };

START_TEST(denied_inside_and_working_outside)
{
	uint16_t port;
	const int fd = listener(&port);
	const char *probe = probe_name((size_t)_i);
	const pid_t victim = fork();

	if (victim == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a case that fails ends at once */
		(void)pause();
		_exit(0);
	}
	const int64_t arg = arg_for(probe, port, victim);

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
						  .writable_dir = dir,
						  .file_bytes = 4096 };
		char text[256];

		if (sandbox_enter(&p, text) < 0)
			_exit(200);
		const int fd = open(file, O_CREAT | O_RDWR, 0600);

		if (fd < 0 || write(fd, "x", 1) != 1 || fsync(fd) < 0)
			_exit(1);
		if (open(other, O_CREAT | O_RDWR, 0600) >= 0)
			_exit(2);
		if (open("/etc/passwd", O_RDONLY) >= 0)
			_exit(3);
		/* Then it makes none, but goes on with those that it has. */
		if (sandbox_seal(&p, text) < 0 || !strstr(text, "sealed"))
			_exit(4);
		if (open(file, O_RDWR) < 0 || write(fd, "x", 1) != 1)
			_exit(5);
		(void)open(other, O_CREAT | O_RDWR, 0600);
		_exit(6);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "%d", status);
}

START_TEST(what_is_missing_is_told)
{
	ck_assert(!sandbox_is_weak("dumpable0,nnp,nocaps,mdwe,landlock7,seccomp,sealed"));
	ck_assert(sandbox_is_weak("dumpable0,nnp,nocaps,no landlock,seccomp"));
	ck_assert(sandbox_is_weak("no dumpable0,nnp"));
	ck_assert(sandbox_is_weak("dumpable0,landlock3,no landlock-tcp,seccomp"));
	ck_assert(sandbox_is_weak("off"));
}

/* Runs what in the role's sandbox with these limits; the exit status of it. */
static int inside(enum role role, int (*what)(void))
{
	int status;
	const pid_t pid = fork();

	if (pid == 0) {
		const struct sandbox_params p = {
			.role = role, .mode = SANDBOX_REQUIRE, .data_bytes = 64 << 20, .file_bytes = 4096
		};
		char text[256];

		log_is_a_pipe();
		(void)signal(SIGXFSZ, SIG_IGN);
		_exit(sandbox_enter(&p, text) < 0 || sandbox_seal(&p, text) < 0 ? 200 : what());
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Its own descriptor: in the sandbox none can be opened. */
static int write_much(void)
{
	static const char page[4096];
	static int fd = -1;

	if (fd < 0) {
		fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
		return fd;
	}
	return write(fd, page, sizeof(page)) == sizeof(page) && write(fd, page, 1) == 1 ? 0 : errno;
}

START_TEST(no_file_grows_beyond_its_limit)
{
	ck_assert_int_ge(write_much(), 0);
	ck_assert_int_eq(inside(ROLE_WORKER, write_much), EFBIG);
}

static int take_memory(void)
{
	const size_t n = 128 << 20;
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? errno : munmap(p, n);
}

START_TEST(memory_has_a_limit)
{
	ck_assert_int_eq(take_memory(), 0);
	ck_assert_int_eq(inside(ROLE_WATCHER, take_memory), ENOMEM);
}

static int stat_passwd(void)
{
	struct stat st;

	return syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &st, AT_EMPTY_PATH) < 0 ? errno : 0;
}

/* The path counts whatever the flags say. */
START_TEST(no_file_is_told_of)
{
	ck_assert_int_eq(stat_passwd(), 0);
	ck_assert_int_eq(inside(ROLE_WATCHER, stat_passwd), EACCES);
	ck_assert_int_eq(inside(ROLE_WORKER, stat_passwd), EACCES);
	ck_assert_int_eq(inside(ROLE_REPORTER, stat_passwd), EACCES);
}

/* Of a child that waits in its sandbox. */
static uint64_t effective_capabilities(enum sandbox_mode mode, const char *which)
{
	char path[64], line[256], text[256];
	uint64_t value = UINT64_MAX;
	int ready[2], byte;

	ck_assert_int_eq(pipe(ready), 0);
	const pid_t pid = fork();

	if (pid == 0) {
		const struct sandbox_params p = { .role = ROLE_WORKER, .mode = mode };

		(void)sandbox_enter(&p, text);
		(void)!write(ready[1], "", 1);
		(void)poll(NULL, 0, -1);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, which, strlen(which)) == 0)
			value = strtoull(line + strlen(which), NULL, 16);
	if (f)
		(void)fclose(f);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return value;
}

/* Only root has some to lose. */
START_TEST(capabilities_are_dropped)
{
	static const char *const sets[] = { "CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:" };
	const bool root = geteuid() == 0;

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if (root || strcmp(sets[i], "CapBnd:") != 0)
			ck_assert_msg(effective_capabilities(SANDBOX_REQUIRE, sets[i]) == 0, "%s", sets[i]);
	if (root)
		ck_assert_uint_ne(effective_capabilities(SANDBOX_OFF, "CapEff:"), 0);
}

/* Of a child that waits, in its sandbox or not: the owner of its files in /proc, and its limit of core files.
 * The kernel gives those of a process that may not be dumped to root. */
static void memory_of(enum sandbox_mode mode, uid_t *ret_owner, uint64_t *ret_core)
{
	static const char core[] = "Max core file size";
	char path[64], line[256], text[256];
	int ready[2], byte;
	struct stat st;

	ck_assert_int_eq(pipe(ready), 0);
	const pid_t pid = fork();

	if (pid == 0) {
		const struct sandbox_params p = { .role = ROLE_WORKER, .mode = mode };
		struct rlimit most;

		if (getrlimit(RLIMIT_CORE, &most) == 0) {
			most.rlim_cur = most.rlim_max;
			(void)setrlimit(RLIMIT_CORE, &most);
		}
		if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(1);
		(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
		if (mode != SANDBOX_OFF)
			(void)sandbox_enter(&p, text);
		(void)!write(ready[1], "", 1);
		(void)poll(NULL, 0, -1);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	ck_assert_int_eq(stat(path, &st), 0);
	*ret_owner = st.st_uid;
	(void)snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, core, strlen(core)) == 0)
			*ret_core = strstr(line, "unlimited") ? UINT64_MAX
							      : strtoull(line + strlen(core), NULL, 10);
	if (f)
		(void)fclose(f);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

/* No credential gets into a core file, and no other process of the same user reads the memory. */
START_TEST(memory_is_its_own)
{
	uint64_t core = 1;
	uid_t owner;

	memory_of(SANDBOX_OFF, &owner, &core);
	ck_assert_uint_ne(owner, 0);
	core = 1;
	memory_of(SANDBOX_REQUIRE, &owner, &core);
	ck_assert_uint_eq(owner, 0);
	ck_assert_uint_eq(core, 0);
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
	ck_assert_ptr_nonnull(strstr(text, "nocaps"));
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
	(void)what_is_missing_is_told;
	(void)no_file_grows_beyond_its_limit;
	(void)memory_has_a_limit;
	(void)no_file_is_told_of;
	(void)capabilities_are_dropped;
	(void)memory_is_its_own;
#else
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, denied_inside_and_working_outside, 0, probes());
	tcase_add_test(t, the_allowed_port_works);
	tcase_add_test(t, reporter_writes_below_its_directory_only);
	tcase_add_test(t, report_names_the_layers);
	tcase_add_test(t, what_is_missing_is_told);
	tcase_add_test(t, no_file_grows_beyond_its_limit);
	tcase_add_test(t, memory_has_a_limit);
	tcase_add_test(t, no_file_is_told_of);
	tcase_add_test(t, capabilities_are_dropped);
	tcase_add_test(t, memory_is_its_own);
#endif
}
