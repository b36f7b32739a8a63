/* notify.c - see notify.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/children/notify.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"
#include "base/xalloc.h"

struct notify {
	int fd;
	struct sockaddr_un peer;
	socklen_t peer_len;
};

static uint64_t read_watchdog(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t v = 0, who = (uint64_t)getpid();

	if (!usec || str_to_u64(usec, strlen(usec), &v) < 0)
		return 0;
	if (pid && (str_to_u64(pid, strlen(pid), &who) < 0 || who != (uint64_t)getpid()))
		return 0;
	return v / 2000;
}

struct notify *notify_new(uint64_t *ret_watchdog_ms)
{
	struct notify *n = xcalloc(1, sizeof(*n));
	const char *path = getenv("NOTIFY_SOCKET");
	const size_t len = path ? strlen(path) : 0;

	*n = (struct notify){ .fd = -1, .peer.sun_family = AF_UNIX };
	*ret_watchdog_ms = read_watchdog();
	if (len > 1 && len < sizeof(n->peer.sun_path) && (path[0] == '/' || path[0] == '@')) {
		memcpy(n->peer.sun_path, path, len);
		if (path[0] == '@')
			n->peer.sun_path[0] = '\0'; /* abstract name */
		n->peer_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
		n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	}
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("WATCHDOG_USEC");
	(void)unsetenv("WATCHDOG_PID");
	return n;
}

void notify_free(struct notify **n)
{
	if (*n && (*n)->fd >= 0)
		(void)close((*n)->fd);
	free(*n);
	*n = NULL;
}

void notify_send(const struct notify *n, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (n->fd < 0)
		return;
	va_start(ap, fmt);
	const int len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len > 0)
		(void)sendto(n->fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&n->peer,
			     n->peer_len);
}
