/* stage.h - a whole supervisor in this process, over children that are no processes: the test says what each
 * of them sends, and when it dies, and sees what it gets. The clock is a fake one. Replaces
 * supervisor/children/spawn.c.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_STAGE_STAGE_H
#define TESTS_STAGE_STAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "ipc/msg.h"
#include "supervisor/supervisor.h"

#define STAGE_WORKERS 2
#define STAGE_PLUGIN  7 /* that the loader says the credential is from */

/* What a child does with settings that it is offered while it runs; a loader that is silent hangs. */
enum stage_answer { STAGE_TAKES, STAGE_REFUSES, STAGE_IS_SILENT };
/* Another cluster, "second": none, one that cannot be loaded, one that was there before. */
enum stage_second { STAGE_ALONE, STAGE_WAITS, STAGE_HAS_LEFT };
/* What the first one, "test", is called: so, or "other", as a new cluster, which cannot be loaded; there, or
 * at another address. */
enum stage_name { STAGE_TEST, STAGE_OTHER, STAGE_OTHER_THERE };

struct stage_options {
	const char *dir; /* state directory */
	uint64_t writes_per_minute, writes_per_hour;
	bool observe, election;
	uint64_t duties_off; /* bits */
	pid_t worker_pid;    /* of worker 0; 0 = made up */
	uint64_t edition;    /* settings of another one differ */
	bool no_watcher;     /* the system starts none: a limit is reached */
	enum stage_second second;
	enum stage_name name;
	enum stage_answer answers[ROLE__MAX];
	/* What a child gets from the supervisor. */
	void (*on_msg)(void *ctx, enum role role, uint64_t number, const struct msg *m);
	void *ctx;
};

struct stage;

/* One cluster, "test", with its watcher and STAGE_WORKERS workers. The reporter is READY and has not yet said
 * OPEN_END. */
struct stage *stage_new(const struct stage_options *o);
/* As by SIGKILL: what the supervisor has not written is lost. */
void stage_free(struct stage **s);

/* From now on these count; the directory stays. The settings are loaded again. */
void stage_reload(struct stage *s, const struct stage_options *o);
/* These count from now on, and nothing is loaded. */
void stage_from_now(struct stage *s, const struct stage_options *o);
struct supervisor *stage_supervisor(struct stage *s);
/* Sign that CTL_RESTORE_ROW as the supervisor has signed the scale-down that it takes back. */
void stage_sign(const struct stage *s, struct msg *row);
/* An operator's end of a new connection to the control socket; the caller closes it. */
int stage_connect(const struct stage *s);

/* A child says this, which its role may; the supervisor reads it with stage_run(). False: it does not live,
 * or its channel is full. */
bool stage_say(struct stage *s, enum role role, uint64_t number, const struct msg *m);
/* Several in one datagram: what stands behind the first is queued when that is read. */
bool stage_say_all(struct stage *s, enum role role, uint64_t number, const struct msg *m, size_t n);
/* It dies, after all that it has said. */
void stage_die(struct stage *s, enum role role, uint64_t number);
/* It has said READY and is not dead. */
bool stage_lives_now(const struct stage *s, enum role role, uint64_t number);
/* Started how often. */
unsigned stage_lives(const struct stage *s, enum role role, uint64_t number);

/* Until nothing is left to do: children that were killed die, new ones say HELLO and READY. */
void stage_run(struct stage *s);
/* Time passes, all children are alive, and the supervisor ticks once. */
void stage_pass(struct stage *s, int64_t ms);

#endif
