/* test_plan.c - a plan is what would be done, by the code that does it, and changes nothing; explain tells
 * guards. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "harness.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "watcher/controller/questions.h"

#define MANY     600
#define ROWS_MAX 2048

static struct questions *questions;
static struct msg rows[ROWS_MAX];
static size_t n_rows;
static int answer_room;

static int answer(void *ctx, const struct msg *m)
{
	(void)ctx;
	if (answer_room == 0)
		return -EAGAIN;
	answer_room--;
	ck_assert_uint_lt(n_rows, ROWS_MAX);
	rows[n_rows++] = *m;
	return 0;
}

static const struct outlet answers = { answer, NULL };

static void open(void)
{
	begin();
	questions = questions_new(c, &answers);
	n_rows = 0;
	answer_room = 1 << 30;
}

static void close_all(void)
{
	questions_free(&questions);
	end();
}

/* As many(), but all of one workload. */
static void siblings(struct pod_facts p, int n)
{
	static struct pod_facts pods[MANY];

	for (int i = 0; i < n; i++) {
		pods[i] = nth(&p, i);
		pods[i].owner = p.owner;
	}
	ready_with(pods, (size_t)n);
}

static struct msg_ctl_plan_seen seen; /* of the last plan */

/* The rows of the answer, with the end cut off. */
static const struct msg_ctl_end *answer_to(const struct msg *question, int more_room)
{
	n_rows = 0;
	ck_assert(questions_on_msg(questions, question));
	for (int i = 0; questions_open(questions) && i < 10000; i++) {
		(void)questions_step(questions);
		if (answer_room == 0)
			answer_room = more_room;
	}
	ck_assert(!questions_open(questions));
	ck_assert_int_eq(rows[n_rows - 1].type, MSG_CTL_END);
	const struct msg_ctl_end *end = &rows[--n_rows].u.ctl_end;

	if (n_rows > 0 && rows[n_rows - 1].type == MSG_CTL_PLAN_SEEN)
		seen = rows[--n_rows].u.ctl_plan_seen;
	return end;
}

static const struct msg_ctl_end *take_plan(const char *ns, int duty)
{
	struct msg q = { .type = MSG_CTL_PLAN, .u.ctl_plan = { .conn = 77, .duty = duty } };

	msg_set(&q, ctl_plan.ns, ns, strlen(ns));
	return answer_to(&q, 7);
}

static size_t rows_of(enum verdict_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < n_rows; i++)
		n += rows[i].u.ctl_plan_row.verdict == kind;
	return n;
}

/* Asked for in the middle of it, a plan names the pods that then go, in their order, and makes no difference.
 */
TEST(what_is_planned_is_done)
{
	struct pod_facts p = pod_evicted();
	const struct msg_pause pause = { .duty = -1, .on = true }, resume = { .duty = -1 };
	char planned[MANY][24];
	size_t before;

	policy.duty[DUTY_EVICTED].max_per_hour = 100;
	HEAR(PAUSE, pause, pause);
	siblings(p, MANY);
	ck_assert_uint_eq(take_plan("", -1)->code, 0);
	ck_assert_uint_eq(n_rows, MANY);
	ck_assert_uint_eq(rows_of(VERDICT_WAIT), MANY);
	ck_assert_str_eq(rows[0].u.ctl_plan_row.reason, "Paused");
	HEAR(PAUSE, pause, resume);
	before = n_sent;
	(void)take_plan("", -1);
	ck_assert_uint_eq(n_sent, before); /* a plan sends nothing but its rows */
	ck_assert_uint_eq(rows_of(VERDICT_ACT), 100);
	ck_assert_uint_eq(rows_of(VERDICT_WAIT), MANY - 100);
	for (size_t i = 0, k = 0; i < n_rows; i++)
		if (rows[i].u.ctl_plan_row.verdict == VERDICT_ACT)
			memcpy(planned[k++], rows[i].u.ctl_plan_row.name, sizeof(planned[0]));
	ck_assert_str_eq(rows[n_rows - 1].u.ctl_plan_row.reason, "BudgetSpent");
	ck_assert_int_eq(rows[n_rows - 1].u.ctl_plan_row.until, clock_wall_ms() + HOUR);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 100);
	for (size_t i = 0, k = 0; i < n_sent; i++)
		if (sent[i].type == MSG_NOMINATE)
			ck_assert_str_eq(sent[i].u.nominate.name, planned[k++]);
}

/* Also where nothing is to be done: how much was looked at, and which namespaces no duty works in. */
TEST(what_was_looked_at_is_counted)
{
	struct pod_facts p = pod_evicted();

	siblings(p, 3);
	(void)take_plan("", -1);
	ck_assert_uint_eq(seen.conn, 77);
	ck_assert_uint_eq(seen.pods, 3);
	ck_assert_uint_eq(seen.namespaces, 1);
	ck_assert_uint_eq(seen.other_pods, 0);
	(void)take_plan("elsewhere", -1);
	ck_assert_uint_eq(seen.pods + seen.other_pods, 0);
	str_list_add(&policy.exclude_namespaces, p.ns.p, p.ns.n);
	(void)take_plan("", -1);
	ck_assert_uint_eq(seen.pods, 0);
	ck_assert_uint_eq(seen.other_pods, 3);
	ck_assert_uint_eq(seen.other_namespaces, 1);
	ck_assert(seen.excluded);
	ck_assert_uint_eq(strlen(seen.others), p.ns.n);
}

TEST(rows_carry_the_object)
{
	struct pod_facts p = pod_evicted();

	siblings(p, 1);
	(void)take_plan("", -1);
	ck_assert_uint_eq(n_rows, 1);
	const struct msg_ctl_plan_row *r = &rows[0].u.ctl_plan_row;

	ck_assert_uint_eq(r->conn, 77);
	ck_assert_uint_eq(r->cluster, 3);
	ck_assert_uint_eq(r->duty, DUTY_EVICTED);
	ck_assert_str_eq(r->ns, "shop");
	ck_assert_str_eq(r->uid, uids[0]);
	ck_assert_str_eq(r->action_key, uids[0]);
	ck_assert_str_eq(r->rv, "4711");
	ck_assert_str_eq(r->reason, "Evicted");
	ck_assert_int_eq(r->until, 0);
}

TEST(one_row_for_a_workload)
{
	struct pod_facts p = pod_pull_failing();

	siblings(p, 5); /* of one ReplicaSet */
	(void)take_plan("", -1);
	ck_assert_uint_eq(n_rows, 1);
	ck_assert_uint_eq(rows[0].u.ctl_plan_row.verdict, VERDICT_WAIT);
	ck_assert_int_eq(rows[0].u.ctl_plan_row.until, NOW + HOURS + 1);
	ck_assert_str_eq(rows[0].u.ctl_plan_row.action_key, "0b8f0f3e-0000-4000-8000-00000000000a");
	pass(HOURS);
	(void)take_plan("", -1);
	ck_assert_uint_eq(rows_of(VERDICT_ACT), 1);
	ck_assert_uint_eq(n_rows, 1);
}

/* An instance that only plans has seen nothing begin: a pod has failed since it is not Ready, at least. */
TEST_LOOP(ages_of_what_only_plans_are_the_least, 0, 10)
{
	static const struct {
		bool plans_only, crashes;
		int64_t unready_for, expected;
	} cases[] = {
		{ true, false, 3 * HOUR, 3 * HOUR },
		{ true, true, 3 * HOUR, 3 * HOUR },
		{ true, false, 90 * S, 90 * S }, /* not due yet, and as old as its oldest pod */
		{ true, false, 0, 0 },           /* nothing tells */
		{ false, false, HOUR, 0 },       /* whoever acts counts from what it saw */
	};
	struct pod_facts p = cases[_i / 2].crashes ? pod_crashing() : pod_pull_failing(), other = p;

	policy.plans_only = cases[_i / 2].plans_only;
	p.unready_since = cases[_i / 2].unready_for ? NOW - cases[_i / 2].unready_for : 0;
	other.unready_since = NOW - MIN; /* a younger one of the same workload */
	other.name = STR_LIT("web-1-other");
	other.uid = STR_LIT(UID_2);
	const struct pod_facts both[] = { p, other, p };

	if (cases[_i / 2].unready_for)
		ready_with(both + _i % 2, 2); /* in either order */
	else
		ready_with(both, 1);
	(void)take_plan("", -1);
	ck_assert_uint_eq(n_rows, 1);
	const struct msg_ctl_plan_row *r = &rows[0].u.ctl_plan_row;

	ck_assert_int_eq(r->since, NOW - cases[_i / 2].expected);
	ck_assert_int_eq(r->verdict == VERDICT_ACT, cases[_i / 2].expected > HOURS);
	ck_assert_int_eq(strstr(EN(r->evidence), "at least") != NULL, cases[_i / 2].plans_only);
}

/* What an init container did before it ended well was no failing of the image that comes after it. */
TEST_LOOP(no_age_while_init_containers_run, 0, 3)
{
	static const struct {
		enum container_state state;
		int32_t exit_code;
		int64_t expected;
	} cases[] = {
		{ CONTAINER_TERMINATED, 0, 2 * HOUR },
		{ CONTAINER_TERMINATED, 1, 3 * HOUR }, /* that is the failure itself */
		{ CONTAINER_WAITING, 0, 3 * HOUR },
	};
	struct pod_facts p = pod_pull_failing();
	struct container_facts *init = &p.containers[p.n_containers++];

	policy.plans_only = true;
	p.unready_since = NOW - 3 * HOUR;
	*init = (struct container_facts){ .name = STR_LIT("migrate"),
					  .kind = CONTAINER_INIT,
					  .state = cases[_i].state,
					  .exit_code = cases[_i].exit_code,
					  .finished_at = NOW - 2 * HOUR };
	ready_with(&p, 1);
	(void)take_plan("", -1);
	ck_assert_uint_eq(n_rows, 1);
	ck_assert_int_eq(rows[0].u.ctl_plan_row.since, NOW - cases[_i].expected);
}

TEST(filters_and_refusals)
{
	struct pod_facts pods[4] = { pod_evicted(), pod_terminating(), pod_healthy(), pod_evicted() };

	for (int i = 0; i < 4; i++)
		pods[i] = nth(&pods[i], i);
	pods[0].ns = STR_LIT("bank");
	pods[3].skip = true; /* due, and refused */
	ready_with(pods, 4);
	(void)take_plan("", -1);
	ck_assert_uint_eq(n_rows, 3);
	ck_assert_uint_eq(rows_of(VERDICT_REFUSE), 1);
	(void)take_plan("bank", -1);
	ck_assert_uint_eq(n_rows, 1);
	(void)take_plan("", DUTY_TERMINATING);
	ck_assert_uint_eq(n_rows, 1);
	ck_assert_str_eq(rows[0].u.ctl_plan_row.name, names[1]);
}

TEST(no_room_and_too_many_questions)
{
	struct pod_facts p = pod_evicted();
	const struct msg q = { .type = MSG_CTL_PLAN, .u.ctl_plan = { .conn = 1, .duty = -1 } };

	siblings(p, 50);
	answer_room = 3;
	(void)take_plan("", -1);
	ck_assert_uint_eq(n_rows, 50);
	for (size_t i = 0; i < 50; i++)
		ck_assert_str_eq(rows[i].u.ctl_plan_row.name, names[i]);
	answer_room = 1 << 30;
	n_rows = 0;
	for (unsigned i = 0; i < QUESTIONS_PLAN_MAX; i++)
		ck_assert(questions_on_msg(questions, &q));
	ck_assert_uint_eq(n_rows, 0);
	ck_assert(questions_on_msg(questions, &q));
	ck_assert_uint_eq(n_rows, 1);
	ck_assert_uint_ne(rows[0].u.ctl_end.code, 0);
}

TEST(a_cache_out_of_step_says_so)
{
	struct pod_facts p = pod_evicted();

	siblings(p, 2);
	clock_fake_advance(6 * MIN);
	const struct msg_ctl_end *e = take_plan("", -1);

	ck_assert_uint_ne(e->code, 0);
	ck_assert_ptr_nonnull(strstr(EN(e->why), "stale"));
	ck_assert_uint_eq(rows_of(VERDICT_WAIT), 2);
	ck_assert_str_eq(rows[0].u.ctl_plan_row.reason, "CacheStale");
}

/* -- explain -- */

static const struct msg_ctl_end *take_explain_of(const char *kind, const char *name, bool rules)
{
	struct msg q = { .type = MSG_CTL_EXPLAIN,
			 .u.ctl_explain = { .conn = 77, .ns = "shop", .rules = rules } };

	msg_set(&q, ctl_explain.kind, kind, strlen(kind));
	msg_set(&q, ctl_explain.name, name, strlen(name));
	return answer_to(&q, 3);
}

static const struct msg_ctl_end *take_explain(const char *name, bool rules)
{
	return take_explain_of("", name, rules);
}

static const struct msg_ctl_explain_row *row_of(enum duty d, const char *rule)
{
	for (size_t i = 0; i < n_rows; i++)
		if (rows[i].type == MSG_CTL_EXPLAIN_ROW && rows[i].u.ctl_explain_row.duty == (uint64_t)d &&
		    strcmp(rows[i].u.ctl_explain_row.rule, rule) == 0)
			return &rows[i].u.ctl_explain_row;
	ck_abort_msg("no row of %d %s", d, rule);
	return NULL;
}

TEST(explain_tells_what_holds)
{
	struct pod_facts p = pod_evicted();
	struct msg_pause pause = { .duty = DUTY_EVICTED, .on = true, .until = NOW + HOUR, .by = "ada" };

	HEAR(PAUSE, pause, pause);
	siblings(p, 1);
	answer_room = 2;
	ck_assert_uint_eq(take_explain(names[0], true)->code, 0);
	const struct msg_ctl_explain_row *v = row_of(DUTY_EVICTED, "");

	ck_assert_uint_eq(v->verdict, VERDICT_WAIT);
	ck_assert_str_eq(v->reason, "Paused");
	ck_assert_int_eq(v->until, NOW + HOUR);
	ck_assert_ptr_nonnull(strstr(EN(v->evidence), "ada"));
	ck_assert_uint_eq(row_of(DUTY_EVICTED, "R7")->holds, TRI_YES);
	ck_assert_str_eq(row_of(DUTY_EVICTED, "R7")->question, "IsEvicted");
	ck_assert_str_eq(EN(row_of(DUTY_EVICTED, "R7")->evidence),
			 "phase Failed, reason Evicted, node node-1");
	ck_assert_uint_eq(row_of(DUTY_EVICTED, "Pause")->holds, TRI_NO);
	ck_assert_str_eq(row_of(DUTY_EVICTED, "Pause")->reason, "Paused");
	ck_assert_str_eq(row_of(DUTY_EVICTED, "Pause")->question, "");
	ck_assert_str_eq(EN(row_of(DUTY_EVICTED, "Pause")->evidence), "by ada");
	ck_assert_str_eq(row_of(DUTY_EVICTED, "Budget")->reason, "NothingToDo");
	ck_assert_uint_eq(row_of(DUTY_EVICTED, "Budget")->holds, TRI_YES);
	/* Of a duty that is not due, the guards are not asked. */
	ck_assert_uint_eq(row_of(DUTY_TERMINATING, "Pause")->holds, TRI_UNKNOWN);
	ck_assert_str_eq(v->pod, "");
}

/* Right behind a verdict that a plan would show: a worker can be asked about it. */
TEST(explain_names_the_object_of_a_verdict)
{
	struct pod_facts p = pod_evicted();
	struct msg_ctl_plan_row planned;

	siblings(p, 1);
	(void)take_plan("", -1);
	planned = rows[0].u.ctl_plan_row;
	answer_room = 2;
	for (int with_rules = 0; with_rules < 2; with_rules++) {
		size_t objects = 0;

		(void)take_explain(names[0], with_rules);
		for (size_t i = 0; i < n_rows; i++) {
			if (rows[i].type != MSG_CTL_PLAN_ROW)
				continue;
			objects++;
			ck_assert_uint_eq(rows[i - 1].u.ctl_explain_row.duty, DUTY_EVICTED);
			ck_assert_str_eq(rows[i - 1].u.ctl_explain_row.rule, "");
			ck_assert_mem_eq(&rows[i].u.ctl_plan_row, &planned, sizeof(planned));
		}
		ck_assert_uint_eq(objects, 1); /* of the duties that have nothing to do, none */
	}
}

TEST(explain_takes_a_workload)
{
	struct pod_facts p = pod_pull_failing();
	const size_t of_a_pod = DUTY__MAX + 1; /* it waits, which a plan shows */

	siblings(p, 3);
	ck_assert_uint_eq(take_explain("web", false)->code, 0); /* the ReplicaSet web-1 of revision 1 */
	ck_assert_uint_eq(n_rows, 3 * of_a_pod);
	for (size_t i = 0; i < 3; i++)
		ck_assert_str_eq(rows[i * of_a_pod].u.ctl_explain_row.pod, names[i]);
	ck_assert_uint_eq(take_explain("web-1", false)->code, 0);
	ck_assert_uint_eq(n_rows, 3 * of_a_pod);
	ck_assert_uint_ne(take_explain("other", false)->code, 0);
	ck_assert_uint_eq(n_rows, 0);
}

/* Of pods that a ReplicaSet "web-1" of revision 1 controls; then a Workflow "nightly". */
TEST(explain_takes_the_kind_that_was_named)
{
	static const struct {
		const char *kind, *name;
		size_t pods;
	} cases[] = {
		{ "Deployment", "web", 3 },
		{ "Rollout", "web", 3 },
		{ "ReplicaSet", "web-1", 3 },
		{ "replicasets", "web-1", 3 },
		{ "", "web", 3 },
		{ "StatefulSet", "web", 0 },
		{ "Job", "web", 0 },
		{ "Pod", "web", 0 },
		{ "nonsense", "web", 0 },
		{ "ReplicaSet", "web", 0 },
		{ "Deployment", "web-1", 0 },
		{ "Deployment", names[0], 0 },
		{ "Pod", names[0], 1 },
	};
	struct pod_facts p = pod_pull_failing();

	siblings(p, 3);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct msg_ctl_end *e = take_explain_of(cases[i].kind, cases[i].name, false);

		ck_assert_msg((e->code == 0) == (cases[i].pods > 0), "%s/%s", cases[i].kind, cases[i].name);
		ck_assert_uint_eq(n_rows, cases[i].pods * (DUTY__MAX + 1));
	}
	ck_assert_ptr_nonnull(
		strstr(EN(take_explain_of("StatefulSet", "web", false)->why), "StatefulSet/shop/web"));
	p.owner.kind = STR_C("Workflow");
	p.owner.name = STR_C("nightly");
	siblings(p, 1);
	ck_assert_uint_eq(take_explain_of("workflows", "nightly", false)->code, 0);
	ck_assert_uint_ne(take_explain_of("work", "nightly", false)->code, 0);
}

TEST_MAIN("watcher/plan")
{
	tcase_add_checked_fixture(t, open, close_all);
}
