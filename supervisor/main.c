/* main.c - the supervisor: options, lock, wiring. It parses no YAML, JSON or protobuf and opens no network
 * socket. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "supervisor/control.h"
#include "supervisor/route.h"
#include "supervisor/supervisor.h"

#define LOCK_WAIT_MS 5000u
#define LOCK_FD_MIN  10

/* The options that are the loader's go on to it. */
#define LOADER_OPTIONS   4
#define LOADER_ARGV_SIZE (2 + 2 * LOADER_OPTIONS)

static int parse_options(int argc, char **argv, const char *loader_argv[static LOADER_ARGV_SIZE],
			 const char **ret_socket)
{
	static const struct option longs[] = {
		{ "config", required_argument, NULL, 0 },
		{ "kubeconfig", required_argument, NULL, 0 },
		{ "master", required_argument, NULL, 0 },
		{ "state-dir", required_argument, NULL, 0 },
		{ "control-socket", required_argument, NULL, 0 },
		{ 0 },
	};
	static const char *const flags[LOADER_OPTIONS] = { "--config", "--kubeconfig", "--master",
							   "--state-dir" };
	const char *values[LOADER_OPTIONS + 1] = { NULL };
	int which, c;
	size_t n = 0;

	while ((c = getopt_long(argc, argv, "", longs, &which)) == 0)
		values[which] = optarg;
	loader_argv[n++] = role_name(ROLE_LOADER);
	for (size_t i = 0; i < LOADER_OPTIONS; i++) {
		if (!values[i])
			continue;
		loader_argv[n++] = flags[i];
		loader_argv[n++] = values[i];
	}
	*ret_socket = values[LOADER_OPTIONS];
	return c < 0 && values[0] && *ret_socket && optind == argc ? 0 : -EINVAL;
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
	(void)signal(SIGPIPE, SIG_IGN);
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
	const uint64_t end = clock_boot_ms() + LOCK_WAIT_MS;

	if (opened < 0)
		return log_error(-errno, "cannot create the lock beside the control socket",
				 kv_s("path", path));
	while (flock(opened, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK || clock_boot_ms() >= end)
			return log_error(-errno, "another instance uses this control socket",
					 kv_s("path", path));
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ 0, 20000000 }, NULL);
	}
	const int fd = fcntl(opened, F_DUPFD_CLOEXEC, LOCK_FD_MIN);

	return fd < 0 ? -errno : fd;
}

/* -- what the root of all processes tells us -- */

static void on_changed(struct supervisor *s, struct child *c, bool ready)
{
	const struct child_info *at = child_info(c);

	if (ready && at->role == ROLE_REPORTER) {
		dispatch_on_reporter_ready(s->dispatch);
		supervisor_on_reporter_ready(s);
	}
	if (ready && at->role == ROLE_WORKER)
		dispatch_cluster(s->dispatch, at->cluster);
	if (ready && at->role == ROLE_WATCHER)
		pause_requests_on_watcher_ready(s->pause_requests, at->cluster);
	supervisor_send_child_stats(s, c);
}

static void on_dead(struct supervisor *s, struct child *c, int code)
{
	control_on_child_dead(s->control, c, code);
	if (child_info(c)->role == ROLE_REPORTER) {
		dispatch_on_reporter_dead(s->dispatch);
		pause_requests_on_reporter_dead(s->pause_requests);
	} else if (child_info(c)->role == ROLE_WATCHER) {
		s->watch_stats[child_info(c)->cluster].u.watch_stats.synced = false;
	} else {
		dry_run_on_worker_dead(s->dry_runs, c);
		dispatch_on_worker_dead(s->dispatch, c);
	}
}

static void on_tick(struct supervisor *s, uint64_t now_ms)
{
	supervisor_tick(s);
	dispatch_tick(s->dispatch, now_ms);
	dry_run_tick(s->dry_runs, now_ms);
	pause_requests_tick(s->pause_requests);
}

static void on_reload_end(struct supervisor *s, uint64_t conn, int code, const char *text)
{
	control_end(s->control, conn, (uint64_t)code, text);
}

static size_t count_busy(const struct supervisor *s)
{
	struct dispatch_stats d;

	dispatch_stats(s->dispatch, &d);
	return d.busy;
}

static const struct lifecycle_ops lifecycle_ops = {
	.on_msg = route_from_child,
	.on_changed = on_changed,
	.on_dead = on_dead,
	.on_tick = on_tick,
	.on_reload_end = on_reload_end,
	.busy = count_busy,
	.describe = supervisor_describe,
};

/* -- wiring -- */

static int run(struct supervisor *s, const char *control_socket)
{
	const int r = control_new(s, control_socket, &s->control);

	if (r < 0) {
		if (r == -EEXIST)
			(void)log_error(0,
					"the control socket would replace a file that is no socket: move it "
					"away, or choose another --control-socket",
					kv_s("path", control_socket));
		else
			(void)log_error(r, "cannot open the control socket", kv_s("path", control_socket));
		return r == -EEXIST ? EXIT_CODE_CONFIG : EXIT_CODE_RESOURCE;
	}
	s->answers = (struct answers){ s->control, control_answer, control_end };
	const int code = lifecycle_run(s->root);

	control_free(&s->control);
	return code;
}

static int run_with(const char *const loader_argv[], const char *control_socket, int lock_fd)
{
	struct supervisor *s = xcalloc(1, sizeof(*s));
	int code = EXIT_CODE_RESOURCE;

	s->started_at = clock_wall_ms();
	s->root = lifecycle_new(loader_argv, lock_fd, &lifecycle_ops, s);
	if (s->root) {
		s->pauses = pause_list_new();
		s->dispatch = dispatch_new(s->root, s->pauses, &s->answers);
		s->pause_requests = pause_requests_new(s->root, s->dispatch, s->pauses, &s->answers);
		s->dry_runs = dry_run_new(s->root, s->dispatch, &s->answers);
		code = run(s, control_socket);
		lifecycle_free(&s->root);
		dry_run_free(&s->dry_runs);
		pause_requests_free(&s->pause_requests);
		dispatch_free(&s->dispatch);
		pause_list_free(&s->pauses);
	}
	while (s->n_outbox > 0)
		free(s->outbox[--s->n_outbox]);
	free(s);
	return code;
}

int main(int argc, char **argv)
{
	const char *loader_argv[LOADER_ARGV_SIZE] = { NULL }, *control_socket;

	open_standard_fds();
	log_init("supervisor");
	if (parse_options(argc, argv, loader_argv, &control_socket) < 0) {
		(void)fprintf(stderr, "supervisor: is started by `ops-pod-cleaner run`\n");
		return EXIT_CODE_USAGE;
	}
	reset_signals();
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	const int lock_fd = take_lock(control_socket);

	if (lock_fd < 0)
		return EXIT_CODE_TEMPORARY;
	const int code = run_with(loader_argv, control_socket, lock_fd);

	(void)close(lock_fd);
	return code;
}
