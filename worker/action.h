/* action.h - carrying out one grant: read the object live, judge again, read what the judgement needs, write
 * with preconditions, say how it ended. One table of steps; each asks one thing and takes its answer. Layer:
 * worker. Threads: none. Nothing is written twice: after a write whose fate is unknown there are only reads.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_ACTION_H
#define WORKER_ACTION_H

#include "base/server_clock.h"
#include "model/policy.h"
#include "http/client.h"
#include "ipc/msg.h"
#include "worker/events.h"
#include "worker/owner_kinds.h"

/* Times the whole reading is begun again: after a conflict, and when it took longer than ACTION_FRESH_MS. */
#define ACTION_ROUNDS 3
/* What a write is based on may be this old. */
#define ACTION_FRESH_MS 2000
/* What a trial may take; like a grant it has an end. */
#define ACTION_TRIAL_MS 20000
/* One request. Grant validity + a write + its verification stay below the supervisor's patience. */
#define ACTION_TIMEOUT_MS 4000

struct windows;

struct action_env {
	/* Send a request; on_done follows later, never from inside. */
	struct http_request *(*start)(void *ctx, const struct http_call *call);
	void (*cancel)(void *ctx, struct http_request *r);
	/* The end: m is a RESULT. Called once, last; the action may be freed in it. */
	void (*done)(void *ctx, const struct msg *m);
	/* The server refused the credential (401). */
	void (*credential)(void *ctx);
	void *ctx;
	struct owner_kinds *kinds;
	struct server_clock *clock;
	struct windows *windows; /* when duties may act; NULL = always */
};

struct action;
/* policy is borrowed until action_set_policy or the end. */
struct action *action_new(const struct action_env *env, const struct policy *policy,
			  const struct msg_grant *grant);
/* A rehearsal of the same action: read and judged alike, but where it would begin to write it ends with
 * OUTCOME_WOULD, and the RESULT says what would have been sent. Before action_start. */
void action_set_trial(struct action *e);
/* Cancels what runs; done is not called. Accepts NULL. */
void action_free(struct action **e);
/* Begin. */
void action_start(struct action *e);
/* Begin before the grant is there: it reads and judges, and waits for action_granted() before it writes
 * anything and before it ends. */
void action_start_ahead(struct action *e);
/* The grant, with the id that the action was made with. May call done(). */
void action_granted(struct action *e, const struct msg_grant *grant);
/* What should be told on the object itself. Within done() only. False: nothing. */
bool action_event(const struct action *e, struct event *ret);
/* A new generation of settings: judged by from now on. */
void action_set_policy(struct action *e, const struct policy *policy);

#endif
