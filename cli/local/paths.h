/* paths.h - where things are when no option says so: /etc, /var/lib and /run as root, the XDG folders
 * otherwise. Process: cli.  Sources: XDG Base Directory Specification; file-hierarchy(7). Results are owned
 * by the caller. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_LOCAL_PATHS_H
#define CLI_LOCAL_PATHS_H

#include <stdbool.h>

#include "config/config.h"

#define PATHS_SOCKETS 3

char *paths_default_control_socket(void);
/* Where an instance may answer, in the order in which they are tried, NULL behind the last: the one that is
 * named (NULL: the default), then for who is not root that of the system, then the read-only one. */
void paths_control_sockets(const char *named, char *ret[static PATHS_SOCKETS + 1]);
/* The control socket of an instance of the template unit; NULL: there is none. */
char *paths_socket_of_template(void);
/* Is it one of the system's instances, whose group may ask? */
bool paths_is_of_system(const char *socket);
/* The file `run` takes: the one that is named (NULL: none), the default, else ./config.yml where only that
 * exists (as the original did). Root's is the default alone. */
char *paths_find_config(const char *named);
/* Load the configuration at path. Returns EXIT_CODE_OK, or EXIT_CODE_CONFIG after the errors on stderr; the
 * caller frees *ret in any case (config_done). */
int paths_load_config(const char *path, struct config *ret);
/* A relative path begins in the working directory. NULL and "" stay what they are. */
char *paths_absolute(const char *path);
/* libexec/ops-pod-cleaner beside the bin directory of the running executable, or $OPC_LIBEXEC_DIR. */
char *paths_libexec(void);

#endif
