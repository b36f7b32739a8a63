/* core_sim.h - plays the world to a reflect_core: events in, requests and waits out. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_KUBE_CORE_SIM_H
#define TESTS_KUBE_CORE_SIM_H

#include <check.h>
#include <string.h>

#include "kube/reflect_core.h"

struct sim {
	struct reflect_core core;
	struct core_step step;
	uint64_t now;
	double random;
};

static inline void sim_done(struct sim *s)
{
	reflect_core_done(&s->core);
}
#define SIM __attribute__((cleanup(sim_done))) struct sim

static inline struct sim begin(bool no_watchlist, uint32_t page_size)
{
	struct sim s = { .now = 1000000 };
	const struct core_config config = { no_watchlist, page_size, 0 };

	reflect_core_init(&s.core, &config);
	return s;
}

static inline void feed(struct sim *s, enum core_event event, const char *rv, const char *token,
			int64_t retry_ms)
{
	const struct core_input in = { event, s->now, s->random, STR_C(rv), STR_C(token), retry_ms };

	reflect_core_step(&s->core, &in, &s->step);
}

static inline void event(struct sim *s, enum core_event e)
{
	feed(s, e, "", "", 0);
}

/* Waits as told; then the request follows. */
static inline void wait_over(struct sim *s)
{
	ck_assert_uint_gt(s->step.wait_ms, 0);
	ck_assert_int_eq(s->step.request, CORE_NONE);
	s->now += s->step.wait_ms;
	event(s, CORE_START);
}

static inline void expect(const struct sim *s, enum core_request request, const char *query)
{
	ck_assert_int_eq(s->step.request, request);
	ck_assert_str_eq(s->step.query, query);
	ck_assert_uint_eq(s->step.wait_ms, 0);
}

/* An event, what it does to the list in hand and whether a wait follows, and after that the request. */
enum { LOST = 1, SYNCED = 2, BACKOFF = 4, WAIT = 8 };
static inline void sim_then(int line, struct sim *s, enum core_event e, const char *rv, const char *token,
			    unsigned does, enum core_request request, const char *query)
{
	feed(s, e, rv, token, 0);
	const unsigned did = (s->step.list_lost ? LOST : 0u) | (s->step.list_synced ? SYNCED : 0u) |
			     (s->step.backoff ? BACKOFF : 0u) | (s->step.wait_ms ? WAIT : 0u);

	ck_assert_msg(did == does, "line %d: did %u", line, did);
	if (did & WAIT)
		wait_over(s);
	ck_assert_msg(s->step.request == request && strcmp(s->step.query, query) == 0 && s->step.wait_ms == 0,
		      "line %d: %s", line, s->step.query);
}
#define then(s, event, ...)          sim_then(__LINE__, s, event, "", "", __VA_ARGS__)
#define then_at(s, event, rv, ...)   sim_then(__LINE__, s, event, rv, "", __VA_ARGS__)
#define then_page(s, rv, token, ...) sim_then(__LINE__, s, CORE_PAGE, rv, token, __VA_ARGS__)

#define WATCHLIST(rv)                                                                                        \
	"allowWatchBookmarks=true" rv                                                                        \
	"&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=300&watch=true"
#define WATCH(rv) "allowWatchBookmarks=true&resourceVersion=" rv "&timeoutSeconds=300&watch=true"

static inline struct sim watching(const char *rv)
{
	struct sim s = begin(false, 0);

	event(&s, CORE_START);
	feed(&s, CORE_SYNCED, rv, "", 0);
	s.now += 60000;
	return s;
}

/* One list of one page; the watch follows. */
static inline struct sim listed(const char *rv)
{
	struct sim s = begin(true, 0);

	event(&s, CORE_START);
	feed(&s, CORE_PAGE, rv, "", 0);
	s.now += 60000;
	return s;
}

#endif
