/* digest_world.h - a digest run with everything around it played by the test: watchers, timer, clock; and
 * the messages it put into the outbox.
 * Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_UNIT_REPORTER_REPORT_WORLD_H
#define TESTS_UNIT_REPORTER_REPORT_WORLD_H

#include "base/clock.h"
#include "reporter/report/runner.h"
#include "reporter/notify/outbox.h"
#include "tests/unit/reporter/support.h"

/* Monday 2023-11-13 09:00:00 UTC; the schedule fires daily at 09:00. The fixture starts 10 s before. */
#define DUE_AT INT64_C(1699866000000)

struct world {
	size_t asked, ended;
	uint64_t number; /* of the last question */
	uint64_t wake_ms;
	struct scheduled_run last;
	char error[400]; /* "<incomplete>|<error>" of the last end */
	size_t troubles;
	size_t sampled; /* questions for all that restarted, and the last of them */
	struct msg_digest_get sample;
	struct msg_inspect inspections[64];
	size_t n_inspections, answered;
};
extern struct db *db;
extern struct world w;
extern struct digest_runner *run;
extern size_t clusters; /* 1 or 2; counts from the next start on */

void world_setup(void);
void world_teardown(void);
/* After an end as by SIGKILL when it runs. */
void start_again(void);
void start_unarmed(void);
/* As after SIGKILL: what is on disk is all there is. */
void kill_it(void);
void set_schedule(const char *schedule, bool enable);
/* Something that a report has to tell beside restarts. */
void need_an_operator(void);
/* Let time go by, then tick. */
void pass(int64_t ms);
void answer_row(uint64_t cluster, const char *pod, uint64_t restarts);
void answer_end(uint64_t cluster, bool synced);
/* The i-th question to a worker. */
void answer_inspection(size_t i, bool found);
/* Those that are open: nothing is found. */
void answer_inspections(void);
/* All that cluster 0 has: web-1 with 12 restarts, or so many. */
void answer(void);
void answer_count(uint64_t restarts);
/* To the moment where the report is composed. */
void reach_end(void);
/* How many messages are in the outbox. */
size_t messages(void);
/* The newest of them as text, until the next call. */
const char *message(void);
/* It ends so. */
void end_message(enum outbox_state state);
/* No message can be written any more (or again). */
void break_outbox(bool broken);
/* State of a run on disk; while it is not started. */
void run_state(int64_t due_at, char ret[static 32]);

#endif
