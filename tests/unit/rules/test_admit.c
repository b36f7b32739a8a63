/* Admission: each guard alone on both sides of its border, their order, and what a trace tells. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "rules/admit.h"
#include "tests/english.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

#define T INT64_C(1000000000)

static struct admit_ask ask;
static struct duty_policy duty;
static struct budget *budget;
static struct breaker *breaker;
static struct facts common;

static void begin(void)
{
	duty = (struct duty_policy){ 0 };
	budget = budget_new();
	breaker = breaker_new();
	ask = (struct admit_ask){
		.policy = &duty,
		.now = T,
		.spend = { .duty = DUTY_IMAGE_PULL, .ns = 1, .node = 2, .pods = 1 },
		.budget = budget,
		.breaker = breaker,
		.common = &common,
	};
	common = (struct facts){ 0 };
	facts_finding(&common, TEXT_BREAKER);
	facts_count(&common, FACT_WORKLOADS, 31);
	facts_count(&common, FACT_LIMIT, 30);
}

static void end(void)
{
	budget_free(&budget);
	breaker_free(&breaker);
}

static void pause(void)
{
	ask.paused = true;
	ask.paused_by = "ada";
	static struct facts release;

	release = quoting("release");
	ask.paused_why = &release;
	ask.paused_until = T + HOUR;
}

static void follow(void)
{
	ask.leader = "other-1";
}

static void stale(void)
{
	ask.stale = true;
	ask.stale_why = TEXT_LISTING;
}

static void clocks(void)
{
	ask.clock_off = 2 * HOUR;
}

static void quiet(void)
{
	ask.quiet_until = T + 1;
}

static void window(void)
{
	ask.window_closed = true;
	ask.window_opens = T + 2 * HOUR;
}

static void burst(void)
{
	breaker_load(breaker, T, 31);
}

static void reverted(void)
{
	ask.spend.duty = DUTY_IMAGE_PULL;
	ask.reverted = (struct reverted){ .until = T + 3 * HOUR, .count = 2 };
}

static void loop(void)
{
	ask.spend.duty = DUTY_EVICTED;
	ask.loop_until = T + HOUR;
	ask.loop_count = 4;
}

static void spent(void)
{
	duty.max_per_hour = 1;
	budget_load(budget, &ask.spend, 1, T - MIN);
}

/* In the order of the table. */
static const struct {
	void (*hold)(void);
	enum guard guard;
	enum reason reason;
	enum block_scope scope;
	int64_t until;
	const char *says;
} rows[] = {
	{ pause, GUARD_PAUSE, REASON_PAUSED, BLOCK_DUTY, T + HOUR, "by ada: release" },
	{ follow, GUARD_LEADER, REASON_NOT_LEADER, BLOCK_ALL, 0, "other-1" },
	{ stale, GUARD_CACHE, REASON_CACHE_STALE, BLOCK_ALL, 0, "a list" },
	{ clocks, GUARD_CLOCK, REASON_CLOCK_UNCERTAIN, BLOCK_ALL, T + CLOCK_LOOK_MS, "2h ahead" },
	{ quiet, GUARD_QUIET, REASON_STARTUP_QUIET, BLOCK_NAMESPACE, T + 1, "1ms left" },
	{ window, GUARD_WINDOW, REASON_OUTSIDE_WINDOW, BLOCK_DUTY, T + 2 * HOUR, "opens in 2h" },
	{ burst, GUARD_BREAKER, REASON_BREAKER_OPEN, BLOCK_DUTY, 0, "31 workloads" },
	{ reverted, GUARD_REVERTED, REASON_REVERTED, BLOCK_WORKLOAD, T + 3 * HOUR, "2 times" },
	{ loop, GUARD_EVICT_LOOP, REASON_EVICT_LOOP, BLOCK_WORKLOAD_NODE, T + HOUR, "4 times" },
	{ spent, GUARD_BUDGET, REASON_BUDGET_SPENT, BLOCK_DUTY, T + 59 * MIN, "per hour: 1 of 1" },
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

TEST(nothing_against_it)
{
	struct block h;

	ask.quiet_until = T; /* over */
	ask.reverted = (struct reverted){ .until = T, .count = 3 };
	ck_assert(admit_ask(&ask, &h));
	ask.spend.duty = DUTY_EVICTED;
	burst(); /* only for errImagePull */
	ck_assert(admit_ask(&ask, &h));
}

TEST_LOOP(each_guard_alone, 0, (int)ROWS)
{
	struct block h;

	rows[_i].hold();
	ck_assert(!admit_ask(&ask, &h));
	ck_assert_int_eq(h.guard, rows[_i].guard);
	ck_assert_int_eq(h.reason, rows[_i].reason);
	ck_assert_int_eq(h.scope, rows[_i].scope);
	ck_assert_int_eq(h.until, rows[_i].until);
	ck_assert_msg(strstr(EN(h.evidence), rows[_i].says) != NULL, "%s: %s", guard_name(h.guard),
		      EN(h.evidence));
	english_told_facts(&h.evidence);
}

TEST(the_clock_that_is_ahead_is_named)
{
	struct block h;

	ask.clock_off = -2 * HOUR;
	ck_assert(!admit_ask(&ask, &h));
	ck_assert_int_eq(h.guard, GUARD_CLOCK);
	ck_assert_ptr_nonnull(strstr(EN(h.evidence), "this host is 2h ahead"));
	english_told_facts(&h.evidence);
}

TEST(the_first_of_the_table_is_told)
{
	struct block h;

	for (size_t i = ROWS; i-- > 0;) {
		rows[i].hold();
		ck_assert(!admit_ask(&ask, &h));
		ck_assert_int_eq(h.guard, rows[i].guard);
	}
}

/* A fresh attempt ends no workload. */
TEST(a_fresh_attempt_is_no_revert)
{
	struct block h;

	reverted();
	ask.retry = true;
	ck_assert(admit_ask(&ask, &h));
	spent();
	ck_assert(!admit_ask(&ask, &h));
}

static int told, held;

static void tell(void *ctx, enum guard g, bool holds, const struct block *h)
{
	(void)ctx;
	ck_assert_int_eq(g, told);
	ck_assert_str_ne(guard_name(g), "?");
	ck_assert(!holds || !*EN(h->evidence));
	held += !holds;
	told++;
}

TEST(a_trace_tells_every_guard)
{
	told = held = 0;
	window();
	spent();
	admit_trace(&ask, tell, NULL);
	ck_assert_int_eq(told, GUARD__MAX);
	ck_assert_int_eq(held, 2);
	ck_assert_str_eq(guard_name(GUARD__MAX), "?");
}

TEST_MAIN("rules/admit")
{
	tcase_add_checked_fixture(t, begin, end);
}
