/* exec.c - run a credential plugin (client.authentication.k8s.io, client-go plugin/pkg/client/auth/exec): no
 * shell, no terminal, bounded in time and output, killed with us. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fnv.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "config/file.h"
#include "loader/program.h"

#define OUTPUT_MAX (64u << 10)
#define STDERR_MAX 400u
#define LOOK_MS    10 /* between looks at whether it has ended */

extern char **environ;

#define FAIL(r, ...) (sentence_make(why, __VA_ARGS__), r)

/* -- what the plugin is told -- */

/* Base64 (RFC 4648, 4); NULL of NULL. The caller frees it. */
static char *encode(const char *text)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const size_t n = text ? strlen(text) : 0;
	char *ret = text ? xmalloc(n / 3 * 4 + 5) : NULL, *w = ret;

	for (size_t i = 0; i < n; i += 3) {
		const unsigned a = (unsigned char)text[i], b = i + 1 < n ? (unsigned char)text[i + 1] : 0,
			       c = i + 2 < n ? (unsigned char)text[i + 2] : 0;

		*w++ = digits[a >> 2];
		*w++ = digits[(a & 3) << 4 | b >> 4];
		*w++ = i + 1 < n ? digits[(b & 15) << 2 | c >> 6] : '=';
		*w++ = i + 2 < n ? digits[c & 63] : '=';
	}
	if (w)
		*w = '\0';
	return ret;
}

static json_t *cluster_info(const struct kube_target *t)
{
	_cleanup_free_ char *ca = encode(t->c.ca_pem);

	return json_pack("{s:s, s:s*, s:o*, s:s*, s:s*}", "server", t->c.server, "tls-server-name",
			 t->c.tls_server_name, "insecure-skip-tls-verify", t->c.insecure ? json_true() : NULL,
			 "proxy-url", t->c.proxy, "certificate-authority-data", ca);
}

static char *exec_info(const struct kube_target *t)
{
	json_t *all = json_pack("{s:s, s:s, s:{s:b, s:o*}}", "apiVersion", t->exec.api_version, "kind",
				"ExecCredential", "spec", "interactive", 0, "cluster",
				t->exec.provide_cluster_info ? cluster_info(t) : NULL);
	char *text = json_dumps(all, JSON_COMPACT);

	json_decref(all);
	return text;
}

static void add_variable(struct str_list *own, const char *name, const char *value)
{
	_cleanup_free_ char *text = xasprintf("%s=%s", name, value);

	str_list_add(own, text, strlen(text));
	explicit_bzero(text, strlen(text));
}

/* What the file gives a plugin in env may be a secret. */
static void wipe_variables(struct str_list *own)
{
	for (size_t i = 0; i < own->n; i++)
		explicit_bzero(own->v[i], strlen(own->v[i]));
	str_list_done(own);
}

static bool is_overridden(const struct str_list *own, const char *entry)
{
	const size_t n = strcspn(entry, "=") + 1;

	for (size_t i = 0; i < own->n; i++)
		if (strncmp(own->v[i], entry, n) == 0)
			return true;
	return false;
}

/* What is new is in *own, the rest is borrowed. */
static char **build_env(const struct kube_target *t, struct str_list *own)
{
	_cleanup_free_ char *info = exec_info(t);
	size_t n = 0, w = 0;

	add_variable(own, "KUBERNETES_EXEC_INFO", info);
	for (size_t i = 0; i < t->exec.n_env; i++)
		add_variable(own, t->exec.env[i].name, t->exec.env[i].value);
	while (environ[n])
		n++;
	char **env = xcalloc(n + own->n + 1, sizeof(*env));

	for (size_t i = 0; i < n; i++)
		if (!is_overridden(own, environ[i]))
			env[w++] = environ[i];
	memcpy(env + w, own->v, own->n * sizeof(*env));
	return env;
}

static char **build_argv(const struct kube_exec *x)
{
	char **argv = xcalloc(x->args.n + 2, sizeof(*argv));

	argv[0] = x->command;
	for (size_t i = 0; i < x->args.n; i++)
		argv[i + 1] = x->args.v[i];
	return argv;
}

/* -- run -- */

struct output {
	int fd;
	char *p;
	size_t n, max;
	bool overflow;
};

/* Our own limits are soft so that the plugin need not live in them. */
static void lift_limit(__rlimit_resource_t what)
{
	struct rlimit l;

	if (getrlimit(what, &l) == 0) {
		l.rlim_cur = l.rlim_max;
		(void)setrlimit(what, &l);
	}
}

static _Noreturn void become(const char *program, char **argv, char **env, int out, int err)
{
	const int null = open("/dev/null", O_RDONLY);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setpgid(0, 0);
	lift_limit(RLIMIT_AS);
	lift_limit(RLIMIT_CPU);
	(void)signal(SIGALRM, SIG_DFL);
	(void)signal(SIGPIPE, SIG_DFL); /* what is ignored would stay so, and a shell cannot undo it */
	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(126);
	(void)close_range(3, ~0u, 0);
	(void)execve(program, argv, env);
	_exit(126);
}

static void read_some(struct output *o)
{
	char drop[4096];
	const size_t room = o->max - o->n;
	const ssize_t n = read(o->fd, room ? o->p + o->n : drop, room ? room : sizeof(drop));

	if (n > 0) {
		o->overflow = o->overflow || room == 0;
		o->n += room ? (size_t)n : 0;
	} else if (n == 0 || errno != EINTR) {
		(void)close(o->fd);
		o->fd = -1;
	}
}

/* It stays to be waited for. */
static bool has_ended(pid_t pid)
{
	siginfo_t si = { 0 };

	return waitid(P_PID, (id_t)pid, &si, WEXITED | WNOHANG | WNOWAIT) == 0 && si.si_pid == pid;
}

/* The answer to its end, and complaints until the plugin has ended: a daemon that it leaves may hold stderr
 * for good, for which client-go does not wait. False when the time is over or the output too long. */
static bool read_outputs(struct output o[static 2], pid_t pid, uint64_t until)
{
	bool ended = false;

	while (o[0].fd >= 0 || (o[1].fd >= 0 && !ended)) {
		struct pollfd p[2] = { { .fd = o[0].fd, .events = POLLIN },
				       { .fd = o[1].fd, .events = POLLIN } };
		const uint64_t now = clock_boot_ms();

		if (now >= until || o[0].overflow)
			return false;
		ended = o[0].fd < 0 && has_ended(pid);
		if (poll(p, 2, ended ? 0 : o[0].fd < 0 ? LOOK_MS : (int)(until - now)) < 0 && errno != EINTR)
			return false;
		for (size_t i = 0; i < 2; i++)
			if (p[i].fd >= 0 && p[i].revents)
				read_some(&o[i]);
	}
	return true;
}

/* Exit status of the plugin, which has closed its output; killed when it does not end. */
static int reap(pid_t pid, bool kill_it, uint64_t until)
{
	int status = 0;

	while (!kill_it && waitpid(pid, &status, WNOHANG) == 0) {
		if (clock_boot_ms() >= until)
			kill_it = true;
		(void)poll(NULL, 0, 10);
	}
	if (!kill_it)
		return status;
	(void)kill(-pid, SIGKILL);
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return -1;
}

static int judge_end(const struct kube_exec *x, int status, const struct output o[static 2],
		     char why[static SENTENCE_MAX])
{
	const char *hint = x->install_hint ? x->install_hint : "";

	if (o[0].overflow)
		return FAIL(-EFBIG, PLUGIN_MUCH, OUTPUT_MAX / 1024);
	if (status < 0)
		return FAIL(-ETIMEDOUT, PLUGIN_SLOW);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 126)
		return FAIL(-EACCES, PLUGIN_UNRUN, WORD(PHRASE_DIAG_PLUGIN_NO_EXEC), hint);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return WIFEXITED(status) ? FAIL(-EIO, PLUGIN_EXIT, WEXITSTATUS(status), (int)o[1].n, o[1].p)
					 : FAIL(-EIO, PLUGIN_SIGNAL, WTERMSIG(status), (int)o[1].n, o[1].p);
	return 0;
}

static int run(const struct kube_target *t, const char *program, int timeout_ms, struct output o[static 2],
	       char why[static SENTENCE_MAX])
{
	const uint64_t until = clock_boot_ms() + (uint64_t)timeout_ms;
	int out[2], err[2];

	if (pipe2(out, O_CLOEXEC) < 0)
		return FAIL(-errno, PLUGIN_UNSTARTED, strerrordesc_np(errno));
	if (pipe2(err, O_CLOEXEC) < 0) {
		(void)close(out[0]);
		(void)close(out[1]);
		return FAIL(-errno, PLUGIN_UNSTARTED, strerrordesc_np(errno));
	}
	struct str_list own = { 0 };
	_cleanup_free_ char **argv = build_argv(&t->exec), **env = build_env(t, &own);
	const pid_t pid = fork();

	if (pid == 0)
		become(program, argv, env, out[1], err[1]);
	wipe_variables(&own);
	(void)close(out[1]);
	(void)close(err[1]);
	o[0].fd = out[0];
	o[1].fd = err[0];
	if (pid < 0) {
		(void)close(out[0]);
		(void)close(err[0]);
		return FAIL(-errno, PLUGIN_UNSTARTED, strerrordesc_np(errno));
	}
	const bool whole = read_outputs(o, pid, until);
	const int status = reap(pid, !whole, until);

	for (size_t i = 0; i < 2; i++)
		if (o[i].fd >= 0)
			(void)close(o[i].fd);
	return judge_end(&t->exec, status, o, why);
}

/* -- what it says -- */

/* NULL where it is absent or empty, which is the same to client-go. */
static const char *text_of(const json_t *status, const char *key)
{
	const char *text = json_string_value(json_object_get(status, key));

	return text && *text ? text : NULL;
}

static int take_status(struct kube_target *t, const json_t *status, int64_t *ret_expiry,
		       char why[static SENTENCE_MAX])
{
	const char *token = text_of(status, "token"), *cert = text_of(status, "clientCertificateData"),
		   *key = text_of(status, "clientKeyData"),
		   *expiry = json_string_value(json_object_get(status, "expirationTimestamp"));

	*ret_expiry = 0;
	if (!token && !cert && !key)
		return FAIL(-EINVAL, PLUGIN_NOTHING);
	if (!cert != !key)
		return FAIL(-EINVAL, PLUGIN_HALF);
	if (cert && (!file_is_pem(cert, strlen(cert)) || !file_is_pem(key, strlen(key))))
		return FAIL(-EINVAL, PLUGIN_NO_PEM);
	if (token && token[strcspn(token, "\r\n\t ")] != '\0')
		return FAIL(-EINVAL, PLUGIN_BAD_TOKEN);
	if (expiry && rfc3339_parse(expiry, strlen(expiry), ret_expiry) < 0)
		return FAIL(-EINVAL, PLUGIN_BAD_TIME);
	if (token)
		t->c.token = xstrdup(token);
	if (cert) {
		t->c.cert_pem = xstrdup(cert);
		t->c.key_pem = xstrdup(key);
	}
	return 0;
}

static int take_output(struct kube_target *t, const struct output *o, int64_t *ret_expiry,
		       char why[static SENTENCE_MAX])
{
	json_error_t e;
	json_t *root = json_loadb(o->p, o->n, JSON_REJECT_DUPLICATES, &e);
	const char *version = json_string_value(json_object_get(root, "apiVersion")),
		   *kind = json_string_value(json_object_get(root, "kind"));
	int r;

	if (!root)
		r = FAIL(-EINVAL, PLUGIN_NO_JSON, e.line, e.text);
	else if (!kind || strcmp(kind, "ExecCredential") != 0)
		r = FAIL(-EINVAL, PLUGIN_NO_CREDENTIAL);
	else if (!version || strcmp(version, t->exec.api_version) != 0)
		r = FAIL(-EINVAL, PLUGIN_VERSION, version ? version : "(none)", t->exec.api_version);
	else
		r = take_status(t, json_object_get(root, "status"), ret_expiry, why);
	json_decref(root);
	return r;
}

static uint64_t add_part(uint64_t hash, const char *part)
{
	return fnv_bytes(hash, part, strlen(part) + 1);
}

uint64_t loader_exec_hash(const struct kube_target *t)
{
	const struct kube_exec *x = &t->exec;
	_cleanup_free_ char *info = exec_info(t);
	uint64_t hash = add_part(add_part(add_part(FNV_START, info), t->c.server), x->command);

	for (size_t i = 0; i < x->args.n; i++)
		hash = add_part(hash, x->args.v[i]);
	for (size_t i = 0; i < x->n_env; i++)
		hash = add_part(add_part(hash, x->env[i].name), x->env[i].value);
	return hash | 1;
}

int loader_exec(struct kube_target *t, int timeout_ms, int64_t *ret_expiry, char why[static SENTENCE_MAX])
{
	char complaint[STDERR_MAX];
	struct output o[2] = { { .fd = -1, .p = xmalloc(OUTPUT_MAX), .max = OUTPUT_MAX },
			       { .fd = -1, .p = complaint, .max = sizeof(complaint) } };
	_cleanup_free_ char *program = NULL;
	char reason[SENTENCE_MAX];
	int r = program_find(t->exec.command, &program, reason);

	if (r < 0)
		(void)FAIL(r, PLUGIN_UNRUN, reason, t->exec.install_hint ? t->exec.install_hint : "");
	if (r == 0)
		r = run(t, program, timeout_ms, o, why);
	if (r == 0)
		r = take_output(t, &o[0], ret_expiry, why);
	explicit_bzero(o[0].p, o[0].n);
	free(o[0].p);
	return r;
}
