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
