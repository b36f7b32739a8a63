/* supervisor.h - the supervisor's whole state, shared by the files of this folder:
 *   child.c     one child: spawn, channel, transitions of fsm.h, death
 *   book.c     nominations -> intents -> grants -> results (lease.h)
 *   route.c    which message from a child goes where
 *   load.c     the loader: first start, reload, refresh of credentials
 *   generation.c  what a run of the loader produced
 *   pausing.c  pauses: person, history, watchers
 *   tries.c    questions to workers, restores
 *   control.c  the control socket
 *   life.c     start order, drain, end
 * Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_SUPERVISOR_H
#define SUPERVISOR_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/channel.h"
#include "supervisor/children/fsm.h"
#include "supervisor/actions/lease.h"
#include "supervisor/children/spawn.h"

struct event;
struct event_base;
struct supervisor;

enum supervisor_phase { SUPERVISOR_STARTING, SUPERVISOR_RUNNING, SUPERVISOR_DRAINING, SUPERVISOR_ENDED };

/* One child. */
struct child {
	struct supervisor *tree;
	enum role role;
	uint64_t cluster; /* CLUSTERS_MAX for the reporter */
	uint64_t number;  /* which of its kind in its cluster */
	int index;        /* in tree->children; the holder of leases */
	enum fsm_state state;
	struct fsm_record deaths;
	pid_t pid;
	int pidfd;
	struct channel *channel;
	struct event *on_death, *timer;
	bool was_ready, ever_ready;
	bool condemned;             /* killed, not dead yet */
	bool mute;                  /* a protocol error: what it says is dropped */
	uint64_t ready_ms, beat_ms; /* boot time of READY, of the last heartbeat */
	uint64_t eof_ms;            /* of the channel's end, 0 = open */
	int64_t started_at;         /* wall */
	uint64_t generation;        /* in force in the child */
	uint64_t offered;           /* generation whose SETTINGS_ACK is awaited, 0 = none */
	uint64_t prepared;          /* the last one that it acknowledged */
	uint64_t rss_kb;
#if defined(OPC_PROBES)
	uint64_t probe_conn; /* who waits for the answer of a probe, 0 nobody */
#endif
	uint64_t ahead_id;     /* a worker: the lease it was last told to read ahead for, 0 = none */
	struct msg try;        /* CTL_DRY_RUN it works on */
	uint64_t try_until_ms; /* boot time after which it is killed over that, 0 = it works on none */
	char sandbox[256];
	char error[256];
};

#define FIXED_MAX 16

/* All that one run of the loader produced. */
struct generation {
	uint64_t number;
	bool complete, observe, election;
	struct msg_load_fixed fixed[FIXED_MAX]; /* what only a restart changes */
	size_t n_fixed;
	uint64_t refresh_ms;
	uint64_t clusters;
	char names[CLUSTERS_MAX][64];
	uint64_t workers[CLUSTERS_MAX];
	int reporter_fd, watcher_fd[CLUSTERS_MAX], worker_fd[CLUSTERS_MAX];
};

struct options {
	const char *config, *kubeconfig, *master, *state_dir, *control_socket;
};

struct supervisor {
	struct event_base *base;
	struct options options;
	struct spawn_images *images;
	int lock_fd;
	enum supervisor_phase phase;
	int exit_code;
	int64_t started_at;
	struct generation *generation; /* in force */
	struct child **children;
	size_t n_children;
	struct lease_table *leases;
	bool history_open; /* OPEN_END of the present reporter has arrived */
	uint64_t actions;  /* writes since start */
	struct msg watch_stats[CLUSTERS_MAX];
	struct msg leader[CLUSTERS_MAX]; /* LEADER as last said; type 0 = nothing yet */
	struct loading *loading;
	struct control *control;
	struct pause_requests *pausing;
	struct dry_runs *tries;
	struct msg *parked; /* for the reporter while it is down */
	size_t n_parked;
	uint64_t dropped; /* messages that found no room */
	struct event *tick, *watchdog, *sigterm, *sigint, *sighup;
	uint64_t credential_ms; /* last load because of a refused credential */
	uint64_t drain_until_ms;
	bool ready_told;
	char note[256]; /* last reload error, for status */
};

/* child.c */
struct child *child_new(struct supervisor *t, enum role role, uint64_t cluster, uint64_t number);
void child_free(struct child *s);
void child_event(struct child *s, enum fsm_event ev);
/* Queue m for the child. 0, -EAGAIN (full) or -EPIPE (not running). */
int child_send(struct child *s, const struct msg *m, int fd);
void child_tick(struct child *s, uint64_t now_ms);
/* The child hangs: log, remember, kill, once. What it still says counts until it is dead. */
void child_kill(struct child *s, const char *why);
/* The child broke a rule of the protocol: the same, and nothing that it said behind that counts. */
void child_protocol_error(struct child *s, const char *why);
/* First READY child of that role and cluster, or NULL. */
struct child *supervisor_find_child(const struct supervisor *t, enum role role, uint64_t cluster);

/* book.c */
void dispatch_on_nominate(struct child *s, const struct msg *m);
void dispatch_on_intent_ack(struct child *s, const struct msg *m);
void dispatch_on_result(struct child *s, const struct msg *m);
void dispatch_on_record_ack(struct child *s, const struct msg *m);
void dispatch_on_open_intent(struct child *s, const struct msg *m);
void dispatch_on_open_end(struct child *s, const struct msg *m);
void dispatch_on_reporter_ready(struct supervisor *t);
void dispatch_on_worker_dead(struct child *s);
void dispatch_dispatch(struct supervisor *t, uint64_t cluster);
void dispatch_tick(struct supervisor *t, uint64_t now_ms);
/* Leases that a worker or the history still works on. */
size_t dispatch_busy(struct supervisor *t);

/* Open a lease that takes an action back (CTL_RESTORE_ROW); its end is told to conn. False when it cannot be.
 */
bool dispatch_restore(struct supervisor *t, const struct msg *row, uint64_t conn);

/* pausing.c */
struct pause_requests *pause_requests_new(struct supervisor *t);
void pause_requests_free(struct pause_requests **p);
/* A person paused this duty of this cluster. */
bool pause_requests_holds(const struct supervisor *t, uint64_t cluster, uint64_t duty);
bool pause_requests_any(const struct supervisor *t);
void pause_requests_on_request(struct supervisor *t, const struct msg *m, uint64_t conn);
void pause_requests_on_reporter(struct child *s, const struct msg *m);
void pause_requests_on_open_end(struct supervisor *t);
void pause_requests_on_reporter_gone(struct supervisor *t);
void pause_requests_on_watcher_ready(struct child *watcher);
void pause_requests_send_status(struct supervisor *t, uint64_t conn);
void pause_requests_tick(struct supervisor *t);

/* tries.c */
struct dry_runs *dry_run_new(void);
void dry_run_free(struct dry_runs **q);
/* Queue a CTL_DRY_RUN whose conn is set. It is answered by one CTL_DRY_RUN_RESULT, whatever happens. */
void dry_run_ask(struct supervisor *t, const struct msg *m);
/* Hand the oldest question to an idle worker of its cluster; false when there is none. */
bool dry_run_give(struct supervisor *t, struct child *worker);
void dry_run_on_dry_run_result(struct child *s, const struct msg *m);
void dry_run_on_worker_dead(struct child *s);
void dry_run_on_restore_row(struct child *s, const struct msg *m);
void dry_run_tick(struct supervisor *t, uint64_t now_ms);
/* Nobody waits for the answers any more. */
void dry_run_forget(struct supervisor *t, uint64_t conn);
/* Until when (boot ms) a write may start in that cluster: 0 = not at all, while another replica may lead. */
uint64_t dispatch_may_write_until(const struct supervisor *t, uint64_t cluster, uint64_t now_ms);

/* route.c */
void route_from_child(struct child *s, const struct msg *m);
/* To the reporter, or parked until it is back. */
void route_to_reporter(struct supervisor *t, const struct msg *m);

/* load.c */
void settings_load_start(struct supervisor *t, uint64_t conn);
void settings_load_on_ack(struct child *s, const struct msg *m);
void settings_load_on_child_gone(struct child *s);
void settings_load_tick(struct supervisor *t, uint64_t now_ms);
void settings_load_done(struct supervisor *t);
bool settings_load_is_running(const struct supervisor *t, pid_t pid);

/* generation.c */
struct generation *generation_new(uint64_t number);
void generation_free(struct generation **g);
/* Take over fd as the settings of a role; false when there is no such place or it is taken (fd stays the
 * caller's). */
bool generation_take_blob(struct generation *g, enum role role, uint64_t cluster, int fd);
/* The descriptor of a role's settings, -1 = none; it stays the generation's. */
int generation_blob(const struct generation *g, enum role role, uint64_t cluster);
/* Every part has arrived. */
bool generation_whole(const struct generation *g);
/* What differs so that b cannot replace a without a restart, NULL = nothing; borrowed from b. */
const char *generation_fixed_difference(const struct generation *a, const struct generation *b);
/* Nobody would notice the difference. */
bool generation_equal(const struct generation *a, const struct generation *b);

/* control.c */
int control_start(struct supervisor *t);
void control_stop(struct supervisor *t);
/* An answer for a connection. */
void control_answer(struct supervisor *t, uint64_t conn, const struct msg *m);
/* The answer to a CTL_RESTORE arrived, once. 0; -ENOENT (the person has left); -EPERM (nobody asked for
 * that). */
int control_take_restore(struct supervisor *t, uint64_t conn, uint64_t id, bool dry);
/* What the dead reporter was asked it cannot answer any more. */
void control_on_reporter_gone(struct supervisor *t);
void control_end(struct supervisor *t, uint64_t conn, uint64_t code, const char *text);
void control_child_stats(const struct child *s, struct msg *ret);

/* life.c */
int lifecycle_run(struct supervisor *t);
void lifecycle_on_loaded(struct supervisor *t, struct generation *g);
void lifecycle_on_child_changed(struct child *s);
/* End the tree: 0 drains first, everything else ends at once. */
void lifecycle_end(struct supervisor *t, int code);
void lifecycle_status(struct supervisor *t);

#endif
