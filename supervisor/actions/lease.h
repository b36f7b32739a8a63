/* lease.h - one actor per object: every nomination becomes a lease on its action key (the pod's uid, or its
 * owner's), and a lease ends only by the holder's RESULT on disk or by the holder's proven death. Pure: no
 * I/O, no clock. Process: supervisor.  The protocol is modelled in tests/model/lease.pml: never release by
 * timer.
 * Memory: messages are kept packed. A table that holds LEASES_MAX leases, or LEASES_BYTES_MAX, is full; what
 * is beyond that are restores that operators ask for and the results that are being written down. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_LEASE_H
#define SUPERVISOR_ACTIONS_LEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/msg.h"

#define LEASES_MAX       8192u
#define LEASES_BYTES_MAX (4u << 20)
/* Open in a cluster: one more would only wait for a worker, so its INTENT is in_bulk. */
#define LEASES_BULK 256u
/* INTENTs of a cluster that are on their way to the history at once: those of another cluster wait behind no
 * more than so many, and the workers have enough to do meanwhile. */
#define INTENTS_SENT_MAX 256u
/* A history that is further ahead than this is not believed. */
#define LEASES_AHEAD_MAX (UINT64_C(1) << 40)

enum lease_phase {
	LEASE_NEW,       /* not written down: INTENT waits to be sent, or was sent and not acknowledged */
	LEASE_WAITING,   /* written down, waits for a worker that has room */
	LEASE_GRANTED,   /* a worker holds it */
	LEASE_RECORDING, /* the result has to be written down, or was sent and not acknowledged */
};

struct lease_quotes {
	struct msg_packed *v[QUOTES_MAX]; /* QUOTE by its number, or NULL */
};

struct lease {
	uint64_t id;
	uint64_t conn;               /* of the control socket: who waits for its end; 0 = nobody */
	uint64_t deadline_ms;        /* boot time after which the holder is killed */
	struct msg_packed *intent;   /* INTENT: id and all facts */
	struct msg_packed *record;   /* RECORD, from LEASE_RECORDING on */
	struct lease_quotes *quotes; /* that go before it; NULL: none */
	struct lease *next; /* in its queue (LEASE_NEW, LEASE_WAITING); of the same holder, newest first */
	struct lease *by_key, *by_id; /* hash chains */
	int16_t holder;               /* index of the child, while LEASE_GRANTED */
	uint16_t cluster;
	uint8_t phase; /* enum lease_phase */
	uint8_t duty;
	uint8_t grants;    /* how often granted */
	bool sent;         /* INTENT or RECORD is on its way to the present reporter */
	bool verify_first; /* an earlier holder died */
	bool by_operator;  /* no pause stops it */
	char key[];        /* action key */
};
_Static_assert(sizeof(struct lease) <= 88, "a lease is small: there are thousands");
_Static_assert(CLUSTERS_MAX <= UINT16_MAX && CHILDREN_MAX <= INT16_MAX, "members of struct lease");

struct lease_table;

/* What is_paused says of a lease is asked before it is granted. */
struct lease_table *lease_table_new(bool (*is_paused)(void *ctx, const struct lease *l), void *ctx);
void lease_table_free(struct lease_table **t);
size_t lease_table_count(const struct lease_table *t);
/* What all leases take, without the table. */
size_t lease_table_bytes(const struct lease_table *t);
/* No room for another nomination of that cluster, or no id is left. Unless it is alone it may have twice as
 * much as it leaves to others, so none fills the table, and 5,000 at once have room. */
bool lease_table_is_full(const struct lease_table *t, uint64_t cluster, bool alone);
/* Open leases of that cluster. */
size_t lease_table_count_of(const struct lease_table *t, uint64_t cluster);
/* First id that no lease has had, as the history says. Ids only grow. False: that is further ahead than any
 * history can be, and nothing changes. */
bool lease_table_set_next_id(struct lease_table *t, uint64_t id);
/* The lowest id of all that are open; the next one when none is. */
uint64_t lease_table_lowest_id(const struct lease_table *t);
/* While this is on, nothing of the cluster is granted but restores that an operator waits for. */
void lease_table_block(struct lease_table *t, uint64_t cluster, bool on);

/* Open a lease from a NOMINATE, or from an INTENT by an operator. NULL when its action key has one already,
 * or no id is left. */
struct lease *lease_open(struct lease_table *t, const struct msg *nominate, bool observe);
/* Take back a lease that the history holds open from an earlier life and that we signed: WAITING,
 * verify_first. revision: what is known to fail of its action key, which the history does not hold. NULL when
 * its id or its action key has a lease already, or there are LEASES_MAX. */
struct lease *lease_reopen(struct lease_table *t, const struct msg *open_intent, const char *revision);
struct lease *lease_find(const struct lease_table *t, uint64_t id);
/* End: the result is on disk, or the intent, which was sent, never will be. Frees the lease. Not while it
 * waits or is held. */
void lease_close(struct lease_table *t, struct lease **l);

/* The oldest lease of the cluster whose INTENT has to be sent, those of operators first. NULL: there is none,
 * or INTENTS_SENT_MAX of the cluster are on their way. */
struct lease *lease_next_intent(const struct lease_table *t, uint64_t cluster);
/* The INTENT of what lease_next_intent() has returned is on its way. */
void lease_intent_sent(struct lease_table *t, struct lease *l);
/* No INTENT or RECORD is on its way any more: the reporter has died. */
void lease_table_set_unsent(struct lease_table *t);
/* The intent is on disk: queue for a worker. Returns false when its INTENT is not on its way (a repeated
 * acknowledgement). */
bool lease_written(struct lease_table *t, struct lease *l);
/* Oldest waiting lease of the cluster that is paused and that no worker has ever had: it becomes
 * LEASE_RECORDING with `result` (its id is filled in). NULL = none. One in doubt is never ended so: what its
 * holder did has to be looked at first, so it waits. */
struct lease *lease_refuse_paused(struct lease_table *t, uint64_t cluster, const struct msg *result);
/* Some lease of the cluster waits, paused or not. */
bool lease_is_waiting(const struct lease_table *t, uint64_t cluster);
/* Oldest waiting lease of the cluster that is not paused, or NULL; it leaves the queue and is LEASE_GRANTED
 * to holder (0 to CHILDREN_MAX - 1). A holder has room for WORKER_LEASES_MAX. One in doubt is granted alone,
 * so that a lease that kills its holders takes no other with it a second time; and nothing overtakes it: a
 * holder at work gets nothing more until an idle one has taken it. */
struct lease *lease_grant(struct lease_table *t, uint64_t cluster, int holder, uint64_t deadline_ms);
/* A QUOTE from `holder`: 0, or -EPERM when holder does not hold that lease. One of the same number is
 * replaced. They outlive the holder: the next one finds the deed done, and no words any more. */
int lease_quote(struct lease_table *t, int holder, const struct msg *quote);
/* The holder is proven dead: back to the front of the queue, in doubt. */
void lease_holder_died(struct lease_table *t, struct lease *l);
/* A RESULT from `holder`: 0 and LEASE_RECORDING, or -EPERM when holder does not hold lease id (nothing
 * changes). */
int lease_result(struct lease_table *t, int holder, const struct msg *result, struct lease **ret);
/* The newest lease granted to holder, or NULL; the others follow by next. */
struct lease *lease_held_by(const struct lease_table *t, int holder);
unsigned lease_count_held(const struct lease_table *t, int holder);
/* All of them: the first (l NULL), the one behind l, NULL behind the last. */
struct lease *lease_next(const struct lease_table *t, const struct lease *l);

#endif
