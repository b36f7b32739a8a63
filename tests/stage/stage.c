/* stage.c - see stage.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/stage/stage.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "build_id.h"
#include "model/duties.h"
#include "supervisor/children/spawn.h"

#define ACTORS   (ROLE__MAX * STAGE_WORKERS)
#define RUNS_MAX 1000
#define PID_TOP  (1 << 22) /* PID_MAX_LIMIT of linux/threads.h: hardly any process comes so far */

struct actor {
	enum role role;
	uint64_t number;
	struct spawned *process; /* NULL = it does not run */
	int fd;                  /* its end of the channel */
	bool killed, greeted, ready;
	bool begun; /* a loader has been told to load */
	unsigned lives;
};

struct spawn_images {
	struct event_base *base;
};

struct stage {
	struct stage_options o;
	char *socket;
	struct supervisor *supervisor;
	struct actor actors[ACTORS];
};

/* spawn_child() is not told for whom. */
static struct stage *on_stage;

static struct actor *actor_of(struct stage *s, enum role role, uint64_t number)
{
	return &s->actors[(size_t)role * STAGE_WORKERS + number % STAGE_WORKERS];
}

/* -- instead of processes -- */

struct spawn_images *spawn_images_open(struct event_base *base, int lock_fd)
{
	struct spawn_images *images = xcalloc(1, sizeof(*images));

	(void)lock_fd;
	images->base = base;
	return images;
}

void spawn_images_close(struct spawn_images **i)
{
	free(*i);
	*i = NULL;
}

int spawn_child(const struct spawn_images *images, enum role role, const char *const argv[],
		const struct spawn_ops *ops, void *ctx, struct spawned *ret)
{
	const uint64_t number = role == ROLE_WORKER ? strtoul(argv[2], NULL, 10) : 0;
	struct actor *a = actor_of(on_stage, role, number);
	int pair[2];

	if (role == ROLE_WATCHER && on_stage->o.no_watcher)
		return -EMFILE;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return -errno;
	*ret = (struct spawned){
		.pid = PID_TOP - (pid_t)(a - on_stage->actors), .pidfd = -1, .ops = ops, .ctx = ctx
	};
	if (role == ROLE_WORKER && number == 0 && on_stage->o.worker_pid)
		ret->pid = on_stage->o.worker_pid;
	ret->channel = channel_new(images->base, pair[0], ROLE_SUPERVISOR, role, &ops->channel, ctx);
	*a = (struct actor){
		.role = role, .number = number, .process = ret, .fd = pair[1], .lives = a->lives + 1
	};
	return 0;
}

static struct actor *actor_with(const struct spawned *p)
{
	for (size_t i = 0; i < ACTORS; i++)
		if (on_stage->actors[i].process == p)
			return &on_stage->actors[i];
	return NULL;
}

void spawned_kill(const struct spawned *p)
{
	struct actor *a = p->pid ? actor_with(p) : NULL;

	if (a)
		a->killed = true;
}

void spawned_done(struct spawned *p)
{
	struct actor *a = actor_with(p);

	if (a) {
		(void)close(a->fd);
		a->process = NULL;
	}
	channel_free(&p->channel);
	*p = (struct spawned){ 0 };
}

/* Its death is seen after everything that it has said. */
static void die(struct actor *a, int code, int status)
{
	siginfo_t si = { .si_code = code };
	struct spawned *p = a->process;

	si.si_status = status;
	channel_read_all(p->channel);
	p->pid = 0;
	p->ops->on_death(p->ctx, &si);
}

/* -- what they say -- */

static bool send_bytes(const struct actor *a, const void *p, size_t n, int fd)
{
	struct iovec iov = { (void *)(uintptr_t)p, n };
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		mh.msg_control = control.room;
		mh.msg_controllen = sizeof(control.room);
		control.h.cmsg_level = SOL_SOCKET;
		control.h.cmsg_type = SCM_RIGHTS;
		control.h.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.h), &fd, sizeof(fd));
	}
	return sendmsg(a->fd, &mh, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n;
}

static bool say(const struct actor *a, const struct msg *m, int fd)
{
	uint8_t bytes[IPC_FRAME_MAX];

	return a->process && send_bytes(a, bytes, msg_encode(m, bytes), fd);
}

bool stage_say(struct stage *s, enum role role, uint64_t number, const struct msg *m)
{
	return say(actor_of(s, role, number), m, -1);
}

bool stage_say_all(struct stage *s, enum role role, uint64_t number, const struct msg *m, size_t n)
{
	const struct actor *a = actor_of(s, role, number);
	uint8_t one[IPC_FRAME_MAX], all[IPC_FRAME_MAX];
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		const size_t more = msg_encode(&m[i], one);

		if (len + more > sizeof(all))
			return false;
		memcpy(all + len, one, more);
		len += more;
	}
	return a->process && send_bytes(a, all, len, -1);
}

static void hello(const struct actor *a)
{
	struct msg m = { .type = MSG_HELLO, .u.hello = { .proto = IPC_PROTO, .pid = 1 } };

	msg_set(&m, hello.build, OPC_BUILD_ID, strlen(OPC_BUILD_ID));
	(void)say(a, &m, -1);
}

static void send_blob(const struct actor *a, enum role role, uint64_t cluster, int fd)
{
	const struct msg m = { .type = MSG_LOAD_BLOB,
			       .u.load_blob = { .role = role, .cluster = cluster, .plugin = STAGE_PLUGIN } };

	(void)say(a, &m, fd);
}

/* The settings of that edition, owned here: a file for each that differs from the last. That of edition 0 is
 * empty, which the supervisor compares in no time. */
static int settings_of(uint64_t edition)
{
	static int fd = -1;
	static uint64_t last;

	if (fd >= 0 && last == edition)
		return fd;
	if (fd >= 0)
		(void)close(fd);
	fd = memfd_create("settings", MFD_CLOEXEC);
	last = edition;
	if (edition > 0 && write(fd, &edition, sizeof(edition)) < 0)
		abort();
	return fd;
}

static void load_test(const struct stage *s, const struct actor *a, int fd)
{
	const bool other = s->o.name != STAGE_TEST;
	const char *name = other ? "other" : "test",
		   *server = s->o.name == STAGE_OTHER_THERE ? "https://there" : "https://here";
	struct msg m = { .type = MSG_LOAD_CLUSTER,
			 .u.load_cluster = {
				 .cluster = other, .workers = STAGE_WORKERS, .workers_min = STAGE_WORKERS } };

	msg_set(&m, load_cluster.cluster_name, name, strlen(name));
	msg_set(&m, load_cluster.server, server, strlen(server));
	(void)say(a, &m, -1);
	if (other)
		return;
	send_blob(a, ROLE_WATCHER, 0, fd);
	send_blob(a, ROLE_WORKER, 0, fd);
}

static void load(const struct stage *s, const struct actor *a)
{
	const int fd = settings_of(s->o.edition);
	struct msg m = { .type = MSG_LOAD_SUPERVISOR,
			 .u.load_supervisor = { .clusters = s->o.second || s->o.name ? 2 : 1,
						.observe = s->o.observe,
						.election = s->o.election,
						.duties = ~s->o.duties_off & ((UINT64_C(1) << DUTY__MAX) - 1),
						.writes_per_minute = s->o.writes_per_minute,
						.writes_per_hour = s->o.writes_per_hour } };

	msg_set(&m, load_supervisor.state_dir, s->o.dir, strlen(s->o.dir));
	(void)say(a, &m, -1);
	load_test(s, a, fd);
	send_blob(a, ROLE_REPORTER, CLUSTERS_MAX, fd);
	m = (struct msg){ .type = MSG_LOAD_CLUSTER,
			  .u.load_cluster = { .cluster = 1, .workers = 1, .workers_min = 1 } };
	msg_set(&m, load_cluster.cluster_name, "second", 6);
	if (s->o.second == STAGE_WAITS)
		(void)say(a, &m, -1);
	m = (struct msg){ .type = MSG_LOAD_END, .u.load_end.ok = true };
	(void)say(a, &m, -1);
}

static void hear_one(struct stage *s, struct actor *a, const struct msg *m)
{
	const struct msg ready = { .type = MSG_READY, .u.ready.generation = m->u.settings.generation };

	if (s->o.on_msg)
		s->o.on_msg(s->o.ctx, a->role, a->number, m);
	a->begun = a->begun || m->type == MSG_LOAD_BEGIN;
	if (m->type == MSG_SETTINGS && !a->ready) {
		a->ready = say(a, &ready, -1);
	} else if (m->type == MSG_SETTINGS && s->o.answers[a->role] != STAGE_IS_SILENT) {
		const bool ok = s->o.answers[a->role] == STAGE_TAKES;
		const struct msg ack = { .type = MSG_SETTINGS_ACK,
					 .u.settings_ack = { .generation = m->u.settings.generation,
							     .ok = ok } };

		(void)say(a, &ack, -1);
	}
}

static void close_fds(struct msghdr *mh)
{
	for (struct cmsghdr *h = CMSG_FIRSTHDR(mh); h; h = CMSG_NXTHDR(mh, h)) {
		int fd;

		memcpy(&fd, CMSG_DATA(h), sizeof(fd));
		(void)close(fd);
	}
}

/* True: there was something. */
static bool hear(struct stage *s, struct actor *a)
{
	uint8_t bytes[IPC_FRAME_MAX];
	char control[64];
	struct iovec iov = { bytes, sizeof(bytes) };
	struct msghdr mh = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	const ssize_t n = a->process ? recvmsg(a->fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) : -1;
	const char *field;
	struct msg m;

	if (n <= 0)
		return false;
	close_fds(&mh);
	for (size_t at = 0; at < (size_t)n;) {
		const enum phase phase = a->ready ? PH_RUN : PH_SETUP;
		const int used =
			msg_decode(ROLE_SUPERVISOR, a->role, phase, bytes + at, (size_t)n - at, &m, &field);

		if (used <= 0)
			abort(); /* the supervisor says what it must not say */
		hear_one(s, a, &m);
		at += (size_t)used;
	}
	return true;
}

/* True: it did something. heard: something has come for it. */
static bool play(struct stage *s, struct actor *a, bool heard)
{
	if (!a->process)
		return false;
	if (a->killed) {
		die(a, CLD_KILLED, SIGKILL);
		return true;
	}
	if (!a->greeted) {
		a->greeted = true;
		hello(a);
		return true;
	}
	if (a->begun && s->o.answers[ROLE_LOADER] != STAGE_IS_SILENT) {
		load(s, a);
		die(a, CLD_EXITED, EXIT_CODE_OK);
		return true;
	}
	return heard && hear(s, a);
}

/* True: somebody did something. One question for all: most have nothing to hear. */
static bool play_all(struct stage *s)
{
	struct pollfd p[ACTORS];
	bool more = false;

	for (size_t i = 0; i < ACTORS; i++)
		p[i] = (struct pollfd){ .fd = s->actors[i].process ? s->actors[i].fd : -1, .events = POLLIN };
	(void)poll(p, ACTORS, 0);
	for (size_t i = 0; i < ACTORS; i++)
		more = play(s, &s->actors[i], p[i].revents != 0) || more;
	return more;
}

/* -- running -- */

void stage_run(struct stage *s)
{
	struct event_base *base = lifecycle_base(s->supervisor->root);
	bool more = true;

	for (int i = 0; more && i < RUNS_MAX; i++) {
		(void)event_base_loop(base, EVLOOP_NONBLOCK);
		more = play_all(s);
	}
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
}

void stage_pass(struct stage *s, int64_t ms)
{
	const struct msg beat = { .type = MSG_HEARTBEAT };

	clock_fake_advance(ms);
	for (size_t i = 0; i < ACTORS; i++)
		if (s->actors[i].ready)
			(void)say(&s->actors[i], &beat, -1);
	stage_run(s);
	lifecycle_tick(s->supervisor->root);
	stage_run(s);
}

void stage_die(struct stage *s, enum role role, uint64_t number)
{
	struct actor *a = actor_of(s, role, number);

	a->killed = a->process != NULL;
	stage_run(s);
}

unsigned stage_lives(const struct stage *s, enum role role, uint64_t number)
{
	return s->actors[(size_t)role * STAGE_WORKERS + number % STAGE_WORKERS].lives;
}

bool stage_lives_now(const struct stage *s, enum role role, uint64_t number)
{
	const struct actor *a = &s->actors[(size_t)role * STAGE_WORKERS + number % STAGE_WORKERS];

	return a->process && a->ready && !a->killed;
}

int stage_connect(const struct stage *s)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", s->socket);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0)
		abort();
	return fd;
}

struct supervisor *stage_supervisor(struct stage *s)
{
	return s->supervisor;
}

void stage_sign(const struct stage *s, struct msg *row)
{
	struct msg_ctl_restore_row *r = &row->u.ctl_restore_row;
	struct msg intent = { .type = MSG_INTENT };
	struct msg_record end = { .outcome = OUTCOME_DONE, .replicas = r->want_replicas };

	msg_copy_fields(&intent, row);
	intent.u.intent.id = r->origin;
	intent.u.intent.action = ACTION_SCALE_DOWN;
	memcpy(end.target, r->want_target, sizeof(end.target));
	memcpy(end.target_uid, r->want_uid, sizeof(end.target_uid));
	own_state_sign_end(s->supervisor->own, &intent, &end,
			   lifecycle_generation(s->supervisor->root)->names[0], r->mac);
}

struct stage *stage_new(const struct stage_options *o)
{
	static const char *const argv[] = { "loader", NULL };
	struct stage *s = xcalloc(1, sizeof(*s));

	s->o = *o;
	s->socket = xasprintf("%s.sock", o->dir); /* beside it: the directory is made by the supervisor */
	on_stage = s;
	s->supervisor = supervisor_new(argv, -1);
	if (!s->supervisor || supervisor_listen(s->supervisor, s->socket) < 0)
		abort();
	(void)lifecycle_reload(s->supervisor->root, 0);
	stage_run(s);
	return s;
}

void stage_from_now(struct stage *s, const struct stage_options *o)
{
	s->o = *o;
}

void stage_reload(struct stage *s, const struct stage_options *o)
{
	stage_from_now(s, o);
	(void)lifecycle_reload(s->supervisor->root, 0);
	stage_run(s);
}

void stage_free(struct stage **sp)
{
	supervisor_free(&(*sp)->supervisor);
	free((*sp)->socket);
	free(*sp);
	*sp = NULL;
	on_stage = NULL;
}
