/* wire.h - the supervisor's parts made, joined and taken apart again; main.c runs them, a test may step
 * through them. Process: supervisor.  Owns: all parts. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_WIRE_H
#define SUPERVISOR_WIRE_H

#include "supervisor/supervisor.h"

/* All parts but the control socket; nothing runs yet. lock_fd: workers inherit it. Both are borrowed. NULL
 * when an executable is missing. */
struct supervisor *wire_new(const char *const loader_argv[], int lock_fd);
/* Operators may ask. 0 or negative errno. */
int wire_listen(struct supervisor *s, const char *control_socket);
void wire_free(struct supervisor **s);

/* From start to end; returns the exit code. */
int wire_run(const char *const loader_argv[], const char *control_socket, int lock_fd);

#endif
