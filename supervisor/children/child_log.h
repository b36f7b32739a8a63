/* child_log.h - the log of one child. Its descriptors 1 and 2 are a pipe, and the supervisor writes the
 * lines: a child that was taken over can neither change what is in the log nor write in another's name, and
 * fills it no faster than the limit allows. The pipe makes nobody wait. The child drops what does not fit,
 * and counts it (base/log.h). Process: supervisor.  Owns: the reading end. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_CHILDREN_CHILD_LOG_H
#define SUPERVISOR_CHILDREN_CHILD_LOG_H

#include <sys/types.h>

struct child_log;
struct event_base;

/* Write what comes over fd, which must not block and is owned from now on, as lines of that role and process.
 * At most 1 MiB at once and 64 KiB a second: what is beyond that waits in the pipe, and the supervisor is not
 * woken by it. */
struct child_log *child_log_new(struct event_base *base, int fd, const char *role, pid_t pid);
/* The child is dead: write what the pipe still holds, whatever the limit, also a last line without its end.
 * Accepts NULL. */
void child_log_drain(struct child_log *log);
void child_log_free(struct child_log **log);

#endif
