/* action_quotes.h - words of others that are kept with an action, as they were and too long for its facts:
 * the log of a container that crashed; of an image that cannot be pulled what is said of each container,
 * where there are several; of a pod or container a message that its facts have cut.  Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_ACTION_QUOTES_H
#define WORKER_ACTION_QUOTES_H

#include <stddef.h>
#include <stdint.h>

struct action;

/* The action ends: hand what is to be kept of it to env.quote. Nothing of one that changed nothing, or that
 * is a dry run for an operator. */
void quotes_post(struct action *a);

/* The last lines of a log, of QUOTE_TEXT_MAX bytes at most, whole where one has room; without the colours of
 * a terminal and carriage returns, tabs as blanks. The caller frees it; NULL: there is nothing. */
char *quotes_last_lines(const char *log, size_t n, int64_t lines);

#endif
