/* main.c - the supervisor: options, lock, wiring. It parses no YAML, JSON or protobuf and opens no network
 * socket. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "supervisor/notify.h"
#include "supervisor/supervisor.h"

#define LOCK_WAIT_MS 5000u
#define LOCK_FD_MIN  10

static int parse_options(int argc, char **argv, struct options *o)
{
	const struct option longs[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "kubeconfig", required_argument, NULL, 'k' },
		{ "master", required_argument, NULL, 'm' },
		{ "state-dir", required_argument, NULL, 's' },
		{ "control-socket", required_argument, NULL, 'S' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			o->config = optarg;
			break;
		case 'k':
			o->kubeconfig = optarg;
			break;
		case 'm':
			o->master = optarg;
			break;
		case 's':
			o->state_dir = optarg;
			break;
		case 'S':
			o->control_socket = optarg;
			break;
		default:
			return -EINVAL;
		}
	}
	return o->config && o->control_socket && optind == argc ? 0 : -EINVAL;
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
	_cleanup_close_ int opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
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

int main(int argc, char **argv)
{
	struct supervisor t = { .lock_fd = -1 };

	open_standard_fds();
	log_init("supervisor");
	if (parse_options(argc, argv, &t.options) < 0) {
		(void)fprintf(stderr, "supervisor: is started by `ops-pod-cleaner run`\n");
		return EXIT_CODE_USAGE;
	}
	reset_signals();
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	notify_init();
	t.lock_fd = take_lock(t.options.control_socket);
	if (t.lock_fd < 0)
		return EXIT_CODE_TEMPORARY;
	t.images = spawn_images_open();
	t.base = event_base_new();
	if (!t.images || !t.base)
		return EXIT_CODE_RESOURCE;
	int code = EXIT_CODE_RESOURCE;
	const int r = control_start(&t);

	if (r < 0)
		(void)log_error(r, "cannot open the control socket", kv_s("path", t.options.control_socket));
	else
		code = lifecycle_run(&t);
	spawn_images_close(&t.images);
	event_base_free(t.base);
	(void)close(t.lock_fd);
	notify_done();
	return code;
}
