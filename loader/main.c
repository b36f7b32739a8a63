/* main.c - the loader: reads everything once, hands it over, ends. Exit codes: 0; 78 what is written is
 * wrong; 75 it may work at the next try (a name does not resolve, a plugin was too slow); 64, 70, 71 as
 * everywhere. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <event2/event.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "config/blob.h"
#include "ipc/channel.h"
#include "loader/cluster.h"
#include "loader/complete.h"
#include "loader/limits.h"

#include "build_id.h"

#define CHANNEL_FD   3
#define MEMORY_BYTES (512u << 20)
#define CPU_S        20
#define FLUSH_MS     5000

static void on_alarm(int sig)
{
	static const char text[] = "loader: did not finish in time\n";

	(void)sig;
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(EXIT_CODE_TEMPORARY);
}

static void limit(__rlimit_resource_t what, rlim_t value)
{
	struct rlimit l;

	/* Soft only: a plugin gets the old limit back. */
	if (getrlimit(what, &l) == 0 && (l.rlim_cur == RLIM_INFINITY || l.rlim_cur > value)) {
		l.rlim_cur = value;
		(void)setrlimit(what, &l);
	}
}

static void limit_ourselves(void)
{
	const struct rlimit none = { 0, 0 };

	(void)setrlimit(RLIMIT_CORE, &none);
#ifndef OPC_NO_SANDBOX /* the sanitizers reserve more address space than that */
	limit(RLIMIT_AS, MEMORY_BYTES);
#endif
	limit(RLIMIT_CPU, CPU_S);
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGALRM, on_alarm);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)alarm(LOADER_TIME_S);
}

/* -- sending -- */

static void on_close(void *ctx, struct channel *c, int err, const char *text)
{
	(void)ctx, (void)c, (void)err, (void)text;
	_exit(EXIT_CODE_ORPHAN);
}

static void on_msg(void *ctx, struct channel *c, const struct msg *m, int fd)
{
	(void)ctx, (void)c, (void)m;
	if (fd >= 0)
		(void)close(fd);
}

static const struct channel_ops ops = { .on_msg = on_msg, .on_close = on_close };

static void send_hello(struct channel *c)
{
	struct msg m = { .type = MSG_HELLO, .u.hello = { .proto = IPC_PROTO, .pid = (uint64_t)getpid() } };

	msg_set(&m, hello.build, OPC_BUILD_ID, strlen(OPC_BUILD_ID));
	(void)channel_send(c, &m, -1);
	(void)channel_flush(c, 0); /* reading everything takes long */
}

static void send_lines(struct channel *c, const struct diags *d)
{
	for (size_t i = 0; i < d->n; i++) {
		struct msg m = { .type = MSG_LOAD_LINE, .u.load_line.error = d->v[i].error };

		msg_set(&m, load_line.text, d->v[i].text, strlen(d->v[i].text));
		(void)channel_send(c, &m, -1);
	}
	(void)channel_flush(c, 0); /* the operator reads them, whatever becomes of the rest */
}

static void send_end(struct channel *c, bool ok)
{
	const struct msg m = { .type = MSG_LOAD_END, .u.load_end.ok = ok };

	(void)channel_send(c, &m, -1);
}

static bool send_blob(struct channel *c, const struct settings *s, enum role role, uint64_t cluster)
{
	const struct msg m = { .type = MSG_LOAD_BLOB, .u.load_blob = { .role = role, .cluster = cluster } };
	_cleanup_close_ int fd = settings_write_blob(s, role);

	if (fd < 0)
		return log_error(fd, "cannot make a settings blob", kv_s("role", role_name(role))) == 0;
	return channel_send(c, &m, fd) == 0;
}

/* The blob of one role of one cluster: the common settings with this cluster's target lent to them. */
static bool send_target(struct channel *c, struct settings *s, const struct loaded_cluster *k, enum role role,
			uint64_t index)
{
	const struct kube_target *t = role == ROLE_WORKER && k->own_writer ? &k->writer : &k->reader;
	const struct cluster_settings none = { 0 };
	bool ok;

	s->cluster = t->c;
	s->cluster.name = k->name;
	s->cluster.workers = k->workers;
	s->cluster.shared = k->shared;
	ok = send_blob(c, s, role, index);
	s->cluster = none;
	return ok;
}

static void send_cluster(struct channel *c, const struct loaded_cluster *k, uint64_t index)
{
	struct msg m = { .type = MSG_LOAD_CLUSTER,
			 .u.load_cluster = { .cluster = index, .workers = k->workers } };

	msg_set(&m, load_cluster.cluster_name, k->name, strlen(k->name));
	(void)channel_send(c, &m, -1);
}

static void send_fixed(struct channel *c, const struct settings *s)
{
	struct msg m = { .type = MSG_LOAD_FIXED };
	const char *key;

	for (size_t i = 0; (key = settings_fixed_key(s, i, &m.u.load_fixed.value)); i++) {
		msg_set(&m, load_fixed.key, key, strlen(key));
		(void)channel_send(c, &m, -1);
	}
}

static bool send_supervisor(struct channel *c, const struct loader *l, uint64_t clusters)
{
	const struct settings *s = &l->config.settings;
	struct msg m = { .type = MSG_LOAD_SUPERVISOR,
			 .u.load_supervisor = { .clusters = clusters,
						.observe = s->policy.mode == MODE_OBSERVE,
						.election = s->election,
						.refresh_ms = l->refresh_ms > 86400000 ? 86400000
										       : l->refresh_ms } };
	struct write_limits limits;

	limits_derive(&s->policy, &limits);
	m.u.load_supervisor.writes_per_minute = limits.per_minute;
	m.u.load_supervisor.writes_per_hour = limits.per_hour;
	msg_set(&m, load_supervisor.state_dir, s->state_dir, strlen(s->state_dir));
	return channel_send(c, &m, -1) == 0;
}

/* The history has a folder of its own, beside what only the supervisor may touch. */
static bool send_reporter(struct channel *c, struct settings *s)
{
	char *const whole = s->state_dir;

	s->state_dir = xasprintf("%s/history", whole);
	const bool ok = send_blob(c, s, ROLE_REPORTER, CLUSTERS_MAX);

	free(s->state_dir);
	s->state_dir = whole;
	return ok;
}

static bool send_all(struct channel *c, struct loader *l, const struct loaded_cluster *clusters, size_t n)
{
	struct settings *s = &l->config.settings;
	bool ok = send_supervisor(c, l, n);

	send_fixed(c, s);
	for (size_t i = 0; i < n; i++)
		str_list_add(&s->cluster_names, clusters[i].name, strlen(clusters[i].name));
	for (size_t i = 0; i < n; i++) {
		send_cluster(c, &clusters[i], i);
		ok = send_target(c, s, &clusters[i], ROLE_WATCHER, i) && ok;
		ok = send_target(c, s, &clusters[i], ROLE_WORKER, i) && ok;
	}
	return send_reporter(c, s) && ok;
}

/* -- one run -- */

static int load(struct channel *c, struct loader *l)
{
	struct loaded_cluster *clusters = NULL;
	size_t n = 0;
	bool ok;

	const int r = config_load(l->options->config, &l->config, &l->diags);

	l->lasting = r < 0 && !exit_is_transient(r);
	ok = r == 0;
	/* The configuration alone first: what it says wrongly about clusters need not be reported twice. */
	if (ok) {
		ok = loader_complete(l);
		ok = loader_clusters(l, &clusters, &n) && ok;
	}
	send_lines(c, &l->diags);
	int code = ok ? EXIT_CODE_OK : l->lasting ? EXIT_CODE_CONFIG : EXIT_CODE_TEMPORARY;

	if (ok && !send_all(c, l, clusters, n))
		code = EXIT_CODE_RESOURCE;
	send_end(c, code == EXIT_CODE_OK);
	loaded_clusters_free(&clusters, n);
	return code;
}

static int parse_options(int argc, char **argv, struct loader_options *ret)
{
	static const struct option names[] = { { "config", required_argument, NULL, 0 },
					       { "kubeconfig", required_argument, NULL, 1 },
					       { "master", required_argument, NULL, 2 },
					       { "state-dir", required_argument, NULL, 3 },
					       { 0 } };
	const char **const values[] = { &ret->config, &ret->kubeconfig, &ret->master, &ret->state_dir };
	int o;

	while ((o = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (o >= (int)ARRAY_SIZE(values)) /* '?' */
			return -EINVAL;
		*values[o] = *optarg ? optarg : NULL;
	}
	return ret->config && optind == argc ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	struct loader_options options = { 0 };
	struct loader l = { .options = &options };
	struct event_base *base;
	struct channel *c;
	int code;

	log_init("loader");
	if (parse_options(argc, argv, &options) < 0) {
		(void)log_error(
			0,
			"usage: loader --config FILE [--kubeconfig FILE] [--master URL] [--state-dir DIR]");
		return EXIT_CODE_USAGE;
	}
	limit_ourselves();
	base = event_base_new();
	if (!base)
		return EXIT_CODE_RESOURCE;
	c = channel_new(base, CHANNEL_FD, ROLE_LOADER, ROLE_SUPERVISOR, &ops, NULL);
	send_hello(c);
	config_init(&l.config);
	code = load(c, &l);
	if (channel_flush(c, FLUSH_MS) < 0)
		code = EXIT_CODE_ORPHAN;
	config_done(&l.config);
	diags_done(&l.diags);
	channel_free(&c);
	event_base_free(base);
	return code;
}
