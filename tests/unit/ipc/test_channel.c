/* test_channel.c - a channel over a real socketpair: order, descriptors, back-pressure, death with unread
 * messages, bad peers. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/suite.h"
#include "tests/unit/ipc/channel_ends.h"

TEST(many_in_order)
{
	struct end a, b;

	(void)setup_pair(&a, &b);
	send_beats(b.channel, 1, 20000);
	spin(3000);
	ck_assert_uint_eq(a.received, 20000);
	ck_assert(a.in_order);
	end_test(&a, &b, -1);
}

TEST(full_queue_is_refused_and_drains)
{
	struct end a, b;
	unsigned sent = 0;
	struct msg m = heartbeat(1);

	(void)setup_pair(&a, &b);
	while (channel_send(b.channel, &m, -1) == 0)
		m = heartbeat(++sent + 1);
	ck_assert_int_eq(channel_send(b.channel, &m, -1), -EAGAIN);
	ck_assert_uint_ge(sent, CHANNEL_QUEUE_MAX);
	spin(6000);
	ck_assert_uint_eq(a.received, sent);
	ck_assert(a.in_order);
	ck_assert_uint_eq(b.drained, 1);
	end_test(&a, &b, -1);
}

TEST(descriptor_rides_along)
{
	struct end a, b;
	const int memfd = memfd_create("x", MFD_CLOEXEC);
	char text[4] = "";

	(void)setup_pair(&a, &b);
	ck_assert_int_eq(write(memfd, "abc", 3), 3);
	send_beat(b.channel, 1, memfd);
	ck_assert_int_eq(close(memfd), 0);
	spin(3);
	ck_assert_int_ge(a.fd, 0);
	ck_assert_int_eq(pread(a.fd, text, 3, 0), 3);
	ck_assert_str_eq(text, "abc");
	ck_assert_int_ne(fcntl(a.fd, F_GETFD) & FD_CLOEXEC, 0);
	(void)close(a.fd);
	end_test(&a, &b, -1);
}

/* A message must not arrive without what it speaks of. */
TEST(descriptor_that_cannot_be_duplicated_is_refused)
{
	struct end a, b;
	const struct msg m = heartbeat(1);
	struct rlimit old, none;

	(void)setup_pair(&a, &b);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = (struct rlimit){ 0, old.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ck_assert_int_lt(channel_send(b.channel, &m, STDERR_FILENO), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	spin(3);
	ck_assert_uint_eq(a.received, 0);
	ck_assert_int_eq(channel_send(b.channel, &m, STDERR_FILENO), 0);
	spin(3);
	ck_assert_uint_eq(a.received, 1);
	(void)close(a.fd);
	end_test(&a, &b, -1);
}

/* A killed sender's messages are all read before its end is told, although we have unread-by-it messages
 * queued to it. */
TEST_LOOP(messages_of_the_dead_are_read_first, 0, 2)
{
	const bool write_again = _i; /* which takes the error of the socket, so that reading sees none */
	struct end a;
	const int fd = setup_pair(&a, NULL);
	const struct msg to_it = { .type = MSG_DRAIN };
	const pid_t pid = fork();

	if (pid == 0) {
		for (uint64_t i = 1; i <= 40; i++) {
			const struct msg m = heartbeat(i);
			uint8_t buf[IPC_FRAME_MAX];

			(void)!send(fd, buf, msg_encode(&m, buf), 0);
		}
		(void)kill(getpid(), SIGKILL);
	}
	ck_assert_int_eq(channel_send(a.channel, &to_it, -1), 0);
	ck_assert_int_eq(channel_flush(a.channel, 0), 0);
	(void)close(fd);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	if (write_again) {
		(void)channel_send(a.channel, &to_it, -1);
		(void)channel_flush(a.channel, 0);
	}
	channel_read_all(a.channel);
	ck_assert_uint_eq(a.received, 40);
	ck_assert_uint_eq(a.closed, 1);
	ck_assert_int_eq(a.err, 0);
	event_base_free(base);
}

TEST(bad_frames_end_the_peer)
{
	static const char *const frames[] = { "\x90", "hello", "\xc1", "\xdf\x04" };

	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		struct end a;
		const int fd = setup_pair(&a, NULL);

		ck_assert_int_gt(send(fd, frames[i], strlen(frames[i]), 0), 0);
		spin(2);
		ck_assert_uint_eq(a.closed, 1);
		ck_assert_int_eq(a.err, -EBADMSG);
		end_test(&a, NULL, fd);
	}
}

TEST(oversized_frame_ends_the_peer)
{
	struct end a;
	const int fd = setup_pair(&a, NULL);
	static char big[IPC_FRAME_MAX + 100];

	ck_assert_int_gt(send(fd, big, sizeof(big), 0), 0);
	spin(2);
	ck_assert_int_eq(a.err, -EBADMSG);
	end_test(&a, NULL, fd);
}

static void free_itself(struct end *e)
{
	channel_free(&e->channel);
}

TEST(freed_in_its_own_handler)
{
	struct end a, b;

	(void)setup_pair(&a, &b);
	a.act_at = 1;
	a.act = free_itself;
	send_beats(b.channel, 1, 5);
	spin(3);
	ck_assert_uint_eq(a.received, 1);
	ck_assert_ptr_null(a.channel);
	end_test(&a, &b, -1);
}

TEST_MAIN("ipc/channel")
{
	tcase_set_timeout(t, 60);
}
