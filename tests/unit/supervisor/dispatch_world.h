/* dispatch_world.h - the real dispatch and children over processes, channels and a lifecycle that are played.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_UNIT_SUPERVISOR_DISPATCH_WORLD_H
#define TESTS_UNIT_SUPERVISOR_DISPATCH_WORLD_H

#include "supervisor/actions/dispatch.h"
#include "supervisor/actions/lease.h"
#include "tests/suite.h"

#define NOW_MS UINT64_C(1000000) /* boot time at the start */

struct lifecycle {
	struct children *children;
	struct generation *generation;
	uint64_t leaving; /* bits 1 << cluster */
};
struct channel {
	struct spawned *process;
	bool killed;
};

extern struct lifecycle root;
extern struct supervisor supervisor;

struct child *child_of(enum role role, uint64_t cluster, uint64_t number);
struct channel *process_of(const struct child *c);
void says(const struct child *c, const struct msg *m);
struct child *says_hello(enum role role, uint64_t cluster, uint64_t number, const char *build);
struct child *gets_ready(enum role role, uint64_t cluster, uint64_t number);
void dies(struct child *c);
/* How many messages of that type it was sent (NULL: anybody), and the newest. */
size_t was_sent(const struct child *to, enum msg_type type, struct msg *ret_last);
void nominate(uint64_t cluster, unsigned key);
void is_written(uint64_t id);
/* What was sent. */
void forget(void);
/* It is written, granted, carried out and recorded. */
void ends(struct child *worker, uint64_t id, uint64_t outcome);
void leads(uint64_t cluster, bool leading, uint64_t valid_until);
/* So many clusters with their watchers ready, an open history, and at most `workers` workers each, none of
 * them started; `least` of them run always. */
void begin_with(uint64_t clusters, uint64_t least, uint64_t workers, bool election);
/* The same with a fixed number of workers. */
void begin(uint64_t clusters, uint64_t workers, bool election);
void tear_down(void);

#endif
