/* history_world.h - what the tests of the history share: a history of its own, what it reported, messages.
 * Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_UNIT_REPORTER_HISTORY_WORLD_H
#define TESTS_UNIT_REPORTER_HISTORY_WORLD_H

#include "reporter/history/query.h"
#include "reporter/history/history.h"
#include "tests/suite.h"
#include "tests/unit/reporter/support.h"

#define WORLD_NOW INT64_C(1700000000000)

struct seen {
	size_t n;
	enum msg_type type[64];
	enum history_effect effect[64];
	char cluster[64];
	uint64_t duty;
	bool observe;
};
struct history_world {
	char dir[SUITE_PATH_MAX];
	struct db *db;
	struct str_list clusters;
	struct history *h;
	struct seen seen;
};
extern struct history_world w;

/* The clusters are "prod" and "staging"; the clock stands at WORLD_NOW. */
void world_setup(void);
void world_teardown(void);
void world_open(void);
void world_close(void);
void world_on_committed(void *ctx, const struct history_entry *e);
/* The cluster "staging" is not configured any more. */
void world_forget_staging(void);

struct msg world_intent(uint64_t id, uint64_t cluster, const char *uid);
struct msg world_record(uint64_t id, enum outcome outcome);
struct msg world_refusal(const char *uid, const char *reason);
struct msg world_failing_since(uint64_t cluster, const char *owner, int64_t at);
/* Add and commit. */
void world_write(const struct msg *m, size_t n);
/* The first lease id never used. */
int world_next_id(uint64_t *ret);
/* Every message of an answer, until its end; each is encoded, which aborts on a field out of range. Of the
 * history, of one action (on connection 8), for a watcher, for the supervisor. */
size_t world_query(const struct msg_ctl_history *question, struct msg *out, size_t max);
size_t world_show(uint64_t id, struct msg *out, size_t max);
size_t world_saved(uint64_t cluster, bool observe, struct msg *out, size_t max);
size_t world_open_intents(struct msg *out, size_t max);

#endif
