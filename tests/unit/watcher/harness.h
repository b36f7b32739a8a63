/* harness.h - a controller between what a reflector reports and a list of what is sent, with a clock that is
 * moved by hand.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_WATCHER_HARNESS_H
#define TEST_WATCHER_HARNESS_H

#include "fixture.h"
#include "watcher/controller/controller.h"

#define QUIET_MS 5000
#define SENT_MAX 8192

#define UID_2 "0b8f0f3e-0000-4000-8000-000000000002"
#define UID_3 "0b8f0f3e-0000-4000-8000-000000000003"

extern struct controller *c;
extern struct msg sent[SENT_MAX];
extern size_t n_sent;
extern int room;          /* messages that still find room */
extern unsigned n_timed;  /* times that were said */
extern uint64_t timed_us; /* the last of them */
/* Puts it there: for an outlet. */
int take(void *ctx, const struct msg *m);
/* Of the settings in force: a process around a watch sends by take(), too. */
extern uint64_t fake_generation;

/* Fixture: a policy that serves everything, NOW on the clock, nothing listed. */
void begin(void);
void end(void);

/* Run until there is nothing to do now. */
void run_all(void);
/* Let time pass, with a sign of life from the server, and run. */
void pass(int64_t ms);
size_t count(enum msg_type type);
const struct msg *last(enum msg_type type);
/* Let time pass: so many nominations in all by then. */
void nominated_at(int64_t ms, size_t n);
/* `before` nominations until the last millisecond of that time, and `after` with it. */
void nominated_after(int64_t ms, size_t before, size_t after);
struct msg_watch_stats stats(void);
uint64_t judged(void);

/* The controller gets that message. */
#define HEAR(TYPE, field, ...)                                                                               \
	controller_on_msg(c, &(struct msg){ .type = MSG_##TYPE, .u.field = __VA_ARGS__ })

void sync_with(const struct pod_facts *pods, size_t n);
/* Synced, remembered, quiet period over. */
void ready_with(const struct pod_facts *pods, size_t n);
/* The same with this one, which is returned. */
struct pod_facts ready_one(struct pod_facts p);
void event(const struct pod_facts *p);
/* The newest nomination ends so. */
void settle(enum outcome outcome, uint64_t retry_ms);
/* The newest nomination ends so, with that reason. */
void settle_as(enum outcome outcome, const char *reason);
void settle_with(enum outcome outcome, uint64_t retry_ms, const char *reason);
/* Every nomination from that message on ends so, oldest first; pods of those that were written are gone. */
void settle_all(size_t from, enum outcome outcome);
struct pod_facts sibling(const struct pod_facts *p, const char *name, const char *uid);

/* The i-th pod in the state of p, called names[i], of the i-th workload. */
#define PODS_MAX 3000
extern char names[PODS_MAX][24], uids[PODS_MAX][40];
struct pod_facts nth(const struct pod_facts *p, int i);
/* The first n of them, ready_with(). */
void many(struct pod_facts p, int n);
/* The first n of them come as events. */
void feed(struct pod_facts p, int n);
/* Since then the workload of p is known to fail. */
void fails_since(const struct pod_facts *p, int64_t at);

#endif
