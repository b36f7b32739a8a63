/* reporter_stage.h - a whole reporter in this process, over a database in memory: the test says what it gets,
 * and sees what it sends. Sinks answer as the test wants; the clock is a fake one, also of the loop. Replaces
 * process/process.c and reporter/sinks/delivery.c.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_STAGE_REPORTER_STAGE_H
#define TESTS_STAGE_REPORTER_STAGE_H

#include "config/settings.h"
#include "ipc/msg.h"
#include "reporter/sinks/sink.h"
#include "reporter/web/listener.h"

struct reporter_stage_options {
	bool no_history;    /* it cannot be opened */
	uint64_t max_bytes; /* of the history; 0 = no limit; the first that a process gives holds for all */
	enum sink_verdict verdict; /* of every sink, on every message */
	/* What the supervisor gets. */
	void (*on_msg)(void *ctx, const struct msg *m);
	void *ctx;
};

/* Contents of *s are taken over. READY, and what follows it, has been said when this returns. */
void reporter_stage_start(const struct reporter_stage_options *o, struct settings *s);
/* As by SIGKILL. */
void reporter_stage_stop(void);
/* It has not ended by itself. */
bool reporter_stage_lives(void);
/* A message that the supervisor passes on, or sends. */
void reporter_stage_say(const struct msg *m);
/* Another generation, prepared and committed. False: it was refused. Contents of *s are taken over. */
bool reporter_stage_commit(struct settings *s);
void reporter_stage_drain(void);
/* Time passes, and what was to happen in it happens. */
void reporter_stage_pass(int64_t ms);
/* Somebody asks over HTTP; the body is to be freed. */
void reporter_stage_ask(const struct web_request *r, struct listener_answer *ret);

#endif
