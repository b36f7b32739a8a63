/* sinks.h - who is told the news: the entries of `sinks` and, first of them, the bot of tooManyRestart; what
 * their files hold, and their addresses. What is wrong with a sink is its own problem, which the reporter
 * tells, and stops nothing else; it is tried again soon.  Process: loader. */
// SPDX-License-Identifier: Apache-2.0
#ifndef LOADER_SINKS_H
#define LOADER_SINKS_H

#include "loader/loader.h"

/* After loader_set(): their list as it holds, with their secrets. */
void loader_read_sinks(struct loader *l);
/* Their addresses, or those of their proxies. It may have to wait for the resolver, but not beyond
 * l->until_ms. */
void loader_resolve_sinks(struct loader *l);
/* None of those that need one has an address: why. */
void loader_no_sinks(struct loader *l, const char *why);

#endif
