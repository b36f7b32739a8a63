/* channel_ends.c - see channel_ends.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/ipc/channel_ends.h"

#include <check.h>
#include <event2/event.h>
#include <sys/socket.h>
#include <unistd.h>

struct event_base *base;

static void on_msg(void *ctx, struct channel *c, const struct msg *m, int fd)
{
	struct end *e = ctx;

	(void)c;
	e->received++;
	e->in_order = e->in_order && m->u.heartbeat.progress == e->last + 1;
	e->last = m->u.heartbeat.progress;
	if (fd >= 0)
		e->fd = fd;
	if (e->last == e->act_at && e->act)
		e->act(e);
}

static void on_close(void *ctx, struct channel *c, int err, const struct facts *why)
{
	struct end *e = ctx;

	(void)c;
	(void)why;
	e->closed++;
	e->err = err;
	if (!e->keeps)
		channel_free(&e->channel);
}

static void on_drain(void *ctx, struct channel *c)
{
	(void)c;
	((struct end *)ctx)->drained++;
}

static const struct channel_ops ops = { on_msg, on_close, on_drain };

int setup_pair(struct end *a, struct end *b)
{
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	base = event_base_new();
	*a = (struct end){ .in_order = true, .fd = -1 };
	a->channel = channel_new(base, pair[0], ROLE_SUPERVISOR, ROLE_WATCHER, &ops, a);
	channel_set_phase(a->channel, PH_RUN);
	if (!b)
		return pair[1];
	*b = (struct end){ .in_order = true, .fd = -1 };
	b->channel = channel_new(base, pair[1], ROLE_WATCHER, ROLE_SUPERVISOR, &ops, b);
	channel_set_phase(b->channel, PH_RUN);
	return -1;
}

struct msg heartbeat(uint64_t n)
{
	return (struct msg){ .type = MSG_HEARTBEAT, .u.heartbeat.progress = n };
}

void send_beat(struct channel *c, uint64_t n, int fd)
{
	const struct msg m = heartbeat(n);

	ck_assert_int_eq(channel_send(c, &m, fd), 0);
}

void send_beats(struct channel *c, uint64_t first, uint64_t last)
{
	for (uint64_t i = first; i <= last; i++)
		send_beat(c, i, -1);
}

size_t encode_beats(uint8_t *buf, uint64_t first, uint64_t last)
{
	size_t n = 0;

	for (uint64_t i = first; i <= last; i++) {
		const struct msg m = heartbeat(i);

		n += msg_encode(&m, buf + n);
	}
	return n;
}

void expect_datagram(int fd, uint64_t first, uint64_t last)
{
	uint8_t buf[IPC_FRAME_MAX], want[2 * IPC_FRAME_MAX];
	const ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);

	if (first == 0) {
		ck_assert_int_lt(n, 0);
		return;
	}
	ck_assert_int_eq(n, (ssize_t)encode_beats(want, first, last));
	ck_assert_mem_eq(buf, want, (size_t)n);
}

void end_test(struct end *a, struct end *b, int fd)
{
	channel_free(&a->channel);
	if (b)
		channel_free(&b->channel);
	if (fd >= 0)
		(void)close(fd);
	event_base_free(base);
}

void spin(unsigned turns)
{
	for (unsigned i = 0; i < turns; i++)
		(void)event_base_loop(base, EVLOOP_NONBLOCK);
}
