/* explain_live.h - ask the running instance why a pod or workload is acted on, or why not.
 * Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_EXPLAIN_LIVE_H
#define CLI_EXPLAIN_LIVE_H

#include "cli/explain_report.h"

/* About "NAMESPACE/NAME": a pod, or a workload and its pods. Uses o->socket, cluster (NULL: the first), rules
 * (every check, too). Exit code; what is wrong was printed. */
int explain_live(const struct options *o, const char *object, struct explain_report *into);

#endif
