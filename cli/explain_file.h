/* explain_file.h - judge the pods of a file by a configuration file, without a cluster.
 * Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_EXPLAIN_FILE_H
#define CLI_EXPLAIN_FILE_H

#include "cli/explain_report.h"
#include "cli/options.h"

/* The pods of o->file (YAML or JSON, one or a List; "-" = stdin) by o->config (NULL: the file that `run`
 * takes), at o->now_ms (0: now); o->failing_since_ms 0: no pull failure was seen before. Exit code; what is
 * wrong was printed. */
int explain_file(const struct options *o, struct explain_report *into);

#endif
