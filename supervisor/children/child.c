/* child.c - see child.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/children/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/backoff.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "build_id.h"
#include "ipc/timer.h"
#include "text/facts_text.h"

#define START_MS         10000u /* spawn to READY */
#define STALLED_MS       20000u /* no heartbeat */
#define DRAIN_MS         12000u
#define EOF_MS           3000u /* from the end of the channel to the death */
#define FAILURES_AWAITED 5u    /* in a row: with the pauses between them, some three seconds */

static const struct backoff_policy restart_backoff = { 100, 30000, 0.5 };

/* One process of it, from spawn to death. */
struct life {
	struct spawned process;
	bool ready;                 /* READY has arrived */
	bool condemned;             /* killed, not dead yet: what it says is dropped, but for RESULTs */
	uint64_t ready_ms, beat_ms; /* boot time of READY, of the last heartbeat */
	uint64_t eof_ms;            /* of the channel's end, 0 = open */
	uint64_t rss_kb;
};

struct child {
	const struct child_env *env;
	struct child_info info;
	struct fsm_record deaths;
	struct timer *timer;
	struct life life;
	int64_t started_at; /* wall */
	bool slow;          /* it died too often, or failed to start, and has not been ready since */
	char sandbox[256];
	struct facts error;     /* why the last life ended */
	struct log_quota lines; /* that its messages have the supervisor write, in all its lives */
	struct facts *troubles[TROUBLE__MAX]; /* what this one cannot do at present; NULL = it can */
};

#define CHILD_KV(c)                                                                                          \
	kv_s("role", role_name((c)->info.role)), kv_s("cluster", (c)->info.cluster_name),                    \
		kv_u("number", (c)->info.number), kv_u("pid", (c)->info.pid)

const struct child_info *child_info(const struct child *c)
{
	return &c->info;
}

const struct facts *child_trouble(const struct child *c, enum trouble kind)
{
	return c->troubles[kind];
}

bool child_is_ready(const struct child *c)
{
	return c->info.state == FSM_READY && c->info.pid && !c->life.condemned;
}

bool child_is_slow(const struct child *c)
{
	return c->slow;
}

bool child_fails_to_start(const struct child *c)
{
	return c->info.state == FSM_DEGRADED ||
	       (c->info.state == FSM_BACKOFF && c->deaths.failures >= FAILURES_AWAITED);
}

void child_stats(const struct child *c, struct msg *ret)
{
	*ret = (struct msg){ .type = MSG_CHILD_STATS,
			     .u.child_stats = { .number = c->info.number,
						.pid = (uint64_t)c->info.pid,
						.restarts = c->deaths.n_deaths + c->deaths.n_outside,
						.rss_kb = c->life.rss_kb,
						.started = c->started_at } };
	msg_text(ret, child_stats.role, role_name(c->info.role));
	msg_text(ret, child_stats.cluster_name, c->info.cluster_name);
	msg_text(ret, child_stats.state, fsm_state_name(c->info.state));
	msg_text(ret, child_stats.sandbox, c->sandbox);
	facts_set(&ret->u.child_stats.error, &c->error);
}

int child_send(struct child *c, const struct msg *m, int fd)
{
	return c->life.process.channel ? channel_send(c->life.process.channel, m, fd) : -EPIPE;
}

/* -- killing -- */

/* Once a life, so it is told whatever else the child has had told. */
static void condemn(struct child *c, const char *what, const struct facts *why)
{
	if (c->life.condemned)
		return;
	struct log_quota *before = log_charge(NULL);
	_cleanup_free_ char *detail = facts_render(why, NULL);

	(void)log_warn(0, "child is killed", kv_s("because", what), CHILD_KV(c), kv_s("detail", detail));
	(void)log_charge(before);
	facts_set(&c->error, why);
	c->life.condemned = true;
	child_event(c, FSM_EV_LATE);
}

void child_kill(struct child *c, enum text why, uint64_t limit_ms)
{
	struct facts f = facts_of(why);

	if (limit_ms > 0)
		facts_duration(&f, FACT_THRESHOLD, (int64_t)limit_ms);
	condemn(c, "it hangs", &f);
}

void child_replace(struct child *c, const struct facts *why)
{
	condemn(c, "it does not take its settings", why);
}

static void protocol_error(struct child *c, const struct facts *why)
{
	condemn(c, "it broke the protocol", why);
}

void child_protocol_error(struct child *c, enum text why)
{
	const struct facts f = facts_of(why);

	protocol_error(c, &f);
}

/* Its heartbeats are due. */
static bool beats(const struct child *c)
{
	return c->info.pid &&
	       (c->info.state == FSM_READY || c->info.state == FSM_DRAINING || c->info.state == FSM_LEAVING);
}

void child_tick(struct child *c, uint64_t now_ms)
{
	const uint64_t stalled = now_ms - c->life.beat_ms, left_out = log_quota_left_out(&c->lines);

	if (left_out)
		(void)log_warn(0, "a child has more told than the log takes", CHILD_KV(c),
			       kv_u("lines_left_out", left_out));

	if (c->life.eof_ms && now_ms - c->life.eof_ms > EOF_MS) {
		child_kill(c, TEXT_CHANNEL_CLOSED, 0);
	} else if (c->info.state == FSM_STARTING && c->info.pid && stalled > START_MS) {
		child_kill(c, TEXT_NOT_READY_IN_TIME, START_MS);
	} else if (beats(c) && stalled > STALLED_MS) {
		child_kill(c, TEXT_NO_HEARTBEAT, STALLED_MS);
	}
}

static uint64_t later(uint64_t at_ms, uint64_t ms, uint64_t now_ms)
{
	return clock_sooner(at_ms + ms, now_ms);
}

void child_excuse(struct child *c, uint64_t ms, uint64_t now_ms)
{
	c->life.beat_ms = later(c->life.beat_ms, ms, now_ms);
	if (c->life.eof_ms)
		c->life.eof_ms = later(c->life.eof_ms, ms, now_ms);
}

/* -- its channel -- */

static void on_hello(struct child *c, const struct msg_hello *hello)
{
	if (hello->proto != IPC_PROTO || strcmp(hello->build, OPC_BUILD_ID) != 0) {
		child_protocol_error(c, TEXT_OTHER_BUILD);
		return;
	}
	channel_set_phase(c->life.process.channel, PH_SETUP);
	c->env->ops->on_hello(c->env->root, c);
}

static void on_ready(struct child *c, const struct msg_ready *ready)
{
	channel_set_phase(c->life.process.channel, PH_RUN);
	(void)snprintf(c->sandbox, sizeof(c->sandbox), "%s", ready->sandbox);
	c->life.ready = c->info.was_ready = true;
	c->slow = false;
	c->life.ready_ms = c->life.beat_ms = clock_boot_ms();
	c->life.rss_kb = ready->rss_kb;
	child_event(c, FSM_EV_READY);
	log_info("child ready", CHILD_KV(c), kv_s("sandbox", c->sandbox));
}

static void on_heartbeat(struct child *c, const struct msg_heartbeat *beat)
{
	c->life.beat_ms = clock_boot_ms();
	c->life.rss_kb = beat->rss_kb;
}

static void on_trouble(struct child *c, const struct msg_trouble *trouble)
{
	struct facts **to = &c->troubles[trouble->trouble];

	if (strcmp(trouble_desc((enum trouble)trouble->trouble)->finder, role_name(c->info.role)) != 0) {
		child_protocol_error(c, TEXT_NOT_ITS_TROUBLE);
		return;
	}
	free(*to);
	*to = facts_empty(&trouble->particulars) ? NULL : facts_dup(&trouble->particulars);
}

static void take(struct child *c, const struct msg *m, int fd)
{
	if (fd >= 0) { /* no child has a descriptor to give */
		(void)close(fd);
		child_protocol_error(c, TEXT_DESCRIPTOR);
	}
	if (c->life.condemned && !c->env->ops->still_counts(c->env->root, m))
		return;
	if (m->type == MSG_HELLO)
		on_hello(c, &m->u.hello);
	else if (m->type == MSG_READY)
		on_ready(c, &m->u.ready);
	else if (m->type == MSG_HEARTBEAT)
		on_heartbeat(c, &m->u.heartbeat);
	else if (m->type == MSG_TROUBLE)
		on_trouble(c, &m->u.trouble);
	else
		c->env->ops->on_msg(c->env->root, c, m);
}

/* Whatever line a message leads to, its sender pays for. */
static void on_msg(void *ctx, struct channel *channel, const struct msg *m, int fd)
{
	struct child *c = ctx;
	struct log_quota *before = log_charge(&c->lines);

	(void)channel;
	take(c, m, fd);
	(void)log_charge(before);
}

/* An end of the channel is followed by the death, which says more (the exit code); a bad message makes it
 * follow. */
static void on_close(void *ctx, struct channel *channel, int err, const struct facts *why)
{
	struct child *c = ctx;

	(void)channel;
	if (err)
		protocol_error(c, why);
	else
		c->life.eof_ms = clock_boot_ms();
}

/* -- death -- */

/* It was asked to finish, and has. */
static bool has_finished(const struct child *c, const siginfo_t *si)
{
	return (c->info.state == FSM_DRAINING || c->info.state == FSM_LEAVING) && si->si_code == CLD_EXITED &&
	       si->si_status == 0;
}

/* It has ended by itself to be started again (FSM_CAUSE_OUTSIDE). */
static bool begins_anew(const struct child *c, const siginfo_t *si)
{
	return c->life.ready && !c->life.condemned && si->si_code == CLD_EXITED && si->si_status == 0;
}

static void describe_death(struct child *c, const siginfo_t *si)
{
	const bool exited = si->si_code == CLD_EXITED;
	const char *signal = exited ? NULL : sigabbrev_np(si->si_status);
	struct facts how = facts_of(exited                    ? TEXT_EXITED
				    : si->si_status == SIGSYS ? TEXT_SANDBOX_VIOLATED
							      : TEXT_ENDED_BY_SIGNAL);

	if (exited)
		facts_count(&how, FACT_EXIT_CODE, si->si_status);
	else if (si->si_status != SIGSYS)
		facts_count(&how, FACT_SIGNAL, si->si_status);
	if (signal && si->si_status != SIGSYS)
		facts_name(&how, FACT_SIGNAL_NAME, STR_C(signal));
	if (facts_empty(&c->error))
		facts_set(&c->error, &how);
	_cleanup_free_ char *text = facts_render(&how, NULL), *detail = facts_render(&c->error, NULL);

	if (has_finished(c, si))
		log_info("child finished", CHILD_KV(c));
	else if (begins_anew(c, si))
		log_info("child begins anew, with settings that only a new process can take", CHILD_KV(c));
	else
		(void)log_warn(0, "child died", CHILD_KV(c), kv_s("how", text), kv_s("detail", detail));
}

static enum fsm_cause cause_of(const struct child *c, int code)
{
	/* Who was ready once had settings that can be used: it does not end all others by its word. */
	if (code == EXIT_CODE_CONFIG && !c->info.was_ready && !c->info.on_demand)
		return FSM_CAUSE_CONFIG;
	if ((code == -SIGKILL && !c->life.condemned) || (code == EXIT_CODE_OK && c->life.ready))
		return FSM_CAUSE_OUTSIDE;
	return FSM_CAUSE_OWN;
}

static void forget_troubles(struct child *c)
{
	for (size_t i = 0; i < TROUBLE__MAX; i++) {
		free(c->troubles[i]);
		c->troubles[i] = NULL;
	}
}

/* A child is dead, and everything that it had sent was taken. */
static void on_death(void *ctx, const siginfo_t *si)
{
	struct child *c = ctx;
	const int code = si->si_code == CLD_EXITED ? si->si_status : -si->si_status;

	describe_death(c, si);
	const enum fsm_event ev = has_finished(c, si) ? FSM_EV_DEATH_LATE : /* no failure */
					  fsm_death(&c->deaths, c->life.ready, c->life.ready_ms,
						    cause_of(c, code), clock_boot_ms());

	spawned_done(&c->life.process);
	c->life = (struct life){ 0 };
	forget_troubles(c);
	c->info.pid = 0;
	c->env->ops->on_dead(c->env->root, c, code); /* its settings, its work, who waits for it */
	child_event(c, ev); /* start it again at once, later or slowly, or end the service: fsm.c */
}

/* -- actions of the state machine -- */

static void on_timer(void *ctx)
{
	child_event(ctx, FSM_EV_TIMER);
}

static void act_spawn(struct child *c)
{
	static const struct spawn_ops ops = { { .on_msg = on_msg, .on_close = on_close }, on_death };
	char number[8];

	facts_clear(&c->error);
	(void)snprintf(number, sizeof(number), "%u", (unsigned)c->info.number);
	const char *const argv[] = { role_name(c->info.role), c->info.cluster_name, number, NULL };
	const int r = spawn_child(c->env->images, c->info.role, argv, &ops, c, &c->life.process);

	if (r < 0) {
		(void)log_error(r, "cannot start child", CHILD_KV(c));
		facts_finding(&c->error, TEXT_NOT_STARTED);
		facts_quoted(&c->error, FACT_SYSTEM, STR_C(strerrordesc_np(-r)));
		child_event(c, fsm_death(&c->deaths, false, 0, FSM_CAUSE_OWN, clock_boot_ms()));
		return;
	}
	c->started_at = clock_wall_ms();
	c->life.beat_ms = clock_boot_ms();
	c->info.pid = c->life.process.pid;
}

static void act(struct child *c, enum fsm_action action)
{
	switch (action) {
	case FSM_ACT_NONE:
		break;
	case FSM_ACT_SPAWN:
		act_spawn(c);
		break;
	case FSM_ACT_KILL:
		spawned_kill(&c->life.process);
		break;
	case FSM_ACT_BACKOFF:
		/* The pauses grow: it may never spend the budget of deaths. */
		c->slow = c->slow || c->deaths.failures >= FAILURES_AWAITED;
		timer_set(c->timer, backoff_delay_ms(&restart_backoff, c->deaths.failures, backoff_random()));
		break;
	case FSM_ACT_SLOW:
		c->slow = true;
		timer_set(c->timer, FSM_SLOW_MS);
		break;
	case FSM_ACT_DRAIN:
		(void)child_send(c, &(struct msg){ MSG_DRAIN, .u.drain.deadline_ms = DRAIN_MS }, -1);
		break;
	case FSM_ACT_GIVE_UP:
		c->env->ops->on_give_up(c->env->root);
		break;
	case FSM_ACT_BUG:
		(void)log_error(0, "supervision event in a state that cannot have it", CHILD_KV(c),
				kv_s("state", fsm_state_name(c->info.state)));
		break;
	}
}

void child_event(struct child *c, enum fsm_event ev)
{
	const struct fsm_step step = fsm_next(c->info.state, ev);
	const bool changed = step.next != c->info.state || step.action == FSM_ACT_SPAWN;

	c->info.state = step.next;
	act(c, step.action);
	if (changed)
		c->env->ops->on_changed(c->env->root, c);
}

/* -- life -- */

struct child *child_new(const struct child_env *env, const struct child_info *info)
{
	struct child *c = xcalloc(1, sizeof(*c));

	*c = (struct child){ .env = env, .info = *info };
	c->timer = timer_new(env->base, on_timer, c);
	return c;
}

void child_free(struct child **cp)
{
	struct child *c = *cp;

	spawned_done(&c->life.process);
	forget_troubles(c);
	timer_free(&c->timer);
	free(c);
	*cp = NULL;
}
