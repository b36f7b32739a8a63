/* settings_load.c - the loader's runs. A generation is taken whole or not at all: first all children prepare
 * it, then all use it. See tree.h. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "build_id.h"
#include "supervisor/notify.h"
#include "supervisor/supervisor.h"

#define LOAD_MS  40000u /* the loader limits itself to 30 s */
#define AGREE_MS 10000u /* all children have prepared */

struct loading {
	bool running;
	struct spawned child;
	struct channel *channel;
	struct event *on_death;
	struct generation *made;    /* by the running loader */
	struct generation *offered; /* children are preparing it */
	uint64_t conn;              /* who asked, 0 nobody */
	int exit_code;              /* of the last run */
	char *said, *saying;        /* warnings of the last run and of this one, a line each */
	char problem[256];          /* last error of this run, for people */
	uint64_t since_ms;          /* start of this step */
	uint64_t refresh_at_ms;     /* next run of its own */
	uint64_t numbers;           /* generations made so far */
	bool again;                 /* asked for while busy */
};

/* -- end of a run
 * ------------------------------------------------------------------------------------------------------ */

static void finish(struct supervisor *t, int err, const char *text)
{
	struct loading *l = t->loading;

	(void)snprintf(t->note, sizeof(t->note), "%s%s", err ? "reload failed: " : "", err ? text : "");
	if (t->phase != SUPERVISOR_STARTING) {
		if (err)
			(void)log_error(0, "reload failed, the old settings stay in force",
					kv_s("detail", text));
		notify_send("READY=1\nSTATUS=%s", err ? t->note : "settings in force");
	}
	control_end(t, l->conn, err ? EXIT_CODE_CONFIG : EXIT_CODE_OK, text);
	l->conn = 0;
	if (t->generation && t->generation->refresh_ms)
		l->refresh_at_ms = clock_boot_ms() + t->generation->refresh_ms;
	if (l->again) {
		l->again = false;
		settings_load_start(t, 0);
	}
}

/* Only a child that has prepared a generation is told to use it. One that became READY after the offer runs
 * on what it started with, and catches up. */
static void use_prepared(struct child *s)
{
	const struct msg m = { .type = MSG_SETTINGS_COMMIT, .u.settings_commit.generation = s->prepared };

	if (child_send(s, &m, -1) == 0)
		s->generation = s->prepared;
}

static void commit(struct supervisor *t)
{
	struct loading *l = t->loading;

	generation_free(&t->generation);
	t->generation = TAKE_PTR(l->offered);
	for (size_t i = 0; i < t->n_children; i++)
		if (t->children[i]->prepared == t->generation->number)
			use_prepared(t->children[i]);
	log_info("settings in force", kv_u("generation", t->generation->number));
	finish(t, 0, "");
}

static bool all_prepared(const struct supervisor *t)
{
	for (size_t i = 0; i < t->n_children; i++)
		if (t->children[i]->offered == t->loading->offered->number)
			return false;
	return true;
}

static void give_up_offer(struct supervisor *t, const char *why)
{
	for (size_t i = 0; i < t->n_children; i++)
		t->children[i]->offered = 0;
	generation_free(&t->loading->offered);
	finish(t, -EINVAL, why);
}

/* A child that is starting takes the old generation and is offered the new one when it is READY
 * (settings_load_tick).
 */
static void offer(struct child *s, const struct generation *g)
{
	struct msg m = { .type = MSG_SETTINGS };

	m.u.settings = (struct msg_settings){ g->number, s->cluster, s->number };
	if (s->state == FSM_READY && child_send(s, &m, generation_blob(g, s->role, s->cluster)) == 0)
		s->offered = g->number;
}

static void offer_to_all(struct supervisor *t, struct generation *g)
{
	struct loading *l = t->loading;

	l->offered = g;
	l->since_ms = clock_boot_ms();
	for (size_t i = 0; i < t->n_children; i++)
		offer(t->children[i], g);
	if (all_prepared(t))
		commit(t);
}

void settings_load_on_ack(struct child *s, const struct msg *m)
{
	const struct msg_settings_ack *ack = &m->u.settings_ack;
	struct supervisor *t = s->tree;
	struct loading *l = t->loading;
	char why[400];

	if (ack->generation != s->offered)
		return; /* an offer that was given up */
	s->offered = 0;
	(void)snprintf(why, sizeof(why), "%s: %s", role_name(s->role), ack->error);
	if (ack->ok)
		s->prepared = ack->generation;
	if (l->offered && l->offered->number == ack->generation) {
		if (!ack->ok)
			give_up_offer(t, why);
		else if (all_prepared(t))
			commit(t);
	} else if (ack->ok) {
		use_prepared(s);
	} else {
		child_kill(s, why); /* it refuses what all others use: it starts again with that */
	}
}

void settings_load_on_child_gone(struct child *s)
{
	struct loading *l = s->tree->loading;

	s->offered = s->prepared = 0;
	if (l && l->offered && all_prepared(s->tree))
		commit(s->tree);
}

static void loaded(struct supervisor *t, struct generation *g)
{
	struct loading *l = t->loading;

	if (t->phase == SUPERVISOR_STARTING && !t->generation) {
		if (g) {
			lifecycle_on_loaded(t, g);
			finish(t, 0, "");
		} else {
			/* Only a wrong configuration is not worth another start. */
			lifecycle_end(t, l->exit_code == EXIT_CODE_CONFIG ? EXIT_CODE_CONFIG
									  : EXIT_CODE_TEMPORARY);
		}
		return;
	}
	if (!g) {
		finish(t, -EINVAL,
		       t->loading->problem[0] ? t->loading->problem : "the loader failed, see the log");
		return;
	}
	const char *fixed = generation_fixed_difference(t->generation, g);

	if (fixed) {
		char why[128];

		(void)snprintf(why, sizeof(why), "%s changed: restart the service to use it", fixed);
		generation_free(&g);
		finish(t, -EINVAL, why);
	} else if (generation_equal(t->generation, g)) {
		t->generation->refresh_ms = g->refresh_ms;
		generation_free(&g);
		finish(t, 0, "");
	} else if (t->phase != SUPERVISOR_RUNNING && t->phase != SUPERVISOR_STARTING) {
		generation_free(&g);
	} else {
		offer_to_all(t, g);
	}
}

/* -- the loader's messages
 * ---------------------------------------------------------------------------------------------- */

/* The loader warns anew at every run, also when it only refreshes a token: people are told what changed. */
static void warn_once(struct loading *l, const char *text)
{
	char *all = xasprintf("%s%s\n", l->saying ? l->saying : "", text);

	free(l->saying);
	l->saying = all;
	if (!l->said || !strstr(l->said, text))
		(void)log_warn(0, "configuration", kv_s("detail", text));
}

static void on_line(struct supervisor *t, const struct msg_load_line *line)
{
	if (line->error) {
		(void)log_error(0, "configuration", kv_s("detail", line->text));
		(void)snprintf(t->loading->problem, sizeof(t->loading->problem), "%.255s", line->text);
	} else {
		warn_once(t->loading, line->text);
	}
}

static void on_tree(struct generation *g, const struct msg_load_supervisor *m)
{
	g->clusters = m->clusters;
	g->observe = m->observe;
	g->election = m->election;
	g->refresh_ms = m->refresh_ms;
}

static void on_cluster(struct generation *g, const struct msg_load_cluster *m)
{
	g->workers[m->cluster] = m->workers;
	memcpy(g->names[m->cluster], m->cluster_name, sizeof(g->names[0]));
}

static void close_fd(int fd)
{
	if (fd >= 0)
		(void)close(fd);
}

static void on_blob(struct generation *g, const struct msg_load_blob *m, int fd)
{
	if (!generation_take_blob(g, (enum role)m->role, m->cluster, fd))
		close_fd(fd);
}

static void kill_loader(struct loading *l)
{
	(void)syscall(SYS_pidfd_send_signal, l->child.pidfd, SIGKILL, NULL, 0);
}

static void on_hello(struct supervisor *t, const struct msg_hello *hello)
{
	if (hello->proto == IPC_PROTO && strcmp(hello->build, OPC_BUILD_ID) == 0)
		return;
	(void)log_error(0, "the loader is of another build: restart the service after an upgrade");
	kill_loader(t->loading);
}

static void on_msg(void *ctx, struct channel *c, const struct msg *m, int fd)
{
	struct supervisor *t = ctx;
	struct generation *g = t->loading->made;

	switch (m->type) {
	case MSG_HELLO:
		on_hello(t, &m->u.hello);
		channel_set_phase(c, PH_SETUP);
		break;
	case MSG_LOAD_LINE:
		on_line(t, &m->u.load_line);
		break;
	case MSG_LOAD_SUPERVISOR:
		on_tree(g, &m->u.load_supervisor);
		break;
	case MSG_LOAD_FIXED:
		if (g->n_fixed < FIXED_MAX)
			g->fixed[g->n_fixed++] = m->u.load_fixed;
		break;
	case MSG_LOAD_CLUSTER:
		on_cluster(g, &m->u.load_cluster);
		break;
	case MSG_LOAD_BLOB:
		on_blob(g, &m->u.load_blob, fd);
		return;
	case MSG_LOAD_END:
		g->complete = m->u.load_end.ok;
		break;
	default:
		break;
	}
	close_fd(fd);
}

static void on_close(void *ctx, struct channel *c, int err, const char *text)
{
	struct supervisor *t = ctx;

	(void)c;
	if (err) {
		(void)log_error(err, "the loader broke the protocol", kv_s("detail", text));
		t->loading->made->complete = false;
		kill_loader(t->loading);
	}
}

static const struct channel_ops loader_ops = { .on_msg = on_msg, .on_close = on_close };

static void forget_loader(struct loading *l)
{
	channel_free(&l->channel);
	event_free(l->on_death);
	l->on_death = NULL;
	(void)close(l->child.pidfd);
	l->running = false;
}

static void on_death(evutil_socket_t fd, short what, void *arg)
{
	struct supervisor *t = arg;
	struct loading *l = t->loading;
	siginfo_t si = { 0 };

	(void)fd;
	(void)what;
	channel_read_all(l->channel);
	if (waitid(P_PID, (id_t)l->child.pid, &si, WEXITED | WNOHANG) < 0 || si.si_pid == 0)
		return;
	forget_loader(l);
	free(l->said);
	l->said = TAKE_PTR(l->saying);
	l->exit_code = si.si_code == CLD_EXITED ? si.si_status : EXIT_CODE_INTERNAL;
	struct generation *g = l->made;

	l->made = NULL;
	if (si.si_code != CLD_EXITED || si.si_status != 0 || !generation_whole(g)) {
		if (!l->problem[0])
			(void)log_error(
				0, "the loader ended without settings",
				kv_s("how", si.si_code == CLD_EXITED ? "exit" : sigabbrev_np(si.si_status)),
				kv_i("code", si.si_status));
		generation_free(&g);
	}
	loaded(t, g);
}

/* -- start
 * -----------------------------------------------------------------------------------------------------------------
 */

static size_t add_option(char **argv, size_t n, const char *name, const char *value)
{
	if (value) {
		argv[n++] = (char *)(uintptr_t)name;
		argv[n++] = (char *)(uintptr_t)value;
	}
	return n;
}

static int spawn_loader(struct supervisor *t)
{
	struct loading *l = t->loading;
	char *argv[10] = { (char *)(uintptr_t)role_name(ROLE_LOADER) };
	size_t n = 1;

	n = add_option(argv, n, "--config", t->options.config);
	n = add_option(argv, n, "--kubeconfig", t->options.kubeconfig);
	n = add_option(argv, n, "--master", t->options.master);
	n = add_option(argv, n, "--state-dir", t->options.state_dir);
	argv[n] = NULL;
	return spawn_child(t->images, ROLE_LOADER, argv, -1, true, &l->child);
}

void settings_load_start(struct supervisor *t, uint64_t conn)
{
	if (!t->loading)
		t->loading = xcalloc(1, sizeof(*t->loading));
	struct loading *l = t->loading;

	if (l->running || l->offered) {
		l->again = true;
		if (conn)
			control_end(t, conn, EXIT_CODE_TEMPORARY, "a reload is already running");
		return;
	}
	l->conn = conn;
	l->refresh_at_ms = 0;
	l->problem[0] = '\0';
	const int r = spawn_loader(t);

	if (r < 0) {
		(void)log_error(r, "cannot start the loader");
		loaded(t, NULL);
		return;
	}
	l->running = true;
	l->since_ms = clock_boot_ms();
	l->made = generation_new(++l->numbers);
	l->channel = channel_new(t->base, l->child.channel, ROLE_SUPERVISOR, ROLE_LOADER, &loader_ops, t);
	l->on_death = event_new(t->base, l->child.pidfd, EV_READ | EV_PERSIST, on_death, t);
	(void)event_add(l->on_death, NULL);
}

/* A child that became READY with an older generation than the one in force catches up. */
static void catch_up(struct supervisor *t)
{
	for (size_t i = 0; i < t->n_children; i++) {
		struct child *s = t->children[i];

		if (s->state == FSM_READY && !s->offered && s->generation < t->generation->number)
			offer(s, t->generation);
	}
}

void settings_load_tick(struct supervisor *t, uint64_t now_ms)
{
	struct loading *l = t->loading;

	if (l->running && now_ms - l->since_ms > LOAD_MS)
		kill_loader(l);
	else if (l->offered && now_ms - l->since_ms > AGREE_MS)
		give_up_offer(t, "not all processes answered in time");
	else if (!l->running && !l->offered && l->refresh_at_ms && now_ms >= l->refresh_at_ms)
		settings_load_start(t, 0);
	else if (!l->offered && t->generation)
		catch_up(t);
}

bool settings_load_is_running(const struct supervisor *t, pid_t pid)
{
	return t->loading && t->loading->running && t->loading->child.pid == pid;
}

void settings_load_done(struct supervisor *t)
{
	struct loading *l = t->loading;

	if (!l)
		return;
	if (l->running) {
		kill_loader(l);
		(void)waitpid(l->child.pid, NULL, 0);
		forget_loader(l);
	}
	generation_free(&l->made);
	generation_free(&l->offered);
	free(l->said);
	free(l->saying);
	free(l);
	t->loading = NULL;
}
