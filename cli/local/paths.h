/* paths.h - where things are when no option says so: /etc, /var/lib and /run as root, the XDG folders
 * otherwise. Process: cli.  Sources: XDG Base Directory Specification; file-hierarchy(7). Results are owned
 * by the caller. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_LOCAL_PATHS_H
#define CLI_LOCAL_PATHS_H

char *paths_default_control_socket(void);
/* The file `run` takes: the default, else ./config.yml where only that exists (as the original did). Root's
 * is the default alone. */
char *paths_find_config(void);
/* A relative path begins in the working directory. NULL and "" stay what they are. */
char *paths_absolute(const char *path);
/* libexec/ops-pod-cleaner beside the bin directory of the running executable, or $OPC_LIBEXEC_DIR. */
char *paths_libexec(void);

#endif
