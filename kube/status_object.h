/* status.h - the API server's Status (apimachinery meta/v1) in either encoding, and what it means to a
 * reader. Layer: kube. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_STATUS_H
#define KUBE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Strings borrow from the bytes decoded. */
struct status_facts {
	struct str status, message, reason;
	int32_t code;
	int32_t retry_after_s; /* details.retryAfterSeconds, -1 absent */
	bool expired;          /* 410 Gone, reason Gone or Expired (client-go isExpiredError) */
	/* The resourceVersion asked for is ahead of the server, in each of the three dialects servers have
	 * spoken: cause type; cause message (1.17.0-1.18.5); message (client-go
	 * isTooLargeResourceVersionError). */
	bool too_large_rv;
};

/* A bare Status message. 0 or -EBADMSG. */
int status_object_decode(const uint8_t *p, size_t n, struct status_facts *ret);
/* An enveloped one, as in an HTTP body or an ERROR event; -EBADMSG also when it is another kind. */
int status_object_open(const void *p, size_t n, struct status_facts *ret);

#endif
