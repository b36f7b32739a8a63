/* settings_load.h - the loader's runs, and what becomes of them. A generation is taken whole or not at all.
 * The loader validates it, and then it is in force: a child that refuses it, or does not answer, is started
 * again with it. Process: supervisor.  Owns: the loader's process and the generation in force. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_CHILDREN_SETTINGS_LOAD_H
#define SUPERVISOR_CHILDREN_SETTINGS_LOAD_H

#include "supervisor/children/children.h"
#include "supervisor/children/generation.h"

struct settings_load;

struct settings_load_ops {
	/* The first run has ended: EXIT_CODE_OK, its generation is in force; else the code to end with. */
	void (*on_first)(struct lifecycle *l, int code);
	/* A run has ended. err 0: its settings are in force, and `what` names the clusters that could not be
	 * loaded; else the old ones stay, and it says why. conn: what settings_load_start() was given. */
	void (*on_end)(struct lifecycle *l, uint64_t conn, int err, const struct facts *what);
	/* Has all ended that `next` wants no more, so that it may be in force? Asked once a second until
	 * it has. */
	bool (*has_left)(struct lifecycle *l, const struct generation *next);
	/* New settings are in force instead of `older`; who has those is not offered them yet. */
	void (*on_in_force)(struct lifecycle *l, const struct generation *older);
	/* A child that had older settings has those in force. */
	void (*on_taken)(struct lifecycle *l, struct child *c);
};

/* All is borrowed; argv is the loader's, NULL behind the last; ops get env->root. */
struct settings_load *settings_load_new(const struct child_env *env, struct children *children,
					const char *const argv[], const struct settings_load_ops *ops);
/* Kills a loader that runs. */
void settings_load_free(struct settings_load **l);

/* Why a run begins. */
enum load_cause {
	LOAD_REFRESH, /* credentials, names, clusters that could not be loaded: each may take 25 s */
	/* Settings may be others: a cluster that takes longer than 6 s keeps its credential and is refreshed
	 * by the next run. */
	LOAD_CHANGE,
	LOAD_ASKED, /* the same, and plugins are run though their credentials have not ended */
};

/* Begin a run, or have one follow the one that is under way; a refresh is cut off by a change. -EBUSY when
 * somebody waits for that one already, or nothing is loaded any more. conn 0: nobody asks. */
int settings_load_start(struct settings_load *l, uint64_t conn, enum load_cause cause);
/* The server refuses this cluster's credential: its plugin is run again, whatever end it has named. */
void settings_load_refuse(struct settings_load *l, uint64_t cluster);
/* Nothing is loaded or offered any more. */
void settings_load_stop(struct settings_load *l);
/* What is in force, and what new children get; NULL before the first run has ended. Borrowed until the loop
 * comes round. */
const struct generation *settings_load_generation(const struct settings_load *l);
/* When the next run begins by itself, boot time; 0 = not, or one is under way. Clusters that could not be
 * loaded are tried again after 1 s, 2 s, ... up to half a minute. */
uint64_t settings_load_next_ms(const struct settings_load *l);
/* It has the settings in force: what it does, it does by them. */
bool settings_load_is_current(const struct settings_load *l, const struct child *c);
/* Settings that wait to be in force have this cluster no more. */
bool settings_load_is_leaving(const struct settings_load *l, uint64_t cluster);
/* This process is the loader. */
bool settings_load_is(const struct settings_load *l, pid_t pid);

/* A child waits for its first settings. */
void settings_load_on_hello(struct settings_load *l, struct child *c);
void settings_load_on_settings_ack(struct settings_load *l, struct child *c, const struct msg *m);
void settings_load_on_dead(struct settings_load *l, const struct child *c);
/* Once a second: limits of time, runs of its own, children that have to catch up. */
void settings_load_tick(struct settings_load *l, uint64_t now_ms);

#endif
