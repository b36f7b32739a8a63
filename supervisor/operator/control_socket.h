/* control_socket.h - the two sockets that an operator connects to: the control socket, and beside it the
 * read-only one, who may connect, and what may be asked there (verbs.def). Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_OPERATOR_CONTROL_SOCKET_H
#define SUPERVISOR_OPERATOR_CONTROL_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>

#include "ipc/msg.h"

#define CONTROL_BACKLOG 32

/* Listen at path, for root and for us. The descriptor, or negative errno: -EEXIST where something else than a
 * socket is. */
int control_socket_listen(const char *path);
/* The path of the read-only socket, which is for the group of the folder: read.sock beside control.sock,
 * where the folder is open to its group and to nobody else (0710). Owned by the caller; NULL: there is none.
 */
char *control_socket_reader(const char *path, gid_t *ret_group);
/* Listen there, for root, us and that group. */
int control_socket_listen_group(const char *path, gid_t group);
/* Is the peer of this connection root, us, or in that group (NULL: none)? The kernel says. */
bool control_socket_admits(int fd, const gid_t *group, uid_t *ret_uid);

/* Does it only look? */
bool control_only_reads(const struct msg *m);

#endif
