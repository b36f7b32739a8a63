/* run_loader.c - see run_loader.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/loader/run_loader.h"

#include <check.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "config/blob.h"
#include "ipc/msg.h"
#include "tests/suite.h"
#include "tests/facts_en.h"

char dir[SUITE_PATH_MAX];

char *path_of(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

void set_up(void)
{
	static const char *const unset[] = { "KUBECONFIG",
					     "KUBERNETES_SERVICE_HOST",
					     "KUBERNETES_SERVICE_PORT",
					     "POD_NAMESPACE",
					     "POD_NAME",
					     "TZ" };

	for (size_t i = 0; i < ARRAY_SIZE(unset); i++)
		(void)unsetenv(unset[i]);
	suite_folder(dir);
	ck_assert_int_eq(setenv("HOME", dir, 1), 0);
	free(suite_file(
		dir, "reader",
		"{current-context: x, clusters: [{name: c, cluster: {server: 'https://127.0.0.1:6443', "
		"certificate-authority: ca.crt}}], users: [{name: u, user: {tokenFile: token}}], "
		"contexts: [{name: x, context: {cluster: c, user: u}}]}\n"));
	free(suite_file(
		dir, "writer",
		"{current-context: x, clusters: [{name: c, cluster: {server: 'https://127.0.0.1:6443'}}], "
		"users: [{name: u, user: {token: WRITERTOKEN}}], "
		"contexts: [{name: x, context: {cluster: c, user: u}}]}\n"));
	free(suite_file(dir, "ca.crt", "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"));
	free(suite_file(dir, "token", "READERTOKEN\n"));
}

struct run run;

int in_force[ROLE__MAX];
bool keep;
struct msg_load_kept of_plugin;

static void refresh_within(struct run *r, uint64_t ms)
{
	if (ms && (!r->refresh_ms || ms < r->refresh_ms))
		r->refresh_ms = ms;
}

static void take_blob(struct run *r, const struct msg_load_blob *m, int fd)
{
	refresh_within(r, m->refresh_ms);
	r->blob[m->role] = *m;
	if (keep && m->cluster == 0)
		in_force[m->role] = dup(fd);
	struct settings *s = m->role == ROLE_REPORTER  ? &r->reporter
			     : m->role == ROLE_WATCHER ? &r->watcher[m->cluster]
						       : &r->worker[m->cluster];
	char why[SETTINGS_ERROR_MAX] = "";

	ck_assert_msg(settings_read_blob(fd, s, why) == 0, "%s", why);
	if (m->role == ROLE_REPORTER)
		r->reporter_fd = dup(fd);
	else
		r->kept[m->cluster] = r->n_clusters && !r->clusters[m->cluster].loaded;
}

static void take_line(struct run *r, const struct msg_load_line *line)
{
	ck_assert_uint_lt(r->n_lines, ARRAY_SIZE(r->lines));
	(void)snprintf(r->lines[r->n_lines++], sizeof(r->lines[0]), "%s", EN(line->line));
	r->errors += line->error;
	facts_set(&r->last, &line->line);
	if (line->error && line->cluster < ARRAY_SIZE(r->problem))
		(void)snprintf(r->problem[line->cluster], sizeof(r->problem[0]), "%s", EN(line->line));
}

static void take(struct run *r, const struct msg *m, int fd)
{
	switch (m->type) {
	case MSG_HELLO:
		r->hello = true;
		break;
	case MSG_LOAD_LINE:
		take_line(r, &m->u.load_line);
		break;
	case MSG_LOAD_SUPERVISOR:
		r->tree = m->u.load_supervisor;
		refresh_within(r, r->tree.refresh_ms);
		break;
	case MSG_LOAD_CLUSTER:
		ck_assert_uint_lt(m->u.load_cluster.cluster, ARRAY_SIZE(r->clusters));
		r->clusters[m->u.load_cluster.cluster] = m->u.load_cluster; /* in any order */
		r->n_clusters++;
		break;
	case MSG_LOAD_FIXED:
		ck_assert_uint_lt(r->n_fixed, ARRAY_SIZE(r->fixed));
		r->fixed[r->n_fixed++] = m->u.load_fixed;
		break;
	case MSG_LOAD_BLOB:
		take_blob(r, &m->u.load_blob, fd);
		break;
	case MSG_LOAD_WATCH:
		ck_assert_uint_lt(r->n_watched, ARRAY_SIZE(r->watched));
		ck_assert((fd >= 0) == (r->n_watched == 0));
		r->watched[r->n_watched++] = m->u.load_watch;
		r->watch_fd = fd >= 0 ? dup(fd) : r->watch_fd;
		break;
	case MSG_LOAD_END:
		r->end = true;
		r->ok = m->u.load_end.ok;
		break;
	default:
		ck_abort_msg("unexpected message");
	}
}

static bool receive(int sock, struct run *r)
{
	uint8_t buf[IPC_FRAME_MAX];
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr mh = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	const ssize_t n = recvmsg(sock, &mh, 0);
	const struct cmsghdr *c = CMSG_FIRSTHDR(&mh);
	const char *field = "";
	struct msg m;
	int fd = -1;

	if (n <= 0)
		return false;
	if (c)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	for (size_t at = 0; at < (size_t)n; fd = -1) {
		const int used = msg_decode(ROLE_LOADER, ROLE_SUPERVISOR, r->hello ? PH_SETUP : PH_HELLO,
					    buf + at, (size_t)n - at, &m, &field);

		ck_assert_msg(used > 0, "%s", field);
		at += (size_t)used;
		ck_assert(fd < 0 || at == (size_t)n);
		take(r, &m, fd);
		if (fd >= 0)
			(void)close(fd);
	}
	return true;
}

rlim_t descriptors;
uint64_t limit_ms = 6000;

static void say(int sock, const struct msg *m, int fd)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	uint8_t buf[IPC_FRAME_MAX];
	struct iovec iov = { buf, msg_encode(m, buf) };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd > 0) {
		mh.msg_control = &control;
		mh.msg_controllen = sizeof(control);
		*CMSG_FIRSTHDR(&mh) = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&mh)), &fd, sizeof(int));
	}
	(void)sendmsg(sock, &mh, MSG_NOSIGNAL);
}

const char *known[4];

/* What the supervisor answers to HELLO. */
static void begin(int sock)
{
	for (uint64_t i = 0; i < ARRAY_SIZE(known) && known[i]; i++) {
		struct msg m = { .type = MSG_LOAD_INDEX, .u.load_index.cluster = i };

		msg_set(&m, load_index.cluster_name, known[i], strlen(known[i]));
		say(sock, &m, -1);
	}
	for (enum role r = 0; r < ROLE__MAX; r++) {
		struct msg m = { .type = MSG_LOAD_KEPT, .u.load_kept = of_plugin };

		m.u.load_kept.role = r;
		if (in_force[r] > 0)
			say(sock, &m, in_force[r]);
	}
	say(sock, &(struct msg){ .type = MSG_LOAD_BEGIN, .u.load_begin.limit_ms = limit_ms }, -1);
}

void run_done(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(run.watcher); i++) {
		settings_done(&run.watcher[i]);
		settings_done(&run.worker[i]);
	}
	settings_done(&run.reporter);
	if (run.reporter_fd > 0)
		(void)close(run.reporter_fd);
	if (run.watch_fd > 0)
		(void)close(run.watch_fd);
	run = (struct run){ 0 };
}

bool watches(const char *name)
{
	for (size_t i = 0; i < run.n_watched; i++)
		if (strcmp(run.watched[i].name, name) == 0)
			return true;
	return false;
}

bool as_pod;
const char *const *more;

static void become_pod(void)
{
	const gid_t groups[] = { POD_GROUP };

	if (setgroups(1, groups) < 0 || setgid(POD_USER) < 0 || setuid(POD_USER) < 0)
		_exit(1);
}

void run_loader(const char *config, const char *kubeconfig)
{
	char *argv[12] = { xstrdup("loader"), xasprintf("--config=%s", config) };
	size_t n = 2;
	const int image = open(LOADER, O_PATH | O_CLOEXEC); /* whoever may read its folder */
	int pair[2], status;

	if (kubeconfig)
		argv[n++] = xasprintf("--kubeconfig=%s", kubeconfig);
	for (size_t i = 0; more && more[i]; i++)
		argv[n++] = xstrdup(more[i]);
	run_done();
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	const pid_t pid = fork();

	if (pid == 0) {
		(void)dup2(pair[1], 3);
		if (descriptors)
			(void)setrlimit(RLIMIT_NOFILE, &(struct rlimit){ descriptors, descriptors });
		if (as_pod)
			become_pod();
		(void)execveat(image, "", argv, environ, AT_EMPTY_PATH);
		_exit(1);
	}
	(void)close(pair[1]);
	(void)close(image);
	while (n > 0)
		free(argv[--n]);
	begin(pair[0]);
	while (receive(pair[0], &run))
		;
	(void)close(pair[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	run.code = WEXITSTATUS(status);
	ck_assert(run.hello || descriptors);
}

void run_original(void)
{
	_cleanup_free_ char *kubeconfig = path_of("reader");

	run_loader(GOLDEN_DIR "/original.yml", kubeconfig);
}

void run_text(const char *text, const char *kubeconfig)
{
	_cleanup_free_ char *path = kubeconfig ? path_of(kubeconfig) : NULL,
			    *config = suite_file(dir, "config.yml", text);

	run_loader(config, path);
}

void succeeds(const char *text, const char *kubeconfig)
{
	run_text(text, kubeconfig);
	ck_assert_msg(run.code == 0, "%s", run.lines[0]);
}
