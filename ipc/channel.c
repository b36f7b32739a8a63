/* channel.c - see channel.h. SEQPACKET keeps message borders, so there is no reassembly: one recvmsg is one
 * message. A failed write never reports by itself: the peer may have queued messages before it died, and
 * those are read first. */
// SPDX-License-Identifier: Apache-2.0
#include "ipc/channel.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"

/* Messages read in one turn of the loop, so that a flood from one peer does not starve the others. */
#define READS_PER_TURN 64

struct frame {
	struct frame *next;
	int fd;
	size_t len;
	uint8_t bytes[];
};

struct channel {
	int fd;
	enum role self, peer;
	enum phase phase;
	const struct channel_ops *ops;
	void *ctx;
	struct event *on_read, *on_write;
	struct frame *head, **tail;
	size_t queued;
	bool closed;   /* on_close was called */
	bool broken;   /* writing is over */
	bool refused;  /* a send was answered -EAGAIN */
	unsigned busy; /* handlers running: a free waits until they have returned */
	bool freed;
};

static void frame_free(struct frame *f)
{
	if (f->fd >= 0)
		(void)close(f->fd);
	free(f);
}

static void drop_queue(struct channel *c)
{
	while (c->head) {
		struct frame *f = c->head;

		c->head = f->next;
		frame_free(f);
	}
	c->tail = &c->head;
	c->queued = 0;
}

static void report_close(struct channel *c, int err, const char *text)
{
	if (c->closed)
		return;
	c->closed = true;
	(void)event_del(c->on_read);
	(void)event_del(c->on_write);
	drop_queue(c);
	c->ops->on_close(c->ctx, c, err, text);
}

/* The first descriptor is kept, all others are closed: no message carries two. */
static int take_fds(struct msghdr *mh)
{
	int kept = -1;

	for (struct cmsghdr *h = CMSG_FIRSTHDR(mh); h; h = CMSG_NXTHDR(mh, h)) {
		const size_t n = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(h) + i * sizeof(int), sizeof(fd));
			if (kept < 0)
				kept = fd;
			else
				(void)close(fd);
		}
	}
	return kept;
}

static void reject(struct channel *c, int err, const char *field)
{
	char text[96];

	(void)snprintf(text, sizeof(text), "bad message from %s: %s", role_name(c->peer), field);
	report_close(c, err, text);
}

/* Returns 1 after a message, 0 when there is none, negative when the channel has ended. */
static int read_one(struct channel *c)
{
	uint8_t buf[IPC_FRAME_MAX + 1];
	union {
		char space[CMSG_SPACE(4 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr mh = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	const char *field = "(truncated)";
	struct msg m;
	const ssize_t n = recvmsg(c->fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0 && errno == ECONNRESET)
		return 1; /* the peer died with our messages unread; what it sent itself still follows */
	if (n <= 0) {
		report_close(c, n < 0 ? -errno : 0, n < 0 ? "socket failed" : "closed");
		return -EPIPE;
	}
	const int fd = take_fds(&mh);
	int r = mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC)
			? -EBADMSG
			: msg_decode(c->peer, c->self, c->phase, buf, (size_t)n, &m, &field);

	if (r < 0) {
		if (fd >= 0)
			(void)close(fd);
		reject(c, r, field);
		return r;
	}
	c->ops->on_msg(c->ctx, c, &m, fd);
	return 1;
}

static void release(struct channel *c)
{
	event_free(c->on_read);
	event_free(c->on_write);
	drop_queue(c);
	(void)close(c->fd);
	free(c);
}

static void read_many(struct channel *c, unsigned limit)
{
	c->busy++;
	for (unsigned i = 0; i < limit && !c->freed && !c->closed; i++)
		if (read_one(c) <= 0)
			break;
	if (--c->busy == 0 && c->freed)
		release(c);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	read_many(arg, READS_PER_TURN);
}

/* 0 when sent, -EAGAIN when the socket is full, -EPIPE when the peer is gone. */
static int write_frame(struct channel *c, const struct frame *f)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec iov = { (void *)(uintptr_t)f->bytes, f->len };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (f->fd >= 0) {
		mh.msg_control = &control;
		mh.msg_controllen = sizeof(control);
		struct cmsghdr *h = CMSG_FIRSTHDR(&mh);

		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(h), &f->fd, sizeof(int));
	}
	if (sendmsg(c->fd, &mh, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return 0;
	return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? -EAGAIN : -EPIPE;
}

static int write_queue(struct channel *c)
{
	while (c->head) {
		struct frame *f = c->head;
		const int r = write_frame(c, f);

		if (r == -EAGAIN)
			return r;
		if (r < 0) {
			c->broken = true;
			drop_queue(c);
			return r;
		}
		c->head = f->next;
		if (!c->head)
			c->tail = &c->head;
		c->queued--;
		frame_free(f);
	}
	return 0;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct channel *c = arg;

	(void)fd;
	(void)what;
	if (write_queue(c) == -EAGAIN)
		return;
	(void)event_del(c->on_write);
	if (c->refused && !c->broken && c->ops->on_drain) {
		c->refused = false;
		c->ops->on_drain(c->ctx, c);
	}
}

struct channel *channel_new(struct event_base *base, int fd, enum role self, enum role peer,
			    const struct channel_ops *ops, void *ctx)
{
	struct channel *c = xcalloc(1, sizeof(*c));

	*c = (struct channel){
		.fd = fd, .self = self, .peer = peer, .phase = PH_HELLO, .ops = ops, .ctx = ctx
	};
	c->tail = &c->head;
	(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	c->on_read = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, c);
	c->on_write = event_new(base, fd, EV_WRITE | EV_PERSIST, on_writable, c);
	if (!c->on_read || !c->on_write)
		abort();
	(void)event_add(c->on_read, NULL);
	return c;
}

void channel_free(struct channel **cp)
{
	struct channel *c = *cp;

	if (!c)
		return;
	*cp = NULL;
	c->closed = true;
	c->freed = true;
	(void)event_del(c->on_read);
	(void)event_del(c->on_write);
	if (c->busy == 0)
		release(c);
}

void channel_set_phase(struct channel *c, enum phase phase)
{
	c->phase = phase;
}

int channel_send(struct channel *c, const struct msg *m, int fd)
{
	uint8_t buf[IPC_FRAME_MAX];

	if (c->closed || c->broken)
		return -EPIPE;
	if (c->queued >= CHANNEL_QUEUE_MAX) {
		c->refused = true;
		return -EAGAIN;
	}
	const size_t len = msg_encode(m, buf);
	struct frame *f = xmalloc(sizeof(*f) + len);

	*f = (struct frame){ .fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0), .len = len };
	memcpy(f->bytes, buf, len);
	*c->tail = f;
	c->tail = &f->next;
	c->queued++;
	if (c->queued > 1)
		return 0; /* already waiting for room */
	const int r = write_queue(c);

	if (r == -EAGAIN) {
		(void)event_add(c->on_write, NULL);
		return 0;
	}
	return r;
}

size_t channel_queued(const struct channel *c)
{
	return c->queued;
}

void channel_pause(struct channel *c, bool pause)
{
	if (c->closed)
		return;
	if (pause)
		(void)event_del(c->on_read);
	else
		(void)event_add(c->on_read, NULL);
}

void channel_read_all(struct channel *c)
{
	read_many(c, UINT32_MAX);
}

int channel_flush(struct channel *c, int timeout_ms)
{
	const uint64_t end = clock_boot_ms() + (uint64_t)timeout_ms;

	for (;;) {
		const int r = write_queue(c);
		const uint64_t now = clock_boot_ms();
		struct pollfd p = { .fd = c->fd, .events = POLLOUT };

		if (r != -EAGAIN)
			return r;
		if (now >= end)
			return -ETIMEDOUT;
		(void)poll(&p, 1, (int)(end - now));
	}
}
