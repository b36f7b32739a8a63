/* members.h - which replicas live, by the Leases that they keep in the home cluster: one of REPLICAS_MAX
 * each, named by number so that a Role can name them. Pure: no I/O; times are boot ms. Layer: kube. As in
 * leader.h a record is believed for its duration after it was last seen to change. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_MEMBERS_H
#define KUBE_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kube/decode_objects.h"
#include "model/replica_leases.h"

/* Identities, each followed by a newline. */
#define MEMBERS_TEXT (REPLICAS_MAX * LEASE_TEXT)

struct members {
	struct member {
		struct lease_facts seen;
		uint64_t seen_at; /* when it was seen to change */
		bool known, listed;
	} v[REPLICAS_MAX];
	const char *name; /* of the clusters' Lease */
	uint64_t listed_at;
	bool complete; /* some list is */
};

/* name is borrowed. */
void members_init(struct members *m, const char *name);
/* A list that was asked for at `sent_at` arrives: begin, see each Lease of it, end. One of another name is
 * not looked at; one that is not in the list is gone. */
void members_begin(struct members *m);
void members_see(struct members *m, const struct lease_facts *facts, uint64_t now);
void members_end(struct members *m, uint64_t sent_at);

/* The number of the Lease that `identity` should keep: its own, else the first that nobody holds; -1 = there
 * is none. */
int members_number(const struct members *m, const char *identity, uint64_t now);
/* Until when what the last list says can be relied on; 0 = there was none. */
uint64_t members_valid_until(const struct members *m);
/* The identities that live, one a line, in the order of their numbers. */
void members_format(const struct members *m, uint64_t now, char ret[static MEMBERS_TEXT]);

#endif
