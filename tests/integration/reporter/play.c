/* play.c - see play.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/reporter/play.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "config/blob.h"
#include "base/xalloc.h"
#include "config/table.h"
#include "model/news.h"
#include "model/sink_types.h"
#include "tests/facts_en.h"

#define WAIT_MS 20000

const char *play_executable;

static int listen_any(unsigned *ret_port)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(fd, 16), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	*ret_port = ntohs(a.sin_port);
	return fd;
}

void play_init(struct play *p)
{
	*p = (struct play){ .fd = -1 };
	suite_folder(p->folder);
	(void)snprintf(p->dir, sizeof(p->dir), "%s/state", p->folder);
	ck_assert_int_eq(mkdir(p->dir, 0700), 0);
	(void)snprintf(p->log, sizeof(p->log), "%s/log", p->folder);
	p->bot = listen_any(&p->bot_port);
}

/* Connections come and go. */
static size_t count_open(const struct play *p)
{
	_cleanup_free_ char *folder = xasprintf("/proc/%d/fd", (int)p->pid);
	DIR *d = opendir(folder);
	size_t n = 0;

	ck_assert_ptr_nonnull(d);
	for (struct dirent *e; (e = readdir(d));) {
		char name[64] = "";

		if (readlinkat(dirfd(d), e->d_name, name, sizeof(name) - 1) > 0)
			n += strncmp(name, "socket:", 7) != 0;
	}
	(void)closedir(d);
	return n;
}

static void expect_no_leak(const struct play *p)
{
	size_t n = 0;

	for (int i = 0; i < WAIT_MS / 10 && (n = count_open(p)) > p->n_open; i++)
		(void)usleep(10000);
	ck_assert_uint_le(n, p->n_open);
}

void play_done(struct play *p)
{
	if (p->pid > 0 && p->n_open > 0)
		expect_no_leak(p);
	if (p->pid > 0)
		play_kill(p);
	(void)close(p->bot);
}

/* -- the process -- */

static _Noreturn void become(const struct play *p, int channel)
{
	char *const argv[] = { (char *)(uintptr_t)play_executable, NULL };
	char *const env[] = { (char *)(uintptr_t) "OPC_LOG_FORMAT=json",
			      (char *)(uintptr_t) "UBSAN_OPTIONS=halt_on_error=1", NULL };
	const int log = open(p->log, O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (log < 0 || dup2(log, 2) < 0 || dup2(channel, 3) < 0)
		_exit(126);
	(void)fcntl(3, F_SETFD, 0); /* when it was 3 already */
	for (int fd = 4; fd < 64; fd++)
		(void)close(fd);
	(void)execve(play_executable, argv, env);
	_exit(127);
}

void play_spawn(struct play *p)
{
	int sv[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv), 0);
	p->pid = fork();
	ck_assert_int_ge(p->pid, 0);
	if (p->pid == 0)
		become(p, sv[1]);
	(void)close(sv[1]);
	p->fd = sv[0];
	p->phase = PH_HELLO;
	p->at = p->len = p->n_open = 0;
}

size_t play_start(struct play *p)
{
	struct settings s;
	struct msg m;
	size_t open = 0;

	play_spawn(p);
	play_recv_type(p, MSG_HELLO, &m);
	p->phase = PH_SETUP;
	play_settings(p, &s);
	play_send_settings(p, &s, 1);
	settings_done(&s);
	play_recv_type(p, MSG_READY, &m);
	ck_assert_uint_gt(m.u.ready.rss_kb, 0);
	(void)snprintf(p->sandbox, sizeof(p->sandbox), "%s", m.u.ready.sandbox);
	p->phase = PH_RUN;
	for (;;) {
		play_recv(p, &m);
		if (m.type == MSG_OPEN_END)
			break;
		if (m.type == MSG_TROUBLE)
			continue;
		ck_assert_int_eq(m.type, MSG_OPEN_INTENT);
		open++;
	}
	p->n_open = count_open(p);
	return open;
}

int play_wait(struct play *p)
{
	int status = 0;

	for (int i = 0; i < WAIT_MS / 10; i++) {
		if (waitpid(p->pid, &status, WNOHANG) == p->pid) {
			(void)close(p->fd);
			p->pid = 0;
			return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
		}
		(void)usleep(10000);
	}
	ck_abort_msg("the reporter does not end");
}

void play_kill(struct play *p)
{
	(void)kill(p->pid, SIGKILL);
	(void)play_wait(p);
}

/* -- the channel -- */

void play_settings(const struct play *p, struct settings *s)
{
	settings_init(s);
	s->state_dir = xstrdup(p->dir);
	s->metrics_listen = xstrdup(p->listen ? p->listen : "127.0.0.1:0");
	s->history_days = 30;
	s->remind_ms = s->give_up_ms = 86400000;
	s->gather_ms = 60000;
	s->history_megabytes = 512;
	s->sandbox = SANDBOX_AUTO;
	str_list_add(&s->cluster_names, "prod", 4);
	free(s->msg_title);
	s->msg_title = xstrdup("pod重启次数过多");
	free(s->schedule);
	s->schedule = xstrdup(p->schedule ? p->schedule : "@daily");
	s->policy.duty[DUTY_RESTARTS].enable = p->schedule != NULL;
	s->policy.duty[DUTY_RESTARTS].counts = s->policy.duty[DUTY_CRASH_LOOP].counts = 5;
	str_list_add(&s->policy.duty[DUTY_RESTARTS].status, "Error", 5);
	str_list_add(&s->policy.duty[DUTY_IMAGE_PULL].status, "ErrImagePull", 12);
	*(struct sink_settings *)setting_append(settings_find("sinks"), s) =
		(struct sink_settings){ .name = xstrdup("feishu"),
					.type = SINK_FEISHU,
					.url = xasprintf("http://127.0.0.1:%u/hook/" PLAY_SECRET,
							 p->bot_port),
					.secret = xstrdup("demo-secret"),
					.news = UINT64_C(1) << NEWS_REPORT,
					.top = 20 };
}

static void send_frame(struct play *p, const struct msg *m, int fd)
{
	uint8_t frame[IPC_FRAME_MAX];
	struct iovec iov = { frame, msg_encode(m, frame) };
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
	ck_assert_int_eq(sendmsg(p->fd, &mh, MSG_NOSIGNAL), (ssize_t)iov.iov_len);
}

void play_send(struct play *p, const struct msg *m)
{
	send_frame(p, m, -1);
}

void play_send_settings(struct play *p, const struct settings *s, uint64_t generation)
{
	const struct msg m = { .type = MSG_SETTINGS,
			       .u.settings = { .generation = generation, .cluster = CLUSTERS_MAX } };
	const int fd = settings_write_blob(s, ROLE_REPORTER);

	ck_assert_int_ge(fd, 0);
	send_frame(p, &m, fd);
	(void)close(fd);
}

static bool read_frame(struct play *p, int ms)
{
	struct pollfd pfd = { .fd = p->fd, .events = POLLIN };

	if (poll(&pfd, 1, ms) <= 0)
		return false;
	const ssize_t n = recv(p->fd, p->frame, sizeof(p->frame), 0);

	ck_assert_msg(n > 0, "the reporter ended");
	p->at = 0;
	p->len = (size_t)n;
	return true;
}

bool play_recv_within(struct play *p, int ms, struct msg *ret)
{
	while (p->at < p->len || read_frame(p, ms)) {
		const char *field = NULL;
		const int r = msg_decode(ROLE_REPORTER, ROLE_SUPERVISOR, p->phase, p->frame + p->at,
					 p->len - p->at, ret, &field);

		ck_assert_msg(r > 0, "the reporter broke the protocol: %d, field %s", r, field ? field : "-");
		p->at += (size_t)r;
		if (ret->type != MSG_HEARTBEAT)
			return true;
	}
	return false;
}

void play_recv(struct play *p, struct msg *ret)
{
	ck_assert_msg(play_recv_within(p, WAIT_MS, ret), "no message came");
	if (ret->type == MSG_TROUBLE)
		(void)snprintf(p->troubles[ret->u.trouble.trouble], sizeof(p->troubles[0]), "%s",
			       EN(ret->u.trouble.particulars));
}

void play_recv_type(struct play *p, enum msg_type type, struct msg *ret)
{
	do
		play_recv(p, ret);
	while (ret->type != type);
}

/* -- the bot -- */

/* Read until the head and Content-Length bytes of body are there. */
static char *read_request(int fd)
{
	char *buf = xcalloc(1, 1 << 20);
	size_t have = 0;

	for (;;) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };
		const char *body = strstr(buf, "\r\n\r\n"), *length = strcasestr(buf, "\r\nContent-Length: ");
		uint64_t n = 0;

		if (body && length) {
			length += strlen("\r\nContent-Length: ");
			ck_assert_int_eq(str_to_u64(length, strcspn(length, "\r"), &n), 0);
			if (have >= (size_t)(body + 4 - buf) + n)
				return buf;
		}
		ck_assert_int_gt(poll(&pfd, 1, WAIT_MS), 0);
		const ssize_t got = read(fd, buf + have, (1 << 20) - 1 - have);

		ck_assert_int_gt(got, 0);
		have += (size_t)got;
	}
}

int play_bot_request(struct play *p, char **ret_body)
{
	struct pollfd pfd = { .fd = p->bot, .events = POLLIN };

	ck_assert_msg(poll(&pfd, 1, WAIT_MS) > 0, "no request to the bot came");
	const int conn = accept4(p->bot, NULL, NULL, SOCK_CLOEXEC);
	char *request = read_request(conn);

	ck_assert_msg(strncmp(request, "POST /hook/" PLAY_SECRET " HTTP/1.1\r\n", 30) == 0, "%.60s", request);
	*ret_body = xstrdup(strstr(request, "\r\n\r\n") + 4);
	free(request);
	return conn;
}

void play_bot_answer(int conn, const char *status, const char *body)
{
	char *answer = xasprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: "
				 "%zu\r\nConnection: close\r\n\r\n%s",
				 status, strlen(body), body);

	(void)send(conn, answer, strlen(answer), MSG_NOSIGNAL);
	free(answer);
	(void)close(conn);
}

bool play_bot_idle(struct play *p, int ms)
{
	struct pollfd pfd = { .fd = p->bot, .events = POLLIN };

	return poll(&pfd, 1, ms) == 0;
}

/* -- the listener and the log -- */

static char *read_log(const struct play *p)
{
	FILE *f = fopen(p->log, "r");
	char *buf = xcalloc(1, 1 << 20);

	if (f) {
		(void)fread(buf, 1, (1 << 20) - 1, f);
		(void)fclose(f);
	}
	return buf;
}

bool play_logged(const struct play *p, const char *what)
{
	char *log = read_log(p);
	const bool found = strstr(log, what) != NULL;

	free(log);
	return found;
}

/* The address stands in the newest "serving" line. */
static uint16_t listener_port(const struct play *p)
{
	char *log = read_log(p), *at = NULL;
	uint64_t port = 0;

	for (char *s = log; (s = strstr(s, "127.0.0.1:")); s++)
		at = s;
	ck_assert_ptr_nonnull(at);
	at += strlen("127.0.0.1:");
	ck_assert_int_eq(str_to_u64(at, strspn(at, "0123456789"), &port), 0);
	free(log);
	return (uint16_t)port;
}

char *play_get(struct play *p, const char *path)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(listener_port(p)) };
	char *request = xasprintf("GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path),
	     *buf = xcalloc(1, 1 << 20);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t have = 0;
	ssize_t n;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_gt(send(fd, request, strlen(request), MSG_NOSIGNAL), 0);
	while ((n = read(fd, buf + have, (1 << 20) - 1 - have)) > 0)
		have += (size_t)n;
	(void)close(fd);
	free(request);
	return buf;
}

void play_expect(struct play *p, const char *path, const char *what)
{
	char *got = NULL;

	for (int i = 0; i < 50; i++) {
		free(got);
		got = play_get(p, path);
		if (strstr(got, what))
			break;
		(void)usleep(100000);
	}
	ck_assert_msg(strstr(got, what) != NULL, "%s does not hold %s:\n%.2000s", path, what, got);
	free(got);
}
