/* test_loader.c - the loader as a process: what it sends for which files, and how it ends. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "config/blob.h"
#include "ipc/msg.h"
#include "tests/suite.h"

static char dir[SUITE_PATH_MAX];

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static void set_up(void)
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
	free(suite_file(dir, "ca.crt", "-----BEGIN CERTIFICATE-----\nx\n"));
	free(suite_file(dir, "token", "READERTOKEN\n"));
}

/* All that one run said. */
struct run {
	int code;
	bool hello, end, ok;
	char lines[8][1024];
	size_t n_lines, errors;
	struct msg_load_supervisor tree;
	struct msg_load_cluster clusters[4];
	size_t n_clusters;
	struct msg_load_fixed fixed[8];
	size_t n_fixed;
	struct settings watcher[4], worker[4], reporter;
	int reporter_fd;
};

static void take_blob(struct run *r, const struct msg_load_blob *m, int fd)
{
	struct settings *s = m->role == ROLE_REPORTER  ? &r->reporter
			     : m->role == ROLE_WATCHER ? &r->watcher[m->cluster]
						       : &r->worker[m->cluster];
	char why[SETTINGS_ERROR_MAX] = "";

	ck_assert_msg(settings_read_blob(fd, s, why) == 0, "%s", why);
	if (m->role == ROLE_REPORTER)
		r->reporter_fd = dup(fd);
}

static void take(struct run *r, const struct msg *m, int fd)
{
	switch (m->type) {
	case MSG_HELLO:
		r->hello = true;
		break;
	case MSG_LOAD_LINE:
		ck_assert_uint_lt(r->n_lines, ARRAY_SIZE(r->lines));
		memcpy(r->lines[r->n_lines++], m->u.load_line.text, sizeof(r->lines[0]));
		r->errors += m->u.load_line.error;
		break;
	case MSG_LOAD_SUPERVISOR:
		r->tree = m->u.load_supervisor;
		break;
	case MSG_LOAD_CLUSTER:
		r->clusters[r->n_clusters++] = m->u.load_cluster;
		break;
	case MSG_LOAD_FIXED:
		ck_assert_uint_lt(r->n_fixed, ARRAY_SIZE(r->fixed));
		r->fixed[r->n_fixed++] = m->u.load_fixed;
		break;
	case MSG_LOAD_BLOB:
		take_blob(r, &m->u.load_blob, fd);
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

/* How many the loader may have, 0 = as many as we. */
static rlim_t descriptors;

/* arguments: "--flag", "value", ..., NULL behind --config FILE */
static void run_loader(struct run *r, const char *config, const char *a, const char *b)
{
	int pair[2], status;

	*r = (struct run){ .reporter_fd = -1 };
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	const pid_t pid = fork();

	if (pid == 0) {
		(void)dup2(pair[1], 3);
		if (descriptors)
			(void)setrlimit(RLIMIT_NOFILE, &(struct rlimit){ descriptors, descriptors });
		(void)execl(LOADER, "loader", "--config", config, a, b, (char *)NULL);
		_exit(1);
	}
	(void)close(pair[1]);
	while (receive(pair[0], r))
		;
	(void)close(pair[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	r->code = WEXITSTATUS(status);
	ck_assert(r->hello || descriptors);
}

static void run_done(struct run *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(r->watcher); i++) {
		settings_done(&r->watcher[i]);
		settings_done(&r->worker[i]);
	}
	settings_done(&r->reporter);
	if (r->reporter_fd >= 0)
		(void)close(r->reporter_fd);
}

TEST(the_original_file)
{
	_cleanup_free_ char *kubeconfig = path_of("reader");
	struct run r;

	run_loader(&r, GOLDEN_DIR "/original.yml", "--kubeconfig", kubeconfig);
	ck_assert_int_eq(r.code, 0);
	ck_assert(r.end && r.ok);
	ck_assert_uint_eq(r.errors, 0);
	ck_assert_uint_eq(r.tree.clusters, 1);
	ck_assert_uint_eq(r.tree.refresh_ms, 50000); /* a token file */
	ck_assert(!r.tree.observe);
	ck_assert_str_eq(r.clusters[0].cluster_name, "default");
	ck_assert_uint_eq(r.clusters[0].workers, 2);
	ck_assert_str_eq(r.watcher[0].cluster.server, "https://127.0.0.1:6443");
	ck_assert_ptr_null(r.watcher[0].cluster.address);
	ck_assert_str_eq(r.watcher[0].cluster.token, "READERTOKEN");
	ck_assert_str_eq(r.watcher[0].cluster.ca_pem, "-----BEGIN CERTIFICATE-----\nx\n");
	ck_assert_str_eq(r.worker[0].cluster.token, "READERTOKEN");
	ck_assert_str_eq(r.worker[0].policy.duty[DUTY_EVICTED].namespaces.v[0], "default");
	ck_assert_ptr_null(r.watcher[0].api_url);
	ck_assert_ptr_null(r.reporter.cluster.token);
	ck_assert_str_eq(r.reporter.api_url, "https://open.feishu.cn/open-apis/bot/v2/hook/xxxx");
	ck_assert_str_eq(r.reporter.cluster_names.v[0], "default");
	run_done(&r);
}

TEST(two_clusters_and_a_writer)
{
	_cleanup_free_ char *config = suite_file(
		dir, "config.yml",
		"deleteEvictedPod: {enable: true, namespaces: default, includeJobs: false}\nmode: observe\n"
		"workers: 3\nclusters:\n- {name: east, kubeconfig: reader, writerKubeconfig: writer}\n"
		"- {name: west, kubeconfig: writer, workers: 1}\nstateDir: state\n");
	struct run r;

	run_loader(&r, config, NULL, NULL);
	ck_assert_msg(r.code == 0, "%s", r.lines[0]);
	ck_assert_uint_eq(r.tree.clusters, 2);
	ck_assert(r.tree.observe);
	ck_assert_uint_eq(r.clusters[0].workers, 3);
	ck_assert_uint_eq(r.clusters[1].workers, 1);
	ck_assert_str_eq(r.watcher[0].cluster.token, "READERTOKEN");
	ck_assert_str_eq(r.worker[0].cluster.token, "WRITERTOKEN");
	ck_assert_str_eq(r.watcher[1].cluster.token, "WRITERTOKEN");
	ck_assert_str_eq(r.watcher[1].cluster.name, "west");
	ck_assert_uint_eq(r.reporter.cluster_names.n, 2);
	_cleanup_free_ char *state = path_of("state");
	ck_assert_str_eq(r.reporter.state_dir, state); /* beside the file */
	run_done(&r);
}

static struct msg_load_fixed fixed_of(const char *text, const char *key)
{
	_cleanup_free_ char *kubeconfig = path_of("reader"), *config = suite_file(dir, "config.yml", text);
	struct msg_load_fixed found = { 0 };
	struct run r;

	run_loader(&r, config, "--kubeconfig", kubeconfig);
	ck_assert_msg(r.code == 0, "%s", r.lines[0]);
	for (size_t i = 0; i < r.n_fixed; i++)
		if (strcmp(r.fixed[i].key, key) == 0)
			found = r.fixed[i];
	ck_assert_str_eq(found.key, key);
	run_done(&r);
	return found;
}

/* leaderElection.name reaches the watcher alone; the supervisor must know when it changes. */
TEST(what_a_restart_alone_changes_is_said)
{
	const uint64_t
		a = fixed_of("leaderElection: {name: a}\nstateDir: state\n", "leaderElection.name").value,
		same = fixed_of("leaderElection: {name: a}\nstateDir: state\nworkers: 3\n",
				"leaderElection.name")
			       .value,
		other = fixed_of("leaderElection: {name: b}\nstateDir: state\n", "leaderElection.name").value;

	ck_assert_uint_eq(a, same);
	ck_assert_uint_ne(a, other);
}

TEST(equal_files_give_equal_bytes)
{
	_cleanup_free_ char *kubeconfig = path_of("reader");
	char a[8192], b[8192];
	struct run r, again;

	run_loader(&r, GOLDEN_DIR "/original.yml", "--kubeconfig", kubeconfig);
	run_loader(&again, GOLDEN_DIR "/original.yml", "--kubeconfig", kubeconfig);
	const ssize_t n = pread(r.reporter_fd, a, sizeof(a), 0);
	ck_assert_int_gt(n, 100);
	ck_assert_int_eq(pread(again.reporter_fd, b, sizeof(b), 0), n);
	ck_assert_int_eq(memcmp(a, b, (size_t)n), 0);
	run_done(&r);
	run_done(&again);
}

TEST(webhook_from_files_and_zone)
{
	_cleanup_free_ char *kubeconfig = path_of("reader");
	free(suite_file(dir, "hook", "https://localhost:1/HOOK\n"));
	free(suite_file(dir, "sign", "SIGN\n"));
	_cleanup_free_ char *config = suite_file(
		dir, "config.yml",
		"tooManyRestart: {enable: true, namespaces: a, apiurlFile: hook, secretFile: sign, "
		"duration: 'CRON_TZ=Asia/Tokyo 0 7 9 * * 1'}\n");
	struct run r;

	run_loader(&r, config, "--kubeconfig", kubeconfig);
	ck_assert_msg(r.code == 0, "%s", r.lines[0]);
	ck_assert_str_eq(r.reporter.api_url, "https://localhost:1/HOOK");
	ck_assert_str_eq(r.reporter.api_secret, "SIGN");
	ck_assert_ptr_nonnull(strstr(r.reporter.api_address, ":1"));
	ck_assert_str_eq(r.reporter.time_zone, "Asia/Tokyo");
	ck_assert_uint_gt(r.reporter.zone_size, 100);
	run_done(&r);
}

TEST(in_a_pod)
{
	_cleanup_free_ char *config = suite_file(dir, "config.yml", "sandbox: require\n");
	free(suite_file(dir, "namespace", "janitors"));
	struct run r;

	ck_assert_int_eq(setenv("OPC_SERVICEACCOUNT_DIR", dir, 1), 0);
	ck_assert_int_eq(setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1), 0);
	ck_assert_int_eq(setenv("KUBERNETES_SERVICE_PORT", "443", 1), 0);
	ck_assert_int_eq(setenv("POD_NAME", "me-0", 1), 0);
	run_loader(&r, config, NULL, NULL);
	ck_assert_msg(r.code == 0, "%s", r.lines[0]);
	ck_assert_str_eq(r.watcher[0].cluster.server, "https://10.0.0.1:443");
	ck_assert_str_eq(r.watcher[0].cluster.token, "READERTOKEN");
	ck_assert_str_eq(r.worker[0].policy.own_namespace, "janitors");
	ck_assert_str_eq(r.worker[0].policy.own_pod, "me-0");
	ck_assert_uint_eq(r.reporter.sandbox, SANDBOX_REQUIRE);
	run_done(&r);
}

/* What is broken, and the line that says so. */
static const struct {
	const char *config, *file, *text; /* text of FILE, NULL = removed */
	int code;
	const char *line;
} errors[] = {
	{ "workers: many\n", "token", "t", EXIT_CODE_CONFIG, "config.yml:1:10: workers: \"many\"" },
	{ "mode: observe\n", "token", NULL, EXIT_CODE_CONFIG, "token: token: cannot be read" },
	{ "mode: observe\n", "token", " \n", EXIT_CODE_CONFIG, "empty or holds more than a token" },
	{ "mode: observe\n", "token", "a b\n", EXIT_CODE_CONFIG, "empty or holds more than a token" },
	{ "mode: observe\n", "ca.crt", "x", EXIT_CODE_CONFIG, "the file is not PEM" },
	{ "mode: observe\n", "reader", "a: [", EXIT_CODE_CONFIG, "not valid YAML" },
	{ "mode: observe\n", "reader", NULL, EXIT_CODE_CONFIG, "cannot be read: No such file" },
	{ "tooManyRestart: {enable: true, namespaces: a, apiurlFile: hook}\n", "hook", "ftp://x",
	  EXIT_CODE_CONFIG, "does not begin with https" },
	{ "mode: observe\n", "reader",
	  "{current-context: x, clusters: [{name: c, cluster: {server: 'https://no-such.invalid'}}], "
	  "contexts: [{name: x, context: {cluster: c}}]}",
	  EXIT_CODE_TEMPORARY, "cannot be resolved" },
};

TEST_LOOP(tells_what_is_broken, 0, ARRAY_SIZE(errors))
{
	_cleanup_free_ char *kubeconfig = path_of("reader"),
			    *config = suite_file(dir, "config.yml", errors[_i].config);
	_cleanup_free_ char *file = path_of(errors[_i].file);
	bool found = false;
	struct run r;

	(void)unlink(file);
	if (errors[_i].text)
		free(suite_file(dir, errors[_i].file, errors[_i].text));
	run_loader(&r, config, "--kubeconfig", kubeconfig);
	ck_assert_int_eq(r.code, errors[_i].code);
	ck_assert(r.end && !r.ok);
	ck_assert_uint_ge(r.errors, 1);
	for (size_t i = 0; i < r.n_lines; i++)
		found = found || strstr(r.lines[i], errors[_i].line);
	ck_assert_msg(found, "%s", r.lines[0]);
	ck_assert_uint_eq(r.n_clusters, 0);
	run_done(&r);
}

/* A lack of descriptors passes, wherever it is met: 78 would keep the service down. */
TEST(no_lack_of_descriptors_ends_with_78)
{
	_cleanup_free_ char *kubeconfig = path_of("reader");
	struct run r;
	int code = -1;

	for (descriptors = 4; descriptors < 40 && code != 0; descriptors++) {
		run_loader(&r, GOLDEN_DIR "/original.yml", "--kubeconfig", kubeconfig);
		code = r.code;
		ck_assert_int_ne(code, EXIT_CODE_CONFIG);
		run_done(&r);
	}
	ck_assert_int_eq(code, 0);
}

TEST(a_webhook_that_does_not_resolve_is_a_warning)
{
	_cleanup_free_ char *kubeconfig = path_of("reader");
	_cleanup_free_ char *config = suite_file(
		dir, "config.yml",
		"tooManyRestart: {enable: true, namespaces: a, apiurl: 'https://no-such.invalid/x'}\n");
	struct run r;

	run_loader(&r, config, "--kubeconfig", kubeconfig);
	ck_assert_int_eq(r.code, 0);
	ck_assert_uint_eq(r.errors, 0);
	ck_assert_ptr_nonnull(strstr(r.lines[0], "no report until it does"));
	ck_assert_uint_eq(r.tree.refresh_ms, 30000);
	run_done(&r);
}

TEST_MAIN("loader/loader")
{
	tcase_set_timeout(t, 40);
	tcase_add_checked_fixture(t, set_up, NULL);
}
