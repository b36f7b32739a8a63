/* complete.h - what the configuration names beside clusters.  Process: loader. */
// SPDX-License-Identifier: Apache-2.0
#ifndef LOADER_COMPLETE_H
#define LOADER_COMPLETE_H

#include "loader/loader.h"

/* What the command line sets (--set KEY=VALUE) holds whatever the file says, in every override, too. False
 * after an error. */
bool loader_set(struct loader *l);
/* Sinks and their files, zones, state directory, own pod. False after an error. */
bool loader_complete(struct loader *l);

#endif
