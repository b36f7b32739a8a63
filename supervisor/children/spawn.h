/* spawn.h - start one executable of ours as a child with nothing but what it may have.
 * Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_CHILDREN_SPAWN_H
#define SUPERVISOR_CHILDREN_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "ipc/msg.h"

struct spawn_images; /* every role's executable, opened once: an upgrade on disk can not mix versions */

/* Opens the executables beside the running one. NULL and a message on stderr when one is missing. */
struct spawn_images *spawn_images_open(void);
void spawn_images_close(struct spawn_images **i);

struct spawned {
	pid_t pid;
	int pidfd;   /* readable when it has died */
	int channel; /* our end */
};

/* fork + execveat. The child gets: 0 /dev/null, 1 and 2 our stderr, 3 its channel, 4 lock_fd (>= 0), a
 * session of its own, umask 077, default signals, and of the environment only what the role needs. argv[0] is
 * set by spawn. keep_cwd leaves the working directory (loader), else it is "/". 0 or negative errno. */
int spawn_child(const struct spawn_images *images, enum role role, const char *const argv[], int lock_fd,
		bool keep_cwd, struct spawned *ret);

#endif
