/* test_trouble_list.c - when the reporter gets the row of a trouble, what it says of one with several parts,
 * and when a duty's failure is one. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "supervisor/actions/failures.h"
#include "supervisor/operator/trouble_list.h"
#include "tests/facts_en.h"
#include "world.h"

#define FIRST_DUTY  0
#define SECOND_DUTY 1

static struct supervisor *troubles(void)
{
	return stage_supervisor(w.s);
}

/* The details of two duties that are forbidden, NULL = that one is not, after `ms`. */
static void look_after(int64_t ms, const char *first, const char *second)
{
	forget();
	clock_fake_advance(ms);
	trouble_list_begin(troubles());
	if (first)
		trouble_list_add(troubles(), TROUBLE_FORBIDDEN, 0, FIRST_DUTY,
				 (struct facts[1]){ quoting(first) });
	if (second)
		trouble_list_add(troubles(), TROUBLE_FORBIDDEN, 0, SECOND_DUTY,
				 (struct facts[1]){ quoting(second) });
	trouble_list_end(troubles(), clock_boot_ms(), clock_wall_ms());
	stage_run(w.s);
}

/* What lasts is reported again. */
static void look(const char *first, const char *second)
{
	look_after(600000, first, second);
}

/* The TROUBLE_ROWs of that: "+detail" of one that begins or lasts, "-detail" of one that is over. */
static const char *rows(void)
{
	static char text[1024];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count(MSG_TROUBLE_ROW); i++) {
		const struct msg_trouble_row *r = &heard(MSG_TROUBLE_ROW, i)->u.trouble_row;

		if (r->trouble == TROUBLE_FORBIDDEN)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%c%s ", r->n ? '+' : '-',
					      EN(r->particulars));
	}
	return text;
}

static const struct msg_trouble_row *last_row(void)
{
	ck_assert_uint_gt(count(MSG_TROUBLE_ROW), 0);
	return &heard(MSG_TROUBLE_ROW, count(MSG_TROUBLE_ROW) - 1)->u.trouble_row;
}

TEST(is_reported_when_it_begins_and_when_it_is_over)
{
	open_history();
	look_after(0, "a", NULL);
	ck_assert_str_eq(rows(), "+a ");
	const int64_t since = last_row()->since;

	ck_assert_int_eq(since, clock_wall_ms());
	look_after(1000, "a", NULL);
	ck_assert_str_eq(rows(), "");
	look_after(1000, NULL, NULL);
	ck_assert_str_eq(rows(), "-a ");
	ck_assert_int_eq(last_row()->since, since);
	look_after(1000, "b", NULL);
	ck_assert_str_eq(rows(), "+b ");
	ck_assert_int_gt(last_row()->since, since);
}

TEST(is_reported_again_every_ten_minutes)
{
	open_history();
	look_after(0, "a", NULL);
	for (int i = 0; i < 3; i++) {
		look_after(599999, "a", NULL);
		ck_assert_str_eq(rows(), "");
		look_after(1, "a", NULL);
		ck_assert_str_eq(rows(), "+a ");
		look_after(0, "a", NULL);
		ck_assert_str_eq(rows(), "");
	}
}

TEST(another_detail_is_reported_once_a_minute)
{
	open_history();
	look_after(0, "a", NULL);
	look_after(0, "b", NULL);
	ck_assert_str_eq(rows(), "");
	look_after(60000, "c", NULL);
	ck_assert_str_eq(rows(), "+c ");
	look_after(60000, "c", NULL);
	ck_assert_str_eq(rows(), "");
}

TEST(the_headline_is_of_what_is_left)
{
	open_history();
	look("x", NULL);
	ck_assert_str_eq(trouble_list_headline(troubles()), "degraded");
	trouble_list_begin(troubles());
	trouble_list_add(troubles(), TROUBLE_CLUSTER_UNSEEN, 0, 0, NULL);
	trouble_list_end(troubles(), clock_boot_ms(), clock_wall_ms());
	ck_assert_str_eq(trouble_list_headline(troubles()), "blind");
	look(NULL, NULL);
	ck_assert_str_eq(trouble_list_headline(troubles()), "running");
}

TEST(it_is_all_that_stands_of_it)
{
	open_history();
	look("evicted: no", "finished: no");
	ck_assert_uint_eq(last_row()->n, 2);
	ck_assert_str_eq(EN(last_row()->particulars), "evicted: no; finished: no");
	const uint64_t since = (uint64_t)last_row()->since;

	look("evicted: no", "finished: not allowed");
	ck_assert_str_eq(EN(last_row()->particulars), "evicted: no; finished: not allowed");
	look(NULL, "finished: not allowed");
	ck_assert_uint_eq(last_row()->n, 1);
	ck_assert_str_eq(EN(last_row()->particulars), "finished: not allowed");
	ck_assert_uint_eq((uint64_t)last_row()->since, since);
	look(NULL, NULL);
	ck_assert_uint_eq(last_row()->n, 0);
}

static struct child *watcher(void)
{
	const struct children *all = lifecycle_children(stage_supervisor(w.s)->root);

	for (size_t i = 0; i < children_count(all); i++)
		if (child_info(children_get(all, i))->role == ROLE_WATCHER)
			return children_get(all, i);
	ck_abort();
}

static bool watcher_stays_away(void)
{
	return child_is_slow(watcher());
}

/* What the last one said before it died does not take turns with its death: the log would have a line of each
 * every minute. */
TEST(a_watcher_that_stays_away_is_one_trouble_with_one_detail)
{
	struct msg m = { .type = MSG_WATCH_STATS };
	const struct msg not_its_own = { .type = MSG_SAVED_END };

	open_history();
	m.u.watch_stats.error = quoting("no answer from the API server");
	say(ROLE_WATCHER, &m);
	for (int i = 0; i < 100 && !watcher_stays_away(); i++)
		say(ROLE_WATCHER, &not_its_own); /* for which it is killed */
	ck_assert(watcher_stays_away());
	trouble_list_check(troubles());
	stage_run(w.s);
	forget();
	for (int i = 0; i < 5; i++) {
		clock_fake_advance(60000);
		trouble_list_check(troubles());
	}
	stage_run(w.s);
	ck_assert_uint_eq(count(MSG_TROUBLE_ROW), 0);
	clock_fake_advance(300000); /* what lasts is told again */
	trouble_list_check(troubles());
	stage_run(w.s);
	size_t unseen = 0;

	for (size_t i = 0; i < count(MSG_TROUBLE_ROW); i++) {
		const struct msg_trouble_row *row = &heard(MSG_TROUBLE_ROW, i)->u.trouble_row;

		if (row->trouble != TROUBLE_CLUSTER_UNSEEN)
			continue;
		unseen++;
		ck_assert_str_eq(row->cluster_name, "test");
		ck_assert_msg(strncmp(EN(row->particulars), "the watcher: ", 13) == 0, "%s",
			      EN(row->particulars));
	}
	ck_assert_uint_eq(unseen, 1);
}

static bool stands(enum trouble kind)
{
	for (size_t i = count(MSG_TROUBLE_ROW); i-- > 0;)
		if (heard(MSG_TROUBLE_ROW, i)->u.trouble_row.trouble == kind)
			return heard(MSG_TROUBLE_ROW, i)->u.trouble_row.n > 0;
	return false;
}

/* As when thirty clusters are added, and the limit of descriptors or processes is low: the pauses between the
 * attempts grow, so that ten never come within a minute. */
TEST(a_watcher_that_cannot_be_started_is_a_trouble)
{
	open_history();
	w.o.no_watcher = true;
	stage_from_now(w.s, &w.o);
	stage_die(w.s, ROLE_WATCHER, 0);
	for (int i = 0; i < 20; i++) {
		child_event(watcher(), FSM_EV_TIMER);
		stage_pass(w.s, 31000);
		ck_assert(i < 5 || (stands(TROUBLE_PROCESS) && stands(TROUBLE_CLUSTER_UNSEEN)));
	}
	w.o.no_watcher = false;
	stage_from_now(w.s, &w.o);
	child_event(watcher(), FSM_EV_TIMER);
	stage_pass(w.s, 1000);
	ck_assert(!stands(TROUBLE_PROCESS) && !stands(TROUBLE_CLUSTER_UNSEEN));
}

/* An API server that cannot be reached is one trouble, whose remedy is not that of the Lease. */
TEST_LOOP(a_cluster_that_is_not_seen_has_no_trouble_of_its_lease, 0, 2)
{
	struct msg stats = { .type = MSG_WATCH_STATS, .u.watch_stats.synced = _i == 1 };
	struct msg lease = { .type = MSG_TROUBLE, .u.trouble.trouble = TROUBLE_LEASE };
	size_t told = 0;

	open_history();
	if (_i == 0)
		stats.u.watch_stats.error = quoting("no answer from the API server");
	lease.u.trouble.particulars = quoting("no answer");
	say(ROLE_WATCHER, &stats);
	say(ROLE_WATCHER, &lease);
	clock_fake_advance(1000);
	trouble_list_check(troubles());
	stage_run(w.s);
	for (size_t i = 0; i < count(MSG_TROUBLE_ROW); i++)
		told += heard(MSG_TROUBLE_ROW, i)->u.trouble_row.trouble == TROUBLE_LEASE;
	ck_assert_uint_eq(told, (size_t)_i);
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
	struct facts detail = { 0 };

	detail = quoting("cannot delete");
	failures_note(&f, 3, DUTY_EVICTED, OUTCOME_FORBIDDEN, &detail, 1000);
	ck_assert_ptr_null(failures_get(&f, 2, DUTY_EVICTED, 1000));
	ck_assert_ptr_null(failures_get(&f, 3, DUTY_FINISHED, 1000));
	ck_assert_str_eq(EN(failures_get(&f, 3, DUTY_EVICTED, 1000)->detail), "cannot delete");
	ck_assert(failures_get(&f, 3, DUTY_EVICTED, 1000)->forbidden);
	ck_assert_ptr_nonnull(failures_get(&f, 3, DUTY_EVICTED, 999 + FAILURE_LASTS_MS));
	ck_assert_ptr_null(failures_get(&f, 3, DUTY_EVICTED, 1000 + FAILURE_LASTS_MS));
	failures_note(&f, 3, DUTY_FINISHED, outcomes[_i].then, &detail, 1001);
	ck_assert_ptr_nonnull(failures_get(&f, 3, DUTY_EVICTED, 1001));
	failures_note(&f, 3, DUTY_EVICTED, outcomes[_i].then, &detail, 1001);
	ck_assert_int_eq(failures_get(&f, 3, DUTY_EVICTED, 1001) == NULL, outcomes[_i].heals);
}

TEST_MAIN("supervisor/trouble_list")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 60);
}
