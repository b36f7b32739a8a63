/* in_flight.h - nominations without a result yet, and how long an action key waits before its next one.
 * Layer: watcher.  Threads: none.  Pure: times are boot milliseconds.
 * At most one nomination is open per action key: the pod's uid, or its owner's when the owner will be acted
 * on. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_IN_FLIGHT_H
#define WATCHER_GUARDS_IN_FLIGHT_H

#include "base/str.h"
#include "ipc/msg.h"
#include "model/reasons.h"

struct in_flight;

struct in_flight *in_flight_new(void);
void in_flight_free(struct in_flight **b);

enum in_flight_answer {
	IN_FLIGHT_GO,   /* nominate */
	IN_FLIGHT_OPEN, /* nominated, its result will come; ask again at *ret_at should that be lost */
	IN_FLIGHT_WAIT, /* not before *ret_at */
};

/* May action_key be nominated now? rv is the resourceVersion judged. */
enum in_flight_answer in_flight_ask(const struct in_flight *b, struct str action_key, struct str rv,
				    uint64_t now, uint64_t *ret_at);
/* It was: for pod h of group (0 = none). What made it due was seen at `seen`. */
void in_flight_nominated(struct in_flight *b, struct str action_key, struct str rv, uint32_t h,
			 uint32_t group, uint64_t seen, uint64_t now);

/* How the nomination before this one, or before the wait, ended: OUTCOME__MAX when there was none, or other
 * settings were in force. */
enum outcome in_flight_before(const struct in_flight *b, struct str action_key, enum reason *ret_reason);

struct in_flight_end {
	uint32_t h, group; /* whose nomination ended; 0 when gone */
	uint64_t until;    /* not again before */
	uint32_t probe;    /* another pod that was given up alike and has a nearer time now; 0 = none */
	bool dropped;      /* waits for an operator */
	bool given_up;     /* dropped now, after all retries */
	uint64_t seen;     /* as in_flight_nominated said */
};
/* End the open nomination that m is about. A failure of the server or of the way to it waits twice as long
 * each time, a minute at most, and is never given up; one that only an operator can mend (a right, a webhook)
 * is given up after five retries, for ten minutes: of those in one namespace and duty one is tried again
 * every 30 s. delay_ms, at most a minute of it, is the queue's rate limit. observe: the settings ask for dry
 * runs; one that succeeded is not repeated until the state or the settings change, and in another mode it was
 * asked for by settings that hold no more. false when nothing was open for that action_key. */
bool in_flight_on_result(struct in_flight *b, const struct msg_nomination_result *m, uint64_t delay_ms,
			 bool observe, uint64_t now, struct in_flight_end *ret);
/* Does this outcome count as a failure to be retried with a rate limit? */
bool in_flight_is_failure(uint64_t outcome);
/* Pod of the open nomination of action_key, 0 when none. */
uint32_t in_flight_pod(const struct in_flight *b, struct str action_key);

/* R23: pods must leave after a scale-down; some do not, because an ordered StatefulSet waits for a pod which
 * never gets well, or the controller does not work. The workload of that key was scaled to 0 now: its pods
 * have SCALED_DOWN_MS. */
#define SCALED_DOWN_MS                                                                                       \
	UINT64_C(600000) /* a controller deletes within seconds; its pods' grace comes on top */
void in_flight_scaled_down(struct in_flight *b, struct str action_key, uint64_t now);
/* It already wants 0, and a pod of it was judged as if it did not. true once, when that has lasted longer. */
bool in_flight_pods_stay(struct in_flight *b, struct str action_key, uint64_t now);

/* Pod h is not due any more (or is gone): its action_key starts afresh, unless a nomination is open. */
void in_flight_not_due(struct in_flight *b, struct str action_key, uint32_t h);
/* Pod h does not exist any more. */
void in_flight_gone(struct in_flight *b, struct str action_key, uint32_t h);
/* Try again whatever waits after a failure: the server is healthy again, or the credential is another. fn is
 * called with each pod. */
void in_flight_retry_failed(struct in_flight *b, uint64_t now, void (*fn)(void *ctx, uint32_t h), void *ctx);
/* m is a result by which the server answered as it should: what waits after a failure of the server goes
 * within 5 s, and so does what was given up in the same namespace and duty. fn is called with each pod. At
 * most once a second. */
void in_flight_answered(struct in_flight *b, const struct msg_nomination_result *m, uint64_t now,
			void (*fn)(void *ctx, uint32_t h), void *ctx);
/* Other settings: no wait holds that followed from the old ones, and no end of what is open makes one. What
 * was written waits all the same until the cache shows it. */
void in_flight_judge_anew(struct in_flight *b, uint64_t now);
/* A clock was set: what was refused by the old time waits no longer, nor what is open and will be. */
void in_flight_clock_stepped(struct in_flight *b, uint64_t now);
/* Forget waits that ended long ago. */
void in_flight_expire(struct in_flight *b, uint64_t now);

/* Nominations open; entries in all. */
uint32_t in_flight_open_count(const struct in_flight *b);
uint32_t in_flight_count(const struct in_flight *b);

#endif
