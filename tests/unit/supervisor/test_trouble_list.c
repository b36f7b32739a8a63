/* test_trouble_list.c - when a trouble is told, and when a duty's failure is one. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "supervisor/actions/failures.h"
#include "supervisor/trouble_list.h"
#include "tests/suite.h"

#define MINUTE_MS 60000u

static struct trouble_list *list;
static char told[1024];
static uint64_t now;

static void tell(void *ctx, const struct standing_trouble *s, enum trouble_news news)
{
	static const char marks[] = "+=-";
	const size_t n = strlen(told);

	(void)ctx;
	(void)snprintf(told + n, sizeof(told) - n, "%c%s.%u(%.40s) ", marks[news],
		       trouble_desc(s->kind)->name, (unsigned)s->cluster, s->detail);
}

static void begin(void)
{
	list = trouble_list_new(tell, NULL);
	now = 1000;
}

static void end(void)
{
	trouble_list_free(&list);
}

/* One look: the WATCH trouble of cluster 0 with that detail, NULL = it is not there. */
static const char *look(const char *detail)
{
	told[0] = '\0';
	trouble_list_begin(list);
	if (detail)
		trouble_list_add(list, TROUBLE_WATCH, 0, 0, detail);
	trouble_list_end(list, now, (int64_t)now);
	return told;
}

TEST(is_told_when_it_begins_and_when_it_is_over)
{
	ck_assert_str_eq(look("a"), "+watch.0(a) ");
	ck_assert_uint_eq(trouble_list_count(list), 1);
	now += 1000;
	ck_assert_str_eq(look("a"), "");
	ck_assert_int_eq(trouble_list_get(list, 0)->since, 1000);
	ck_assert_str_eq(look(NULL), "-watch.0(a) ");
	ck_assert_uint_eq(trouble_list_count(list), 0);
	ck_assert_str_eq(look("b"), "+watch.0(b) ");
}

TEST(is_told_again_every_ten_minutes)
{
	(void)look("a");
	for (int i = 0; i < 3; i++) {
		now += 10 * MINUTE_MS - 1;
		ck_assert_str_eq(look("a"), "");
		now += 1;
		ck_assert_str_eq(look("a"), "=watch.0(a) ");
		ck_assert_str_eq(look("a"), "");
	}
}

TEST(another_detail_is_told_once_a_minute)
{
	(void)look("a");
	ck_assert_str_eq(look("b"), "");
	ck_assert_str_eq(trouble_list_get(list, 0)->detail, "b");
	now += MINUTE_MS;
	ck_assert_str_eq(look("c"), "=watch.0(c) ");
	now += MINUTE_MS;
	ck_assert_str_eq(look("c"), "");
}

TEST(what_ends_is_off_the_list_when_it_is_told)
{
	trouble_list_begin(list);
	trouble_list_add(list, TROUBLE_FORBIDDEN, 1, 0, "x");
	trouble_list_add(list, TROUBLE_FORBIDDEN, 1, 2, "y");
	trouble_list_add(list, TROUBLE_CLUSTER_UNSEEN, 1, 0, "z");
	trouble_list_end(list, now, 0);
	ck_assert_uint_eq(trouble_list_of(list, TROUBLE_FORBIDDEN, 1), 2);
	ck_assert_uint_eq(trouble_list_of(list, TROUBLE_FORBIDDEN, 0), 0);
	ck_assert(trouble_list_blind(list, 1) && !trouble_list_blind(list, 0));
	told[0] = '\0';
	trouble_list_begin(list);
	trouble_list_add(list, TROUBLE_FORBIDDEN, 1, 2, "y");
	trouble_list_end(list, now, 0);
	ck_assert_str_eq(told, "-forbidden.1(x) -cluster-unseen.1(z) ");
	ck_assert_uint_eq(trouble_list_of(list, TROUBLE_FORBIDDEN, 1), 1);
	ck_assert(!trouble_list_blind(list, 1));
}

static const struct {
	enum outcome then;
	bool heals;
} outcomes[] = {
	{ OUTCOME_DONE, true },      { OUTCOME_MARKED, true },     { OUTCOME_WOULD, true },
	{ OUTCOME_ANNOUNCED, true }, { OUTCOME_GONE, false },      { OUTCOME_REFUSED, false },
	{ OUTCOME_CONFLICT, false }, { OUTCOME_FORBIDDEN, false }, { OUTCOME_FAILED, false },
};

TEST_LOOP(a_failure_lasts_until_a_success_or_an_hour, 0, ARRAY_SIZE(outcomes))
{
	struct failures f = { 0 };

	failures_note(&f, 3, DUTY_EVICTED, OUTCOME_FORBIDDEN, "cannot delete", 1000);
	ck_assert_ptr_null(failures_get(&f, 2, DUTY_EVICTED, 1000));
	ck_assert_ptr_null(failures_get(&f, 3, DUTY_FINISHED, 1000));
	ck_assert_str_eq(failures_get(&f, 3, DUTY_EVICTED, 1000)->detail, "cannot delete");
	ck_assert(failures_get(&f, 3, DUTY_EVICTED, 1000)->forbidden);
	ck_assert_ptr_nonnull(failures_get(&f, 3, DUTY_EVICTED, 999 + FAILURE_LASTS_MS));
	ck_assert_ptr_null(failures_get(&f, 3, DUTY_EVICTED, 1000 + FAILURE_LASTS_MS));
	failures_note(&f, 3, DUTY_FINISHED, outcomes[_i].then, "", 1001);
	ck_assert_ptr_nonnull(failures_get(&f, 3, DUTY_EVICTED, 1001));
	failures_note(&f, 3, DUTY_EVICTED, outcomes[_i].then, "", 1001);
	ck_assert_int_eq(failures_get(&f, 3, DUTY_EVICTED, 1001) == NULL, outcomes[_i].heals);
}

TEST_MAIN("supervisor/trouble_list")
{
	tcase_add_checked_fixture(t, begin, end);
}
