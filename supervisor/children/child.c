/* child.c - one child: spawn, channel, transitions, death. See tree.h. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "build_id.h"
#include "supervisor/supervisor.h"

#define START_MS   10000u /* spawn to READY */
#define SILENCE_MS 15000u /* no heartbeat */
#define DRAIN_MS   12000u
#define EOF_MS     3000u /* from the end of the channel to the death */

static const struct backoff_policy restart_backoff = { 100, 30000, 0.5 };

struct child *supervisor_find_child(const struct supervisor *t, enum role role, uint64_t cluster)
{
	for (size_t i = 0; i < t->n_children; i++)
		if (t->children[i]->role == role && t->children[i]->cluster == cluster &&
		    t->children[i]->state == FSM_READY)
			return t->children[i];
	return NULL;
}

static const char *child_cluster(const struct child *s)
{
	return s->cluster < CLUSTERS_MAX && s->tree->generation ? s->tree->generation->names[s->cluster] : "";
}

int child_send(struct child *s, const struct msg *m, int fd)
{
	return s->channel ? channel_send(s->channel, m, fd) : -EPIPE;
}

static void signal_child(const struct child *s, int sig)
{
	if (s->pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, s->pidfd, sig, NULL, 0);
}

/* Told once; the death follows. */
static void condemn(struct child *s, const char *what, const char *why)
{
	(void)log_warn(0, "child is killed", kv_s("because", what), kv_s("role", role_name(s->role)),
		       kv_s("cluster", child_cluster(s)), kv_u("pid", s->pid), kv_s("detail", why));
	(void)snprintf(s->error, sizeof(s->error), "%s", why);
	s->condemned = true;
	child_event(s, FSM_EV_LATE);
}

void child_kill(struct child *s, const char *why)
{
	if (!s->condemned)
		condemn(s, "it hangs", why);
}

void child_protocol_error(struct child *s, const char *why)
{
	const bool first = !s->mute;

	s->mute = true;
	if (first)
		condemn(s, "it broke the protocol", why);
}

/* -- start-up
 * -------------------------------------------------------------------------------------------------------- */

static void on_hello(struct child *s, const struct msg_hello *hello)
{
	struct msg m = { .type = MSG_SETTINGS };

	if (hello->proto != IPC_PROTO || strcmp(hello->build, OPC_BUILD_ID) != 0) {
		child_protocol_error(s, "it is of another build: restart the service after an upgrade");
		return;
	}
	channel_set_phase(s->channel, PH_SETUP);
	s->generation = s->tree->generation->number;
	m.u.settings = (struct msg_settings){ s->generation, s->cluster, s->number };
	const int r = child_send(s, &m, generation_blob(s->tree->generation, s->role, s->cluster));

	if (r < 0) { /* it would take their absence for a broken configuration */
		(void)log_error(r, "cannot hand its settings to a child: it is started again",
				kv_s("role", role_name(s->role)));
		child_event(s, FSM_EV_LATE);
	}
}

static void on_ready(struct child *s, const struct msg_ready *ready)
{
	channel_set_phase(s->channel, PH_RUN);
	(void)snprintf(s->sandbox, sizeof(s->sandbox), "%s", ready->sandbox);
	s->was_ready = s->ever_ready = true;
	s->ready_ms = s->beat_ms = clock_boot_ms();
	child_event(s, FSM_EV_READY);
	log_info("child ready", kv_s("role", role_name(s->role)), kv_s("cluster", child_cluster(s)),
		 kv_u("slot", s->number), kv_u("pid", s->pid), kv_s("sandbox", s->sandbox));
}

static void on_msg(void *ctx, struct channel *c, const struct msg *m, int fd)
{
	struct child *s = ctx;

	(void)c;
	if (fd >= 0) { /* no child has a descriptor to give */
		(void)close(fd);
		child_protocol_error(s, "a descriptor rode along");
	}
	if (s->mute)
		return; /* whatever it sent behind its mistake */
	switch (m->type) {
	case MSG_HELLO:
		on_hello(s, &m->u.hello);
		break;
	case MSG_READY:
		on_ready(s, &m->u.ready);
		break;
	case MSG_HEARTBEAT:
		s->beat_ms = clock_boot_ms();
		s->rss_kb = m->u.heartbeat.rss_kb;
		break;
	default:
		route_from_child(s, m);
	}
}

/* An end of the channel is followed by the death, which says more (the exit code); a bad message makes it
 * follow. */
static void on_close(void *ctx, struct channel *c, int err, const char *text)
{
	struct child *s = ctx;

	(void)c;
	if (err)
		child_protocol_error(s, text);
	else
		s->eof_ms = clock_boot_ms();
}

static const struct channel_ops child_ops = { .on_msg = on_msg, .on_close = on_close };

/* -- death
 * ------------------------------------------------------------------------------------------------------------
 */

static void describe_death(struct child *s, const siginfo_t *si)
{
	char text[128];

	if (si->si_code == CLD_EXITED)
		(void)snprintf(text, sizeof(text), "exit %d", si->si_status);
	else if (si->si_status == SIGSYS)
		(void)snprintf(text, sizeof(text),
			       "sandbox violation (SIGSYS): a library made a call that is not allowed");
	else
		(void)snprintf(text, sizeof(text), "signal %d (%s)", si->si_status,
			       sigabbrev_np(si->si_status));
	if (s->error[0] == '\0')
		(void)snprintf(s->error, sizeof(s->error), "%s", text);
	if (s->state == FSM_DRAINING && si->si_code == CLD_EXITED && si->si_status == 0) {
		log_info("child finished", kv_s("role", role_name(s->role)),
			 kv_s("cluster", child_cluster(s)), kv_u("slot", s->number));
		return;
	}
	(void)log_warn(0, "child died", kv_s("role", role_name(s->role)), kv_s("cluster", child_cluster(s)),
		       kv_u("slot", s->number), kv_u("pid", s->pid), kv_s("how", text),
		       kv_s("detail", s->error));
}

#if defined(OPC_PROBES)
static void answer_probe(struct child *s, const siginfo_t *si)
{
	struct msg row = { .type = MSG_CTL_PROBE_ROW, .u.ctl_probe_row.conn = s->probe_conn };

	if (!s->probe_conn)
		return;
	row.u.ctl_probe_row.result = si->si_code == CLD_EXITED ? -si->si_status : -(1000 + si->si_status);
	control_answer(s->tree, s->probe_conn, &row);
	control_end(s->tree, s->probe_conn, 0, "");
	s->probe_conn = 0;
}
#endif

static void forget_process(struct child *s)
{
	channel_free(&s->channel);
	if (s->on_death)
		event_free(s->on_death);
	s->on_death = NULL;
	if (s->pidfd >= 0)
		(void)close(s->pidfd);
	s->pidfd = -1;
	s->pid = 0;
	s->rss_kb = 0;
	s->was_ready = s->condemned = s->mute = false;
	s->eof_ms = 0;
}

/* Proven death: what the child said before is read to the end first, so that no RESULT is lost. */
static void on_death(evutil_socket_t fd, short what, void *arg)
{
	struct child *s = arg;
	siginfo_t si = { 0 };
	const bool was_ready = s->was_ready;

	(void)fd;
	(void)what;
	if (s->channel)
		channel_read_all(s->channel);
	if (waitid(P_PID, (id_t)s->pid, &si, WEXITED | WNOHANG) < 0 || si.si_pid == 0)
		return;
	describe_death(s, &si);
#if defined(OPC_PROBES)
	answer_probe(s, &si);
#endif
	const int code = si.si_code == CLD_EXITED ? si.si_status : -1;
	const enum fsm_event ev =
		fsm_death(&s->deaths, was_ready, s->ready_ms, code == EXIT_CODE_CONFIG, clock_boot_ms());

	forget_process(s);
	if (s->role == ROLE_REPORTER) {
		s->tree->history_open = false;
		pause_requests_on_reporter_gone(s->tree);
		control_on_reporter_gone(s->tree);
	}
	if (s->role == ROLE_WATCHER)
		s->tree->watch_stats[s->cluster].u.watch_stats.synced = false;
	settings_load_on_child_gone(s);
	if (code == EXIT_CODE_TEMPORARY && !s->ever_ready && s->tree->phase == SUPERVISOR_STARTING) {
		lifecycle_end(s->tree, EXIT_CODE_TEMPORARY);
		return;
	}
	child_event(s, ev);
	/* Only now: while it counted as READY it could have been granted its own lease again. */
	if (s->role == ROLE_WORKER)
		dispatch_on_worker_dead(s);
}

/* -- actions
 * ----------------------------------------------------------------------------------------------------------
 */

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	child_event(arg, FSM_EV_TIMER);
}

static void act_spawn(struct child *s)
{
	char number[8];
	struct spawned child;

	(void)snprintf(number, sizeof(number), "%u", (unsigned)s->number);
	char *const argv[] = { (char *)(uintptr_t)role_name(s->role), (char *)(uintptr_t)child_cluster(s),
			       number, NULL };
	const int r = spawn_child(s->tree->images, s->role, argv,
				  s->role == ROLE_WORKER ? s->tree->lock_fd : -1, false, &child);

	if (r < 0) {
		(void)log_error(r, "cannot start child", kv_s("role", role_name(s->role)));
		(void)snprintf(s->error, sizeof(s->error), "cannot start: %s", strerrordesc_np(-r));
		child_event(s, fsm_death(&s->deaths, false, 0, false, clock_boot_ms()));
		return;
	}
	s->pid = child.pid;
	s->pidfd = child.pidfd;
	s->started_at = clock_wall_ms();
	s->beat_ms = clock_boot_ms();
	s->channel = channel_new(s->tree->base, child.channel, ROLE_SUPERVISOR, s->role, &child_ops, s);
	s->on_death = event_new(s->tree->base, child.pidfd, EV_READ | EV_PERSIST, on_death, s);
	(void)event_add(s->on_death, NULL);
}

static void act_drain(struct child *s)
{
	const struct msg m = { .type = MSG_DRAIN, .u.drain.deadline_ms = DRAIN_MS };

	(void)child_send(s, &m, -1);
}

static void carry_out(struct child *s, enum fsm_action action)
{
	switch (action) {
	case FSM_ACT_NONE:
		break;
	case FSM_ACT_SPAWN:
		act_spawn(s);
		break;
	case FSM_ACT_KILL:
		signal_child(s, SIGKILL);
		break;
	case FSM_ACT_BACKOFF:
		(void)evtimer_add(s->timer, CLOCK_TIMEVAL(backoff_delay_ms(
						    &restart_backoff, s->deaths.failures, backoff_random())));
		break;
	case FSM_ACT_SLOW:
		(void)log_error(0, "child dies too often: degraded, tried again slowly",
				kv_s("role", role_name(s->role)), kv_s("cluster", child_cluster(s)),
				kv_s("detail", s->error));
		(void)evtimer_add(s->timer, CLOCK_TIMEVAL(FSM_SLOW_MS));
		break;
	case FSM_ACT_DRAIN:
		act_drain(s);
		break;
	case FSM_ACT_GIVE_UP:
		lifecycle_end(s->tree, EXIT_CODE_CONFIG);
		break;
	case FSM_ACT_BUG:
		(void)log_error(0, "supervision event in a state that cannot have it",
				kv_s("role", role_name(s->role)), kv_s("state", fsm_state_name(s->state)));
		break;
	}
}

void child_event(struct child *s, enum fsm_event ev)
{
	const struct fsm_step step = fsm_next(s->state, ev);
	const bool changed = step.next != s->state || step.action == FSM_ACT_SPAWN;

	s->state = step.next;
	if (step.action == FSM_ACT_SPAWN)
		s->error[0] = '\0';
	carry_out(s, step.action);
	if (changed)
		lifecycle_on_child_changed(s);
}

void child_tick(struct child *s, uint64_t now_ms)
{
	const uint64_t stalled = now_ms - s->beat_ms;
	char why[64];

	if (s->eof_ms && now_ms - s->eof_ms > EOF_MS) {
		child_kill(s, "closed its channel and does not end");
	} else if (s->state == FSM_STARTING && s->pid && stalled > START_MS) {
		(void)snprintf(why, sizeof(why), "not ready within %u s", START_MS / 1000);
		child_kill(s, why);
	} else if ((s->state == FSM_READY || s->state == FSM_DRAINING) && stalled > SILENCE_MS) {
		(void)snprintf(why, sizeof(why), "hung: no heartbeat for %u s", SILENCE_MS / 1000);
		child_kill(s, why);
	}
}

struct child *child_new(struct supervisor *t, enum role role, uint64_t cluster, uint64_t number)
{
	struct child *s = xcalloc(1, sizeof(*s));

	*s = (struct child){ .tree = t, .role = role, .cluster = cluster, .number = number, .pidfd = -1 };
	s->index = (int)t->n_children;
	s->timer = evtimer_new(t->base, on_timer, s);
	t->children = xreallocarray(t->children, t->n_children + 1, sizeof(struct child *));
	t->children[t->n_children++] = s;
	return s;
}

void child_free(struct child *s)
{
	signal_child(s, SIGKILL);
	if (s->pid > 0)
		(void)waitpid(s->pid, NULL, 0);
	forget_process(s);
	event_free(s->timer);
	free(s);
}
