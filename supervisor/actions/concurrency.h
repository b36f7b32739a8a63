/* concurrency.h - how many workers of one cluster act at once: additive increase and multiplicative decrease
 * (TCP's way, RFC 5681), by the number of actions that end a second. Process: supervisor.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_CONCURRENCY_H
#define SUPERVISOR_ACTIONS_CONCURRENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "text/texts.h"

struct concurrency {
	unsigned least, most; /* bounds; equal: the configuration fixes the number */
	unsigned start;       /* within them: one for each processor */
	unsigned limit;       /* that may act at present */
	enum text why;        /* what set it */
	uint64_t since_ms;    /* begin of the present second, any clock; 0 = none has begun */
	uint64_t hold_ms;     /* no increase before this time */
	unsigned ended, rate; /* actions in this second; a second, before the last increase */
	uint64_t took_ms;     /* sum over `ended` */
	bool throttled;       /* a 429 in this second */
	bool tried;           /* the last second was the first with one worker more */
};

/* most >= 1; least may be 0. */
void concurrency_init(struct concurrency *c, unsigned least, unsigned most, unsigned processors);
/* Record the end of an action that took so long since its grant. throttled: the server answered 429. */
void concurrency_note(struct concurrency *c, uint64_t took_ms, bool throttled);
/* Set the limit, once a second is over. backlog: actions wait for a worker. */
void concurrency_tick(struct concurrency *c, bool backlog, uint64_t now_ms);

#endif
