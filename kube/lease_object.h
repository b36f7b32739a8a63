/* lease_object.h - a Lease (coordination.k8s.io/v1) as the API server answers it.  Layer: kube.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_LEASE_OBJECT_H
#define KUBE_LEASE_OBJECT_H

#include <stddef.h>
#include <stdint.h>

#define LEASE_TEXT 254

/* What a Lease says, as far as it matters. */
struct lease_facts {
	char holder[LEASE_TEXT]; /* "" = nobody */
	char rv[64];
	int64_t duration_s;
	int64_t acquired, renewed; /* Unix ms, 0 = not set */
	int64_t transitions;
};

/* A Lease in an enveloped protobuf answer. 0, or -EBADMSG. */
int lease_object_open(const void *p, size_t n, struct lease_facts *ret);

#endif
