/* channel.c - see channel.h. SEQPACKET keeps the borders of datagrams, so there is no reassembly: one recvmsg
 * is one or more whole messages. A failed write never reports by itself: the peer may have queued messages
 * before it died, and those are read first. */
// SPDX-License-Identifier: Apache-2.0
#include "ipc/channel.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "text/texts.h"

/* A run of the loop ends after so many messages, so that a flood from one peer does not starve the others.
 */
#define MESSAGES_PER_RUN 64
/* A sender fills a datagram before it begins another: behind a smaller one there is seldom a second, and the
 * loop comes back for it. */
#define FULL_LEN (IPC_FRAME_MAX / 2)

/* A flush waits in steps that it counts, so it ends under a clock that stands still, too. */
#define FLUSH_STEP_MS 5

/* A datagram that waits for room in the socket. */
struct frame {
	struct frame *next;
	int fd;
	unsigned messages;
	size_t len;
	uint8_t bytes[];
};

struct channel {
	int fd;
	enum role self, peer;
	enum phase phase;
	const struct channel_ops *ops;
	void *ctx;
	struct event *on_read, *on_write, *on_run_end;
	struct frame *head, **tail;
	size_t queued; /* messages that are not written yet */
	bool closed;   /* on_close was called */
	bool broken;   /* writing is over */
	bool full;     /* the socket is: on_write waits for room */
	bool refused;  /* a send was answered -EAGAIN */
	unsigned busy; /* handlers running: a free waits until they have returned */
	bool freed;
	size_t in_at, in_len; /* of the datagram that was read: reported up to in_at */
	size_t out_len;       /* of the datagram that is being filled */
	unsigned out_messages;
	uint8_t in[IPC_FRAME_MAX];
	uint8_t out[2 * IPC_FRAME_MAX]; /* twice: a message is encoded before it is known to fit */
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
	c->out_len = 0;
	c->out_messages = 0;
}

/* 0 when sent, -EAGAIN when the socket is full, -EPIPE when the peer is gone. */
static int write_datagram(int sock, uint8_t *p, size_t n, int fd)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec iov = { p, n };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		mh.msg_control = &control;
		mh.msg_controllen = sizeof(control);
		struct cmsghdr *h = CMSG_FIRSTHDR(&mh);

		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(h), &fd, sizeof(int));
	}
	if (sendmsg(sock, &mh, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return 0;
	return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? -EAGAIN : -EPIPE;
}

static int write_frames(struct channel *c)
{
	while (c->head) {
		struct frame *f = c->head;
		const int r = write_datagram(c->fd, f->bytes, f->len, f->fd);

		if (r < 0)
			return r;
		c->head = f->next;
		if (!c->head)
			c->tail = &c->head;
		c->queued -= f->messages;
		frame_free(f);
	}
	return 0;
}

static int write_all(struct channel *c)
{
	int r = c->broken ? -EPIPE : write_frames(c);

	if (r == 0 && c->out_len > 0)
		r = write_datagram(c->fd, c->out, c->out_len, -1);
	if (r == -EPIPE)
		c->broken = true;
	if (r != -EAGAIN)
		drop_queue(c); /* it is written, or never will be */
	return r;
}

static void wait_for_room(struct channel *c)
{
	if (!c->full)
		(void)event_add(c->on_write, NULL);
	c->full = true;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct channel *c = arg;

	(void)fd;
	(void)what;
	if (write_all(c) == -EAGAIN)
		return;
	(void)event_del(c->on_write);
	c->full = false;
	if (c->refused && !c->broken && c->ops->on_drain) {
		c->refused = false;
		c->ops->on_drain(c->ctx, c);
	}
}

static void on_run_end(evutil_socket_t fd, short what, void *arg)
{
	struct channel *c = arg;

	(void)fd;
	(void)what;
	if (!c->full && write_all(c) == -EAGAIN)
		wait_for_room(c);
}

/* The datagram that is being filled goes behind those that wait for room. */
static void queue_out(struct channel *c, int fd)
{
	struct frame *f = xmalloc(sizeof(*f) + c->out_len);

	*f = (struct frame){ .fd = fd, .messages = c->out_messages, .len = c->out_len };
	memcpy(f->bytes, c->out, c->out_len);
	*c->tail = f;
	c->tail = &f->next;
	c->out_len = 0;
	c->out_messages = 0;
}

/* Ends the datagram that is being filled: written, or it waits for room. 0 or -EPIPE. */
static int finish_out(struct channel *c)
{
	const int r = c->full ? -EAGAIN : write_all(c);

	if (r != -EAGAIN)
		return r;
	wait_for_room(c);
	if (c->out_len > 0)
		queue_out(c, -1);
	return 0;
}

static void stop_events(struct channel *c)
{
	(void)event_del(c->on_read);
	(void)event_del(c->on_write);
	(void)event_del(c->on_run_end);
}

static void report_close(struct channel *c, int err, const struct facts *why)
{
	if (c->closed)
		return;
	c->closed = true;
	stop_events(c);
	(void)write_all(c);
	drop_queue(c);
	c->ops->on_close(c->ctx, c, err, why);
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
	struct facts why = facts_of(TEXT_BAD_MESSAGE);

	facts_name(&why, FACT_ROLE, STR_C(role_name(c->peer)));
	facts_name(&why, FACT_FIELD, STR_C(field));
	report_close(c, err, &why);
}

/* False when there is none or the channel has ended. *ret_fd: what rode along, or -1. */
static bool read_datagram(struct channel *c, int *ret_fd)
{
	union {
		char space[CMSG_SPACE(4 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { c->in, sizeof(c->in) };
	struct msghdr mh = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	ssize_t n;

	do /* the peer died with our messages unread; what it sent itself still follows */
		n = recvmsg(c->fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == ECONNRESET);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		const struct facts why = n < 0 ? facts_of(TEXT_SOCKET_FAILED) : (struct facts){ 0 };

		report_close(c, n < 0 ? -errno : 0, &why);
		return false;
	}
	*ret_fd = take_fds(&mh);
	c->in_at = 0;
	c->in_len = (size_t)n;
	if (!(mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return true;
	if (*ret_fd >= 0)
		(void)close(*ret_fd);
	reject(c, -EBADMSG, "(truncated)");
	return false;
}

/* The next message of the datagram that was read. A message with a descriptor travels alone. */
static void report_next(struct channel *c, int fd)
{
	const size_t left = c->in_len - c->in_at;
	const char *field;
	struct msg m;
	int r = msg_decode(c->peer, c->self, c->phase, c->in + c->in_at, left, &m, &field);

	if (r > 0 && fd >= 0 && (size_t)r < left) {
		field = "(descriptor)";
		r = -EBADMSG;
	}
	if (r < 0) {
		if (fd >= 0)
			(void)close(fd);
		reject(c, r, field);
		return;
	}
	c->in_at += (size_t)r;
	c->ops->on_msg(c->ctx, c, &m, fd);
}

static void release(struct channel *c)
{
	event_free(c->on_read);
	event_free(c->on_write);
	event_free(c->on_run_end);
	drop_queue(c);
	(void)close(c->fd);
	free(c);
}

/* Is there one more to read in this run, after n messages? */
static bool goes_on(const struct channel *c, unsigned most, unsigned n)
{
	if (c->freed || c->closed)
		return false;
	return n < most || c->in_at < c->in_len || (c->in_len > FULL_LEN && n < MESSAGES_PER_RUN);
}

/* Up to `most`, and what is behind them in the same datagram or in one that a full one promises. */
static void read_many(struct channel *c, unsigned most)
{
	c->busy++;
	for (unsigned n = 0; goes_on(c, most, n); n++) {
		int fd = -1;

		if (c->in_at == c->in_len && !read_datagram(c, &fd))
			break;
		report_next(c, fd);
	}
	if (--c->busy == 0 && c->freed)
		release(c);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	read_many(arg, 1);
}

struct channel *channel_new(struct event_base *base, int fd, enum role self, enum role peer,
			    const struct channel_ops *ops, void *ctx)
{
	struct channel *c = xcalloc(1, sizeof(*c));

	c->fd = fd;
	c->self = self;
	c->peer = peer;
	c->phase = PH_HELLO;
	c->ops = ops;
	c->ctx = ctx;
	c->tail = &c->head;
	(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	c->on_read = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, c);
	c->on_write = event_new(base, fd, EV_WRITE | EV_PERSIST, on_writable, c);
	c->on_run_end = event_new(base, -1, 0, on_run_end, c);
	if (!c->on_read || !c->on_write || !c->on_run_end)
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
	stop_events(c);
	(void)write_all(c);
	if (c->busy == 0)
		release(c);
}

void channel_set_phase(struct channel *c, enum phase phase)
{
	c->phase = phase;
}

static int send_alone(struct channel *c, const struct msg *m, int fd)
{
	const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	const int r = own < 0 ? -errno : finish_out(c);

	if (r < 0) {
		if (own >= 0)
			(void)close(own);
		return r;
	}
	c->out_len = msg_encode(m, c->out);
	c->out_messages = 1;
	c->queued++;
	queue_out(c, own);
	return finish_out(c);
}

int channel_send(struct channel *c, const struct msg *m, int fd)
{
	if (c->closed || c->broken)
		return -EPIPE;
	if (c->queued >= CHANNEL_QUEUE_MAX) {
		c->refused = true;
		return -EAGAIN;
	}
	if (fd >= 0)
		return send_alone(c, m, fd);
	const size_t before = c->out_len;
	const size_t n = msg_encode(m, c->out + before);

	if (before + n > IPC_FRAME_MAX) {
		const int r = finish_out(c);

		if (r < 0)
			return r;
		memmove(c->out, c->out + before, n);
	}
	c->out_len += n;
	c->out_messages++;
	c->queued++;
	event_active(c->on_run_end, 0, 0); /* behind all that is active now */
	return 0;
}

void channel_read_all(struct channel *c)
{
	read_many(c, UINT_MAX);
}

void channel_read_waiting(struct channel *c)
{
	read_many(c, MESSAGES_PER_RUN);
}

int channel_flush(struct channel *c, int timeout_ms)
{
	struct pollfd p = { .fd = c->fd, .events = POLLOUT };
	int r;

	while ((r = write_all(c)) == -EAGAIN && timeout_ms > 0) {
		(void)poll(&p, 1, FLUSH_STEP_MS);
		timeout_ms -= FLUSH_STEP_MS;
	}
	return r == -EAGAIN ? -ETIMEDOUT : r;
}
