/* supervisor.h - the whole supervisor: its parts made, joined, run and taken apart. Process: supervisor.
 * Owns: all parts. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_SUPERVISOR_H
#define SUPERVISOR_SUPERVISOR_H

#include "supervisor/actions/parts.h"

/* Make all parts but the control socket; nothing runs yet. lock_fd: workers inherit it. Both are borrowed.
 * NULL when an executable is missing. */
struct supervisor *supervisor_new(const char *const loader_argv[], int lock_fd);
/* Listen for operators at that path. 0 or negative errno. */
int supervisor_listen(struct supervisor *s, const char *control_socket);
/* Kill what still runs, and free everything. */
void supervisor_free(struct supervisor **s);

/* Make, listen, run until the end, free. Returns the exit code. */
int supervisor_run(const char *const loader_argv[], const char *control_socket, int lock_fd);

#endif
