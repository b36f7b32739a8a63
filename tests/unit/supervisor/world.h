/* world.h - a supervisor on a stage, and what is said to it: as honest children and as hostile ones would.
 * Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_UNIT_SUPERVISOR_WORLD_H
#define TESTS_UNIT_SUPERVISOR_WORLD_H

#include "tests/stage/stage.h"
#include "tests/suite.h"

#define HEARD_MAX 4096

extern struct world {
	char folder[SUITE_PATH_MAX];
	char *dir;
	struct stage *s;
	struct stage_options o;
	struct msg heard[HEARD_MAX]; /* by any child, since forget() */
	uint64_t holders[512];       /* worker by lease id */
	uint64_t asked_worker;       /* that got the last CTL_DRY_RUN */
	size_t n;
} w;

void set_up(void);
void tear_down(void);
void start(void);
/* As after a SIGKILL of the supervisor. */
void start_again(void);

/* What the children have heard since. */
void forget(void);
size_t count(enum msg_type type);
/* The i-th of that type. */
const struct msg *heard(enum msg_type type, size_t i);
const struct msg_record *only_record(void);

/* The first of that role says it, and all that follows is done. */
void say(enum role role, const struct msg *m);
struct msg end_of(uint64_t next_id);
void open_history(void);
struct msg nomination(unsigned number);
void nominate(unsigned number);
void acknowledge(uint64_t id);
struct msg result_of(uint64_t id, enum outcome outcome);
/* By the worker that holds it. */
void end_lease(uint64_t id, enum outcome outcome);
struct msg open_of(const struct msg *intent);
size_t open_leases(void);

#endif
