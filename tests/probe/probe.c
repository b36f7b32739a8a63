/* probe.c - see probe.h. Raw system calls where the C library would choose another way. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

static int close_result(int fd)
{
	if (fd < 0)
		return -errno;
	(void)close(fd);
	return 0;
}

static int read_passwd(int64_t arg)
{
	(void)arg;
	return close_result(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
}

static int write_file(int64_t arg)
{
	static const char path[] = "/tmp/ops-pod-cleaner-probe";
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	(void)arg;
	if (fd >= 0)
		(void)unlink(path);
	return close_result(fd);
}

/* The parent only learns from the exit status whether the child could run another program. */
static int exec_program(int64_t arg)
{
	char *const argv[] = { (char *)(uintptr_t) "true", NULL };
	char *const envp[] = { NULL };
	int status = 0;
	const pid_t pid = fork();

	(void)arg;
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		(void)execve("/bin/true", argv, envp);
		_exit(errno);
	}
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EPERM;
}

static int connect_port(int64_t arg)
{
	const struct sockaddr_in sa = { .sin_family = AF_INET,
					.sin_port = htons((uint16_t)arg),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0)
		return -errno;
	return 0;
}

static int ptrace_process(int64_t arg)
{
	const pid_t pid = (pid_t)arg;

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		return -errno;
	/* Only a stopped tracee can be let go; one that stays attached would stop at its next signal for
	 * ever. */
	(void)ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	(void)waitpid(pid, NULL, __WALL);
	return ptrace(PTRACE_DETACH, pid, NULL, NULL) < 0 ? -errno : 0;
}

static int udp_socket(int64_t arg)
{
	(void)arg;
	return close_result(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

static int unix_socket(int64_t arg)
{
	(void)arg;
	return close_result(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int executable_memory(int64_t arg)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	return p == MAP_FAILED ? -errno : munmap(p, 4096);
}

static int signal_process(int64_t arg)
{
	return kill((pid_t)arg, 0) < 0 ? -errno : 0;
}

static int fork_process(int64_t arg)
{
	const pid_t pid = fork();

	(void)arg;
	if (pid == 0)
		_exit(0);
	return pid < 0 || waitpid(pid, NULL, 0) < 0 ? -errno : 0;
}

/* A connection that no connect() asks for. */
static int fast_open(int64_t port, bool with_sendmsg)
{
	char byte = 0;
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct iovec iov = { &byte, 1 };
	const struct msghdr m = {
		.msg_name = &sa, .msg_namelen = sizeof(sa), .msg_iov = &iov, .msg_iovlen = 1
	};
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	return (with_sendmsg ? sendmsg(fd, &m, MSG_FASTOPEN)
			     : sendto(fd, &byte, 1, MSG_FASTOPEN, (struct sockaddr *)&sa, sizeof(sa))) < 0
		       ? -errno
		       : 0;
}

static int fast_open_sendmsg(int64_t arg)
{
	return fast_open(arg, true);
}

static int fast_open_sendto(int64_t arg)
{
	return fast_open(arg, false);
}

/* Each end can be connected to any datagram socket with a path. */
static int datagram_pair(int64_t arg)
{
	int pair[2];

	(void)arg;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	(void)close(pair[0]);
	return close_result(pair[1]);
}

static int stat_any(int64_t arg)
{
	struct stat st;

	(void)arg;
	return syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &st, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

/* O_PATH is not judged by Landlock. */
static int open_path(int64_t arg)
{
	(void)arg;
	return close_result(open("/etc/passwd", O_PATH | O_CLOEXEC));
}

/* What comes back over a pair of stream sockets: the same file under a number that no filter knows. */
static int passed_on(int fd)
{
	char byte = 0, room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	_cleanup_close_ int one = pair[0], other = pair[1];

	*c = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(one, &m, 0) < 0 || recvmsg(other, &m, 0) < 0)
		return -errno;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

static int pass_descriptor(int64_t arg)
{
	const int fd = passed_on(STDIN_FILENO);

	(void)arg;
	return fd < 0 ? fd : close_result(fd);
}

/* What others have logged is written over: not only at its end, and under another number where that can be
 * had. */
static int overwrite_log(int64_t arg)
{
	const int copy = passed_on(STDERR_FILENO), fd = copy < 0 ? STDERR_FILENO : copy,
		  flags = fcntl(fd, F_GETFL);

	(void)arg;
	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_APPEND) < 0)
		return -errno;
	const int r = lseek(fd, 0, SEEK_SET) < 0 || write(fd, "overwritten", 11) < 0 ? -errno : 0;

	(void)fcntl(fd, F_SETFL, flags);
	return r;
}

static int shared_memory(int64_t arg)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	return p == MAP_FAILED ? -errno : munmap(p, 4096);
}

static const struct {
	const char *name;
	int (*run)(int64_t arg);
} probes[] = {
	{ "read-passwd", read_passwd },
	{ "write-file", write_file },
	{ "exec", exec_program },
	{ "connect-port", connect_port },
	{ "sendmsg-fast-open", fast_open_sendmsg },
	{ "sendto-fast-open", fast_open_sendto },
	{ "datagram-pair", datagram_pair },
	{ "ptrace", ptrace_process },
	{ "udp-socket", udp_socket },
	{ "unix-socket", unix_socket },
	{ "executable-memory", executable_memory },
	{ "shared-memory", shared_memory },
	{ "open-path", open_path },
	{ "stat-any", stat_any },
	{ "pass-descriptor", pass_descriptor },
	{ "overwrite-log", overwrite_log },
	{ "signal", signal_process },
	{ "fork", fork_process },
};

const char *probe_name(size_t i)
{
	return i < ARRAY_SIZE(probes) ? probes[i].name : NULL;
}

int probe_run(const char *name, int64_t arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(probes); i++)
		if (strcmp(probes[i].name, name) == 0)
			return probes[i].run(arg);
	return -EINVAL;
}
