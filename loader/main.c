/* main.c - the loader: reads everything once, hands it over, ends. Exit codes are about the whole: 0, also
 * when clusters could not be loaded; 78 what is written is wrong; 75 it may work at the next try; 64, 70, 71
 * as everywhere. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <event2/event.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "config/clusters.h"
#include "ipc/channel.h"
#include "loader/cluster.h"
#include "loader/complete.h"
#include "loader/jobs.h"
#include "loader/send.h"

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
	limit(RLIMIT_NOFILE, 4096); /* the supervisor has raised it, and plugins may use select(2) */
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGALRM, on_alarm);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)alarm(LOADER_TIME_S);
}

/* -- what the supervisor says -- */

struct start {
	struct event_base *base;
	struct loader *loader;
};

static void on_close(void *ctx, struct channel *c, int err, const struct facts *why)
{
	(void)ctx, (void)c, (void)err, (void)why;
	_exit(EXIT_CODE_ORPHAN);
}

/* They come in their order. */
static void take_index(struct loader *l, const struct msg_load_index *m)
{
	if (m->cluster == l->indexes.n)
		str_list_add(&l->indexes, m->cluster_name, strlen(m->cluster_name));
}

static void on_msg(void *ctx, struct channel *c, const struct msg *m, int fd)
{
	const struct msg_load_kept *k = &m->u.load_kept;
	const struct start *s = ctx;

	(void)c;
	if (m->type == MSG_LOAD_INDEX)
		take_index(s->loader, &m->u.load_index);
	if (m->type == MSG_LOAD_KEPT && s->loader->kept[k->role][k->cluster] < 0) {
		s->loader->kept[k->role][k->cluster] = fd;
		s->loader->kept_plugin[k->role][k->cluster] =
			(struct plugin_mark){ k->plugin, k->plugin_until };
		return;
	}
	if (fd >= 0)
		(void)close(fd);
	if (m->type == MSG_LOAD_BEGIN) {
		s->loader->limit_ms = m->u.load_begin.limit_ms;
		(void)event_base_loopbreak(s->base);
	}
}

/* -- one run -- */

/* An instance that answers one question ends before a file changes, and to end a watch takes the kernel some
 * 10 ms. */
static bool is_one_question(const struct loader_options *o)
{
	for (size_t i = 0; i < o->n_set; i++)
		if (strcmp(o->set[i], "plansOnly=true") == 0)
			return true;
	return false;
}

static void watch(struct loader *l)
{
	if (is_one_question(l->options))
		return;
	const int r = watches_init(&l->watches);

	if (r < 0)
		diags_warn(&l->diags, place_of_file(NULL), UNNOTICED, strerrordesc_np(-r));
	watches_add(&l->watches, l->options->config);
}

static int load_config(struct loader *l)
{
	_cleanup_free_ char *folder = NULL, *pattern = NULL;
	const int r = config_load(l->options->config, &l->config, &l->diags);

	if (!cluster_files_place(l->options->config, &l->config, &folder, &pattern))
		return r;
	watches_add_pattern(&l->watches, folder, pattern);
	if (r < 0)
		return r;
	/* The pattern is known only now, and a file that came meanwhile would never be noticed. */
	config_done(&l->config);
	config_init(&l->config);
	return config_load(l->options->config, &l->config, &l->diags);
}

/* Everything that concerns all clusters; what is wrong there is wrong for the whole. */
static bool load_common(struct loader *l)
{
	watch(l);
	const int r = load_config(l);

	l->lasting = r < 0 && !exit_is_transient(r);
	if (r < 0)
		return false;
	if (loader_clusters(l) > 1 && l->options->master)
		return loader_error(l, -EINVAL, (struct place){ .key = "--master" }, ONE_MASTER);
	if (l->config.n_clusters > 0 && l->options->context)
		return loader_error(l, -EINVAL, (struct place){ .key = "--context" }, ONE_CONTEXT);
	if (l->options->context) {
		free(l->config.context);
		l->config.context = xstrdup(l->options->context);
	}
	return loader_give_indexes(l) && loader_set(l) && loader_complete(l);
}

static int load(struct channel *c, struct event_base *base, struct loader *l)
{
	const bool ok = load_common(l);
	int code = ok ? EXIT_CODE_OK : l->lasting ? EXIT_CODE_CONFIG : EXIT_CODE_TEMPORARY;

	send_lines(c, &l->diags, 0, CLUSTERS_MAX, NULL);
	send_watches(c, &l->watches, 0);
	if (ok) {
		send_supervisor(c, l);
		/* What is queued would be sent by every job once more. */
		if (channel_flush(c, FLUSH_MS) < 0)
			return EXIT_CODE_ORPHAN;
		code = loader_run_jobs(l, c, base) ? EXIT_CODE_OK : EXIT_CODE_RESOURCE;
	}
	send_end(c, code == EXIT_CODE_OK);
	return code;
}

static int parse_options(int argc, char **argv, struct loader_options *ret)
{
	static const struct option names[] = { { "config", required_argument, NULL, 0 },
					       { "kubeconfig", required_argument, NULL, 1 },
					       { "master", required_argument, NULL, 2 },
					       { "state-dir", required_argument, NULL, 3 },
					       { "context", required_argument, NULL, 4 },
					       { "set", required_argument, NULL, 5 },
					       { 0 } };
	const char **const values[] = { &ret->config, &ret->kubeconfig, &ret->master, &ret->state_dir,
					&ret->context };
	const int set = (int)ARRAY_SIZE(values);
	int o;

	while ((o = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (o > set || (o == set && ret->n_set == LOADER_SETS_MAX)) /* '?', or too many */
			return -EINVAL;
		if (o == set)
			ret->set[ret->n_set++] = optarg;
		else
			*values[o] = *optarg ? optarg : NULL;
	}
	return ret->config && optind == argc ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	static const struct channel_ops ops = { .on_msg = on_msg, .on_close = on_close };
	struct loader_options options = { 0 };
	struct loader l = { .options = &options, .watches.fd = -1 };
	struct start start = { .loader = &l };

	log_init("loader");
	if (parse_options(argc, argv, &options) < 0) {
		(void)log_error(
			0, "usage: loader --config FILE [--kubeconfig FILE] [--context NAME] [--master URL] "
			   "[--state-dir DIR] [--set KEY=VALUE]...");
		return EXIT_CODE_USAGE;
	}
	limit_ourselves();
	memset(l.kept, -1, sizeof(l.kept));
	start.base = event_base_new();
	if (!start.base)
		return EXIT_CODE_RESOURCE;
	struct channel *c = channel_new(start.base, CHANNEL_FD, ROLE_LOADER, ROLE_SUPERVISOR, &ops, &start);

	channel_set_phase(c, PH_SETUP);
	send_hello(c);
	(void)event_base_dispatch(start.base); /* until LOAD_BEGIN */
	config_init(&l.config);
	int code = load(c, start.base, &l);

	if (channel_flush(c, FLUSH_MS) < 0)
		code = EXIT_CODE_ORPHAN;
	config_done(&l.config);
	str_list_done(&l.indexes);
	diags_done(&l.diags);
	watches_done(&l.watches);
	channel_free(&c);
	event_base_free(start.base);
	return code;
}
