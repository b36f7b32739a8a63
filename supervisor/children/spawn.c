/* spawn.c - see spawn.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/children/spawn.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "supervisor/children/child_log.h"

#define FIRST_FREE_FD 10 /* above every number a child gets */

struct spawn_images {
	struct event_base *base;
	int lock_fd;
	int fd[ROLE__MAX];
};

static const enum role roles[] = { ROLE_REPORTER, ROLE_WATCHER, ROLE_WORKER, ROLE_LOADER };

/* What a long-lived child may know of the environment. */
static const char *const environment[] = { "OPC_LOG_LEVEL", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS" };
/* What it gets besides: how its log is written. GnuTLS, which only comes with libraries that libcurl could
 * use, builds its tables when somebody asks for it, not as it is loaded (gnutls_global_init(3)); that costs
 * each child 0.2 MB. */
static char *const given[] = { "OPC_LOG_FORMAT=" LOG_FORMAT_OF_A_CHILD, "GNUTLS_NO_IMPLICIT_INIT=1" };
/* The loader gets the rest too, as credential plugins and the search for a kubeconfig need it, but nothing
 * that changes what code it runs. */
static const char *const forbidden[] = { "LD_",       "GLIBC_TUNABLES", "OPENSSL_",      "NOTIFY_SOCKET",
					 "WATCHDOG_", "JOURNAL_STREAM", "OPC_LOG_FORMAT" };

struct spawn_images *spawn_images_open(struct event_base *base, int lock_fd)
{
	struct spawn_images *images = xcalloc(1, sizeof(*images));
	char exe[4096] = "";

	*images = (struct spawn_images){ .base = base, .lock_fd = lock_fd };
	memset(images->fd, -1, sizeof(images->fd));
	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
		goto fail;
	const char *dir = dirname(exe);

	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s", dir, role_name(roles[i]));
		const int fd = open(path, O_PATH | O_CLOEXEC);

		if (fd < 0) {
			(void)log_error(-errno, "an executable of this program is missing: install it again",
					kv_s("path", path));
			goto fail;
		}
		images->fd[roles[i]] = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
		(void)close(fd);
	}
	return images;
fail:
	spawn_images_close(&images);
	return NULL;
}

void spawn_images_close(struct spawn_images **ip)
{
	for (size_t r = 0; *ip && r < ROLE__MAX; r++)
		if ((*ip)->fd[r] >= 0)
			(void)close((*ip)->fd[r]);
	free(*ip);
	*ip = NULL;
}

static bool is_named(const char *entry, const char *name)
{
	const size_t n = strlen(name);

	return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

static bool may_have(enum role role, const char *entry)
{
	for (size_t i = 0; i < ARRAY_SIZE(environment); i++)
		if (is_named(entry, environment[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(forbidden); i++)
		if (strncmp(entry, forbidden[i], strlen(forbidden[i])) == 0)
			return false;
	return role == ROLE_LOADER;
}

/* The array is to be freed, what it points to is environ's. */
static char **child_environment(enum role role)
{
	size_t n = 0, count = 0;

	while (environ[count])
		count++;
	char **env = xcalloc(count + ARRAY_SIZE(given) + 1, sizeof(*env));

	for (size_t i = 0; i < count; i++)
		if (may_have(role, environ[i]))
			env[n++] = environ[i];
	for (size_t i = 0; i < (role == ROLE_LOADER ? 1 : ARRAY_SIZE(given)); i++)
		env[n++] = given[i];
	return env;
}

static void reset_signals(void)
{
	const struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		(void)sigaction(s, &dfl, NULL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Runs in the child between fork and exec: only async-signal-safe calls. */
static _Noreturn void become(const struct spawn_images *images, enum role role, const char *const argv[],
			     char *const env[], int channel, int log)
{
	const int lock_fd = role == ROLE_WORKER ? images->lock_fd : -1;
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	reset_signals();
	(void)setsid();
	(void)umask(077);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 ||
	    dup2(log, STDERR_FILENO) < 0 || dup2(channel, 3) < 0)
		_exit(EXIT_CODE_RESOURCE);
	if (lock_fd >= 0 && dup2(lock_fd, 4) < 0)
		_exit(EXIT_CODE_RESOURCE);
	if (role != ROLE_LOADER && chdir("/") < 0)
		_exit(EXIT_CODE_RESOURCE);
	(void)syscall(SYS_close_range, lock_fd >= 0 ? 5u : 4u, ~0u, CLOSE_RANGE_CLOEXEC);
	(void)syscall(SYS_execveat, images->fd[role], "", argv, env, AT_EMPTY_PATH);
	_exit(errno == ENOENT || errno == EACCES ? EXIT_CODE_CONFIG : EXIT_CODE_RESOURCE);
}

static void on_death(evutil_socket_t fd, short what, void *arg)
{
	struct spawned *p = arg;
	siginfo_t si = { 0 };

	(void)fd;
	(void)what;
	channel_read_all(p->channel);
	if (waitid(P_PID, (id_t)p->pid, &si, WEXITED | WNOHANG) < 0 || si.si_pid == 0)
		return;
	p->pid = 0;
	child_log_drain(p->log);
	p->ops->on_death(p->ctx, &si);
}

/* Two ends that no child's own numbers get in the way of; 0 or negative errno. */
static int make_ends(int r, const int ends[static 2], int *ret_ours, int *ret_theirs)
{
	if (r < 0)
		return -errno;
	*ret_ours = ends[0];
	*ret_theirs = fcntl(ends[1], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	r = *ret_theirs < 0 ? -errno : 0;
	(void)close(ends[1]);
	return r;
}

int spawn_child(const struct spawn_images *images, enum role role, const char *const argv[],
		const struct spawn_ops *ops, void *ctx, struct spawned *ret)
{
	_cleanup_close_ int channel = -1, their_channel = -1, log = -1, their_log = -1;
	int pair[2], ends[2];
	int r = make_ends(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), pair, &channel,
			  &their_channel);

	if (r == 0)
		r = make_ends(pipe2(ends, O_CLOEXEC | O_NONBLOCK), ends, &log, &their_log);
	if (r < 0)
		return r;
	_cleanup_free_ char **env = child_environment(role);
	const pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0)
		become(images, role, argv, env, their_channel, their_log);
	const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* with FD_CLOEXEC */

	if (pidfd < 0) {
		r = -errno;
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		return r;
	}
	*ret = (struct spawned){ .pid = pid, .pidfd = pidfd, .ops = ops, .ctx = ctx };
	ret->log = child_log_new(images->base, TAKE_FD(log), role_name(role), pid);
	ret->channel = channel_new(images->base, TAKE_FD(channel), ROLE_SUPERVISOR, role, &ops->channel, ctx);
	ret->death = event_new(images->base, pidfd, EV_READ | EV_PERSIST, on_death, ret);
	(void)event_add(ret->death, NULL);
	return 0;
}

void spawned_kill(const struct spawned *p)
{
	if (p->pid)
		(void)syscall(SYS_pidfd_send_signal, p->pidfd, SIGKILL, NULL, 0);
}

void spawned_done(struct spawned *p)
{
	spawned_kill(p);
	if (p->pid)
		(void)waitpid(p->pid, NULL, 0);
	if (p->death) {
		child_log_drain(p->log);
		child_log_free(&p->log);
		channel_free(&p->channel);
		event_free(p->death);
		(void)close(p->pidfd);
	}
	*p = (struct spawned){ 0 };
}
