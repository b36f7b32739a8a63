/* ctl.c - see ctl.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/ctl.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/paths.h"
#include "ipc/channel.h"

struct question {
	struct event_base *base;
	void (*on_row)(void *ctx, const struct msg *m);
	void *ctx;
	int code;
	bool answered;
};

static void on_msg(void *ctx, struct channel *c, const struct msg *m, int fd)
{
	struct question *q = ctx;

	(void)c;
	if (fd >= 0)
		(void)close(fd);
	if (m->type != MSG_CTL_END) {
		q->on_row(q->ctx, m);
		return;
	}
	if (m->u.ctl_end.text[0])
		(void)fprintf(stderr, "ops-pod-cleaner: %s\n", m->u.ctl_end.text);
	q->code = (int)m->u.ctl_end.code;
	q->answered = true;
	(void)event_base_loopbreak(q->base);
}

static void on_close(void *ctx, struct channel *c, int err, const char *text)
{
	struct question *q = ctx;

	(void)c;
	(void)fprintf(stderr, "ops-pod-cleaner: the instance ended the connection: %s\n",
		      err ? text : "not answered (only root and the instance's own user may ask)");
	q->answered = true;
	(void)event_base_loopbreak(q->base);
}

static const struct channel_ops ops = { .on_msg = on_msg, .on_close = on_close };

static int connect_socket(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof(sa.sun_path)) {
		if (fd >= 0)
			(void)close(fd);
		return fd < 0 ? -errno : -ENAMETOOLONG;
	}
	memcpy(sa.sun_path, path, strlen(path) + 1);
	if (connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) == 0)
		return fd;
	const int r = -errno;

	(void)close(fd);
	return r;
}

int ctl_ask(const char *socket, const struct msg *request, uint64_t timeout_ms,
	    void (*on_row)(void *ctx, const struct msg *m), void *ctx)
{
	_cleanup_free_ char *path = socket ? xstrdup(socket) : paths_default_control_socket();
	const struct timeval limit = { (time_t)(timeout_ms / 1000), (suseconds_t)(timeout_ms % 1000 * 1000) };
	struct question q = { .on_row = on_row, .ctx = ctx, .code = EXIT_CODE_UNAVAILABLE };
	const int fd = connect_socket(path);

	if (fd < 0) {
		(void)fprintf(stderr,
			      "ops-pod-cleaner: no running instance at %s (%s): start one with "
			      "`ops-pod-cleaner run`, or name "
			      "its socket with --control-socket\n",
			      path, strerrordesc_np(-fd));
		return EXIT_CODE_UNAVAILABLE;
	}
	q.base = event_base_new();
	struct channel *c = channel_new(q.base, fd, ROLE_CLI, ROLE_SUPERVISOR, &ops, &q);

	channel_set_phase(c, PH_RUN);
	(void)channel_send(c, request, -1);
	(void)event_base_loopexit(q.base, &limit);
	(void)event_base_dispatch(q.base);
	if (!q.answered)
		(void)fprintf(stderr, "ops-pod-cleaner: no answer from %s in time\n", path);
	channel_free(&c);
	event_base_free(q.base);
	return q.code;
}
