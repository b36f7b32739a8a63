/* control_socket.c - see control_socket.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/operator/control_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

#define CONTROL_NAME "/control.sock"
#define READER_NAME  "/read.sock"

/* The lock beside the control socket is ours, so a socket that is there has no owner. Anything else is not
 * ours. */
static int remove_old(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	return unlink(path) < 0 ? -errno : 0;
}

int control_socket_listen(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const int gone = remove_old(path);

	if (gone < 0)
		return gone;
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	const mode_t old = umask(0177);
	const int r =
		bind(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0 || listen(fd, CONTROL_BACKLOG) < 0
			? -errno
			: fd;

	(void)umask(old);
	if (r < 0)
		(void)close(fd);
	return r;
}

/* Open to the group alone is a folder that somebody has made so: what `run` makes is 0700, and 0755 says
 * nothing. */
char *control_socket_reader(const char *path, gid_t *ret_group)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *dir = slash ? xstrndup(path, (size_t)(slash - path)) : NULL;
	struct stat st;

	if (!dir || strcmp(slash, CONTROL_NAME) != 0 || stat(dir, &st) < 0)
		return NULL;
	if (!(st.st_mode & S_IXGRP) || (st.st_mode & S_IRWXO) ||
	    strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return NULL;
	*ret_group = st.st_gid;
	return xconcat(dir, READER_NAME, NULL);
}

/* Its group is ours already, where the unit of systemd has begun us: there chown is forbidden. */
static int give_to_group(const char *path, gid_t group)
{
	struct stat st;

	if (lstat(path, &st) < 0 || (st.st_gid != group && lchown(path, (uid_t)-1, group) < 0))
		return -errno;
	return chmod(path, 0660) < 0 ? -errno : 0;
}

int control_socket_listen_group(const char *path, gid_t group)
{
	const int fd = control_socket_listen(path);
	const int r = fd < 0 ? fd : give_to_group(path, group);

	if (r == 0 || fd < 0)
		return fd;
	(void)close(fd);
	(void)unlink(path);
	return r;
}

static bool has_group(int fd, gid_t wanted)
{
	_cleanup_free_ gid_t *groups = NULL;
	socklen_t len = 0;

	/* The first answer is how many bytes there are. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &len) < 0 && errno != ERANGE)
		return false;
	groups = xcalloc(len / sizeof(*groups) + 1, sizeof(*groups));
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len) < 0)
		return false;
	for (size_t i = 0; i < len / sizeof(*groups); i++)
		if (groups[i] == wanted)
			return true;
	return false;
}

bool control_socket_admits(int fd, const gid_t *group, uid_t *ret_uid)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return false;
	*ret_uid = peer.uid;
	return peer.uid == 0 || peer.uid == geteuid() ||
	       (group && (peer.gid == *group || has_group(fd, *group)));
}

bool control_only_reads(const struct msg *m)
{
	static const bool reads[MSG__MAX] = {
#define VERB(MESSAGE, commands) [MSG_##MESSAGE] = true,
#include "supervisor/operator/verbs.def"
#undef VERB
	};

	if (m->type == MSG_CTL_REPORT)
		return m->u.ctl_report.ask == REPORT_ASK_NOW || m->u.ctl_report.ask == REPORT_ASK_PREVIEW;
	return reads[m->type];
}
