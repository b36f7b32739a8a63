/* memory_sockets.c - see memory_sockets.h. The numbers of these sockets are above those of the kernel; a call
 * with any other number goes to the kernel. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/stage/memory_sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/xalloc.h"

#define FIRST     512 /* libevent keeps an array by number: not far above those of the kernel */
#define SOCKETS   64
#define QUEUE_MAX 32u /* datagrams; EAGAIN for whoever writes more */

struct datagram {
	struct datagram *next;
	size_t n;
	int fd; /* rides along; owned; -1 = none */
	uint8_t bytes[];
};

static struct memory_socket {
	bool open;
	bool listens;
	bool reset;                    /* the peer closed with datagrams unread: the next read fails */
	struct memory_socket *peer;    /* NULL = closed, or none yet */
	struct datagram *head, **tail; /* to be read; of a socket that listens: connections, as fd */
	unsigned queued;
	uint32_t events; /* that the loop waits for */
	epoll_data_t data;
} sockets[SOCKETS];

static struct memory_socket *find(int fd)
{
	return fd >= FIRST && fd < FIRST + SOCKETS && sockets[fd - FIRST].open ? &sockets[fd - FIRST] : NULL;
}

static int fail(int error)
{
	errno = error;
	return -1;
}

static int make(void)
{
	size_t i = 0;

	while (sockets[i].open)
		if (++i == SOCKETS)
			abort();
	sockets[i] = (struct memory_socket){ .open = true, .tail = &sockets[i].head };
	return FIRST + (int)i;
}

size_t memory_sockets_open(void)
{
	size_t n = 0;

	for (size_t i = 0; i < SOCKETS; i++)
		n += sockets[i].open;
	return n;
}

/* -- datagrams -- */

static struct datagram *append(struct memory_socket *to, size_t n, int fd)
{
	struct datagram *d = xmalloc(sizeof(*d) + n);

	*d = (struct datagram){ .n = n, .fd = fd };
	*to->tail = d;
	to->tail = &d->next;
	to->queued++;
	return d;
}

/* The first one, or NULL; the caller frees it. */
static struct datagram *take(struct memory_socket *s)
{
	struct datagram *d = s->head;

	if (!d)
		return NULL;
	s->head = d->next;
	if (!s->head)
		s->tail = &s->head;
	s->queued--;
	return d;
}

static int read_fd(const struct msghdr *mh)
{
	int fd = -1;

	if (mh->msg_controllen > 0)
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(mh)), sizeof(fd));
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static void write_fd(struct msghdr *mh, int fd)
{
	struct cmsghdr *h = mh->msg_control;

	*h = (struct cmsghdr){ CMSG_LEN(sizeof(fd)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
}

ssize_t sendmsg(int fd, const struct msghdr *mh, int flags)
{
	struct memory_socket *s = find(fd);

	(void)flags;
	if (!s || !s->peer)
		return fail(EPIPE);
	if (s->peer->queued >= QUEUE_MAX)
		return fail(EAGAIN);
	memcpy(append(s->peer, mh->msg_iov->iov_len, read_fd(mh))->bytes, mh->msg_iov->iov_base,
	       mh->msg_iov->iov_len);
	return (ssize_t)mh->msg_iov->iov_len;
}

ssize_t recvmsg(int fd, struct msghdr *mh, int flags)
{
	struct memory_socket *s = find(fd);

	(void)flags;
	if (!s || s->reset) {
		if (s)
			s->reset = false;
		return fail(ECONNRESET);
	}
	struct datagram *d = take(s);

	if (!d)
		return s->peer ? fail(EAGAIN) : 0;
	const size_t n = d->n < mh->msg_iov->iov_len ? d->n : mh->msg_iov->iov_len;

	memcpy(mh->msg_iov->iov_base, d->bytes, n);
	mh->msg_flags = n < d->n ? MSG_TRUNC : 0;
	mh->msg_controllen = d->fd < 0 ? 0 : CMSG_SPACE(sizeof(d->fd));
	if (d->fd >= 0)
		write_fd(mh, d->fd);
	free(d);
	return (ssize_t)n;
}

ssize_t send(int fd, const void *p, size_t n, int flags)
{
	struct iovec iov = { (void *)(uintptr_t)p, n };
	const struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	return sendmsg(fd, &mh, flags);
}

ssize_t recv(int fd, void *p, size_t n, int flags)
{
	struct iovec iov = { p, n };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	return recvmsg(fd, &mh, flags);
}

/* -- sockets -- */

static void join(struct memory_socket *a, struct memory_socket *b)
{
	a->peer = b;
	b->peer = a;
}

int socket(int domain, int type, int protocol)
{
	(void)protocol;
	if (domain != AF_UNIX || !(type & SOCK_SEQPACKET))
		abort();
	return make();
}

int socketpair(int domain, int type, int protocol, int ret[2])
{
	ret[0] = socket(domain, type, protocol);
	ret[1] = socket(domain, type, protocol);
	join(find(ret[0]), find(ret[1]));
	return 0;
}

int bind(int fd, const struct sockaddr *sa, socklen_t n)
{
	(void)sa;
	(void)n;
	return find(fd) ? 0 : fail(EBADF);
}

int listen(int fd, int backlog)
{
	(void)backlog;
	find(fd)->listens = true;
	return 0;
}

int connect(int fd, const struct sockaddr *sa, socklen_t n)
{
	struct memory_socket *to = sockets;

	(void)sa;
	(void)n;
	while (to < sockets + SOCKETS && !(to->open && to->listens))
		to++;
	if (to == sockets + SOCKETS || to->queued >= QUEUE_MAX)
		return fail(ECONNREFUSED);
	const int theirs = make();

	join(find(fd), find(theirs));
	(void)append(to, 0, theirs);
	return 0;
}

int accept4(int fd, struct sockaddr *sa, socklen_t *n, int flags)
{
	struct datagram *d = take(find(fd));
	const int theirs = d ? d->fd : fail(EAGAIN);

	(void)sa;
	(void)n;
	(void)flags;
	free(d);
	return theirs;
}

/* SO_PEERCRED alone: any peer is this process. */
int getsockopt(int fd, int level, int name, void *ret, socklen_t *n)
{
	const struct ucred peer = { getpid(), geteuid(), getegid() };

	if (!find(fd) || level != SOL_SOCKET || name != SO_PEERCRED || *n != sizeof(peer))
		abort();
	memcpy(ret, &peer, sizeof(peer));
	return 0;
}

int fcntl(int fd, int what, ...)
{
	va_list ap;

	va_start(ap, what);
	const long arg = va_arg(ap, long);
	va_end(ap);
	return find(fd) ? 0 : (int)syscall(SYS_fcntl, fd, what, arg);
}

int close(int fd)
{
	struct memory_socket *s = find(fd);

	if (!s)
		return (int)syscall(SYS_close, fd);
	if (s->peer) {
		s->peer->reset = s->head != NULL;
		s->peer->peer = NULL;
	}
	for (struct datagram *d; (d = take(s)); free(d))
		if (d->fd >= 0)
			(void)close(d->fd);
	s->open = false;
	return 0;
}

/* -- waiting -- */

static uint32_t ready(const struct memory_socket *s)
{
	const bool gone = !s->peer && !s->listens, full = s->peer && s->peer->queued >= QUEUE_MAX;

	return (s->head || gone ? (uint32_t)EPOLLIN : 0u) | (full ? 0u : (uint32_t)EPOLLOUT) |
	       (gone ? (uint32_t)EPOLLHUP : 0u);
}

int poll(struct pollfd *p, nfds_t n, int timeout_ms)
{
	int count = 0;

	(void)timeout_ms;
	for (nfds_t i = 0; i < n; i++) {
		const struct memory_socket *s = find(p[i].fd);

		p[i].revents = s ? (short)((short)ready(s) & (p[i].events | POLLHUP)) : 0;
		count += p[i].revents != 0;
	}
	return count;
}

int epoll_ctl(int loop, int what, int fd, struct epoll_event *e)
{
	struct memory_socket *s = find(fd);

	if (!s)
		return (int)syscall(SYS_epoll_ctl, loop, what, fd, e);
	s->events = what == EPOLL_CTL_DEL ? 0 : e->events;
	if (s->events)
		s->data = e->data;
	return 0;
}

int epoll_wait(int loop, struct epoll_event *ret, int max, int timeout_ms)
{
	int n = 0;

	(void)loop;
	(void)timeout_ms;
	for (struct memory_socket *s = sockets; s < sockets + SOCKETS && n < max; s++) {
		const uint32_t events = s->open ? ready(s) & (s->events | (uint32_t)EPOLLHUP) : 0;

		if (s->events && events)
			ret[n++] = (struct epoll_event){ events, s->data };
	}
	return n;
}
