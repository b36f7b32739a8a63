/* harness.h - the watcher's mind between what a reflector says and a list of what is sent, with a clock that
 * is turned by hand.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_WATCHER_HARNESS_H
#define TEST_WATCHER_HARNESS_H

#include "fixture.h"
#include "watcher/controller/controller.h"

#define QUIET_MS 5000
#define SENT_MAX 4096

#define UID_2 "0b8f0f3e-0000-4000-8000-000000000002"
#define UID_3 "0b8f0f3e-0000-4000-8000-000000000003"

extern struct policy policy;
extern struct controller *c;
extern struct msg sent[SENT_MAX];
extern size_t n_sent;
extern int room; /* messages that still find room */

/* Fixture: a policy that serves everything, NOW on the clock, nothing listed. */
void begin(void);
void end(void);

/* Turn until there is nothing to do now. */
void run_all(void);
/* Let time pass, with a sign of life from the server, and run. */
void pass(int64_t ms);
size_t count(enum msg_type type);
const struct msg *last(enum msg_type type);

/* The controller gets that message. */
#define HEAR(TYPE, field, ...)                                                                               \
	controller_on_msg(c, &(struct msg){ .type = MSG_##TYPE, .u.field = __VA_ARGS__ })

void sync_with(const struct pod_facts *pods, size_t n);
/* Synced, remembered, quiet period over. */
void ready_with(const struct pod_facts *pods, size_t n);
void event(const struct pod_facts *p);
/* The newest nomination ends so. */
void settle(enum outcome outcome, uint64_t retry_ms);
struct pod_facts sibling(const struct pod_facts *p, const char *name, const char *uid);

#endif
