/* notify.c - see notify.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/notify.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"

static int notify_fd = -1;
static struct sockaddr_un peer;
static socklen_t peer_len;
static uint64_t watchdog_ms;

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

void notify_init(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	const size_t n = path ? strlen(path) : 0;

	watchdog_ms = read_watchdog();
	if (n > 1 && n < sizeof(peer.sun_path) && (path[0] == '/' || path[0] == '@')) {
		peer.sun_family = AF_UNIX;
		memcpy(peer.sun_path, path, n);
		if (path[0] == '@')
			peer.sun_path[0] = '\0'; /* abstract name */
		peer_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
		notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	}
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("WATCHDOG_USEC");
	(void)unsetenv("WATCHDOG_PID");
}

void notify_send(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (notify_fd < 0)
		return;
	va_start(ap, fmt);
	const int n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n > 0)
		(void)sendto(notify_fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&peer,
			     peer_len);
}

uint64_t notify_watchdog_ms(void)
{
	return watchdog_ms;
}

void notify_done(void)
{
	if (notify_fd >= 0)
		(void)close(notify_fd);
	notify_fd = -1;
}
