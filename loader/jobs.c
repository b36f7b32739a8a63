/* jobs.c - see jobs.h. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/jobs.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "config/blob.h"
#include "loader/cluster.h"
#include "loader/complete.h"
#include "loader/send.h"
#include "loader/sinks.h"

#define FLUSH_MS 5000

/* How a job ends: it has sent everything, or what there was and the lines that say why no more. Anything else
 * is said for it. */
enum { SENT = EXIT_CODE_OK, TOLD = EXIT_CODE_FAILURE };

struct job {
	pid_t pid;
	bool ended;
	int status; /* of wait(2), when it has ended by itself */
};

/* -- what a job does -- */

/* The settings of one role, read back as their receiver will: a value that it would refuse is met here. */
static int make_blob(struct loader *l, enum role role)
{
	_cleanup_(settings_done) struct settings read = { 0 };
	char why[SETTINGS_ERROR_MAX];
	int fd = settings_write_blob(&l->config.settings, role);

	if (fd < 0) {
		(void)loader_error(l, fd, place_of_file(NULL), NO_SETTINGS, strerrordesc_np(-fd));
		return -1;
	}
	if (settings_read_blob(fd, &read, why) == 0)
		return fd;
	(void)loader_error(l, -EINVAL, place_of_file(NULL), BAD_SETTINGS, why);
	(void)close(fd);
	return -1;
}

/* The same with this cluster's target lent to the settings. */
static int make_target_blob(struct loader *l, const struct loaded_cluster *k, enum role role)
{
	const struct kube_target *t = role == ROLE_WORKER && k->own_writer ? &k->writer : &k->reader;
	struct settings *s = &l->config.settings;
	_cleanup_free_ char *name = xstrdup(k->name);

	s->cluster = t->c;
	s->cluster.name = name;
	s->cluster.shared = k->shared;
	const int fd = make_blob(l, role);

	s->cluster = (struct cluster_settings){ 0 };
	return fd;
}

static int load_cluster(struct loader *l, struct channel *c, size_t i)
{
	struct loaded_cluster k;
	_cleanup_close_ int watcher = -1, worker = -1;
	const size_t from = l->diags.n, from_watch = l->watches.n;
	const uint64_t index = l->index[i];

	loaded_cluster_init(l, i, &k);
	if (loader_load_cluster(l, i, &k)) {
		watcher = make_target_blob(l, &k, ROLE_WATCHER);
		worker = make_target_blob(l, &k, ROLE_WORKER);
	}
	const bool ok = watcher >= 0 && worker >= 0;

	send_watches(c, &l->watches, from_watch);
	send_lines(c, &l->diags, from, index, &k);
	send_cluster(c, l, index, &k, ok);
	if (ok && (send_blob(c, ROLE_WATCHER, index, watcher, l->refresh_ms, k.reader_plugin) < 0 ||
		   send_blob(c, ROLE_WORKER, index, worker, l->refresh_ms, k.writer_plugin) < 0))
		return EXIT_CODE_RESOURCE;
	loaded_cluster_done(&k);
	return ok ? SENT : TOLD;
}

/* The history has a folder of its own, beside what only the supervisor may touch. */
static bool send_reporter(struct loader *l, struct channel *c, size_t from_line)
{
	struct settings *s = &l->config.settings;
	char *const whole = s->state_dir;

	s->state_dir = xasprintf("%s/history", whole);
	_cleanup_close_ int fd = make_blob(l, ROLE_REPORTER);

	free(s->state_dir);
	s->state_dir = whole;
	send_lines(c, &l->diags, from_line, CLUSTERS_MAX, NULL);
	return fd >= 0 &&
	       send_blob(c, ROLE_REPORTER, CLUSTERS_MAX, fd, l->refresh_ms, (struct plugin_mark){ 0 }) == 0;
}

static int load_reporter(struct loader *l, struct channel *c)
{
	const size_t from = l->diags.n;

	loader_resolve_sinks(l);
	return send_reporter(l, c, from) ? SENT : EXIT_CODE_RESOURCE;
}

/* -- all of them -- */

/* In the new process. Only what this job asks for counts for when to load it again. */
static _Noreturn void work(struct loader *l, struct channel *c, struct event_base *base, size_t i)
{
	sigset_t none;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)alarm(LOADER_TIME_S);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)event_reinit(base); /* the parent's descriptor of it is not ours to change */
	l->refresh_ms = 0;
	const int code = i < loader_clusters(l) ? load_cluster(l, c, i) : load_reporter(l, c);

	_exit(channel_flush(c, FLUSH_MS) < 0 ? EXIT_CODE_ORPHAN : code);
}

static size_t reap(struct job *jobs, size_t n)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		if (!jobs[i].ended && waitpid(jobs[i].pid, &jobs[i].status, WNOHANG) != 0)
			jobs[i].ended = true;
		left += !jobs[i].ended;
	}
	return left;
}

/* SIGCHLD is blocked. */
static void wait_for(struct job *jobs, size_t n, uint64_t until_ms)
{
	sigset_t child;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	while (reap(jobs, n) > 0) {
		const uint64_t now = clock_boot_ms(), left = now < until_ms ? until_ms - now : 0;
		const struct timespec ts = { (time_t)(left / 1000), (long)(left % 1000) * 1000000 };

		if (left == 0)
			break;
		(void)sigtimedwait(&child, NULL, &ts);
	}
	for (size_t i = 0; i < n; i++) {
		if (jobs[i].ended)
			continue;
		(void)kill(jobs[i].pid, SIGKILL);
		(void)waitpid(jobs[i].pid, NULL, 0);
	}
}

static void start(struct loader *l, struct channel *c, struct event_base *base, struct job *jobs, size_t n)
{
	sigset_t child;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, NULL);
	for (size_t i = 0; i < n; i++) {
		jobs[i].pid = fork();
		if (jobs[i].pid == 0)
			work(l, c, base, i);
		jobs[i].ended = jobs[i].pid < 0;
		jobs[i].status = jobs[i].ended ? EXIT_CODE_RESOURCE << 8 : 0;
	}
}

/* -- those that did not come to their end -- */

static int code_of(const struct job *j)
{
	return j->ended && WIFEXITED(j->status) ? WEXITSTATUS(j->status) : -1;
}

static void describe(const struct loader *l, const struct job *j, char why[static SENTENCE_MAX])
{
	char seconds[16];

	(void)snprintf(seconds, sizeof(seconds), "%.1f", (double)l->limit_ms / 1000);
	if (!j->ended)
		sentence_make(why, LOAD_SLOW, seconds);
	else if (WIFEXITED(j->status))
		sentence_make(why, LOAD_LACKS, WEXITSTATUS(j->status));
	else
		sentence_make(why, LOAD_KILLED, sigabbrev_np(WTERMSIG(j->status)));
}

/* A running process may hold on to how it reaches its cluster; everything else is new. */
static int kept_blob(struct loader *l, enum role role, uint64_t index)
{
	_cleanup_(settings_done) struct settings old = { 0 };
	struct settings *s = &l->config.settings;
	char why[SETTINGS_ERROR_MAX];

	if (l->kept[role][index] < 0 || settings_read_blob(l->kept[role][index], &old, why) < 0)
		return -1;
	s->cluster = old.cluster;
	const int fd = make_blob(l, role);

	s->cluster = (struct cluster_settings){ 0 };
	return fd;
}

static void send_kept(struct loader *l, struct channel *c, uint64_t index)
{
	_cleanup_close_ int watcher = kept_blob(l, ROLE_WATCHER, index),
			    worker = kept_blob(l, ROLE_WORKER, index);

	if (watcher < 0 || worker < 0)
		return;
	(void)send_blob(c, ROLE_WATCHER, index, watcher, 0, l->kept_plugin[ROLE_WATCHER][index]);
	(void)send_blob(c, ROLE_WORKER, index, worker, 0, l->kept_plugin[ROLE_WORKER][index]);
}

static void finish_cluster(struct loader *l, struct channel *c, const struct job *j, size_t i)
{
	const size_t from = l->diags.n;
	struct loaded_cluster k;
	char why[SENTENCE_MAX];

	if (code_of(j) == SENT)
		return;
	if (code_of(j) != TOLD) {
		loaded_cluster_init(l, i, &k);
		describe(l, j, why);
		(void)loader_tell(l, -EAGAIN, place_of_file(NULL), why);
		send_lines(c, &l->diags, from, l->index[i], &k);
		send_cluster(c, l, l->index[i], &k, false);
	}
	send_kept(l, c, l->index[i]);
}

static bool finish_reporter(struct loader *l, struct channel *c, const struct job *j)
{
	const size_t from = l->diags.n;
	char why[SENTENCE_MAX];

	if (code_of(j) == SENT)
		return true;
	describe(l, j, why);
	l->refresh_ms = 0;
	loader_no_sinks(l, why);
	return send_reporter(l, c, from);
}

/* By index; one that the configuration has no more is empty. */
static void name_clusters(struct loader *l)
{
	struct str_list *names = &l->config.settings.cluster_names;

	for (size_t k = 0; k < l->indexes.n; k++) {
		const char *name = "";

		for (size_t i = 0; i < loader_clusters(l); i++)
			name = l->index[i] == k ? l->indexes.v[k] : name;
		str_list_add(names, name, strlen(name));
	}
}

bool loader_run_jobs(struct loader *l, struct channel *c, struct event_base *base)
{
	const size_t n = loader_clusters(l);
	struct job jobs[CLUSTERS_MAX + 1] = { 0 };

	name_clusters(l);
	l->until_ms = clock_boot_ms() + l->limit_ms;
	start(l, c, base, jobs, n + 1);
	wait_for(jobs, n + 1, l->until_ms);
	for (size_t i = 0; i < n; i++)
		finish_cluster(l, c, &jobs[i], i);
	return finish_reporter(l, c, &jobs[n]);
}
