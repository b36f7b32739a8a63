/* Prefetch: an action that has no grant yet reads and judges, but writes nothing and does not end. */
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "fake.h"
#include "tests/suite.h"

#define GET    "GET " POD_PATH
#define DELETE "DELETE " POD_PATH

static void setup(void)
{
	fake_setup();
	fake.grant.duty = DUTY_EVICTED;
	fake.grant.action = ACTION_DELETE;
	on_pod("5", "", "", "'phase':'Failed','reason':'Evicted'");
	(void)on(DELETE, 200, "{'kind':'Pod','metadata':{'uid':'pod-1'}}");
}

/* Longer after the reading than what was read may count. */
static void grant_late(void)
{
	clock_fake_advance(ACTION_FRESH_MS + 1);
	fake.grant.valid_until += ACTION_FRESH_MS;
	grant();
}

TEST(nothing_is_written_before_the_grant)
{
	go_prefetch();
	fake_drain();
	REQUESTS(GET);
	ck_assert_uint_eq(fake.done, 0);
	grant();
	REQUESTS(GET, DELETE);
	RESULT(DONE, EVICTED);
}

TEST(a_grant_that_comes_while_it_reads)
{
	go_prefetch();
	grant();
	REQUESTS(GET, DELETE);
	RESULT(DONE, EVICTED);
}

TEST(an_end_waits_for_the_grant)
{
	(void)on(GET, 404, "{'kind':'Status','reason':'NotFound','details':{'name':'web'},'code':404}");
	go_prefetch();
	fake_drain();
	ck_assert_uint_eq(fake.done, 0);
	grant();
	REQUESTS(GET);
	RESULT(GONE, POD_GONE);
}

/* Another worker had the lease meanwhile and died: what it is gone by may be that one's delete. */
TEST(an_end_is_looked_at_again_when_an_earlier_holder_died)
{
	(void)on(GET, 404, "{'kind':'Status','reason':'NotFound','details':{'name':'web'},'code':404}");
	go_prefetch();
	fake_drain();
	fake.grant.verify_first = true;
	grant();
	REQUESTS(GET, GET);
	RESULT(UNCONFIRMED, PROBABLY_DONE);
}

TEST(an_old_end_is_looked_at_again)
{
	on(GET, 503, "{'kind':'Status','code':503}")->times = 1;
	go_prefetch();
	fake_drain();
	grant_late();
	REQUESTS(GET, GET, DELETE);
	RESULT(DONE, EVICTED);
	ck_assert_uint_eq(fake.result.retry_ms, 0);
}

TEST(an_old_read_is_no_ground_for_a_write)
{
	go_prefetch();
	fake_drain();
	grant_late();
	REQUESTS(GET, GET, DELETE);
	RESULT(DONE, EVICTED);
}

/* Judged by settings that hold no more: the duty was switched off, or the namespace excluded, meanwhile. */
TEST_LOOP(other_settings_judge_anew, 0, 3)
{
	struct policy other = fake.policy;

	go_prefetch();
	fake_drain();
	if (_i == 1)
		other.duty[DUTY_EVICTED].enable = false;
	else if (_i == 2)
		str_list_add(&other.exclude_namespaces, "shop", 4);
	settings_change(&other);
	grant();
	if (_i == 0) {
		REQUESTS(GET, GET, DELETE);
		RESULT(DONE, EVICTED);
	} else {
		REQUESTS(GET, GET);
		expect_result(OUTCOME_REFUSED, _i == 1 ? REASON_DUTY_DISABLED : REASON_NAMESPACE_EXCLUDED,
			      __LINE__);
	}
	str_list_done(&other.exclude_namespaces);
}

/* What the grant says counts, not what was known before it. */
TEST(the_grant_bounds_the_write)
{
	go_prefetch();
	fake_drain();
	fake.grant.valid_until = BOOT - 1;
	grant();
	REQUESTS(GET);
	RESULT(FAILED, GRANT_EXPIRED);
}

TEST(a_grant_that_never_comes)
{
	go_prefetch();
	give_up();
	go_prefetch();
	fake_drain();
	give_up();
	REQUESTS(GET); /* the first had only asked for the namespace */
	ck_assert_uint_eq(fake.done, 0);
}

TEST_MAIN("worker/prefetch")
{
	tcase_add_checked_fixture(t, setup, fake_teardown);
}
