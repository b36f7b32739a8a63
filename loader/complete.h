/* complete.h - what the configuration names beside clusters.  Process: loader. */
// SPDX-License-Identifier: Apache-2.0
#ifndef LOADER_COMPLETE_H
#define LOADER_COMPLETE_H

#include "loader/loader.h"

/* What the command line sets (--set KEY=VALUE) holds whatever the file says, in every override, too. False
 * after an error. */
bool loader_set(struct loader *l);
/* Secret files, zones, state directory, own pod. False after an error. */
bool loader_complete(struct loader *l);
/* The address of the chat. It may have to wait for the resolver. */
void loader_resolve_webhook(struct loader *l);
/* Warn that there is none, and try again soon. */
void loader_no_webhook(struct loader *l, const char *why);

#endif
