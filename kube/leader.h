/* leader.h - leader election on a coordination.k8s.io Lease: what to ask next and whether this replica leads.
 * Pure: no I/O, no clock; the algorithm and its constants are client-go's
 * (tools/leaderelection/leaderelection.go, resourcelock/leaselock.go). Layer: kube.
 *
 * Who holds a Lease is believed until `leaseDurationSeconds` after the record was last seen to change, by the
 * local clock: times written by another host are never compared. There is no fencing in a Lease: a leader
 * stops by itself before another one can begin, so `valid_until` counts from the moment the last successful
 * write was *sent*. */
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

enum leader_ask { LEADER_WAIT, LEADER_GET, LEADER_CREATE, LEADER_PATCH };

struct leader {
	char identity[LEASE_TEXT];
	struct lease_facts seen; /* the record as last read or written */
	bool known;              /* there is a record in `seen` */
	uint64_t seen_at;        /* boot ms at which `seen` was seen to change */
	enum leader_ask next;    /* what the present try needs */
	uint64_t try_at;         /* boot ms of the next try */
	uint64_t sent_at;        /* boot ms of the request under way */
	uint64_t renewed_at;     /* boot ms of sending the last write that succeeded */
	bool leading, releasing;
};

/* identity is cut to LEASE_TEXT and must not be empty: unique among the replicas. */
void leader_init(struct leader *l, const char *identity);

/* What has to be asked now, LEADER_WAIT with *ret_at (boot ms) when nothing. A leader that could not renew
 * for LEADER_RENEW_MS stops leading here. */
enum leader_ask leader_step(struct leader *l, uint64_t now, uint64_t *ret_at);
/* The request that leader_step asked for is sent now. Body for CREATE and PATCH, JSON, owned by the caller:
 * the PATCH is a merge patch that carries the resourceVersion, so labels of the Lease stay (client-go LE6)
 * and a concurrent writer makes it a 409. ns and name are those of the Lease; wall_ms for acquireTime and
 * renewTime. */
char *leader_body(struct leader *l, const char *ns, const char *name, uint64_t now, int64_t wall_ms);
/* Its answer: status 0 = none came. facts for 2xx, else NULL. random in [0, 1). */
void leader_answer(struct leader *l, long status, const struct lease_facts *facts, uint64_t now,
		   double random);

/* Give the Lease back at the next step, if it is ours (client-go ReleaseOnCancel). Returns whether there is
 * anything to release. */
bool leader_release(struct leader *l, uint64_t now);

bool leader_leads(const struct leader *l, uint64_t now);
/* Boot ms before which no other replica can lead; 0 when this one does not lead. */
uint64_t leader_valid_until(const struct leader *l);

#endif
