/* inside.h - a server inside the process of a test, on the test's own event loop: nothing to wait for, and
 * requests without a socket. Several may run at a time. The reflector of the test reaches it by TCP, as any
 * other. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_INSIDE_H
#define APISIM_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct inside;

/* flags: as on the command line of apisim, ended by NULL. Borrowed during the call only. */
struct inside *inside_new(struct event_base *base, const char *const *flags);
void inside_free(struct inside **s);

/* Closes all connections and begins with an empty server of these flags, at the same port. */
void inside_reset(struct inside *s, const char *const *flags);

unsigned inside_port(const struct inside *s);

/* Runs a request to the API or to /_sim/ (path with query) at once, untouched by faults. body: JSON text or
 * NULL. The status code. */
int inside_request(struct inside *s, const char *method, const char *path, const char *body);

/* uid and resourceVersion of a pod; false when there is none of that name. */
bool inside_pod(const struct inside *s, const char *ns, const char *name, char uid[64], uint64_t *rv);

#endif
