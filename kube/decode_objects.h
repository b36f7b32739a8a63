/* decode_objects.h - what else than pods the API server says in protobuf: the events of a watch, a Status, a
 * Lease.  Layer: kube.  Pure; strings borrow from the bytes decoded. Each returns 0, or -EBADMSG. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_DECODE_OBJECTS_H
#define KUBE_DECODE_OBJECTS_H

#include "kube/cursor.h"

/* One frame of a watch stream: meta/v1 WatchEvent around an enveloped object. */
enum watch_type { WATCH_UNKNOWN, WATCH_ADDED, WATCH_MODIFIED, WATCH_DELETED, WATCH_BOOKMARK, WATCH_ERROR };

struct watch_event {
	enum watch_type type;
	struct envelope object; /* kind and raw message; borrows from the frame */
};

/* -EBADMSG: no WatchEvent, or its object has no envelope. */
int decode_watch_event(const uint8_t *p, size_t n, struct watch_event *ret);

/* The object of a BOOKMARK event: only its resourceVersion and whether it ends the initial events of a
 * WatchList (annotation k8s.io/initial-events-end: "true"). */
struct bookmark {
	struct str rv;
	bool initial_end;
};
int decode_bookmark(const uint8_t *p, size_t n, struct bookmark *ret);

/* A Status (apimachinery meta/v1), and what it means to a reader. */
struct status_facts {
	struct str message, reason;
	int32_t code;
	bool expired; /* 410 Gone, reason Gone or Expired (client-go isExpiredError) */
	/* The resourceVersion asked for is ahead of the server, in each of the three dialects servers have
	 * spoken: cause type; cause message (1.17.0-1.18.5); message (client-go
	 * isTooLargeResourceVersionError). */
	bool too_large_rv;
};

/* A bare one. */
int decode_status(const uint8_t *p, size_t n, struct status_facts *ret);
/* An enveloped one, as in an HTTP body; -EBADMSG also when it is another kind. */
int decode_status_answer(const void *p, size_t n, struct status_facts *ret);

#define LEASE_TEXT 254

/* What a Lease (coordination.k8s.io/v1) says, as far as it matters. */
struct lease_facts {
	char name[LEASE_TEXT];
	char holder[LEASE_TEXT]; /* "" = nobody */
	char claim[LEASE_TEXT];  /* who asks the holder for it: ANNOTATION_CLAIM; "" = nobody */
	char rv[64];
	int64_t duration_s;
	int64_t acquired, renewed; /* Unix ms, 0 = not set */
	int64_t transitions;
};

/* Boot ms from which on the record binds nobody, when it was seen to change at seen_at. */
static inline uint64_t lease_free_at(const struct lease_facts *l, uint64_t seen_at)
{
	return seen_at + (l->holder[0] && l->duration_s > 0 ? (uint64_t)l->duration_s * 1000 : 0);
}

/* A Lease in an enveloped answer. */
int decode_lease_answer(const void *p, size_t n, struct lease_facts *ret);
/* Its annotation ANNOTATION_MEMORY; empty when there is none, or this is no Lease. */
struct str decode_lease_memory(const void *p, size_t n);
/* Every Lease of an enveloped LeaseList in turn; `facts` is valid during the call. */
int decode_lease_list(const void *p, size_t n, void (*fn)(void *ctx, const struct lease_facts *facts),
		      void *ctx);

#endif
