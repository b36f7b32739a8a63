/* errand.h - carrying out one grant: read the object live, judge again, read what the judgement needs, write
 * with preconditions, say how it ended. One table of steps; each asks one thing and takes its answer. Layer:
 * worker. Threads: none. Nothing is written twice: after a write whose fate is unknown there are only reads.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_ERRAND_H
#define WORKER_ERRAND_H

#include "base/policy.h"
#include "http/client.h"
#include "ipc/msg.h"
#include "worker/events.h"
#include "worker/kinds.h"
#include "worker/serverclock.h"

/* Times the whole reading is begun again: after a conflict, and when it took longer than ERRAND_FRESH_MS. */
#define ERRAND_ROUNDS 3
/* What a write is based on may be this old. */
#define ERRAND_FRESH_MS 2000
/* What a trial may take; like a grant it has an end. */
#define ERRAND_TRIAL_MS 20000
/* One request. Grant validity + a write + its verification stay below the supervisor's patience. */
#define ERRAND_TIMEOUT_MS 4000

struct windows;

struct errand_env {
	/* Send a request; on_done follows later, never from inside. */
	struct http_request *(*start)(void *ctx, const struct http_call *call);
	void (*cancel)(void *ctx, struct http_request *r);
	/* The end: m is a RESULT. Called once, last; the errand may be freed in it. */
	void (*done)(void *ctx, const struct msg *m);
	/* The server refused the credential (401). */
	void (*credential)(void *ctx);
	void *ctx;
	struct kinds *kinds;
	struct serverclock *clock;
	struct windows *windows; /* when duties may act; NULL = always */
};

struct errand;
/* policy is borrowed until errand_set_policy or the end. */
struct errand *errand_new(const struct errand_env *env, const struct policy *policy,
			  const struct msg_grant *grant);
/* A rehearsal of the same errand: read and judged alike, but where it would begin to write it ends with
 * OUTCOME_WOULD, and the RESULT says what would have been sent. Before errand_start. */
void errand_set_trial(struct errand *e);
/* Cancels what runs; done is not called. Accepts NULL. */
void errand_free(struct errand **e);
/* Begin. */
void errand_start(struct errand *e);
/* Begin before the grant is there: it reads and judges, and waits for errand_granted() before it writes
 * anything and before it ends. */
void errand_start_ahead(struct errand *e);
/* The grant, with the id that the errand was made with. May call done(). */
void errand_granted(struct errand *e, const struct msg_grant *grant);
/* What should be told on the object itself. Within done() only. False: nothing. */
bool errand_event(const struct errand *e, struct event *ret);
/* A new generation of settings: judged by from now on. */
void errand_set_policy(struct errand *e, const struct policy *policy);

#endif
