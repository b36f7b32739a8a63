/* refusal.h - what the API server says of a request, and why it refuses one.  Layer: kube.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_REFUSAL_H
#define KUBE_REFUSAL_H

#include <stddef.h>
#include <stdint.h>

struct refusal {
	long code;
	char reason[64];
	char message[256];     /* cut to size */
	int64_t retry_after_s; /* details.retryAfterSeconds, -1 absent */
};

/* Reads a Status in either encoding; of any other body (the text/plain of API priority and fairness) the
 * text, if it is short. */
void refusal_parse(long http_status, const char *body, size_t n, struct refusal *ret);

#endif
