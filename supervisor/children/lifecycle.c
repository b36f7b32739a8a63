/* lifecycle.c - start order (history first, then workers and watchers), drain (watchers and workers, then
 * history), end. See tree.h. */
// SPDX-License-Identifier: Apache-2.0
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "supervisor/notify.h"
#include "supervisor/supervisor.h"

#define TICK_MS     1000
#define DRAIN_MS    20000u
#define STATS_TICKS 5 /* figures of the children go to the reporter this often */

/* -- status line
 * ---------------------------------------------------------------------------------------------------------
 */

void lifecycle_status(struct supervisor *t)
{
	uint64_t pods = 0, synced = 0, ready = 0;

	if (!t->ready_told || t->phase != SUPERVISOR_RUNNING)
		return;
	for (uint64_t c = 0; c < t->generation->clusters; c++) {
		pods += t->watch_stats[c].u.watch_stats.pods;
		synced += t->watch_stats[c].u.watch_stats.synced;
	}
	for (size_t i = 0; i < t->n_children; i++)
		ready += t->children[i]->state == FSM_READY;
	notify_send("STATUS=%s%u/%u processes, %u/%u clusters synced, %llu pods, %llu actions%s%s",
		    t->generation->observe ? "observe: " : "", (unsigned)ready, (unsigned)t->n_children,
		    (unsigned)synced, (unsigned)t->generation->clusters, (unsigned long long)pods,
		    (unsigned long long)t->actions, t->note[0] ? "; " : "", t->note);
}

/* -- start
 * ---------------------------------------------------------------------------------------------------------------
 */

static void start_role(struct supervisor *t, enum role role)
{
	for (size_t i = 0; i < t->n_children; i++)
		if (t->children[i]->role == role && t->children[i]->state == FSM_DOWN)
			child_event(t->children[i], FSM_EV_START);
}

void lifecycle_on_loaded(struct supervisor *t, struct generation *g)
{
	t->generation = g;
	(void)child_new(t, ROLE_REPORTER, CLUSTERS_MAX, 0);
	for (uint64_t c = 0; c < g->clusters; c++) {
		(void)child_new(t, ROLE_WATCHER, c, 0);
		for (uint64_t w = 0; w < g->workers[c]; w++)
			(void)child_new(t, ROLE_WORKER, c, w);
	}
	start_role(t, ROLE_REPORTER);
}

static void send_child_stats(const struct child *s)
{
	struct msg m;

	control_child_stats(s, &m);
	route_to_reporter(s->tree, &m);
}

static void unpark(struct supervisor *t)
{
	struct msg *parked = t->parked;
	const size_t n = t->n_parked;

	t->parked = NULL;
	t->n_parked = 0;
	for (size_t i = 0; i < n; i++)
		route_to_reporter(t, &parked[i]);
	free(parked);
}

/* A watcher speaks when something changes: what it said to an earlier reporter, this one must hear too. */
static void repeat_watch_stats(struct supervisor *t)
{
	for (uint64_t c = 0; c < t->generation->clusters; c++)
		if (t->watch_stats[c].type == MSG_WATCH_STATS)
			route_to_reporter(t, &t->watch_stats[c]);
}

static void tell_ready(struct supervisor *t)
{
	for (size_t i = 0; i < t->n_children; i++)
		if (t->children[i]->state != FSM_READY)
			return;
	t->ready_told = true;
	log_info("all processes are ready", kv_u("processes", t->n_children),
		 kv_u("clusters", t->generation->clusters),
		 kv_s("mode", t->generation->observe ? "observe" : "enforce"));
	notify_send("READY=1");
	lifecycle_status(t);
}

static void drain_next(struct supervisor *t);

void lifecycle_on_child_changed(struct child *s)
{
	struct supervisor *t = s->tree;

	if (t->phase == SUPERVISOR_ENDED)
		return;
	if (s->role == ROLE_REPORTER && s->state == FSM_READY) {
		dispatch_on_reporter_ready(t);
		repeat_watch_stats(t);
		unpark(t);
	}
	if (s->role == ROLE_WORKER && s->state == FSM_READY)
		dispatch_dispatch(t, s->cluster);
	if (s->role == ROLE_WATCHER && s->state == FSM_READY)
		pause_requests_on_watcher_ready(s);
	if (t->phase == SUPERVISOR_STARTING && t->history_open) {
		t->phase = SUPERVISOR_RUNNING;
		start_role(t, ROLE_WORKER);
		start_role(t, ROLE_WATCHER);
	}
	if (t->phase == SUPERVISOR_RUNNING && !t->ready_told)
		tell_ready(t);
	if (t->phase == SUPERVISOR_DRAINING)
		drain_next(t);
	else
		send_child_stats(s);
}

/* -- end
 * ------------------------------------------------------------------------------------------------------------------
 */

static bool all_stopped(const struct supervisor *t, unsigned roles)
{
	for (size_t i = 0; i < t->n_children; i++)
		if (roles & 1u << t->children[i]->role && t->children[i]->state != FSM_STOPPED &&
		    t->children[i]->state != FSM_DOWN)
			return false;
	return true;
}

static void drain_role(struct supervisor *t, enum role role)
{
	for (size_t i = 0; i < t->n_children; i++) {
		struct child *s = t->children[i];

		if (s->role == role && s->state != FSM_DRAINING && s->state != FSM_STOPPED)
			child_event(s, FSM_EV_DRAIN);
	}
}

static void leave(struct supervisor *t, int code)
{
	t->phase = SUPERVISOR_ENDED;
	t->exit_code = code;
	(void)event_base_loopbreak(t->base);
}

/* Watchers and workers when the leases have ended and are written down (nothing new is taken meanwhile, and
 * the replica leads until its last write is over); the history last. */
static void drain_next(struct supervisor *t)
{
	static bool inside; /* child_event comes back here */

	if (inside)
		return;
	inside = true;
	if (dispatch_busy(t) == 0) {
		drain_role(t, ROLE_WATCHER);
		drain_role(t, ROLE_WORKER);
	}
	if (all_stopped(t, R_WATCHER | R_WORKER) && dispatch_busy(t) == 0)
		drain_role(t, ROLE_REPORTER);
	if (all_stopped(t, R_WATCHER | R_WORKER | R_REPORTER))
		leave(t, t->exit_code);
	inside = false;
}

void lifecycle_end(struct supervisor *t, int code)
{
	if (t->phase == SUPERVISOR_ENDED)
		return;
	if (code != EXIT_CODE_OK || t->phase == SUPERVISOR_DRAINING) {
		leave(t, code);
		return;
	}
	log_info("draining: a second signal ends at once");
	notify_send("STOPPING=1\nSTATUS=draining");
	t->phase = SUPERVISOR_DRAINING;
	t->drain_until_ms = clock_boot_ms() + DRAIN_MS;
	drain_next(t);
}

static void on_end_signal(evutil_socket_t sig, short what, void *arg)
{
	(void)sig;
	(void)what;
	lifecycle_end(arg, EXIT_CODE_OK);
}

static void on_reload_signal(evutil_socket_t sig, short what, void *arg)
{
	struct supervisor *t = arg;

	(void)sig;
	(void)what;
	if (t->phase != SUPERVISOR_RUNNING)
		return;
	notify_send("RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)clock_boot_ms() * 1000);
	settings_load_start(t, 0);
}

/* -- the loop
 * ---------------------------------------------------------------------------------------------------------------
 */

static bool is_ours(const struct supervisor *t, pid_t pid)
{
	for (size_t i = 0; i < t->n_children; i++)
		if (t->children[i]->pid == pid)
			return true;
	return settings_load_is_running(t, pid);
}

/* As a subreaper (and as process 1 of a pod) we inherit what exec plugins leave behind. */
static void reap_strangers(const struct supervisor *t)
{
	siginfo_t si = { 0 };

	while (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) == 0 && si.si_pid != 0 &&
	       !is_ours(t, si.si_pid))
		(void)waitpid(si.si_pid, NULL, WNOHANG);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct supervisor *t = arg;
	const uint64_t now = clock_boot_ms();
	static unsigned ticks;

	(void)fd;
	(void)what;
	ticks++;
	for (size_t i = 0; i < t->n_children; i++) {
		child_tick(t->children[i], now);
		if (ticks % STATS_TICKS == 0 && t->phase == SUPERVISOR_RUNNING)
			send_child_stats(t->children[i]);
	}
	reap_strangers(t);
	dispatch_tick(t, now);
	settings_load_tick(t, now);
	if (t->phase == SUPERVISOR_DRAINING) {
		drain_next(t);
		if (now > t->drain_until_ms) {
			(void)log_warn(0, "drain took too long: what is open is taken up at the next start");
			leave(t, EXIT_CODE_OK);
		}
	}
}

static void on_watchdog(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	notify_send("WATCHDOG=1");
}

static struct event *every(struct supervisor *t, uint64_t ms, event_callback_fn fn)
{
	struct event *e = event_new(t->base, -1, EV_PERSIST, fn, t);

	(void)event_add(e, CLOCK_TIMEVAL(ms));
	return e;
}

static struct event *on_signal(struct supervisor *t, int sig, event_callback_fn fn)
{
	struct event *e = evsignal_new(t->base, sig, fn, t);

	(void)event_add(e, NULL);
	return e;
}

int lifecycle_run(struct supervisor *t)
{
	t->phase = SUPERVISOR_STARTING;
	t->started_at = clock_wall_ms();
	t->leases = lease_table_new();
	t->pausing = pause_requests_new(t);
	t->tries = dry_run_new();
	settings_load_start(t, 0);
	t->tick = every(t, TICK_MS, on_tick);
	if (notify_watchdog_ms())
		t->watchdog = every(t, notify_watchdog_ms(), on_watchdog);
	t->sigterm = on_signal(t, SIGTERM, on_end_signal);
	t->sigint = on_signal(t, SIGINT, on_end_signal);
	t->sighup = on_signal(t, SIGHUP, on_reload_signal);
	(void)event_base_dispatch(t->base);

	t->phase = SUPERVISOR_ENDED;
	control_stop(t);
	for (size_t i = 0; i < t->n_children; i++)
		child_free(t->children[i]);
	settings_load_done(t);
	struct event *const events[] = { t->tick, t->watchdog, t->sigterm, t->sigint, t->sighup };

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i])
			event_free(events[i]);
	lease_table_free(&t->leases);
	pause_requests_free(&t->pausing);
	dry_run_free(&t->tries);
	generation_free(&t->generation);
	free(t->children);
	free(t->parked);
	return t->exit_code;
}
