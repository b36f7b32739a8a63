/* lifecycle.h - the root of all processes: start (the reporter, and beside it those whose cluster is loaded),
 * reload, drain (watchers and workers, then the reporter), end. What the children work on is not known here:
 * that is lifecycle_ops. Process: supervisor. Owns: the event loop, the children, the loader, the signals. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_CHILDREN_LIFECYCLE_H
#define SUPERVISOR_CHILDREN_LIFECYCLE_H

#include "supervisor/children/children.h"
#include "supervisor/children/settings_load.h"

struct lifecycle;

enum lifecycle_phase { LIFECYCLE_STARTING, LIFECYCLE_RUNNING, LIFECYCLE_DRAINING, LIFECYCLE_ENDED };

/* What stands above: not known here. */
struct supervisor;

struct lifecycle_ops {
	/* The first generation is in force, and no child runs yet: EXIT_CODE_OK, or the code to end with. */
	int (*on_first)(struct supervisor *s);
	/* A message that is about the trade. */
	void (*on_msg)(struct supervisor *s, struct child *c, const struct msg *m);
	/* As child_ops. */
	bool (*still_counts)(const struct msg *m);
	/* A child's state has changed; ready: to READY. Not any more while all drains. */
	void (*on_changed)(struct supervisor *s, struct child *c, bool ready);
	/* As child_ops. */
	void (*on_dead)(struct supervisor *s, struct child *c, int code);
	/* Once a second. */
	void (*on_tick)(struct supervisor *s, uint64_t now_ms);
	/* Settings are in force: for the first time, new ones, or the same and clusters that could (not) be
	 * loaded. */
	void (*on_loaded)(struct supervisor *s);
	/* New settings have replaced `older`; after on_loaded(), and before a child of a new cluster starts.
	 */
	void (*on_replaced)(struct supervisor *s, const struct generation *older);
	/* A child that had older settings has those in force. */
	void (*on_taken)(struct supervisor *s, struct child *c);
	/* A load that conn asked for has ended: exit code, and what to say of it. */
	void (*on_reload_end)(struct supervisor *s, uint64_t conn, int code, const struct facts *what);
	/* So many things have to end before anybody is asked to drain; before that cluster is, where it is
	 * one. */
	size_t (*busy)(const struct supervisor *s, uint64_t cluster);
	/* SIGUSR1: tell the log how all is. */
	void (*dump)(struct supervisor *s);
	/* For the status line, e.g. "2/2 clusters synced". */
	void (*describe)(const struct supervisor *s, char *ret, size_t size);
};

/* loader_argv (NULL behind the last), ops and s are borrowed. lock_fd: workers inherit it. NULL when there is
 * no event loop or an executable is missing. */
struct lifecycle *lifecycle_new(const char *const loader_argv[], int lock_fd, const struct lifecycle_ops *ops,
				struct supervisor *s);
/* Kills what still runs. */
void lifecycle_free(struct lifecycle **l);
/* Until the end; returns the exit code. */
int lifecycle_run(struct lifecycle *l);
/* What it does once a second. */
void lifecycle_tick(struct lifecycle *l);

/* The reporter has told what it holds, or that it cannot tell yet: the instance runs. */
void lifecycle_open(struct lifecycle *l);
/* Load the settings again. -EBUSY when somebody waits for that already, or all ends. */
int lifecycle_reload(struct lifecycle *l, uint64_t conn);
/* As settings_load_refuse(). */
void lifecycle_refuse(struct lifecycle *l, uint64_t cluster);
/* Load them for the sake of a credential: nobody waits for it. */
void lifecycle_refresh(struct lifecycle *l);
/* Tell the service manager how things are. */
void lifecycle_tell_status(const struct lifecycle *l);

struct event_base *lifecycle_base(const struct lifecycle *l);
struct children *lifecycle_children(const struct lifecycle *l);
/* The generation in force; NULL before the first. */
const struct generation *lifecycle_generation(const struct lifecycle *l);
/* It has the settings in force, none older. */
bool lifecycle_is_current(const struct lifecycle *l, const struct child *c);
bool lifecycle_is_running(const struct lifecycle *l);
/* The cluster is about to end, as new settings have it no more: nothing is begun there. */
bool lifecycle_is_leaving(const struct lifecycle *l, uint64_t cluster);
/* When the settings are loaded again by themselves, boot time; 0 = not, or just now. */
uint64_t lifecycle_next_load_ms(const struct lifecycle *l);
/* Why the last reload was refused; none when it was not. */
const struct facts *lifecycle_refusal(const struct lifecycle *l);
/* CTL_SUPERVISOR: the members that are known here. */
void lifecycle_describe(const struct lifecycle *l, struct msg *ret);

#endif
