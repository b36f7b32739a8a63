/* spawn.h - start one executable of ours as a child with nothing but what it may have.
 * Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_CHILDREN_SPAWN_H
#define SUPERVISOR_CHILDREN_SPAWN_H

#include <signal.h>
#include <sys/types.h>

#include "ipc/channel.h"

struct child_log;
struct spawn_images; /* every role's executable, opened once: an upgrade on disk can not mix versions */

/* Opens the executables beside the running one. base is what the children's channels run on; workers inherit
 * lock_fd; both are borrowed. NULL and a message on stderr when an executable is missing. */
struct spawn_images *spawn_images_open(struct event_base *base, int lock_fd);
void spawn_images_close(struct spawn_images **i);

struct spawn_ops {
	struct channel_ops channel;
	/* Proven death, after everything that it had said; spawned_done() is to follow. */
	void (*on_death)(void *ctx, const siginfo_t *si);
};

/* A process; zeroes are none. */
struct spawned {
	pid_t pid; /* 0 = it has died */
	int pidfd; /* readable when it has died */
	struct channel *channel;
	struct child_log *log;
	struct event *death;
	const struct spawn_ops *ops;
	void *ctx;
};

/* fork + execveat. The child gets: 0 /dev/null, 1 and 2 a pipe of its own (child_log.h), 3 its channel, 4 the
 * lock (worker), a session of its own, umask 077, default signals, and of the environment only what the role
 * needs. Its working directory is ours (loader), else "/". *ret keeps its place until spawned_done(). 0 or
 * negative errno. */
int spawn_child(const struct spawn_images *images, enum role role, const char *const argv[],
		const struct spawn_ops *ops, void *ctx, struct spawned *ret);
/* Its death follows. */
void spawned_kill(const struct spawned *p);
/* Kills it, if it lives, and waits for its end; frees all. Accepts none. */
void spawned_done(struct spawned *p);

#endif
