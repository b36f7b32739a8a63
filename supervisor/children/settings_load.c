/* settings_load.c - see settings_load.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/children/settings_load.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/backoff.h"
#include "base/cgroup.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/random.h"
#include "base/str.h"
#include "base/tree_size.h"
#include "base/xalloc.h"
#include "build_id.h"
#include "supervisor/children/file_watch.h"
#include "text/facts_text.h"
#include "text/texts.h"

#define LOAD_MS 40000u /* the loader limits itself to 30 s */
#define TAKE_MS 15000u /* a child has taken new settings; one that is silent for so long hangs anyway */
/* What one cluster may take of a run. A run that all others wait for is short: the first, and one that may
 * bring other settings. What is too slow for it, such as a plugin that asks a cloud, gets its time at the
 * next.
 */
#define SHORT_LIMIT_MS 6000u
#define LIMIT_MS       25000u
/* A plugin that writes to its own kubeconfig at every run does not keep the loader busy. */
#define BY_FILES_MS 5000u
/* Nor from giving a slow cluster its time: after so many short runs the next one is a long one. */
#define HASTY_MAX 5u

static const struct backoff_policy trouble_backoff = { 1000, 30000, 0.2 };

/* Generations, 0 = none. */
struct held {
	uint64_t in_force, offered, prepared; /* offered: its SETTINGS_ACK is awaited */
	uint64_t behind_ms;                   /* boot time since which it has older ones than it should */
};

struct settings_load {
	const struct child_env *env;
	struct children *children;
	const char *const *argv; /* the loader's */
	const struct settings_load_ops *ops;
	uint32_t instance; /* random */
	bool stopped;
	struct spawned loader;
	struct generation *made; /* by the loader that runs, NULL = none does */
	struct generation *next; /* waits until clusters that it has no more have ended; NULL = none does */
	struct generation *in_force; /* for the supervisor and for new children; others are offered it */
	bool taking;                 /* the end of this run waits for children that have older ones */
	struct held held[CHILDREN_MAX];
	uint64_t conn;                         /* who asked, 0 nobody */
	char *warned, *warning;                /* warnings of the last run and of this one, a line each */
	struct log_quota lines;                /* that loaders have us write */
	struct facts problem;                  /* last error of this run, for an operator */
	uint64_t since_ms;                     /* start of this step */
	uint64_t refresh_at_ms;                /* next run of its own, 0 = none */
	uint64_t numbers;                      /* generations made so far */
	enum load_cause cause;                 /* of the run that is under way, or of the last one */
	bool gives_way;                        /* the loader that runs is killed for a short run */
	unsigned hasty;                        /* short runs for files since the last long one has ended */
	bool again;                            /* asked for while busy */
	enum load_cause again_cause;           /* the strongest, as listed */
	bool distrusted;                       /* what the loader that runs says does not count */
	uint64_t again_conn;                   /* by whom, 0 nobody */
	struct file_watch *made_watch, *watch; /* by the loader that runs; in force. Either may be NULL */
	uint64_t by_files_ms;                  /* last run because a file had changed */
	unsigned troubles;                     /* runs in a row after which a cluster was not loaded */
};

const struct generation *settings_load_generation(const struct settings_load *l)
{
	return l->in_force;
}

static bool is_short(const struct settings_load *l)
{
	return l->cause != LOAD_REFRESH;
}

/* A run has not come to its end. */
static bool is_busy(const struct settings_load *l)
{
	return l->made || l->next || l->taking;
}

uint64_t settings_load_next_ms(const struct settings_load *l)
{
	return is_busy(l) ? 0 : l->refresh_at_ms;
}

bool settings_load_is(const struct settings_load *l, pid_t pid)
{
	return l->made && l->loader.pid == pid;
}

/* -- end of a run -- */

static void plan_next(struct settings_load *l)
{
	const struct generation *g = l->in_force;

	if (!g)
		return;
	if (!is_short(l) || !generation_has_trouble(g))
		l->hasty = 0;
	l->troubles = !generation_has_trouble(g) ? 0 : is_short(l) ? 1 : l->troubles + 1;
	const uint64_t soon =
		l->troubles ? backoff_delay_ms(&trouble_backoff, l->troubles, backoff_random()) : UINT64_MAX;
	const uint64_t regular = g->refresh_ms ? g->refresh_ms : UINT64_MAX,
		       in = soon < regular ? soon : regular;

	l->refresh_at_ms = in == UINT64_MAX ? 0 : clock_boot_ms() + in;
}

/* err 0: `what` is not read. */
static void finish(struct settings_load *l, int err, const struct facts *what)
{
	const uint64_t conn = l->conn, again_conn = l->again_conn;
	struct facts trouble;

	l->conn = l->again_conn = 0;
	plan_next(l);
	if (!err)
		generation_describe_trouble(l->in_force, &trouble);
	l->ops->on_end(l->env->root, conn, err, err ? what : &trouble);
	if (l->again)
		(void)settings_load_start(l, again_conn, l->again_cause);
}

static struct held *held_by(struct settings_load *l, const struct child *c)
{
	return &l->held[child_info(c)->index];
}

static int send_settings(const struct settings_load *l, struct child *c, const struct generation *g)
{
	const struct child_info *at = child_info(c);
	const struct msg m = { .type = MSG_SETTINGS,
			       .u.settings = { .generation = g->number,
					       .cluster = at->cluster,
					       .number = at->number,
					       .instance = l->instance } };

	return child_send(c, &m, g->fd[at->role][at->cluster]);
}

bool settings_load_is_current(const struct settings_load *l, const struct child *c)
{
	return l->held[child_info(c)->index].in_force == l->in_force->number;
}

static bool is_behind(const struct settings_load *l, const struct child *c)
{
	return child_is_ready(c) && !settings_load_is_current(l, c);
}

/* What a watcher nominates by new settings is judged by new settings. */
static bool waits_for_workers(const struct settings_load *l, uint64_t cluster)
{
	size_t i = 0;

	for (struct child *w; (w = children_next(l->children, ROLE_WORKER, cluster, &i));)
		if (is_behind(l, w))
			return true;
	return false;
}

/* A child uses only what it has prepared. */
static void use_prepared(struct settings_load *l, struct child *c)
{
	struct held *h = held_by(l, c);
	const struct msg m = { .type = MSG_SETTINGS_COMMIT, .u.settings_commit.generation = h->prepared };

	if (child_send(c, &m, -1) < 0) {
		const struct facts why = facts_of(TEXT_SETTINGS_UNREAD);

		child_replace(c, &why);
		return;
	}
	h->in_force = h->prepared;
	h->behind_ms = 0;
	l->ops->on_taken(l->env->root, c);
}

static void use_where_prepared(struct settings_load *l, bool watchers)
{
	for (size_t i = 0; i < children_count(l->children); i++) {
		struct child *c = children_get(l->children, i);
		const struct child_info *at = child_info(c);

		if (is_behind(l, c) && held_by(l, c)->prepared == l->in_force->number &&
		    (at->role == ROLE_WATCHER) == watchers &&
		    !(watchers && waits_for_workers(l, at->cluster)))
			use_prepared(l, c);
	}
}

/* No child can hinder another: the run ends when each has the settings, or is started again with them. */
static void go_on(struct settings_load *l)
{
	size_t behind = 0;

	use_where_prepared(l, false);
	use_where_prepared(l, true);
	for (size_t i = 0; i < children_count(l->children); i++)
		behind += is_behind(l, children_get(l->children, i));
	if (behind > 0 || !l->taking)
		return;
	l->taking = false;
	finish(l, 0, NULL);
}

static void offer(struct settings_load *l, struct child *c)
{
	struct held *h = held_by(l, c);
	const uint64_t now = clock_boot_ms();

	if (!is_behind(l, c) || h->prepared == l->in_force->number)
		return;
	if (!h->behind_ms)
		h->behind_ms = now;
	const struct facts late = facts_of(TEXT_SETTINGS_LATE);

	if (now - h->behind_ms > TAKE_MS)
		child_replace(c, &late);
	else if (h->offered != l->in_force->number && send_settings(l, c, l->in_force) == 0)
		h->offered = l->in_force->number;
}

/* Also one that became READY with older settings than those in force. */
static void offer_to_all(struct settings_load *l)
{
	for (size_t i = 0; i < children_count(l->children); i++)
		offer(l, children_get(l->children, i));
	go_on(l);
}

static void warn_of_limit(enum text statement, uint64_t needed, uint64_t left)
{
	struct facts f = facts_of(statement);

	if (left >= needed)
		return;
	facts_count(&f, FACT_NEEDED, (int64_t)needed);
	facts_count(&f, FACT_LIMIT, (int64_t)left);
	_cleanup_free_ char *text = facts_render(&f, NULL);

	(void)log_warn(0, "a limit is too low for all clusters", kv_s("detail", text));
}

/* Is there room for all processes? A tree that does not fit would lose children later, one by one, for no
 * reason that anybody sees. usage: of processes, "pids.current", NULL where its own are among them. */
static void check_room(const struct generation *g, const char *usage)
{
	struct tree_size size = tree_size_of_none();
	_cleanup_free_ char *own = cgroup_own();
	struct rlimit l;

	for (uint64_t c = 0; generation_next(g, &c); c++)
		tree_size_add(&size, g->workers_min[c], g->workers[c]);
	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur != RLIM_INFINITY)
		warn_of_limit(TEXT_FEW_DESCRIPTORS, size.descriptors, l.rlim_cur);
	/* This process counts already. */
	warn_of_limit(TEXT_FEW_PROCESSES, size.most - (usage != NULL),
		      cgroup_room(CGROUP_ROOT, own, "pids.max", usage));
	/* What is used now is mostly pages of files, which give way. */
	warn_of_limit(TEXT_LITTLE_MEMORY, size.memory >> 20,
		      cgroup_room(CGROUP_ROOT, own, "memory.max", NULL) >> 20);
}

/* The loader has validated it, so nobody is asked: the supervisor goes by it from now on, and gives work to
 * those alone that have it. */
static void take(struct settings_load *l, struct generation *g)
{
	struct generation *older = l->in_force;

	l->in_force = g;
	l->taking = true;
	log_info("settings in force", kv_u("generation", g->number));
	if (g->n_wanted > older->n_wanted)
		check_room(g, NULL);
	l->ops->on_in_force(l->env->root, older);
	generation_free(&older);
	offer_to_all(l);
}

/* -- the children -- */

void settings_load_on_hello(struct settings_load *l, struct child *c)
{
	const int r = send_settings(l, c, l->in_force);

	*held_by(l, c) = (struct held){ .in_force = l->in_force->number };
	if (r < 0) { /* without them it would wait */
		(void)log_error(r, "cannot hand its settings to a child: it is started again",
				kv_s("role", role_name(child_info(c)->role)));
		child_event(c, FSM_EV_LATE);
	}
}

void settings_load_on_settings_ack(struct settings_load *l, struct child *c, const struct msg *m)
{
	const struct msg_settings_ack *ack = &m->u.settings_ack;
	struct held *h = held_by(l, c);

	if (ack->generation != h->offered)
		return;
	h->offered = 0;
	if (ack->ok)
		h->prepared = ack->generation;
	else if (is_behind(l, c))
		child_replace(c, &ack->error);
	go_on(l);
}

void settings_load_on_dead(struct settings_load *l, const struct child *c)
{
	*held_by(l, c) = (struct held){ 0 };
	if (l->in_force)
		go_on(l);
}

/* -- what the loader made -- */

static void on_first(struct settings_load *l, struct generation *g, int code)
{
	if (g && !generation_follow(g, NULL))
		generation_free(&g);
	l->in_force = g;
	if (g)
		check_room(g, "pids.current");
	/* Only a wrong configuration is not worth another start. */
	l->ops->on_first(l->env->root, g                          ? EXIT_CODE_OK
				       : code == EXIT_CODE_CONFIG ? EXIT_CODE_CONFIG
								  : EXIT_CODE_TEMPORARY);
	if (g)
		finish(l, 0, NULL);
}

bool settings_load_is_leaving(const struct settings_load *l, uint64_t cluster)
{
	return l->next && l->in_force->wanted[cluster] && !l->next->wanted[cluster];
}

static void take_next(struct settings_load *l)
{
	if (l->next && !l->stopped && l->ops->has_left(l->env->root, l->next))
		take(l, TAKE_PTR(l->next));
}

/* Settings change: a run of the loader is over. g is NULL when it made no whole generation; code is its exit
 * code. A generation that differs is in force for the supervisor at once, and offered to each child, which
 * prepares it (settings_load_on_settings_ack()) and is told to use it (use_where_prepared()). */
static void use_loaded(struct settings_load *l, struct generation *g, int code)
{
	struct facts problem = facts_empty(&l->problem) ? facts_of(TEXT_LOADER_FAILED) : l->problem;

	if (!l->in_force) {
		on_first(l, g, code);
		return;
	}
	if (g && !generation_follow(g, l->in_force))
		generation_free(&g);
	const char *fixed = g ? generation_fixed_difference(l->in_force, g) : NULL;

	if (fixed) {
		problem = facts_of(TEXT_NEEDS_RESTART);
		facts_quoted(&problem, FACT_SETTING, STR_C(fixed));
	} else if (g && !l->stopped && !generation_equal(l->in_force, g)) {
		l->next = g; /* the run ends when all children have it */
		take_next(l);
		return;
	} else if (g) {
		generation_update(l->in_force, g); /* no child would notice */
	}
	const bool ok = g && !fixed;

	generation_free(&g);
	finish(l, ok ? 0 : -EINVAL, &problem);
}

/* The loader warns anew at every run, also when it only refreshes a token, and when a cluster still cannot be
 * loaded: an operator reads what changed. */
static void warn_once(struct settings_load *l, const struct msg_load_line *line)
{
	_cleanup_free_ char *text = facts_render(&line->line, NULL);
	_cleanup_free_ char *one = xasprintf("%s %s\n", line->cluster_name, text);
	char *all = xasprintf("%s%s", l->warning ? l->warning : "", one);

	free(l->warning);
	l->warning = all;
	if (l->warned && strstr(l->warned, one))
		return;
	if (line->error)
		log_debug("a cluster cannot be loaded", kv_s("cluster", line->cluster_name),
			  kv_s("detail", text));
	else
		(void)log_warn(0, "configuration", kv_s("detail", text));
}

static void on_load_line(struct settings_load *l, const struct msg_load_line *line)
{
	if (!line->error || line->cluster < CLUSTERS_MAX) {
		warn_once(l, line);
		return;
	}
	_cleanup_free_ char *text = facts_render(&line->line, NULL);

	(void)log_error(0, "configuration", kv_s("detail", text));
	facts_set(&l->problem, &line->line);
}

/* It may have said all and ended well before the kill. */
static void distrust(struct settings_load *l)
{
	l->distrusted = true;
	spawned_kill(&l->loader);
}

static void send_kept(struct settings_load *l, enum role role, uint64_t cluster)
{
	const struct generation *g = l->in_force;
	struct msg m = { .type = MSG_LOAD_KEPT, .u.load_kept = { .role = role, .cluster = cluster } };
	const int fd = g->fd[role][cluster];

	if (l->cause != LOAD_ASKED && !g->refused[cluster]) {
		m.u.load_kept.plugin = g->plugin[role][cluster];
		m.u.load_kept.plugin_until = g->plugin_until[role][cluster];
	}
	if (fd >= 0) /* one that cannot be sent is as if there were none */
		(void)channel_send(l->loader.channel, &m, fd);
}

static void send_index(struct settings_load *l, uint64_t cluster)
{
	struct msg m = { .type = MSG_LOAD_INDEX, .u.load_index.cluster = cluster };

	msg_text(&m, load_index.cluster_name, l->in_force->names[cluster]);
	(void)channel_send(l->loader.channel, &m, -1);
}

static void begin(struct settings_load *l)
{
	const struct msg m = { .type = MSG_LOAD_BEGIN,
			       .u.load_begin.limit_ms = is_short(l) ? SHORT_LIMIT_MS : LIMIT_MS };

	for (uint64_t c = 0; l->in_force && c < l->in_force->all.clusters; c++) {
		send_index(l, c);
		send_kept(l, ROLE_WATCHER, c);
		send_kept(l, ROLE_WORKER, c);
	}
	(void)channel_send(l->loader.channel, &m, -1);
}

static void on_hello(struct settings_load *l, const struct msg_hello *hello)
{
	channel_set_phase(l->loader.channel, PH_SETUP);
	if (hello->proto == IPC_PROTO && strcmp(hello->build, OPC_BUILD_ID) == 0) {
		begin(l);
		return;
	}
	(void)log_error(0, "the loader is of another build: restart the service after an upgrade");
	distrust(l);
}

/* The descriptor comes with the first name; should it be none of inotify, nothing is watched. */
static void on_load_watch(struct settings_load *l, const struct msg_load_watch *m, int fd)
{
	if (fd >= 0 && l->made_watch)
		(void)close(fd);
	else if (fd >= 0)
		l->made_watch = file_watch_new(fd);
	if (l->made_watch)
		file_watch_add(l->made_watch, m->watch, m->name);
}

/* What this loader has read is what counts from now on, also when it was refused: the next change may be its
 * correction. */
static void take_watch(struct settings_load *l)
{
	if (l->distrusted)
		file_watch_free(&l->made_watch);
	if (!l->made_watch)
		return;
	file_watch_free(&l->watch);
	l->watch = TAKE_PTR(l->made_watch);
	file_watch_start(l->watch, l->env->base);
}

static void take_msg(struct settings_load *l, const struct msg *m, int fd)
{
	if (m->type == MSG_LOAD_WATCH) {
		on_load_watch(l, &m->u.load_watch, fd);
		return;
	}
	if (m->type == MSG_HELLO)
		on_hello(l, &m->u.hello);
	else if (m->type == MSG_LOAD_LINE)
		on_load_line(l, &m->u.load_line);
	generation_add(l->made, m, fd);
}

static void on_msg(void *ctx, struct channel *c, const struct msg *m, int fd)
{
	struct settings_load *l = ctx;
	struct log_quota *before = log_charge(&l->lines);

	(void)c;
	take_msg(l, m, fd);
	(void)log_charge(before);
}

static void on_close(void *ctx, struct channel *c, int err, const struct facts *why)
{
	struct settings_load *l = ctx;

	(void)c;
	if (err) {
		_cleanup_free_ char *text = facts_render(why, NULL);

		(void)log_error(err, "the loader broke the protocol", kv_s("detail", text));
		distrust(l);
	}
}

/* -- the loader's process -- */

/* Nobody has asked for the run that was cut off. */
static void give_way(struct settings_load *l)
{
	const uint64_t conn = l->again_conn;

	l->again_conn = 0;
	l->gives_way = false;
	file_watch_free(&l->made_watch);
	generation_free(&l->made);
	free(l->warning);
	l->warning = NULL;
	(void)settings_load_start(l, conn, l->again_cause);
}

static void on_death(void *ctx, const siginfo_t *si)
{
	struct settings_load *l = ctx;

	spawned_done(&l->loader);
	if (l->gives_way) {
		give_way(l);
		return;
	}
	free(l->warned);
	l->warned = TAKE_PTR(l->warning);
	take_watch(l);
	const bool exited = si->si_code == CLD_EXITED;
	struct generation *g = TAKE_PTR(l->made);

	if (l->distrusted || !exited || si->si_status != 0 || !generation_whole(g)) {
		if (facts_empty(&l->problem))
			(void)log_error(0, "the loader ended without settings",
					kv_s("how", exited ? "exit" : sigabbrev_np(si->si_status)),
					kv_i("code", si->si_status));
		generation_free(&g);
	}
	use_loaded(l, g, exited ? si->si_status : EXIT_CODE_INTERNAL);
}

/* What a long run would bring, the run after the next brings, too. */
static void follow(struct settings_load *l, uint64_t conn, enum load_cause cause)
{
	l->again_cause = l->again && l->again_cause > cause ? l->again_cause : cause;
	l->again = true;
	l->again_conn = conn ? conn : l->again_conn;
	if (cause != LOAD_REFRESH && l->made && !is_short(l) && !l->gives_way) {
		l->gives_way = true;
		spawned_kill(&l->loader);
	}
}

int settings_load_start(struct settings_load *l, uint64_t conn, enum load_cause cause)
{
	static const struct spawn_ops ops = { { .on_msg = on_msg, .on_close = on_close }, on_death };

	if (l->stopped || (conn && l->again_conn))
		return -EBUSY;
	if (is_busy(l)) {
		follow(l, conn, cause);
		return 0;
	}
	l->again = false;
	l->conn = conn;
	l->cause = cause;
	l->refresh_at_ms = 0;
	facts_clear(&l->problem);
	l->distrusted = false;
	file_watch_forget(l->watch);
	const int r = spawn_child(l->env->images, ROLE_LOADER, l->argv, &ops, l, &l->loader);

	if (r < 0) {
		(void)log_error(r, "cannot start the loader");
		use_loaded(l, NULL, EXIT_CODE_RESOURCE);
		return 0;
	}
	l->since_ms = clock_boot_ms();
	l->made = generation_new(++l->numbers);
	return 0;
}

/* Also by a run that may have been told to keep it. */
void settings_load_refuse(struct settings_load *l, uint64_t cluster)
{
	struct generation *const all[] = { l->in_force, l->next, l->made };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i])
			all[i]->refused[cluster] = true;
}

void settings_load_stop(struct settings_load *l)
{
	l->stopped = true;
}

/* For a second or two the old settings are in force, longer only while it happens again and again. */
static bool load_changed_files(struct settings_load *l, uint64_t now_ms)
{
	const char *name = file_watch_due(l->watch, now_ms);
	const bool hasty = l->hasty < HASTY_MAX, waits = is_busy(l) && !(l->made && !is_short(l) && hasty);

	if (!name || l->stopped || waits || (l->by_files_ms && now_ms - l->by_files_ms < BY_FILES_MS))
		return false;
	log_info("a file has changed: the settings are loaded again", kv_s("name", name));
	l->by_files_ms = now_ms;
	l->hasty += hasty;
	(void)settings_load_start(l, 0, hasty ? LOAD_CHANGE : LOAD_REFRESH);
	return true;
}

void settings_load_tick(struct settings_load *l, uint64_t now_ms)
{
	const uint64_t left_out = log_quota_left_out(&l->lines);

	if (left_out)
		(void)log_warn(0, "the loader has more told than the log takes",
			       kv_u("lines_left_out", left_out));
	take_next(l);
	if (l->made && now_ms > l->since_ms + LOAD_MS)
		spawned_kill(&l->loader);
	else if (load_changed_files(l, now_ms))
		return;
	else if (!is_busy(l) && l->refresh_at_ms && now_ms >= l->refresh_at_ms)
		(void)settings_load_start(l, 0, LOAD_REFRESH);
	else if (l->in_force && !l->stopped)
		offer_to_all(l);
}

struct settings_load *settings_load_new(const struct child_env *env, struct children *children,
					const char *const argv[], const struct settings_load_ops *ops)
{
	struct settings_load *l = xcalloc(1, sizeof(*l));

	l->env = env;
	l->children = children;
	l->argv = argv;
	l->ops = ops;
	random_bytes(&l->instance, sizeof(l->instance));
	return l;
}

void settings_load_free(struct settings_load **lp)
{
	struct settings_load *l = *lp;

	spawned_done(&l->loader);
	generation_free(&l->made);
	generation_free(&l->next);
	generation_free(&l->in_force);
	file_watch_free(&l->made_watch);
	file_watch_free(&l->watch);
	free(l->warned);
	free(l->warning);
	free(l);
	*lp = NULL;
}
