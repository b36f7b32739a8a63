/* lifecycle.c - see lifecycle.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/children/lifecycle.h"

#include <event2/event.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "ipc/loop.h"
#include "text/facts_text.h"

#define TICK_MS    1000u
#define PAUSED_MS  3000u /* a tick that is so late: this process did not run */
#define TRIM_FIRST 4     /* ticks: what only the start needed, as its children do */
#define TRIM_EVERY 300
#define DRAIN_MS   20000u
#define LEAVE_MS   40000u /* a lease and a drain; then a cluster that goes is ended */

/* sd_notify(3) without libsystemd: one datagram of KEY=value lines to $NOTIFY_SOCKET; without it nothing
 * happens. */
struct notify {
	int fd;
	struct sockaddr_un peer;
	socklen_t peer_len;
	uint64_t watchdog_ms; /* how often WATCHDOG=1 is wanted (half of the limit), 0 = never */
};

struct lifecycle {
	struct child_env env;
	struct children *children;
	struct settings_load *settings;
	struct notify notify;
	const struct lifecycle_ops *ops;
	struct supervisor *above;
	enum lifecycle_phase phase;
	int exit_code;
	bool told_ready; /* the service manager */
	bool draining;   /* inside drain_next() */
	uint64_t drain_until_ms;
	uint64_t leave_until_ms; /* 0 = no cluster goes */
	struct event *events[7];
	size_t n_events;
	unsigned int ticks;
	uint64_t ticked_ms;   /* boot time of the last tick, or of the start */
	struct facts refusal; /* why the last reload was refused */
};

/* -- the service manager -- */

static uint64_t read_watchdog(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t v = 0, who = (uint64_t)getpid();

	if (!usec || str_to_u64(usec, strlen(usec), &v) < 0)
		return 0;
	if (pid && (str_to_u64(pid, strlen(pid), &who) < 0 || who != (uint64_t)getpid()))
		return 0;
	return v / 2000;
}

/* Read and remove NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID from the environment: children do not get
 * them.
 */
static void notify_open(struct notify *n)
{
	const char *path = getenv("NOTIFY_SOCKET");
	const size_t len = path ? strlen(path) : 0;

	*n = (struct notify){ .fd = -1, .watchdog_ms = read_watchdog(), .peer.sun_family = AF_UNIX };
	if (len > 1 && len < sizeof(n->peer.sun_path) && (path[0] == '/' || path[0] == '@')) {
		memcpy(n->peer.sun_path, path, len);
		if (path[0] == '@')
			n->peer.sun_path[0] = '\0'; /* abstract name */
		n->peer_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
		n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	}
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("WATCHDOG_USEC");
	(void)unsetenv("WATCHDOG_PID");
}

static void notify_send(const struct notify *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void notify_send(const struct notify *n, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (n->fd < 0)
		return;
	va_start(ap, fmt);
	const int len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len > 0)
		(void)sendto(n->fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&n->peer,
			     n->peer_len);
}

/* -- what is known of it -- */

struct event_base *lifecycle_base(const struct lifecycle *l)
{
	return l->env.base;
}

struct children *lifecycle_children(const struct lifecycle *l)
{
	return l->children;
}

const struct generation *lifecycle_generation(const struct lifecycle *l)
{
	return settings_load_generation(l->settings);
}

bool lifecycle_is_current(const struct lifecycle *l, const struct child *c)
{
	return settings_load_is_current(l->settings, c);
}

bool lifecycle_is_running(const struct lifecycle *l)
{
	return l->phase == LIFECYCLE_RUNNING;
}

bool lifecycle_is_leaving(const struct lifecycle *l, uint64_t cluster)
{
	return settings_load_is_leaving(l->settings, cluster);
}

uint64_t lifecycle_next_load_ms(const struct lifecycle *l)
{
	return settings_load_next_ms(l->settings);
}

static size_t count_in_state(const struct lifecycle *l, enum fsm_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < children_count(l->children); i++)
		n += child_info(children_get(l->children, i))->state == state;
	return n;
}

/* Those that are to run now. */
static size_t count_wanted(const struct lifecycle *l)
{
	return children_count(l->children) - count_in_state(l, FSM_DOWN) - count_in_state(l, FSM_RESTING) -
	       count_in_state(l, FSM_LEAVING) - count_in_state(l, FSM_DRAINING) -
	       count_in_state(l, FSM_STOPPED);
}

const struct facts *lifecycle_refusal(const struct lifecycle *l)
{
	return &l->refusal;
}

void lifecycle_describe(const struct lifecycle *l, struct msg *ret)
{
	static const char *const phases[] = { "starting", "running", "draining", "ended" };

	ret->u.ctl_supervisor.observe = lifecycle_generation(l)->all.observe;
	ret->u.ctl_supervisor.generation = lifecycle_generation(l)->number;
	msg_text(ret, ctl_supervisor.phase, phases[l->phase]);
}

void lifecycle_tell_status(const struct lifecycle *l)
{
	const struct generation *g = lifecycle_generation(l);
	char text[256] = "";
	struct facts f;

	if (!l->told_ready || l->phase != LIFECYCLE_RUNNING)
		return;
	l->ops->describe(l->above, text, sizeof(text));
	generation_describe_trouble(g, &f);
	_cleanup_free_ char *trouble = facts_render(&f, NULL), *refusal = facts_render(&l->refusal, NULL);

	notify_send(&l->notify, "STATUS=%s%zu/%zu processes, %s%s%.200s%s%s",
		    g->all.observe ? "observe: " : "", count_in_state(l, FSM_READY),
		    count_wanted(l) + count_in_state(l, FSM_DOWN), text, trouble[0] ? "; " : "", trouble,
		    refusal[0] ? "; reload failed: " : "", refusal);
}

/* -- start -- */

static void send_event(struct lifecycle *l, enum role role, enum fsm_event ev)
{
	for (size_t i = 0; i < children_count(l->children); i++) {
		struct child *c = children_get(l->children, i);

		if (child_info(c)->role == role)
			child_event(c, ev);
	}
}

static void leave(struct lifecycle *l, int code)
{
	l->phase = LIFECYCLE_ENDED;
	l->exit_code = code;
	(void)event_base_loopbreak(l->env.base);
}

static void start_role(struct lifecycle *l, enum role role)
{
	for (size_t i = 0; i < children_count(l->children); i++) {
		struct child *c = children_get(l->children, i);
		const struct child_info *at = child_info(c);

		if (at->role == role && (at->state == FSM_DOWN || at->state == FSM_STOPPED) &&
		    generation_has_cluster(lifecycle_generation(l), at->cluster))
			child_event(c, at->on_demand ? FSM_EV_REST : FSM_EV_START);
	}
}

/* Of the clusters that are loaded, those that do not run yet. */
static void start_loaded(struct lifecycle *l)
{
	start_role(l, ROLE_WORKER);
	start_role(l, ROLE_WATCHER);
}

/* Clusters are listed while the history is opened: what watchers find waits for it. */
static void on_first(struct lifecycle *l, int code)
{
	if (code == EXIT_CODE_OK)
		code = l->ops->on_first(l->above);
	if (code != EXIT_CODE_OK) {
		leave(l, code);
		return;
	}
	children_make(l->children, lifecycle_generation(l));
	send_event(l, ROLE_REPORTER, FSM_EV_START);
	start_loaded(l);
}

static size_t count_failing(const struct lifecycle *l)
{
	size_t n = 0;

	for (size_t i = 0; i < children_count(l->children); i++)
		n += child_fails_to_start(children_get(l->children, i));
	return n;
}

/* A cluster that waits keeps nobody waiting, nor does a process that does not start: a service manager that
 * is told nothing would end all others with it. */
static void tell_ready(struct lifecycle *l)
{
	const struct generation *g = lifecycle_generation(l);
	const size_t n = count_wanted(l), failing = count_failing(l);

	if (l->told_ready || count_in_state(l, FSM_READY) + failing < n)
		return;
	l->told_ready = true;
	if (failing)
		(void)log_warn(0, "some processes do not start: all others are ready", kv_u("processes", n),
			       kv_u("do_not_start", failing));
	else
		log_info("all processes are ready", kv_u("processes", n), kv_u("clusters", g->n_wanted),
			 kv_s("mode", g->all.observe ? "observe" : "enforce"));
	notify_send(&l->notify, "READY=1");
	lifecycle_tell_status(l);
}

static void start_all_loaded(struct lifecycle *l)
{
	if (l->phase != LIFECYCLE_RUNNING)
		return;
	start_loaded(l);
	tell_ready(l); /* should all clusters wait */
}

void lifecycle_open(struct lifecycle *l)
{
	if (l->phase != LIFECYCLE_STARTING)
		return;
	l->phase = LIFECYCLE_RUNNING;
	start_all_loaded(l);
}

/* -- end -- */

static bool has_stopped(const struct lifecycle *l, enum role role)
{
	for (size_t i = 0; i < children_count(l->children); i++) {
		const struct child *c = children_get(l->children, i);
		const enum fsm_state state = child_info(c)->state;

		if (child_info(c)->role == role && state != FSM_STOPPED && state != FSM_DOWN)
			return false;
	}
	return true;
}

/* Watchers and workers when nothing is open any more (nothing new is taken meanwhile, and the replica leads
 * until its last write is over); the reporter last. */
static void drain_next(struct lifecycle *l)
{
	if (l->draining)
		return; /* child_event() has come back here */
	l->draining = true;
	const bool idle = l->ops->busy(l->above, CLUSTERS_MAX) == 0;

	if (idle) {
		send_event(l, ROLE_WATCHER, FSM_EV_DRAIN);
		send_event(l, ROLE_WORKER, FSM_EV_DRAIN);
	}
	const bool others = has_stopped(l, ROLE_WATCHER) && has_stopped(l, ROLE_WORKER);

	if (others && l->ops->busy(l->above, CLUSTERS_MAX) == 0)
		send_event(l, ROLE_REPORTER, FSM_EV_DRAIN);
	if (others && has_stopped(l, ROLE_REPORTER))
		leave(l, l->exit_code);
	l->draining = false;
}

/* -- clusters that go -- */

/* True when none of its processes is left. */
static bool end_cluster(struct lifecycle *l, uint64_t cluster, bool late)
{
	static const enum role roles[] = { ROLE_WATCHER, ROLE_WORKER };
	const bool idle = l->ops->busy(l->above, cluster) == 0;
	bool gone = true;

	for (size_t r = 0; r < ARRAY_SIZE(roles); r++) {
		size_t i = 0;

		for (struct child *c; (c = children_next_of(l->children, roles[r], cluster, &i));) {
			if (idle || late)
				child_event(c, FSM_EV_DRAIN);
			if (late)
				child_event(c, FSM_EV_LATE);
			gone = gone && child_info(c)->state == FSM_STOPPED;
		}
	}
	return gone;
}

/* As drain_next(), while all others go on. */
static bool has_left(struct lifecycle *l, const struct generation *next)
{
	const uint64_t now = clock_boot_ms();
	bool all = true;

	l->leave_until_ms = l->leave_until_ms ? l->leave_until_ms : now + LEAVE_MS;
	for (uint64_t c = 0; generation_next(lifecycle_generation(l), &c); c++)
		if (!next->wanted[c])
			all = end_cluster(l, c, now > l->leave_until_ms) && all;
	if (all)
		l->leave_until_ms = 0;
	return all;
}

/* 0 drains first, everything else ends at once; so does a second 0. */
static void end(struct lifecycle *l, int code)
{
	if (l->phase == LIFECYCLE_ENDED)
		return;
	if (code != EXIT_CODE_OK || l->phase == LIFECYCLE_DRAINING) {
		leave(l, code);
		return;
	}
	log_info("draining: a second signal ends at once");
	notify_send(&l->notify, "STOPPING=1\nSTATUS=draining");
	l->phase = LIFECYCLE_DRAINING;
	l->drain_until_ms = clock_boot_ms() + DRAIN_MS;
	settings_load_stop(l->settings);
	drain_next(l);
}

static void on_end_signal(evutil_socket_t sig, short what, void *arg)
{
	(void)sig;
	(void)what;
	end(arg, EXIT_CODE_OK);
}

/* -- reload -- */

int lifecycle_reload(struct lifecycle *l, uint64_t conn)
{
	return settings_load_start(l->settings, conn, LOAD_ASKED);
}

void lifecycle_refuse(struct lifecycle *l, uint64_t cluster)
{
	settings_load_refuse(l->settings, cluster);
}

void lifecycle_refresh(struct lifecycle *l)
{
	(void)settings_load_start(l->settings, 0, LOAD_REFRESH);
}

static void on_load_end(struct lifecycle *l, uint64_t conn, int err, const struct facts *what)
{
	_cleanup_free_ char *text = facts_render(what, NULL);

	facts_clear(&l->refusal);
	if (err)
		facts_set(&l->refusal, what);
	if (!err) {
		l->ops->on_loaded(l->above);
		start_all_loaded(l);
	}
	if (err)
		(void)log_error(0, "reload failed, the old settings stay in force", kv_s("detail", text));
	if (l->told_ready)
		notify_send(&l->notify, "READY=1\nSTATUS=%s%s%s", err ? "reload failed" : "settings in force",
			    *text ? err ? ": " : "; " : "", text);
	l->ops->on_reload_end(l->above, conn, err ? EXIT_CODE_CONFIG : EXIT_CODE_OK, what);
}

/* What a new cluster needs is there before anybody can ask about it. */
static void on_in_force(struct lifecycle *l, const struct generation *older)
{
	children_make(l->children, lifecycle_generation(l));
	l->ops->on_loaded(l->above);
	l->ops->on_replaced(l->above, older);
}

static void on_taken(struct lifecycle *l, struct child *c)
{
	l->ops->on_taken(l->above, c);
}

static void on_dump_signal(evutil_socket_t sig, short what, void *arg)
{
	const struct lifecycle *l = arg;

	(void)sig;
	(void)what;
	if (l->phase == LIFECYCLE_RUNNING)
		l->ops->dump(l->above);
}

static void on_reload_signal(evutil_socket_t sig, short what, void *arg)
{
	struct lifecycle *l = arg;

	(void)sig;
	(void)what;
	if (l->phase > LIFECYCLE_RUNNING)
		return;
	if (l->told_ready)
		notify_send(&l->notify, "RELOADING=1\nMONOTONIC_USEC=%llu",
			    (unsigned long long)clock_boot_ms() * 1000);
	(void)lifecycle_reload(l, 0);
}

/* -- the children -- */

static void on_hello(struct lifecycle *l, struct child *c)
{
	settings_load_on_hello(l->settings, c);
}

static void on_msg(struct lifecycle *l, struct child *c, const struct msg *m)
{
	if (m->type == MSG_SETTINGS_ACK)
		settings_load_on_settings_ack(l->settings, c, m);
	else
		l->ops->on_msg(l->above, c, m);
}

static bool still_counts(struct lifecycle *l, const struct msg *m)
{
	return l->ops->still_counts(m);
}

static void on_changed(struct lifecycle *l, struct child *c)
{
	if (l->phase == LIFECYCLE_ENDED)
		return;
	l->ops->on_changed(l->above, c, child_is_ready(c));
	if (l->phase == LIFECYCLE_RUNNING)
		tell_ready(l);
	else if (l->phase == LIFECYCLE_DRAINING)
		drain_next(l);
}

static void on_dead(struct lifecycle *l, struct child *c, int code)
{
	settings_load_on_dead(l->settings, c);
	l->ops->on_dead(l->above, c, code);
	if (code == EXIT_CODE_TEMPORARY && !child_info(c)->was_ready && l->phase == LIFECYCLE_STARTING &&
	    child_info(c)->role == ROLE_REPORTER)
		end(l, EXIT_CODE_TEMPORARY);
}

static void on_give_up(struct lifecycle *l)
{
	end(l, EXIT_CODE_CONFIG);
}

/* -- the loop -- */

static bool is_ours(const struct lifecycle *l, pid_t pid)
{
	for (size_t i = 0; i < children_count(l->children); i++)
		if (child_info(children_get(l->children, i))->pid == pid)
			return true;
	return settings_load_is(l->settings, pid);
}

/* As a subreaper (and as process 1 of a pod) we inherit what exec plugins leave behind. */
static void reap_strangers(const struct lifecycle *l)
{
	siginfo_t si = { 0 };

	while (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) == 0 && si.si_pid != 0 &&
	       !is_ours(l, si.si_pid))
		(void)waitpid(si.si_pid, NULL, WNOHANG);
}

/* How long this process did not run before now: it, or the machine, was stopped, or a disk kept it waiting.
 * What children have said meanwhile is not read yet, and they may have been stopped as well. */
static uint64_t note_tick(struct lifecycle *l, uint64_t now)
{
	const uint64_t took = now - l->ticked_ms;

	l->ticked_ms = now;
	if (took < TICK_MS + PAUSED_MS)
		return 0;
	(void)log_warn(0, "this process did not run for a while: it, its machine or its disk was stopped",
		       kv_u("ms", took));
	return took - TICK_MS;
}

void lifecycle_tick(struct lifecycle *l)
{
	const uint64_t now = clock_boot_ms(), paused = note_tick(l, now);

	for (size_t i = 0; i < children_count(l->children); i++) {
		child_excuse(children_get(l->children, i), paused, now);
		child_tick(children_get(l->children, i), now);
	}
	reap_strangers(l);
	l->ops->on_tick(l->above, now);
	settings_load_tick(l->settings, now);
	if (l->phase != LIFECYCLE_DRAINING)
		return;
	drain_next(l);
	if (now > l->drain_until_ms) {
		(void)log_warn(0, "drain took too long: what is open is taken up at the next start");
		leave(l, EXIT_CODE_OK);
	}
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	struct lifecycle *l = arg;

	lifecycle_tick(l);
	if (++l->ticks % TRIM_EVERY == TRIM_FIRST)
		(void)memory_trim();
}

static void on_watchdog(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	notify_send(&((struct lifecycle *)arg)->notify, "WATCHDOG=1");
}

static void add_event(struct lifecycle *l, int sig, uint64_t every_ms, event_callback_fn fn)
{
	struct event *e = event_new(l->env.base, sig, EV_PERSIST | (sig > 0 ? EV_SIGNAL : 0), fn, l);

	(void)event_add(e, every_ms ? CLOCK_TIMEVAL(every_ms) : NULL);
	l->events[l->n_events++] = e;
}

struct lifecycle *lifecycle_new(const char *const loader_argv[], int lock_fd, const struct lifecycle_ops *ops,
				struct supervisor *s)
{
	static const struct child_ops child_ops = { on_hello, on_msg,     still_counts,
						    on_dead,  on_give_up, on_changed };
	static const struct settings_load_ops load_ops = { on_first, on_load_end, has_left, on_in_force,
							   on_taken };
	struct lifecycle *l = xcalloc(1, sizeof(*l));

	notify_open(&l->notify);
	l->env = (struct child_env){ loop_new(), NULL, &child_ops, l };
	l->env.images = spawn_images_open(l->env.base, lock_fd);
	l->ops = ops;
	l->above = s;
	l->ticked_ms = clock_boot_ms();
	l->children = children_new(&l->env);
	l->settings = settings_load_new(&l->env, l->children, loader_argv, &load_ops);
	if (!l->env.images || !l->env.base)
		lifecycle_free(&l);
	return l;
}

int lifecycle_run(struct lifecycle *l)
{
	(void)settings_load_start(l->settings, 0, LOAD_CHANGE);
	add_event(l, -1, TICK_MS, on_tick);
	if (l->notify.watchdog_ms)
		add_event(l, -1, l->notify.watchdog_ms, on_watchdog);
	add_event(l, SIGTERM, 0, on_end_signal);
	add_event(l, SIGINT, 0, on_end_signal);
	add_event(l, SIGQUIT, 0, on_end_signal);
	add_event(l, SIGHUP, 0, on_reload_signal);
	add_event(l, SIGUSR1, 0, on_dump_signal);
	(void)event_base_dispatch(l->env.base);
	l->phase = LIFECYCLE_ENDED;
	return l->exit_code;
}

void lifecycle_free(struct lifecycle **lp)
{
	struct lifecycle *l = *lp;

	l->phase = LIFECYCLE_ENDED;
	children_free(&l->children);
	settings_load_free(&l->settings);
	while (l->n_events > 0)
		event_free(l->events[--l->n_events]);
	spawn_images_close(&l->env.images);
	if (l->env.base)
		event_base_free(l->env.base);
	cleanup_close(&l->notify.fd);
	free(l);
	*lp = NULL;
}
