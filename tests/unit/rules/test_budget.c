/* Budgets: both sides of every limit, open acts, and that no window of real writes ever holds more. */
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "fixture.h"
#include "rules/budget.h"
#include "tests/suite.h"

#define T INT64_C(1000000000)

static struct budget *b;
static struct duty_policy limits;

static void begin(void)
{
	b = budget_new();
	limits = (struct duty_policy){ 0 };
}

static void end(void)
{
	budget_free(&b);
}

static struct spend spend(uint32_t ns, uint32_t node, uint32_t pods)
{
	return (struct spend){ .duty = DUTY_EVICTED, .ns = ns, .node = node, .pods = pods };
}

static bool ok(const struct spend *s, int64_t now)
{
	return budget_ask(b, &limits, s, now).ok;
}

static void act(uint32_t id, const struct spend *s, int64_t now)
{
	budget_charge(b, id, s);
	ck_assert(budget_settle(b, id, true, now));
}

static const struct {
	size_t member;
	int64_t window;
	enum budget_limit limit;
} windows[] = {
	{ offsetof(struct duty_policy, max_per_minute), BUDGET_MINUTE_MS, BUDGET_PER_MINUTE },
	{ offsetof(struct duty_policy, max_per_hour), BUDGET_HOUR_MS, BUDGET_PER_HOUR },
	{ offsetof(struct duty_policy, max_per_day), BUDGET_DAY_MS, BUDGET_PER_DAY },
	{ offsetof(struct duty_policy, max_per_namespace_hour), BUDGET_HOUR_MS, BUDGET_NAMESPACE_HOUR },
};

TEST_LOOP(a_sliding_window, 0, sizeof(windows) / sizeof(windows[0]))
{
	struct spend s = spend(1, 2, 1);
	struct budget_verdict v;

	*(int64_t *)(void *)((char *)&limits + windows[_i].member) = 2;
	ck_assert(ok(&s, T));
	act(7, &s, T);
	ck_assert(ok(&s, T + 10));
	act(8, &s, T + 10);
	v = budget_ask(b, &limits, &s, T + 10);
	ck_assert(!v.ok);
	ck_assert_int_eq(v.limit, windows[_i].limit);
	ck_assert_int_eq(v.spent, 2);
	ck_assert_int_eq(v.max, 2);
	ck_assert_int_eq(v.until, T + windows[_i].window);
	ck_assert(!ok(&s, T + windows[_i].window - 1));
	ck_assert(ok(&s, T + windows[_i].window));
	act(9, &s, T + windows[_i].window);
	v = budget_ask(b, &limits, &s, T + windows[_i].window);
	ck_assert(!v.ok);
	ck_assert_int_eq(v.until, T + 10 + windows[_i].window);
}

/* Settled in any order, each is the one that was charged under its id. */
TEST(open_acts_are_found_again)
{
	enum { N = 500 };
	uint32_t order[N];

	srand(3);
	for (uint32_t i = 0; i < N; i++) {
		const struct spend s = { .duty = i % 2 ? DUTY_EVICTED : DUTY_TERMINATING,
					 .ns = i + 1,
					 .pods = 1 };

		budget_charge(b, i + 1, &s);
		budget_charge(b, i + 1, &s);
		order[i] = i;
	}
	for (uint32_t i = 0; i < N; i++) {
		const uint32_t with = (uint32_t)rand() % N, id = order[i];

		order[i] = order[with];
		order[with] = id;
	}
	for (uint32_t i = 0; i < N; i++) {
		const uint32_t id = order[i];
		const enum duty d = id % 2 ? DUTY_EVICTED : DUTY_TERMINATING;

		ck_assert_int_eq(budget_pods(b, d, id + 1, 0, T), 1);
		ck_assert(budget_settle(b, id + 1, false, T));
		ck_assert_int_eq(budget_pods(b, d, id + 1, 0, T), 0);
		ck_assert(!budget_settle(b, id + 1, false, T));
	}
	ck_assert(budget_is_empty(b));
	ck_assert(!budget_settle(b, N + 1000, true, T));
}

TEST(open_acts_count_until_their_end)
{
	struct spend s = spend(1, 2, 1);
	struct budget_verdict v;

	limits.max_per_minute = 1;
	budget_charge(b, 7, &s);
	budget_charge(b, 7, &s); /* asked again for the same subject: one act */
	v = budget_ask(b, &limits, &s, T + 10 * BUDGET_MINUTE_MS);
	ck_assert(!v.ok);
	ck_assert_int_eq(v.spent, 1);
	ck_assert_int_eq(v.until, 0); /* with its end */
	/* It ended late: the minute begins with its end, not with its beginning. */
	ck_assert(budget_settle(b, 7, true, T));
	ck_assert(!ok(&s, T + BUDGET_MINUTE_MS - 1));
	ck_assert(ok(&s, T + BUDGET_MINUTE_MS));
	ck_assert(!budget_settle(b, 7, true, T)); /* once */
}

TEST(what_was_not_written_is_given_back)
{
	struct spend s = spend(1, 2, 1);

	limits.max_per_day = 1;
	budget_charge(b, 7, &s);
	ck_assert(!ok(&s, T));
	ck_assert(budget_settle(b, 7, false, T));
	ck_assert(ok(&s, T));
	ck_assert(budget_is_empty(b));
}

TEST(scopes_do_not_mix)
{
	struct spend here = spend(1, 2, 1), there = spend(3, 4, 1), other = here;

	other.duty = DUTY_TERMINATING;
	limits.max_per_namespace_hour = 1;
	act(7, &here, T);
	ck_assert(!ok(&here, T));
	ck_assert(ok(&there, T));
	ck_assert(ok(&other, T));
	limits.max_per_hour = 1;
	ck_assert(!ok(&there, T));
	ck_assert(ok(&other, T));
}

/* 20 % of 10 pods are 2; one is always allowed, also of 3. */
TEST(shares)
{
	struct spend s = spend(1, 2, 1);

	limits.max_percent_namespace = 20;
	s.ns_pods = 10;
	act(7, &s, T);
	ck_assert(ok(&s, T));
	act(8, &s, T);
	ck_assert(!ok(&s, T));
	ck_assert_int_eq(budget_ask(b, &limits, &s, T).limit, BUDGET_NAMESPACE_SHARE);
	ck_assert(!ok(&s, T + BUDGET_HOUR_MS - 1));
	ck_assert(ok(&s, T + BUDGET_HOUR_MS));
	s = spend(5, 6, 3);
	s.ns_pods = 3;
	ck_assert(ok(&s, T)); /* a whole workload, the first act */
	act(9, &s, T);
	s.pods = 1;
	ck_assert(!ok(&s, T));
	limits.max_percent_namespace = 0;
	limits.max_percent_node = 50;
	s.node_pods = 4;
	ck_assert(!ok(&s, T));
	s.node = 7;
	ck_assert(ok(&s, T));
	s.node = 0; /* never scheduled: no share of anything */
	ck_assert(ok(&s, T));
}

TEST(a_share_of_a_workload_larger_than_allowed_waits_for_all)
{
	struct spend one = spend(1, 0, 1), five = spend(1, 0, 5);
	struct budget_verdict v;

	limits.max_percent_namespace = 20;
	one.ns_pods = five.ns_pods = 10;
	act(7, &one, T);
	v = budget_ask(b, &limits, &five, T + 5);
	ck_assert(!v.ok);
	ck_assert_int_eq(v.until, T + BUDGET_HOUR_MS);
	ck_assert(ok(&five, v.until));
}

TEST(an_earlier_life_counts)
{
	struct spend s = spend(1, 2, 1);

	limits.max_per_hour = 2;
	budget_load(b, &s, 1, T + 100);
	budget_load(b, &s, 1, T - BUDGET_HOUR_MS); /* told out of order, and too old */
	ck_assert(ok(&s, T));
	budget_load(b, &s, 1, T - 100);
	ck_assert(!ok(&s, T + 100));
	ck_assert_int_eq(budget_ask(b, &limits, &s, T + 100).until, T - 100 + BUDGET_HOUR_MS);
	/* Pods whose acts were counted elsewhere count for shares alone. */
	s = spend(9, 0, 4);
	budget_load(b, &s, 0, T);
	ck_assert_int_eq(budget_pods(b, DUTY_EVICTED, 9, 0, T), 4);
	ck_assert_int_eq(budget_pods(b, DUTY_EVICTED, 9, 0, T + BUDGET_HOUR_MS), 0);
	limits.max_per_hour = 0;
	limits.max_per_namespace_hour = 1;
	ck_assert(ok(&s, T));
}

TEST(expiry_takes_only_what_is_over)
{
	struct spend s = spend(1, 2, 1);

	limits.max_per_day = 1;
	act(7, &s, T);
	budget_expire(b, T + BUDGET_DAY_MS - 1);
	ck_assert(!ok(&s, T + BUDGET_DAY_MS - 1));
	budget_expire(b, T + BUDGET_DAY_MS);
	ck_assert(budget_is_empty(b));
}

TEST(a_copy_is_a_copy)
{
	struct spend s = spend(1, 2, 1);
	struct budget *copy;

	limits.max_per_hour = 1;
	copy = budget_clone(b);
	budget_charge(copy, 7, &s);
	ck_assert(!budget_ask(copy, &limits, &s, T).ok);
	ck_assert(ok(&s, T));
	budget_free(&copy);
}

/* Whatever the order of asking, slow acts and failures: in no minute were more than five written. */
TEST(property_no_window_holds_more)
{
	struct spend s = spend(1, 2, 1);
	static int64_t written[20000];
	struct {
		uint32_t id;
		int64_t write, end;
	} open[64];
	size_t n_open = 0, n = 0;
	uint32_t id = 1;

	srandom(20261121);
	limits.max_per_minute = 5;
	for (int64_t now = T; now < T + 3 * BUDGET_HOUR_MS; now += 1 + random() % 500) {
		for (size_t i = 0; i < n_open;) {
			if (open[i].end > now) {
				i++;
				continue;
			}
			bool wrote = random() % 4 > 0;

			if (wrote)
				written[n++] = open[i].write;
			ck_assert(budget_settle(b, open[i].id, wrote, now));
			open[i] = open[--n_open];
		}
		if (n_open == 64 || !ok(&s, now))
			continue;
		int64_t write = now + random() % 90000;

		open[n_open].id = ++id;
		open[n_open].write = write;
		open[n_open++].end = write + random() % 2000;
		budget_charge(b, id, &s);
	}
	ck_assert_uint_gt(n, 100);
	for (size_t i = 0; i < n; i++) {
		int in = 0;

		for (size_t k = 0; k < n; k++)
			in += written[k] > written[i] - BUDGET_MINUTE_MS && written[k] <= written[i];
		ck_assert_int_le(in, 5);
	}
}

TEST_MAIN("rules/budget")
{
	tcase_add_checked_fixture(t, begin, end);
}
