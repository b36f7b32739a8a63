/* test_pause_list.c - which duties of which clusters are held, until when, and what resuming takes off. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "model/duties.h"
#include "supervisor/actions/pause_list.h"
#include "tests/suite.h"

#define NOW INT64_C(1700000000000)

static struct pause_list list, *const l = &list;

static void setup(void)
{
	list = (struct pause_list){ 0 };
}

static struct msg_pause scope(const char *cluster, int64_t duty, int64_t until)
{
	struct msg_pause p = { .duty = duty, .on = true, .at = NOW, .until = until };

	(void)snprintf(p.cluster_name, sizeof(p.cluster_name), "%s", cluster);
	return p;
}

static void add(const char *cluster, int64_t duty, int64_t until)
{
	const struct msg_pause p = scope(cluster, duty, until);

	ck_assert_ptr_nonnull(pause_list_set(l, &p));
}

/* The entry says of its scope exactly what p says. */
static bool have(const struct msg_pause *p)
{
	const struct pause *e = pause_list_find_scope(l, p);

	return e && e->p.at == p->at && e->p.until == p->until && strcmp(e->p.by, p->by) == 0 &&
	       facts_equal(&e->p.why, &p->why);
}

static size_t take_all(const char *cluster, int64_t duty)
{
	const struct msg_pause within = scope(cluster, duty, 0);
	struct pause *e;
	size_t n = 0;

	for (size_t i = 0; (e = pause_list_get(l, i));) {
		if (!pause_covers(&within, e->p.cluster_name, e->p.duty)) {
			i++;
			continue;
		}
		pause_list_remove(l, e);
		n++;
	}
	return n;
}

static bool is_paused(const char *cluster, uint64_t duty, int64_t now)
{
	return pause_list_pauses(l, cluster, duty, now, true);
}

TEST(scope_holds_what_it_names)
{
	static const struct {
		const char *cluster;
		int64_t duty;
		bool prod_evicted, prod_terminating, staging_evicted;
	} cases[] = { { "", -1, true, true, true },
		      { "", DUTY_EVICTED, true, false, true },
		      { "prod", -1, true, true, false },
		      { "prod", DUTY_TERMINATING, false, true, false } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		add(cases[i].cluster, cases[i].duty, 0);
		ck_assert(is_paused("prod", DUTY_EVICTED, NOW) == cases[i].prod_evicted);
		ck_assert(is_paused("prod", DUTY_TERMINATING, NOW) == cases[i].prod_terminating);
		ck_assert(is_paused("staging", DUTY_EVICTED, NOW) == cases[i].staging_evicted);
		ck_assert_uint_eq(take_all("", -1), 1);
	}
	ck_assert(!is_paused("prod", DUTY_EVICTED, NOW));
}

TEST(end_is_exact)
{
	const struct msg_pause with = scope("", -1, NOW + 10), without = scope("prod", -1, 0);
	const struct pause *ends = pause_list_set(l, &with), *stays = pause_list_set(l, &without);

	ck_assert_ptr_nonnull(ends);
	ck_assert_ptr_nonnull(stays);
	ck_assert(!pause_has_ended(ends, NOW + 9, true));
	ck_assert(is_paused("staging", 0, NOW + 9));
	ck_assert(!is_paused("staging", 0, NOW + 10)); /* even before it is taken off */
	ck_assert(pause_has_ended(ends, NOW + 10, true));
	ck_assert(!pause_has_ended(stays, INT64_MAX, true)); /* the one without an end stays */
	ck_assert(is_paused("prod", 0, INT64_MAX));
}

TEST(resumed_is_not_in_force_before_it_is_taken_off)
{
	add("prod", -1, 0);
	add("", DUTY_EVICTED, 0);
	pause_list_get(l, 0)->p.on = false;
	ck_assert(!is_paused("prod", DUTY_TERMINATING, NOW));
	ck_assert(is_paused("prod", DUTY_EVICTED, NOW));
	pause_list_remove(l, pause_list_get(l, 0));
	ck_assert_int_eq(pause_list_get(l, 0)->p.duty, DUTY_EVICTED);
	ck_assert(!(l->n == 0));
	pause_list_remove(l, pause_list_get(l, 0));
	ck_assert((l->n == 0));
}

TEST(same_scope_is_replaced)
{
	const struct msg_pause old = scope("prod", -1, NOW + 1), new = scope("prod", -1, NOW + 2);

	ck_assert_ptr_nonnull(pause_list_set(l, &old));
	ck_assert(have(&old));
	ck_assert_ptr_eq(pause_list_set(l, &new), pause_list_find_scope(l, &old));
	ck_assert(!have(&old));
	ck_assert(have(&new));
	ck_assert_ptr_null(pause_list_get(l, 1));
	ck_assert_int_eq(pause_list_get(l, 0)->p.until, NOW + 2);
}

TEST(resume_takes_what_lies_within_and_nothing_else)
{
	add("", -1, 0);
	add("prod", -1, 0);
	add("prod", DUTY_EVICTED, 0);
	add("staging", DUTY_EVICTED, 0);
	ck_assert_uint_eq(take_all("prod", DUTY_TERMINATING), 0);
	ck_assert_uint_eq(take_all("", DUTY_EVICTED), 2);
	ck_assert_uint_eq(take_all("prod", -1), 1);
	ck_assert(is_paused("prod", DUTY_EVICTED, NOW)); /* by the one for everything */
	ck_assert_uint_eq(take_all("", -1), 1);
	ck_assert_ptr_null(pause_list_get(l, 0));
}

/* What a resume leaves in force and has to name. */
TEST(scopes_that_share_an_action_meet)
{
	const struct msg_pause all = scope("", -1, 0), prod = scope("prod", -1, 0),
			       staging = scope("staging", -1, 0), evicted = scope("", DUTY_EVICTED, 0),
			       pull = scope("prod", DUTY_IMAGE_PULL, 0);

	ck_assert(pause_meets(&all, &pull));
	ck_assert(pause_meets(&pull, &all));
	ck_assert(pause_meets(&prod, &evicted));
	ck_assert(pause_meets(&evicted, &prod));
	ck_assert(!pause_meets(&prod, &staging));
	ck_assert(!pause_meets(&evicted, &pull));
}

TEST(full_list_says_so)
{
	char name[32];

	for (size_t i = 0; i < PAUSES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "c%zu", i);
		add(name, -1, 0);
	}
	const struct msg_pause one_more = scope("another", -1, 0), known = scope("c7", -1, NOW + 7);

	ck_assert_ptr_null(pause_list_set(l, &one_more));
	ck_assert_ptr_nonnull(pause_list_set(l, &known));
	ck_assert_uint_eq(take_all("", -1), PAUSES_MAX);
}

TEST_MAIN("supervisor/pause_list")
{
	tcase_add_checked_fixture(t, setup, NULL);
}
