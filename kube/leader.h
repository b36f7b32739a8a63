/* leader.h - leader election on a coordination.k8s.io Lease: what to ask next, whether this replica leads,
 * and who else works. Pure: no I/O, no clock; the algorithm and the constants of an election are client-go's
 * (tools/leaderelection/leaderelection.go, resourcelock/leaselock.go). Layer: kube.
 *
 * Who holds a Lease is believed until `leaseDurationSeconds` after the record was last seen to change, by the
 * local clock: times written by another host are never compared. There is no fencing in a Lease: a leader
 * stops by itself before another one can begin, so `valid_until` counts from the moment the last successful
 * write was *sent*.
 *
 * An instance without election keeps the same Lease as its presence, at a slow pace: nothing that it may do
 * depends on that, it only learns who else works. Because the duration that counts is the one that stands in
 * the record, and not the reader's own as in client-go, an elected standby waits for a presence to run out as
 * for any leader. That is why a presence can afford few requests, with a long duration.
 *
 * Of replicas that share clusters one is preferred for each (leader_prefer). That steers, and proves nothing:
 * who leads is what the Lease says. The preferred one claims the Lease by an annotation, which shows that it
 * reaches the cluster; the leader yields when it prefers that one too: it stops, waits for what is under way,
 * and gives the Lease back. A free Lease is left to the preferred one for LEADER_HOLD_MS. Replicas that do
 * not agree on who is preferred therefore change nothing, and one that knows nobody does as client-go does.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_LEADER_H
#define KUBE_LEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kube/decode_objects.h"

/* client-go's defaults (LeaseDuration, RenewDeadline, RetryPeriod), ms. Retries while acquiring are spread by
 * up to 1 + LEADER_JITTER. */
#define LEADER_LEASE_MS 15000u
#define LEADER_RENEW_MS 10000u
#define LEADER_RETRY_MS 2000u
#define LEADER_JITTER   1.2
/* The same of a presence: two renewals may fail before another instance takes it to be gone. Without the
 * right (403), or the namespace, only an operator helps: asked again after LEADER_DENIED_MS. */
#define LEADER_PRESENCE_MS       90000u
#define LEADER_PRESENCE_RENEW_MS 80000u
#define LEADER_PRESENCE_RETRY_MS 30000u
#define LEADER_DENIED_MS         600000u

/* A replica that shares clusters keeps a Lease of its own, by which the others see that it lives: soon enough
 * that they know it when the Leases that it led run out. */
#define LEADER_MEMBER_MS       8000u
#define LEADER_MEMBER_RENEW_MS 6000u
#define LEADER_MEMBER_RETRY_MS 2000u
/* For the preferred replica to take a Lease that is free: its next try, and some. */
#define LEADER_HOLD_MS 6000u
/* What the next leader must know is written this soon. */
#define LEADER_MEMORY_MS 200u
#define LEADER_LABEL     "ops-pod-cleaner.io/replica" /* "true", on the Lease of a member */

enum leader_ask { LEADER_WAIT, LEADER_GET, LEADER_CREATE, LEADER_PATCH, LEADER_CLAIM };

enum leader_kind { LEADER_ELECTION, LEADER_PRESENCE, LEADER_MEMBER, LEADER_KIND__MAX };

struct leader {
	char identity[LEASE_TEXT];
	enum leader_kind kind;
	struct lease_facts seen; /* the record as last read or written */
	bool known;              /* there is a record in `seen` */
	uint64_t seen_at;        /* boot ms at which `seen` was seen to change */
	enum leader_ask next;    /* what the present try needs */
	uint64_t try_at;         /* boot ms of the next try */
	uint64_t sent_at;        /* boot ms of the request under way */
	uint64_t renewed_at;     /* boot ms of sending the last write that succeeded */
	bool leading, releasing;
	bool carries;               /* the request under way does `memory` */
	bool yielding;              /* leading, until what is under way has ended: leader_let_go() */
	char preferred[LEASE_TEXT]; /* replica that should lead here, "" = not known */
	char *memory;     /* for the next leader, that no write has carried yet; NULL = nothing new */
	bool other_lives; /* the holder in `seen`, another one, has written while we watched */
};

/* identity is cut to LEASE_TEXT and must not be empty: unique among the replicas. */
void leader_init(struct leader *l, const char *identity, enum leader_kind kind);

/* Free what it owns. */
void leader_done(struct leader *l);

/* Text for the next leader, to be written with the next renewal or when the Lease is given back, at once when
 * this one leads; taken over. It goes into JSON as it is: no quotes, no backslash, nothing below a blank. */
void leader_remember(struct leader *l, char *memory, uint64_t now);
/* Which replica should lead here, "" = not known. */
void leader_prefer(struct leader *l, const char *identity);
/* It yields, and nothing is under way any more: give the Lease back at the next step. */
void leader_let_go(struct leader *l, uint64_t now);

/* What has to be asked now, LEADER_WAIT with *ret_at (boot ms) when nothing. A leader that could not renew
 * for the renewal deadline stops leading here. */
enum leader_ask leader_step(struct leader *l, uint64_t now, uint64_t *ret_at);
/* The request that leader_step asked for is sent now. Body for CREATE, PATCH and CLAIM, JSON, owned by the
 * caller: the PATCH is a merge patch that carries the resourceVersion, so labels of the Lease stay (client-go
 * LE6) and a concurrent writer makes it a 409. ns and name are those of the Lease; wall_ms for acquireTime
 * and renewTime. */
char *leader_body(struct leader *l, const char *ns, const char *name, uint64_t now, int64_t wall_ms);
/* Its answer: status 0 = none came. facts for 2xx, else NULL. random in [0, 1). */
void leader_answer(struct leader *l, long status, const struct lease_facts *facts, uint64_t now,
		   double random);

/* That answer says that there is no right to the Lease, or no namespace for it. */
bool leader_is_denied(enum leader_ask asked, long status);

/* Give the Lease back at the next step, if it is ours (client-go ReleaseOnCancel). Returns whether there is
 * anything to release. */
bool leader_release(struct leader *l, uint64_t now);

bool leader_leads(const struct leader *l, uint64_t now);
/* Boot ms before which no other replica can lead; 0 when this one does not lead. */
uint64_t leader_valid_until(const struct leader *l);
/* Who else holds the Lease and was seen to write it, so is alive: not the text of renewTime counts, nor a
 * record that a former life of ours has left. "" when nobody; valid until the next call. */
const char *leader_other(const struct leader *l, uint64_t now);

#endif
