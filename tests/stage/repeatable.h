/* repeatable.h - the same input leads to the same run: the timers of the event loop go by the clock of
 * base/clock.h, and random numbers are those of a fixed row. Linked into a program, clock_gettime() and
 * getrandom() are these, for libevent too.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_STAGE_REPEATABLE_H
#define TESTS_STAGE_REPEATABLE_H

/* Begin a run: set the fake clock, and begin the random numbers anew. */
void repeatable_begin(void);
/* End it: the clock is the kernel's again. */
void repeatable_end(void);

#endif
