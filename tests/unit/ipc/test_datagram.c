/* test_datagram.c - several messages in one datagram: when it leaves, and what becomes of its rest. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/suite.h"
#include "tests/unit/ipc/channel_ends.h"

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
	struct end *e = arg;

	(void)fd;
	(void)what;
	send_beats(e->channel, 1, 3);
	expect_datagram(e->fd, 0, 0);
}

TEST(one_turn_is_one_datagram)
{
	const struct timeval now = { 0, 0 };
	struct end a;
	const int fd = setup_pair(&a, NULL);

	a.fd = fd;
	ck_assert_int_eq(event_base_once(base, -1, EV_TIMEOUT, on_turn, &a, &now), 0);
	ck_assert_int_eq(event_base_loop(base, EVLOOP_ONCE), 0);
	expect_datagram(fd, 1, 3);
	expect_datagram(fd, 0, 0);
	spin(2);
	expect_datagram(fd, 0, 0);
	end_test(&a, NULL, fd);
}

TEST(a_full_datagram_leaves_at_once)
{
	uint8_t buf[IPC_FRAME_MAX];
	struct end a;
	const int fd = setup_pair(&a, NULL);
	const uint64_t fit = IPC_FRAME_MAX / encode_beats(buf, 1000, 1000);

	send_beats(a.channel, 1000, 999 + fit);
	expect_datagram(fd, 0, 0);
	send_beat(a.channel, 1000 + fit, -1);
	expect_datagram(fd, 1000, 999 + fit);
	expect_datagram(fd, 0, 0);
	spin(1);
	expect_datagram(fd, 1000 + fit, 1000 + fit);
	end_test(&a, NULL, fd);
}

TEST(a_descriptor_travels_alone)
{
	const int memfd = memfd_create("x", MFD_CLOEXEC);
	struct end a, b;

	(void)setup_pair(&a, &b);
	send_beats(b.channel, 1, 2);
	send_beat(b.channel, 3, memfd);
	spin(1); /* all but what is filled now */
	ck_assert_uint_eq(a.received, 3);
	ck_assert_int_ge(a.fd, 0);
	send_beat(b.channel, 4, -1);
	spin(2);
	ck_assert_uint_eq(a.received, 4);
	ck_assert(a.in_order);
	(void)close(memfd);
	(void)close(a.fd);
	end_test(&a, &b, -1);
}

/* A datagram of two messages with a descriptor: none counts, and the descriptor is not kept. */
TEST(a_descriptor_for_two_ends_the_peer)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	uint8_t buf[IPC_FRAME_MAX];
	struct iovec iov = { buf, encode_beats(buf, 1, 2) };
	const struct msghdr mh = { .msg_iov = &iov,
				   .msg_iovlen = 1,
				   .msg_control = control.room,
				   .msg_controllen = sizeof(control.room) };
	int pipe_fds[2];
	struct end a;
	const int fd = setup_pair(&a, NULL);

	ck_assert_int_eq(pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK), 0);
	control.h.cmsg_level = SOL_SOCKET;
	control.h.cmsg_type = SCM_RIGHTS;
	control.h.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.h), &pipe_fds[1], sizeof(int));
	ck_assert_int_gt(sendmsg(fd, &mh, 0), 0);
	(void)close(pipe_fds[1]);
	spin(2);
	ck_assert_uint_eq(a.received, 0);
	ck_assert_int_eq(a.err, -EBADMSG);
	ck_assert_int_eq(read(pipe_fds[0], buf, 1), 0); /* nobody can write to it any more */
	(void)close(pipe_fds[0]);
	end_test(&a, NULL, fd);
}

/* No message has two descriptors: of those that come the first is the message's, and the others stay open
 * nowhere. */
TEST(a_second_descriptor_is_closed)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(3 * sizeof(int))];
	} control = { 0 };
	uint8_t buf[IPC_FRAME_MAX];
	struct iovec iov = { buf, encode_beats(buf, 1, 1) };
	const struct msghdr mh = { .msg_iov = &iov,
				   .msg_iovlen = 1,
				   .msg_control = control.room,
				   .msg_controllen = sizeof(control.room) };
	int pipes[3][2], passed[3];
	struct end a;
	const int fd = setup_pair(&a, NULL);

	for (size_t i = 0; i < 3; i++) {
		ck_assert_int_eq(pipe2(pipes[i], O_CLOEXEC | O_NONBLOCK), 0);
		passed[i] = pipes[i][1];
	}
	control.h = (struct cmsghdr){ CMSG_LEN(sizeof(passed)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(&control.h), passed, sizeof(passed));
	ck_assert_int_gt(sendmsg(fd, &mh, 0), 0);
	for (size_t i = 0; i < 3; i++)
		(void)close(passed[i]);
	spin(2);
	ck_assert_uint_eq(a.received, 1);
	ck_assert_int_eq(write(a.fd, "x", 1), 1);
	ck_assert_int_eq(read(pipes[0][0], buf, 2), 1);
	ck_assert_int_eq(read(pipes[1][0], buf, 1), 0); /* nobody can write to it any more */
	ck_assert_int_eq(read(pipes[2][0], buf, 1), 0);
	(void)close(a.fd);
	for (size_t i = 0; i < 3; i++)
		(void)close(pipes[i][0]);
	end_test(&a, NULL, fd);
}

TEST(good_messages_before_a_bad_one_count)
{
	uint8_t buf[IPC_FRAME_MAX];
	struct end a;
	const int fd = setup_pair(&a, NULL);
	size_t n = encode_beats(buf, 1, 2);

	a.keeps = true;
	buf[n++] = 0xc1;
	n += encode_beats(buf + n, 3, 4);
	ck_assert_int_gt(send(fd, buf, n, 0), 0);
	ck_assert_int_gt(send(fd, buf, encode_beats(buf, 3, 4), 0), 0);
	spin(3);
	ck_assert_uint_eq(a.received, 2);
	ck_assert(a.in_order);
	ck_assert_uint_eq(a.closed, 1);
	ck_assert_int_eq(a.err, -EBADMSG);
	end_test(&a, NULL, fd);
}

static void enter_run(struct end *e)
{
	channel_set_phase(e->channel, PH_RUN);
}

/* With and without a change of the phase by the handler of the first message. */
TEST(the_phase_is_that_of_each_message)
{
	for (int change = 0; change < 2; change++) {
		const struct msg m = { .type = MSG_READY, .u.ready.generation = 1 };
		uint8_t buf[IPC_FRAME_MAX];
		const size_t n = msg_encode(&m, buf);
		struct end a;
		const int fd = setup_pair(&a, NULL);

		channel_set_phase(a.channel, PH_SETUP);
		a.act_at = m.u.heartbeat.progress; /* the same member: generation */
		a.act = change ? enter_run : NULL;
		ck_assert_int_gt(send(fd, buf, n + encode_beats(buf + n, 2, 2), 0), 0);
		spin(2);
		ck_assert_uint_eq(a.received, change ? 2 : 1);
		ck_assert_int_eq(a.err, change ? 0 : -EPERM);
		end_test(&a, NULL, fd);
	}
}

static void read_the_rest(struct end *e)
{
	channel_read_all(e->channel);
}

/* The dead are read to the end, also by a handler. */
TEST(read_all_reads_the_rest)
{
	void (*const acts[])(struct end * e) = { NULL, read_the_rest };

	for (size_t i = 0; i < 2; i++) {
		struct end a, b;

		(void)setup_pair(&a, &b);
		a.act_at = 2;
		a.act = acts[i];
		send_beats(b.channel, 1, 4);
		ck_assert_int_eq(channel_flush(b.channel, 0), 0);
		send_beats(b.channel, 5, 6);
		channel_free(&b.channel);
		spin(1);
		ck_assert_uint_eq(a.received, 6);
		if (a.channel)
			channel_read_all(a.channel);
		ck_assert_uint_eq(a.received, 6);
		ck_assert(a.in_order);
		ck_assert_uint_eq(a.closed, 1);
		ck_assert_int_eq(a.err, 0);
		end_test(&a, NULL, -1);
	}
}

TEST(a_flush_does_not_wait_for_the_turn)
{
	struct end a;
	const int fd = setup_pair(&a, NULL);
	struct msg m = heartbeat(3);

	send_beats(a.channel, 1, 2);
	ck_assert_int_eq(channel_flush(a.channel, 0), 0);
	expect_datagram(fd, 1, 2);
	spin(2);
	expect_datagram(fd, 0, 0);
	while (channel_send(a.channel, &m, -1) == 0)
		;
	ck_assert_int_eq(channel_flush(a.channel, 10), -ETIMEDOUT);
	(void)close(fd);
	ck_assert_int_eq(channel_flush(a.channel, 10), -EPIPE);
	ck_assert_int_eq(channel_send(a.channel, &m, -1), -EPIPE);
	end_test(&a, NULL, -1);
}

/* What was sent is not lost because the sender ends, or ends this peer, before the turn is over. */
TEST(an_end_leaves_nothing_behind)
{
	struct end a;
	int fd = setup_pair(&a, NULL);

	send_beats(a.channel, 1, 2);
	channel_free(&a.channel);
	expect_datagram(fd, 1, 2);
	end_test(&a, NULL, fd);

	fd = setup_pair(&a, NULL);
	send_beats(a.channel, 1, 2);
	ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	channel_read_all(a.channel);
	ck_assert_uint_eq(a.closed, 1);
	expect_datagram(fd, 1, 2);
	end_test(&a, NULL, fd);
}

/* Reads all datagrams that the socket holds; how many messages they are. */
static unsigned read_raw(int fd)
{
	const struct msg m = heartbeat(1);
	uint8_t buf[IPC_FRAME_MAX];
	const size_t size = msg_encode(&m, buf);
	unsigned messages = 0;
	ssize_t n;

	while ((n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		messages += (unsigned)((size_t)n / size);
	return messages;
}

/* What is written makes room for as many messages, also while others still wait. */
TEST(room_is_counted_in_messages)
{
	const struct msg m = heartbeat(1);
	unsigned sent = 0;
	struct end a;
	const int fd = setup_pair(&a, NULL);

	while (channel_send(a.channel, &m, -1) == 0)
		;
	ck_assert_uint_gt(read_raw(fd), 0);
	spin(1);
	while (channel_send(a.channel, &m, -1) == 0)
		sent++;
	ck_assert_uint_gt(sent, 0);
	ck_assert_uint_eq(read_raw(fd), sent);
	end_test(&a, NULL, fd);
}

/* A turn of the loop reads some of a flood, so that others have theirs. */
TEST(a_flood_is_read_in_turns)
{
	struct end a, b;

	(void)setup_pair(&a, &b);
	send_beats(b.channel, 1, 5000);
	ck_assert_int_eq(channel_flush(b.channel, 0), 0);
	ck_assert_int_eq(event_base_loop(base, EVLOOP_ONCE), 0);
	ck_assert_uint_gt(a.received, 0);
	ck_assert_uint_lt(a.received, 2500);
	spin(100);
	ck_assert_uint_eq(a.received, 5000);
	ck_assert(a.in_order);
	end_test(&a, &b, -1);
}

TEST_MAIN("ipc/datagram")
{
	tcase_set_timeout(t, 60);
}
