/* tree.h - the supervisor's whole state, shared by the files of this folder:
 *   slot.c     one child: spawn, channel, transitions of fsm.h, death
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
#ifndef SUPERVISOR_TREE_H
#define SUPERVISOR_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/channel.h"
#include "supervisor/fsm.h"
#include "supervisor/lease.h"
#include "supervisor/spawn.h"

struct event;
struct event_base;
struct tree;

enum tree_phase { TREE_STARTING, TREE_RUNNING, TREE_DRAINING, TREE_ENDED };

/* One child. */
struct slot {
	struct tree *tree;
	enum role role;
	uint64_t cluster; /* CLUSTERS_MAX for the reporter */
	uint64_t number;  /* which of its kind in its cluster */
	int index;        /* in tree->slots; the holder of leases */
	enum fsm_state state;
	struct fsm_record deaths;
	pid_t pid;
	int pidfd;
	struct channel *channel;
	struct event *on_death, *timer;
	bool was_ready, ever_ready;
	uint64_t ready_ms, beat_ms; /* boot time of READY, of the last heartbeat */
	uint64_t eof_ms;            /* of the channel's end, 0 = open */
	int64_t started_at;         /* wall */
	uint64_t generation;        /* in force in the child */
	bool ack_wanted;            /* a SETTINGS_ACK is awaited */
	uint64_t rss_kb;
	uint64_t probe_conn;   /* who waits for the answer of a probe, 0 nobody */
	uint64_t ahead_id;     /* a worker: the lease it was last told to read ahead for, 0 = none */
	struct msg try;        /* CTL_TRY it works on */
	uint64_t try_until_ms; /* boot time after which it is killed over that, 0 = it works on none */
	char sandbox[256];
	char error[256];
};

/* All that one run of the loader produced. */
struct generation {
	uint64_t number;
	bool complete, observe, election;
	enum sandbox_mode sandbox;
	uint64_t refresh_ms;
	uint64_t clusters;
	char names[CLUSTERS_MAX][64];
	uint64_t workers[CLUSTERS_MAX];
	int reporter_fd, watcher_fd[CLUSTERS_MAX], worker_fd[CLUSTERS_MAX];
};

struct options {
	const char *config, *kubeconfig, *master, *state_dir, *control_socket;
};

struct tree {
	struct event_base *base;
	struct options options;
	struct spawn_images *images;
	int lock_fd;
	enum tree_phase phase;
	int exit_code;
	int64_t started_at;
	struct generation *generation; /* in force */
	struct slot **slots;
	size_t n_slots;
	struct lease_table *leases;
	bool history_open; /* OPEN_END of the present reporter has arrived */
	uint64_t actions;  /* writes since start */
	struct msg watch_stats[CLUSTERS_MAX];
	struct msg leader[CLUSTERS_MAX]; /* LEADER as last said; type 0 = nothing yet */
	struct loading *loading;
	struct control *control;
	struct pausing *pausing;
	struct tries *tries;
	struct msg *parked; /* for the reporter while it is down */
	size_t n_parked;
	uint64_t dropped; /* messages that found no room */
	struct event *tick, *watchdog, *sigterm, *sigint, *sighup;
	uint64_t credential_ms; /* last load because of a refused credential */
	uint64_t drain_until_ms;
	bool ready_told;
	char note[256]; /* last reload error, for status */
};

/* slot.c */
struct slot *slot_new(struct tree *t, enum role role, uint64_t cluster, uint64_t number);
void slot_free(struct slot *s);
void slot_event(struct slot *s, enum fsm_event ev);
/* Queue m for the child. 0, -EAGAIN (full) or -EPIPE (not running). */
int slot_send(struct slot *s, const struct msg *m, int fd);
void slot_tick(struct slot *s, uint64_t now_ms);
/* The child broke a rule: log, remember, kill. */
void slot_accuse(struct slot *s, const char *text);
/* First READY slot of that role and cluster, or NULL. */
struct slot *tree_find_slot(const struct tree *t, enum role role, uint64_t cluster);

/* book.c */
void book_on_nominate(struct slot *s, const struct msg *m);
void book_on_intent_ack(struct slot *s, const struct msg *m);
void book_on_result(struct slot *s, const struct msg *m);
void book_on_record_ack(struct slot *s, const struct msg *m);
void book_on_open_intent(struct slot *s, const struct msg *m);
void book_on_open_end(struct slot *s, const struct msg *m);
void book_on_reporter_ready(struct tree *t);
void book_on_worker_dead(struct slot *s);
void book_dispatch(struct tree *t, uint64_t cluster);
void book_tick(struct tree *t, uint64_t now_ms);
/* Leases that a worker or the history still works on. */
size_t book_busy(struct tree *t);

/* Open a lease that takes an action back (CTL_RESTORE_ROW); its end is told to conn. False when it cannot be.
 */
bool book_restore(struct tree *t, const struct msg *row, uint64_t conn);

/* pausing.c */
struct pausing *pausing_new(struct tree *t);
void pausing_free(struct pausing **p);
/* A person paused this duty of this cluster. */
bool pausing_holds(const struct tree *t, uint64_t cluster, uint64_t duty);
bool pausing_any(const struct tree *t);
void pausing_on_request(struct tree *t, const struct msg *m, uint64_t conn);
void pausing_on_reporter(struct slot *s, const struct msg *m);
void pausing_on_open_end(struct tree *t);
void pausing_on_reporter_gone(struct tree *t);
void pausing_on_watcher_ready(struct slot *watcher);
void pausing_send_status(struct tree *t, uint64_t conn);
void pausing_tick(struct tree *t);

/* tries.c */
struct tries *tries_new(void);
void tries_free(struct tries **q);
/* Queue a CTL_TRY whose conn is set. It is answered by one CTL_TRIED, whatever happens. */
void tries_ask(struct tree *t, const struct msg *m);
/* Hand the oldest question to an idle worker of its cluster; false when there is none. */
bool tries_give(struct tree *t, struct slot *worker);
void tries_on_tried(struct slot *s, const struct msg *m);
void tries_on_worker_dead(struct slot *s);
void tries_on_restore_row(struct slot *s, const struct msg *m);
void tries_tick(struct tree *t, uint64_t now_ms);
/* Nobody waits for the answers any more. */
void tries_forget(struct tree *t, uint64_t conn);
/* Until when (boot ms) a write may start in that cluster: 0 = not at all, while another replica may lead. */
uint64_t book_may_write_until(const struct tree *t, uint64_t cluster, uint64_t now_ms);

/* route.c */
void route_from_child(struct slot *s, const struct msg *m);
/* To the reporter, or parked until it is back. */
void route_to_reporter(struct tree *t, const struct msg *m);

/* load.c */
void load_start(struct tree *t, uint64_t conn);
void load_on_ack(struct slot *s, const struct msg *m);
void load_on_slot_gone(struct slot *s);
void load_tick(struct tree *t, uint64_t now_ms);
void load_done(struct tree *t);
bool load_is_running(const struct tree *t, pid_t pid);

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
/* Why b cannot replace a in a running tree, NULL = it can. */
const char *generation_tree_difference(const struct generation *a, const struct generation *b);
/* Nobody would notice the difference. */
bool generation_equal(const struct generation *a, const struct generation *b);

/* control.c */
int control_start(struct tree *t);
void control_stop(struct tree *t);
/* An answer for a connection. */
void control_answer(struct tree *t, uint64_t conn, const struct msg *m);
/* The answer to a CTL_RESTORE arrived, once. 0; -ENOENT (the person has left); -EPERM (nobody asked for
 * that). */
int control_take_restore(struct tree *t, uint64_t conn, uint64_t id, bool dry);
/* What the dead reporter was asked it cannot answer any more. */
void control_on_reporter_gone(struct tree *t);
void control_end(struct tree *t, uint64_t conn, uint64_t code, const char *text);
void control_child_stats(const struct slot *s, struct msg *ret);

/* life.c */
int life_run(struct tree *t);
void life_on_loaded(struct tree *t, struct generation *g);
void life_on_slot_changed(struct slot *s);
/* End the tree: 0 drains first, everything else ends at once. */
void life_end(struct tree *t, int code);
void life_status(struct tree *t);

#endif
