/* process.h - what every long-lived child does alike: channel on fd 3, HELLO, settings, sandbox, READY,
 * heartbeats, reload in two phases, drain, end. Layer: process.  Threads: none. */
// SPDX-License-Identifier: Apache-2.0
#ifndef PROCESS_PROCESS_H
#define PROCESS_PROCESS_H

#include "config/settings.h"
#include "ipc/msg.h"
#include "text/texts.h"

struct event_base;
struct process;

struct process_spec {
	enum role role;
	/* Can this generation be used? Negative errno, and *ret_why says why: then the old one stays. */
	int (*check_settings)(const struct settings *s, enum text *ret_why);
	/* Make the context (process_set_ctx) and use the first generation. Last chance to open things: the
	 * sandbox comes next. The contents of *s belong to the callee, who leaves it initialised and empty;
	 * what is left in it is freed. Negative errno ends the process. */
	int (*on_start)(struct process *p, struct settings *s);
	/* In the sandbox, the last chance to make something there: what is in the files comes from outside.
	 * 0; 1: what has to be opened cannot be yet, and process_seal() follows when it is; negative errno
	 * ends the process. May be NULL. */
	int (*on_confined)(struct process *p);
	/* Use another generation from now on; *s as for on_start. */
	void (*on_commit)(struct process *p, struct settings *s);
	/* Sandboxed, READY is sent, messages may be sent. May be NULL. */
	void (*on_ready)(struct process *p);
	/* A message for this role that process.c does not handle itself. */
	void (*on_msg)(struct process *p, const struct msg *m);
	/* Nothing but what will be needed soon should be kept: memory is given back next. May be NULL. */
	void (*on_trim)(struct process *p);
	/* process_send has room again after it returned -EAGAIN. May be NULL. */
	void (*on_room)(struct process *p);
	/* Take nothing new, finish what runs; then process_drained(). */
	void (*on_drain)(struct process *p);
	/* Release everything: the loop has ended, perhaps before on_start. */
	void (*on_done)(struct process *p);
};

/* Say HELLO on fd, a channel to a supervisor that is owned from now on, and go on with what it sends as base
 * runs. spec and base are borrowed. Changes nothing of the program itself: several may share one. */
struct process *process_begin(struct event_base *base, int fd, const struct process_spec *spec);
/* Release everything, after base has run or without. Returns the exit code. */
int process_end(struct process **p);

struct event_base *process_base(struct process *p);
void *process_ctx(struct process *p);
void process_set_ctx(struct process *p, void *ctx);
/* Index of this process' cluster (CLUSTERS_MAX: none), the generation in force. */
uint64_t process_cluster(const struct process *p);
uint64_t process_generation(const struct process *p);
/* A number that no other supervisor has, and that lasts as long as this one. */
uint64_t process_instance(const struct process *p);
/* As channel_send: 0, -EAGAIN (not queued; on_room follows) or -EPIPE. */
int process_send(struct process *p, const struct msg *m);
/* As channel_read_waiting. */
void process_read_waiting(struct process *p);
/* What this process cannot do at present (model/troubles.def), and the particulars of that; NULL: it is over.
 */
void process_say_trouble(struct process *p, enum trouble kind, const struct facts *particulars);
/* After on_confined has returned 1: everything is open. Negative errno: a layer is missing, and the process
 * ends. */
int process_seal(struct process *p);
/* Begin to drain, as when the supervisor asks for it: it starts the process again afterwards. */
void process_drain(struct process *p);
/* Answer to on_drain: nothing is left but `left` things given up. The process then ends with 0. */
void process_drained(struct process *p, uint64_t left);
/* End the loop; process_end() returns code. */
void process_exit(struct process *p, int code);

#endif
