/* resolve.h - names to addresses.  Process: loader. */
// SPDX-License-Identifier: Apache-2.0
#ifndef LOADER_RESOLVE_H
#define LOADER_RESOLVE_H

#include "loader/loader.h"

/* Address for a host and port: the first that answers, else the first; "ip:port", "[v6]:port", malloc()ed. 0,
 * or -EAGAIN with a text in reterr. */
int loader_resolve(const char *host, unsigned port, char **ret, char reterr[static LOADER_ERROR_MAX]);

#endif
