/* R3: a pull that fails for a cause that could be the registry's is judged by what other workloads pull. */
// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

#include <stdio.h>

#include "tests/suite.h"
#include "watcher/guards/pulls.h"

#define HOST  "r.example.com/"
#define OTHER STR_LIT("0b8f0f3e-3333-4000-8000-000000000001")
#define THIRD STR_LIT("0b8f0f3e-3333-4000-8000-000000000002")

static struct pod_facts failing; /* the pod that fails */

static struct pod_facts fails_by_timeout(const char *image)
{
	struct pod_facts p = pod_pull_failing();

	p.containers[0].image = STR_C(image);
	p.containers[0].message = STR_LIT("dial tcp 10.0.0.9:443: i/o timeout");
	return p;
}

static struct pod_facts another(const char *image, bool runs)
{
	struct pod_facts p = runs ? pod_healthy() : pod_pull_failing();

	p = sibling(&p, "other", UID_2);
	p.owner.uid = OTHER;
	p.rv = runs ? STR_LIT("8") : STR_LIT("7");
	if (runs)
		p.containers[0].state = CONTAINER_RUNNING;
	else
		p.containers[0].reason = STR_LIT("ContainerCreating");
	p.n_containers = 1;
	p.containers[0].image = STR_C(image);
	return p;
}

/* The threshold is over, and nothing happens: it may be the registry. */
static struct pod_facts refused_after(int64_t ms)
{
	struct pod_facts p = fails_by_timeout(HOST "app:1");

	list_set(&policy.duty[DUTY_IMAGE_PULL].causes, "permanent,auth,misconfigured,unknown");
	p = ready_one(p);
	failing = p;
	pass(ms);
	ck_assert_str_eq(last(MSG_REFUSAL)->u.refusal.reason, "CauseTransient");
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	return p;
}

static struct pod_facts refused(void)
{
	return refused_after(HOURS + 60000);
}

/* It tries, in vain. */
static void tries_again(void)
{
	const bool off = str_is(failing.containers[0].reason, "ErrImagePull");

	failing.containers[0].reason = off ? STR_LIT("ImagePullBackOff") : STR_LIT("ErrImagePull");
	event(&failing);
}

/* What others pull counts when this one has had the time to try again; the threshold here is 2 min. */
static size_t after_its_next_attempt(void)
{
	pass(HOURS + 1000);
	tries_again();
	pass(1000);
	return count(MSG_NOMINATE);
}

TEST(another_workload_pulled)
{
	const struct pod_facts creating = another(HOST "team/x:2", false),
			       runs = another(HOST "team/x:2", true);

	(void)refused();
	event(&creating);
	ck_assert_uint_eq(after_its_next_attempt(), 0);
	event(&runs);
	pass(HOURS - 1000);
	tries_again();
	ck_assert_uint_eq(count(MSG_NOMINATE), 0); /* it may still be in its back-off */
	ck_assert_uint_eq(after_its_next_attempt(), 1);
	ck_assert_int_gt(last(MSG_NOMINATE)->u.nominate.others_pulled_at,
			 last(MSG_NOMINATE)->u.nominate.since);
}

/* Nothing is known of the registry by: a pod that ran before we looked, another host, the workload itself. */
TEST(what_is_no_pull_of_another_workload)
{
	static const char *const images[] = { HOST "team/x:2", "s.example.com/team/x:2", HOST "team/x:2" };

	for (int i = 0; i < 3; i++) {
		struct pod_facts creating = another(images[i], false), runs = another(images[i], true);
		const struct pod_facts p = refused();

		if (i == 2)
			creating.owner.uid = runs.owner.uid = p.owner.uid;
		creating.revision = runs.revision = STR_LIT("2");
		if (i > 0)
			event(&creating);
		event(&runs);
		ck_assert_uint_eq(after_its_next_attempt(), 0);
		end();
		begin();
	}
}

/* Where another pod of the revision runs already, the image may have lain on the node. */
TEST(a_second_pod_of_a_revision_may_not_have_pulled)
{
	const struct pod_facts runs = another(HOST "team/x:2", true);
	struct pod_facts creating = another(HOST "team/x:2", false), second = runs;

	(void)refused();
	event(&runs);
	creating = sibling(&creating, "second", UID_3);
	second = sibling(&second, "second", UID_3);
	event(&creating);
	event(&second);
	ck_assert_uint_eq(after_its_next_attempt(), 0);
}

/* -- by itself -- */

static struct pod_facts pulls_from(const char *image)
{
	return fails_by_timeout(image);
}

/* Nobody tells that the pod changed: it is judged by itself once the pull is ten minutes ago. */
TEST(a_pull_is_looked_at_when_it_has_settled)
{
	const struct pod_facts creating = another(HOST "team/x:2", false),
			       runs = another(HOST "team/x:2", true);

	policy.duty[DUTY_IMAGE_PULL].hours_ms = 60 * INT64_C(60000);
	(void)refused_after(61 * INT64_C(60000));
	event(&creating);
	event(&runs);
	for (int i = 0; i < 9; i++)
		pass(60000);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	for (int i = 0; i < 3; i++)
		pass(60000);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

#define SETTLE INT64_C(600000)

TEST(the_first_of_another_owner)
{
	struct pulls *p = pulls_new();
	const struct pod_facts x = pulls_from(HOST "x"), y = pulls_from("s.example.com/y");

	ck_assert_int_eq(pulls_of_others(p, OTHER, &x, INT64_MAX), 0);
	ck_assert(!pulls_take_news(p, INT64_MAX));
	pulls_note(p, OTHER, &x, 100);
	ck_assert(!pulls_take_news(p, 99 + SETTLE));
	ck_assert(pulls_take_news(p, 100 + SETTLE));
	ck_assert(!pulls_take_news(p, 101 + SETTLE));
	ck_assert_int_eq(pulls_of_others(p, OTHER, &x, INT64_MAX), 0);
	ck_assert_int_eq(pulls_of_others(p, THIRD, &x, 99), 0);
	ck_assert_int_eq(pulls_of_others(p, THIRD, &x, 100), 100);
	ck_assert_int_eq(pulls_of_others(p, THIRD, &y, INT64_MAX), 0);
	pulls_note(p, THIRD, &x, 200);
	pulls_note(p, THIRD, &x, 300);
	ck_assert_int_eq(pulls_of_others(p, OTHER, &x, INT64_MAX), 200);
	ck_assert_int_eq(pulls_of_others(p, THIRD, &x, INT64_MAX), 100);
	pulls_free(&p);
}

/* However often it is pulled from, there is always one pull that is as long ago as is asked for, and not
 * longer than twice that. */
TEST(of_many_pulls_one_is_old_enough)
{
	struct pulls *p = pulls_new();
	const struct pod_facts x = pulls_from(HOST "x");

	for (int64_t at = 1000; at < 10 * SETTLE; at += 1000) {
		pulls_note(p, OTHER, &x, at);
		const int64_t was = pulls_of_others(p, THIRD, &x, at - SETTLE);

		ck_assert(at < SETTLE + 1000 ? was == 0 : was <= at - SETTLE && was >= at - 2 * SETTLE);
	}
	pulls_free(&p);
}

/* Of two hosts that a pod waits for, the one that was pulled from longest ago counts. */
TEST(every_host_that_it_waits_for)
{
	struct pulls *p = pulls_new();
	struct pod_facts both = pulls_from(HOST "x");
	const struct pod_facts x = both, y = pulls_from("s.example.com/y");

	both.n_containers = 2;
	both.containers[1] = y.containers[0];
	pulls_note(p, OTHER, &x, 300);
	ck_assert_int_eq(pulls_of_others(p, THIRD, &both, INT64_MAX), 0);
	pulls_note(p, OTHER, &y, 200);
	ck_assert_int_eq(pulls_of_others(p, THIRD, &both, INT64_MAX), 200);
	pulls_free(&p);
}

/* However many hosts there are; the one that was pulled from longest ago is forgotten first. */
TEST(hosts_are_bounded)
{
	struct pulls *p = pulls_new();
	char image[64];
	int known = 0;

	for (int i = 0; i < 1000; i++) {
		(void)snprintf(image, sizeof(image), "r%d.example.com/x", i);
		const struct pod_facts x = pulls_from(image);

		pulls_note(p, OTHER, &x, 1 + i);
	}
	for (int i = 0; i < 1000; i++) {
		(void)snprintf(image, sizeof(image), "r%d.example.com/x", i);
		const struct pod_facts x = pulls_from(image);
		const int64_t at = pulls_of_others(p, THIRD, &x, INT64_MAX);

		ck_assert(at == 0 || at == 1 + i);
		ck_assert(i < 900 || at);
		known += at != 0;
	}
	ck_assert_int_lt(known, 300);
	pulls_free(&p);
}

TEST_MAIN("watcher/pulls")
{
	tcase_add_checked_fixture(t, begin, end);
}
