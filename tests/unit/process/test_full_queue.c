/* test_full_queue.c - a supervisor that does not read for a while: what its child says waits, then is refused
 * until there is room, and comes whole and in order. The child and both ends of its channel are real. */
// SPDX-License-Identifier: Apache-2.0
#include <event2/event.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/exit.h"
#include "config/blob.h"
#include "config/config.h"
#include "ipc/channel.h"
#include "process/process.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

#define ALL (CHANNEL_QUEUE_MAX + 20000)

static struct event_base *base;
static struct channel *supervisor;
static struct process *child;
static unsigned said, refused, rooms;
static uint64_t heard; /* the number of the last one */

/* -- the child: it numbers what it says -- */

static void say_all(struct process *p)
{
	for (int r = 0; r == 0 && said < ALL; said += r == 0) {
		const struct msg m = { .type = MSG_REQUESTS, .u.requests.n = said + 1 };

		r = process_send(p, &m);
		refused += r == -EAGAIN;
	}
}

static void on_room(struct process *p)
{
	rooms++;
	say_all(p);
}

static int check_settings(const struct settings *s, enum text *ret_why)
{
	(void)s;
	(void)ret_why;
	return 0;
}

static int on_start(struct process *p, struct settings *s)
{
	(void)p;
	(void)s;
	return 0;
}

static void on_commit(struct process *p, struct settings *s)
{
	(void)p;
	(void)s;
}

static void on_msg(struct process *p, const struct msg *m)
{
	(void)p;
	(void)m;
}

static void on_drain(struct process *p)
{
	process_drained(p, 0);
}

static void on_done(struct process *p)
{
	(void)p;
}

static const struct process_spec spec = { .role = ROLE_WATCHER,
					  .check_settings = check_settings,
					  .on_start = on_start,
					  .on_commit = on_commit,
					  .on_ready = say_all,
					  .on_msg = on_msg,
					  .on_room = on_room,
					  .on_drain = on_drain,
					  .on_done = on_done };

/* -- the supervisor -- */

static void send_settings(void)
{
	struct msg m = { .type = MSG_SETTINGS, .u.settings.generation = 1 };
	struct config c;

	config_init(&c);
	c.settings.sandbox = SANDBOX_OFF;
	const int fd = settings_write_blob(&c.settings, ROLE_WATCHER);

	config_done(&c);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(channel_send(supervisor, &m, fd), 0);
	(void)close(fd);
}

static void on_child_msg(void *ctx, struct channel *c, const struct msg *m, int fd)
{
	(void)ctx;
	(void)fd;
	switch (m->type) {
	case MSG_HELLO:
		channel_set_phase(c, PH_SETUP);
		send_settings();
		break;
	case MSG_READY:
		channel_set_phase(c, PH_RUN);
		break;
	case MSG_REQUESTS:
		ck_assert_uint_eq(m->u.requests.n, heard + 1);
		heard++;
		break;
	default:
		ck_assert_int_eq(m->type, MSG_HEARTBEAT);
	}
	if (heard == ALL)
		(void)event_base_loopbreak(base);
}

static void on_child_close(void *ctx, struct channel *c, int err, const struct facts *why)
{
	(void)ctx;
	(void)c;
	(void)err;
	ck_abort_msg("%s", EN(*why));
}

static void on_child_drain(void *ctx, struct channel *c)
{
	(void)ctx;
	(void)c;
}

TEST(what_waits_for_the_supervisor_comes_whole_and_in_order)
{
	static const struct channel_ops ops = { on_child_msg, on_child_close, on_child_drain };
	int ends[2];

	base = event_base_new();
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	supervisor = channel_new(base, ends[0], ROLE_SUPERVISOR, ROLE_WATCHER, &ops, NULL);
	child = process_begin(base, ends[1], &spec);
	(void)event_base_dispatch(base);
	ck_assert_uint_eq(heard, ALL);
	ck_assert_uint_gt(refused, 0);
	ck_assert_uint_gt(rooms, 0);
	channel_free(&supervisor);
	ck_assert_int_eq(process_end(&child), EXIT_CODE_OK);
	event_base_free(base);
}

TEST_MAIN("process/full_queue")
{
	(void)t;
}
