/* lease_server.h - a Lease on a server, and who asks for it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_UNIT_KUBE_LEASE_SERVER_H
#define TESTS_UNIT_KUBE_LEASE_SERVER_H

#include "kube/leader.h"

#define WALL INT64_C(1700000000000)

/* At most one record, optimistic locking. */
struct lease_server {
	bool exists;
	struct lease_facts lease;
	unsigned version;
	char memory[64]; /* of the leader, for the next */
	char ops[256];   /* what was asked */
};

/* A write by another client; the status it is answered. */
long lease_write(struct lease_server *s, const char *body, bool create);
/* One request to its end. Returns what was asked. */
enum leader_ask one(struct leader *l, struct lease_server *s, uint64_t now);
/* Until nothing is asked any more. */
void run(struct leader *l, struct lease_server *s, uint64_t now);

#endif
