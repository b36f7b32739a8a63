/* main.c - the supervisor: options and lock. It parses no YAML, JSON or protobuf and opens no network
 * socket. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/cleanup.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/private_dir.h"
#include "base/signals.h"
#include "base/xalloc.h"
#include "supervisor/supervisor.h"

#define LOCK_WAIT_MS 5000u
#define LOCK_FD_MIN  10

/* The arguments of the loader: ours, in the order in which they are written, but --control-socket=PATH, which
 * is *ret_socket. The array is to be freed. */
static const char **loader_arguments(int argc, char **argv, const char **ret_socket)
{
	static const char socket_option[] = "--control-socket=";
	const size_t len = strlen(socket_option);
	const char **ret = xcalloc((size_t)argc + 1, sizeof(*ret));
	size_t n = 0;

	ret[n++] = role_name(ROLE_LOADER);
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], socket_option, len) == 0)
			*ret_socket = argv[i] + len;
		else
			ret[n++] = argv[i];
	}
	return ret;
}

/* 0-2 must be there: a socket that got one of these numbers would receive what is meant for the log. */
static void open_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		(void)close(fd);
}

/* Whoever started us may have ignored or blocked signals: with SIGCHLD ignored no death could be waited for.
 */
static void reset_signals(void)
{
	sigset_t none;

	(void)signal(SIGCHLD, SIG_DFL);
	signals_ignore();
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Every worker inherits this lock: as long as one lives, also without us, no other supervisor grants anything
 * (s6's lock-fd). */
static int take_lock(const char *control_socket)
{
	_cleanup_free_ char *path = xasprintf("%s.lock", control_socket);
	/* To be locked, not written: workers hold it, too. */
	_cleanup_close_ int opened = open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (opened < 0)
		return log_error(-errno, "cannot create the lock beside the control socket",
				 kv_s("path", path));
	const int r = private_dir_flock(opened, LOCK_WAIT_MS);

	if (r < 0)
		return log_error(r, "another instance uses this control socket", kv_s("path", path));
	const int fd = fcntl(opened, F_DUPFD_CLOEXEC, LOCK_FD_MIN);

	return fd < 0 ? -errno : fd;
}

/* Of each child and each cluster some are open; what starts a service gives 1024, and as many as it may have
 * on request. */
static void raise_descriptor_limit(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		return;
	l.rlim_cur = l.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &l);
}

int main(int argc, char **argv)
{
	const char *control_socket = NULL;
	_cleanup_free_ const char **loader_argv = loader_arguments(argc, argv, &control_socket);

	open_standard_fds();
	log_init("supervisor");
	if (!control_socket) {
		(void)fprintf(stderr, "supervisor: is started by `ops-pod-cleaner run`\n");
		return EXIT_CODE_USAGE;
	}
	reset_signals();
	raise_descriptor_limit();
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	memory_large_blocks_apart();
	const int lock_fd = take_lock(control_socket);

	if (lock_fd < 0)
		return EXIT_CODE_TEMPORARY;
	const int code = supervisor_run(loader_argv, control_socket, lock_fd);

	(void)close(lock_fd);
	return code;
}
