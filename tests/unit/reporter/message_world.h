/* message_world.h - what the tests of telling share: sinks, what happens, and what is told.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_UNIT_REPORTER_MESSAGE_WORLD_H
#define TESTS_UNIT_REPORTER_MESSAGE_WORLD_H

#include "reporter/notify/action_messages.h"
#include "reporter/notify/alarm_messages.h"
#include "tests/unit/reporter/history_world.h"

#define MINUTE INT64_C(60000)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

extern struct sink_settings sinks[3];
extern struct settings settings;
extern struct state *state;
extern char text[20000]; /* what told() returned last */
extern bool put;         /* what tell() and look() said last */
extern enum actions_left left;
extern int64_t team_down_at; /* 0 = the sink "team" is up */

/* The history of history_world.h. The sinks are "team", in English, "pay", in Chinese and of one namespace,
 * and "reports", which is told nothing of this. */
void tell_setup(void);
void tell_teardown(void);
/* As after a crash; what stands is to be said anew. */
void start_again(void);

/* The messages for a sink, which are delivered with this; as text. */
const char *told(const char *sink);
#define HAS(s)    ck_assert_msg(strstr(text, s) != NULL, "%s is missing in:\n%s", s, text)
#define HAS_NO(s) ck_assert_msg(strstr(text, s) == NULL, "%s is in:\n%s", s, text)

/* An action of the duty that it is for; `ends`: with that outcome, on node-7. */
void act(uint64_t id, enum action_kind action, const char *ns, const char *name, enum outcome outcome,
	 bool ends);
/* Actions. */
void tell(void);
/* So much later, what needs an operator. */
void look(int64_t ms);

/* A trouble stands n times (0 = it ends), in the cluster of that name. */
void trouble_of(enum trouble kind, const char *cluster, uint64_t n, const char *detail);
void trouble(enum trouble kind, const char *cluster, uint64_t n);
/* The pods "dns-FIRST" and so on, n of them, of kube-system in staging are refused; and have been, for as
 * long as it takes to need an operator. */
void refuse(unsigned first, unsigned n);
void refuse_long(unsigned first, unsigned n);

#endif
