/* resolve.h - names to addresses.  Process: loader. */
// SPDX-License-Identifier: Apache-2.0
#ifndef LOADER_RESOLVE_H
#define LOADER_RESOLVE_H

#include "loader/loader.h"

/* Look up a host: *ret = "ip,[v6],ip:port", malloc()ed, with at most 8 addresses. The first one that takes a
 * connection now stands in front, for a dead one may cost whoever connects seconds. Returns 0, or -EAGAIN
 * with a sentence in why. */
int loader_resolve(const char *host, unsigned port, char **ret, char why[static SENTENCE_MAX]);

/* One of several names to be looked up at the same time. */
struct lookup {
	char host[254]; /* "" = none, and nothing is done */
	unsigned port;
	char *address;          /* as above; NULL = none */
	char why[SENTENCE_MAX]; /* a sentence */
};

void lookup_init(struct lookup *k, const char *host, unsigned port);
/* Each name in a process of its own, equal ones in one: a name server that does not answer costs its own
 * names alone. What has no answer until until_ms (boot time) has none. At most SINKS_MAX. */
void loader_resolve_all(struct lookup *v, size_t n, uint64_t until_ms);

#endif
