/* child.h - one process that the supervisor started: spawn, channel, the transitions of fsm.h, death. What it
 * works on is not known here: its settings and messages go to child_ops.
 * Process: supervisor.  Owns: the process, its channel and its timer. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_CHILDREN_CHILD_H
#define SUPERVISOR_CHILDREN_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "ipc/msg.h"
#include "supervisor/children/fsm.h"
#include "supervisor/children/spawn.h"
#include "text/texts.h"

struct child;
struct lifecycle;
struct event_base;

struct child_info {
	/* Which one it is; this does not change from life to life. */
	enum role role;
	uint64_t cluster; /* CLUSTERS_MAX for the reporter */
	uint64_t number;  /* which of its kind in its cluster */
	size_t index;     /* among all children, below CHILDREN_MAX */
	bool on_demand;   /* a worker that rests while there is no work for it */
	char cluster_name[64];
	/* How it is. */
	enum fsm_state state;
	bool was_ready; /* once, in this life or an earlier one */
	pid_t pid;      /* 0 while there is no process */
};

struct child_ops {
	/* It has said HELLO and waits for its settings. */
	void (*on_hello)(struct lifecycle *l, struct child *c);
	/* A message that the codec has checked: this role may say it. */
	void (*on_msg)(struct lifecycle *l, struct child *c, const struct msg *m);
	/* It is killed and not dead yet: does on_msg get this message all the same? */
	bool (*still_counts)(struct lifecycle *l, const struct msg *m);
	/* Proven death, after everything that it had said. code: its exit code, or the negative number of the
	 * signal. It is not ready any more; whether it is started again follows. */
	void (*on_dead)(struct lifecycle *l, struct child *c, int code);
	/* It ended with EXIT_CODE_CONFIG: starting it again cannot help. */
	void (*on_give_up)(struct lifecycle *l);
	/* Its state has changed. */
	void (*on_changed)(struct lifecycle *l, struct child *c);
};

/* What all children share; borrowed. */
struct child_env {
	struct event_base *base;
	struct spawn_images *images;
	const struct child_ops *ops;
	struct lifecycle *root; /* what ops get */
};

/* In state FSM_DOWN; info says which one. */
struct child *child_new(const struct child_env *env, const struct child_info *info);
/* Kills it and waits for its end. */
void child_free(struct child **c);

const struct child_info *child_info(const struct child *c);
/* It runs, has said READY and is not about to be killed. */
bool child_is_ready(const struct child *c);
/* It died too often, and has not been ready since. */
bool child_is_slow(const struct child *c);
/* It waits for its next start, after some that failed: nobody waits for it. */
bool child_fails_to_start(const struct child *c);
/* The particulars of what it cannot do at present, as it says; NULL when that is not so. */
const struct facts *child_trouble(const struct child *c, enum trouble kind);
/* All members but `leases`. */
void child_stats(const struct child *c, struct msg *ret);

/* Queue m for the child. 0; -EAGAIN (full), -EPIPE (not running), -EMFILE (no descriptor for a copy of fd).
 */
int child_send(struct child *c, const struct msg *m, int fd);
void child_event(struct child *c, enum fsm_event ev);
/* Once a second: has it stalled? */
void child_tick(struct child *c, uint64_t now_ms);
/* The supervisor did not run for the last ms milliseconds, until now_ms: they count for nothing that is
 * awaited of the child. */
void child_excuse(struct child *c, uint64_t ms, uint64_t now_ms);
/* It hangs for longer than the limit (0: none is named): log, remember, kill, once a life. Of what it still
 * says only what child_ops lets through counts.
 */
void child_kill(struct child *c, enum text why, uint64_t limit_ms);
/* It does not take its settings: the same; its next life begins with them. */
void child_replace(struct child *c, const struct facts *why);
/* It broke a rule of the protocol: the same. */
void child_protocol_error(struct child *c, enum text why);

#endif
