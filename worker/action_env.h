/* action_env.h - what an action lives in: who hears of its end, what it shares with others, its limits.
 * Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_ACTION_ENV_H
#define WORKER_ACTION_ENV_H

#include "base/server_clock.h"
#include "http/client.h"
#include "ipc/msg.h"
#include "model/policy.h"
#include "worker/events.h"
#include "worker/namespace_cache.h"
#include "worker/owner_kinds.h"

/* Times the whole reading is begun again: after a conflict, and when it took longer than ACTION_FRESH_MS. */
#define ACTION_ROUNDS 3
/* The same of a restore, which nobody nominates again: with a pause before each, 7 s in all. The status of a
 * workload that was just scaled changes several times a second. */
#define ACTION_RESTORE_ROUNDS 8
/* What a write is based on may be this old. */
#define ACTION_FRESH_MS 2000
/* What a dry run may take; like a grant it has an end. */
#define ACTION_DRY_RUN_MS 20000
/* One request. Grant validity + a write + its verification stay below the supervisor's patience. */
#define ACTION_TIMEOUT_MS 4000

struct action;
struct windows;

struct action_env {
	/* Call action_go_on() once after ms, never from inside. */
	void (*wait)(void *ctx, uint64_t ms);
	/* m is a QUOTE: kept with the action. Called before the end. */
	void (*quote)(void *ctx, const struct msg *m);
	/* The end: m is a RESULT. Called once, last; the action may be freed in it. */
	void (*done)(void *ctx, const struct msg *m);
	/* The server refused the credential (401). */
	void (*credential)(void *ctx);
	/* The server does not allow to mark what was scaled to 0; NULL = nobody wants to know. */
	void (*unmarked)(void *ctx, const char *why);
	void *ctx;
	struct http_client *client;
	struct owner_kinds *kinds;
	struct namespace_cache *namespaces; /* NULL: each action reads its own */
	struct server_clock *clock;
	struct windows *windows; /* when duties may act; NULL = always */
	char *const
		*contact_keys; /* where the settings in force have them (read_contact); NULL = nobody asks */
};

/* What an action that has ended says on the object itself, in a Kubernetes Event: what was announced, what
 * was done, and what is refused until an operator does something. To be asked within done() only. False:
 * nothing is reported. */
bool action_event(const struct action *a, struct object_event *ret);

#endif
