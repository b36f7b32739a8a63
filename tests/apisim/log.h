/* The request log: one JSON object a line for each request, written out at every turn of the event loop. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_LOG_H
#define APISIM_LOG_H

#include "tests/apisim/call.h"

/* path NULL: nothing is written. Dies when the file cannot be opened. */
struct log *log_new(const char *path);
void log_free(struct log *log);

/* stage NULL, or "start" and "end" of a watch. */
void log_call(struct log *log, const struct call *c, const char *stage);

void log_flush(struct log *log);

#endif
