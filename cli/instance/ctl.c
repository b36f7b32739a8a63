/* ctl.c - see ctl.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/instance/ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/instance/answers.h"
#include "cli/local/paths.h"
#include "cli/view/output.h"

#define SOON_MS 5u
/* What takes longer is said to be waited for. */
#define QUIET_MS UINT64_C(1000)

struct ctl {
	int fd; /* -1: of answers that were recorded */
	char *path;
	struct answers *recorded; /* borrowed */
	size_t at, len;           /* of the datagram that was read last: decoded up to at */
	uint8_t frame[IPC_FRAME_MAX];
};

static int connect_socket(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = -1;

	if (strlen(path) >= sizeof(sa.sun_path))
		return -ENAMETOOLONG;
	memcpy(sa.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

static bool is_denied(int err)
{
	return err == EACCES || err == EPERM;
}

static void complain_denied(const char *path, int err)
{
	output_complain(NULL, paths_is_of_system(path) ? TEXT(CTL_DENIED_GROUP) : TEXT(CTL_DENIED), path,
			strerrordesc_np(err));
}

static int not_connected(const char *path, int err, bool named)
{
	_cleanup_free_ char *other = named ? NULL : paths_socket_of_template();

	if (is_denied(err)) {
		complain_denied(path, err);
		return EXIT_CODE_CREDENTIAL;
	}
	output_complain(NULL, TEXT(CTL_ABSENT), path, strerrordesc_np(err));
	if (other)
		output_complain(NULL, TEXT(CTL_ELSEWHERE), other);
	return EXIT_CODE_UNAVAILABLE;
}

/* The first that answers. What is told of the others is that one is there and may not be asked, else that the
 * first is not there. */
int ctl_open(const char *socket, struct ctl **ret)
{
	char *paths[PATHS_SOCKETS + 1];
	struct ctl *c = xcalloc(1, sizeof(*c));
	size_t told = 0;
	int first = 0;

	c->fd = -1;
	c->recorded = answers_find(socket);
	if (c->recorded) {
		c->path = xstrdup(socket);
		*ret = c;
		return EXIT_CODE_OK;
	}
	paths_control_sockets(socket, paths);
	for (size_t i = 0; paths[i] && c->fd < 0; i++) {
		c->fd = connect_socket(paths[i]);
		if (c->fd >= 0)
			c->path = xstrdup(paths[i]);
		else if (i == 0 || is_denied(-c->fd))
			first = -c->fd, told = i;
	}
	const int code = c->fd >= 0 ? EXIT_CODE_OK : not_connected(paths[told], first, socket != NULL);

	for (size_t i = 0; paths[i]; i++)
		free(paths[i]);
	if (code == EXIT_CODE_OK)
		*ret = c;
	else
		ctl_close(&c);
	return code;
}

int ctl_open_soon(const char *socket, uint64_t timeout_ms, struct ctl **ret)
{
	const struct timespec pause = { 0, SOON_MS * 1000000L };
	const uint64_t end = clock_boot_ms() + timeout_ms;
	int fd;

	while ((fd = connect_socket(socket)) < 0 && clock_boot_ms() < end)
		(void)nanosleep(&pause, NULL);
	if (fd >= 0)
		(void)close(fd);
	return ctl_open(socket, ret);
}

void ctl_close(struct ctl **cp)
{
	struct ctl *c = *cp;

	if (c && c->fd >= 0)
		(void)close(c->fd);
	if (c)
		free(c->path);
	free(c);
	*cp = NULL;
}

static int ended(const char *why)
{
	output_complain(NULL, TEXT(CTL_ENDED), why);
	return EXIT_CODE_UNAVAILABLE;
}

const char *ctl_operator(void)
{
	const char *sudo = getenv("SUDO_USER");
	const struct passwd *own = sudo ? NULL : getpwuid(getuid());

	return sudo ? sudo : own ? own->pw_name : "";
}

int ctl_send(struct ctl *c, const struct msg *m)
{
	uint8_t frame[IPC_FRAME_MAX];

	if (c->recorded)
		return EXIT_CODE_OK;
	const size_t n = msg_encode(m, frame);

	/* A connection that was refused is told apart where its end is read. */
	if (send(c->fd, frame, n, MSG_NOSIGNAL) == (ssize_t)n || errno == EPIPE || errno == ECONNRESET)
		return EXIT_CODE_OK;
	return ended(strerrordesc_np(errno));
}

/* On a terminal, in a line that goes away with the answer. Returns what is left of the time. */
static uint64_t show_waiting(const struct ctl *c, uint64_t timeout_ms)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	uint64_t waited = 0;

	if (!isatty(STDERR_FILENO))
		return timeout_ms;
	while (timeout_ms - waited > QUIET_MS && poll(&p, 1, (int)QUIET_MS) == 0) {
		waited += QUIET_MS;
		(void)fputs("\r\033[K", stderr);
		(void)fprintf(stderr, TEXT(CTL_WAITING), waited / 1000);
	}
	if (waited > 0)
		(void)fputs("\r\033[K", stderr);
	return timeout_ms - waited;
}

static int late(const struct ctl *c)
{
	output_complain(NULL, TEXT(CTL_LATE), c->path);
	return EXIT_CODE_UNAVAILABLE;
}

static int read_frame(struct ctl *c, uint64_t timeout_ms)
{
	const uint64_t left_ms = show_waiting(c, timeout_ms);
	const struct timeval left = clock_timeval(left_ms ? left_ms : 1); /* 0 would be for ever */
	ssize_t n;

	(void)setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &left, sizeof(left));
	do
		n = recv(c->fd, c->frame, sizeof(c->frame), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return late(c);
	if (n <= 0)
		return ended(TEXT(CTL_NOT_ANSWERED));
	c->at = 0;
	c->len = (size_t)n;
	return EXIT_CODE_OK;
}

static int recv_recorded(struct ctl *c, struct msg *ret)
{
	const int r = answers_next(c->recorded, ret);

	if (r == 0)
		return EXIT_CODE_OK;
	output_complain(NULL, r == -ENODATA ? TEXT(ANSWERS_CUT_OFF) : TEXT(ANSWERS_OTHER_VERSION), c->path);
	return EXIT_CODE_UNAVAILABLE;
}

int ctl_recv(struct ctl *c, uint64_t timeout_ms, struct msg *ret)
{
	if (c->recorded)
		return recv_recorded(c, ret);
	const char *field = NULL;
	const int code = c->at < c->len ? EXIT_CODE_OK : read_frame(c, timeout_ms);

	if (code != EXIT_CODE_OK)
		return code;
	const int n =
		msg_decode(ROLE_SUPERVISOR, ROLE_CLI, PH_RUN, c->frame + c->at, c->len - c->at, ret, &field);

	if (n < 0)
		return ended(TEXT(CTL_OTHER_VERSION));
	c->at += (size_t)n;
	answers_keep(ret);
	return EXIT_CODE_OK;
}

int ctl_request(struct ctl *c, const struct msg *request, uint64_t timeout_ms,
		void (*on_row)(void *ctx, const struct msg *m), void *ctx)
{
	const uint64_t until = clock_boot_ms() + timeout_ms;
	int code = ctl_send(c, request);

	while (code == EXIT_CODE_OK) {
		const uint64_t now = clock_boot_ms();
		struct msg m;

		code = now < until ? ctl_recv(c, until - now, &m) : late(c);
		if (code == EXIT_CODE_OK && m.type == MSG_CTL_END) {
			if (!facts_empty(&m.u.ctl_end.why))
				output_complain_facts(&m.u.ctl_end.why);
			return (int)m.u.ctl_end.code;
		}
		if (code == EXIT_CODE_OK && on_row)
			on_row(ctx, &m);
	}
	return code;
}

int ctl_ask(const char *socket, const struct msg *request, uint64_t timeout_ms,
	    void (*on_row)(void *ctx, const struct msg *m), void *ctx)
{
	struct ctl *c = NULL;
	int code = ctl_open(socket, &c);

	if (code == EXIT_CODE_OK)
		code = ctl_request(c, request, timeout_ms, on_row, ctx);
	ctl_close(&c);
	return code;
}

/* -- rows -- */

void rows_take(void *ctx, const struct msg *m)
{
	struct rows *r = ctx;

	switch (m->type) {
#define M(ID, name, ...)                                                                                     \
	case MSG_##ID:                                                                                       \
		r->name.v = xreallocarray(r->name.v, r->name.n + 1, sizeof(m->u.name));                      \
		r->name.v[r->name.n++] = m->u.name;                                                          \
		break;
		MSG_LIST(M)
#undef M
	case MSG__MAX:
		break;
	}
}

static int compare_actions(const void *a, const void *b)
{
	const struct msg_ctl_history_row *x = a, *y = b;
	const int key = strcmp(x->action_key, y->action_key);

	return key ? key : (x->id < y->id) - (x->id > y->id);
}

void rows_sort_history(struct rows *r)
{
	if (r->ctl_history_row.n > 0)
		qsort(r->ctl_history_row.v, r->ctl_history_row.n, sizeof(*r->ctl_history_row.v),
		      compare_actions);
}

void rows_done(struct rows *r)
{
#define M(ID, name, ...) free(r->name.v);
	MSG_LIST(M)
#undef M
	*r = (struct rows){ 0 };
}
