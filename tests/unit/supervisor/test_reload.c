/* test_reload.c - settings that the loader has validated are in force, whatever a child makes of them: one
 * that refuses them, or does not answer, is started again with them and hinders no other. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "model/duties.h"
#include "supervisor/operator/pauses.h"
#include "world.h"

#define PATIENCE_MS 16000 /* a silent child has this long, and a bit */

static const enum role roles[] = { ROLE_REPORTER, ROLE_WATCHER, ROLE_WORKER };

static void begin(void)
{
	set_up();
	open_history();
	forget();
}

static void end(void)
{
	tear_down();
	w.o = (struct stage_options){ 0 };
}

static void reload(void)
{
	w.o.edition++;
	stage_reload(w.s, &w.o);
}

static const struct generation *in_force(void)
{
	return lifecycle_generation(stage_supervisor(w.s)->root);
}

static bool one_has_died(enum role role)
{
	return stage_lives(w.s, role, 0) == 2;
}

static void all_have(enum role again)
{
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		ck_assert_int_eq(one_has_died(roles[i]), roles[i] == again);
	for (size_t i = 0; i < children_count(lifecycle_children(stage_supervisor(w.s)->root)); i++)
		ck_assert(lifecycle_is_current(
			stage_supervisor(w.s)->root,
			children_get(lifecycle_children(stage_supervisor(w.s)->root), i)));
	ck_assert(facts_empty(lifecycle_refusal(stage_supervisor(w.s)->root)));
}

TEST(all_take_new_settings_and_none_is_started_again)
{
	reload();
	ck_assert_uint_eq(in_force()->number, 2);
	ck_assert_uint_eq(count(MSG_SETTINGS_COMMIT), 2 + STAGE_WORKERS);
	all_have(ROLE__MAX);
}

TEST_LOOP(a_child_that_refuses_is_started_again, 0, 3)
{
	w.o.answers[roles[_i]] = STAGE_REFUSES;
	reload();
	ck_assert_uint_eq(in_force()->number, 2);
	stage_pass(w.s, 1000);
	all_have(roles[_i]);
}

TEST_LOOP(a_child_that_is_silent_is_started_again, 0, 3)
{
	w.o.answers[roles[_i]] = STAGE_IS_SILENT;
	w.o.observe = true;
	reload();
	ck_assert(in_force()->all.observe);
	ck_assert(!one_has_died(roles[_i]));
	stage_pass(w.s, PATIENCE_MS);
	stage_pass(w.s, 1000);
	all_have(roles[_i]);
}

/* Also one that cannot be sent them, because it does not read. */
TEST(a_reload_is_over_though_a_child_is_silent)
{
	w.o.answers[ROLE_WATCHER] = STAGE_IS_SILENT;
	reload();
	stage_pass(w.s, PATIENCE_MS);
	w.o.answers[ROLE_WATCHER] = STAGE_TAKES;
	reload();
	ck_assert_uint_eq(in_force()->number, 3);
	all_have(ROLE_WATCHER);
}

TEST(what_is_switched_off_is_off_before_any_child_has_answered)
{
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		w.o.answers[roles[i]] = STAGE_IS_SILENT;
	w.o.duties_off = UINT64_C(1) << DUTY_EVICTED;
	reload();
	nominate(1);
	ck_assert_uint_eq(count(MSG_INTENT), 0);
	ck_assert_str_eq(heard(MSG_NOMINATION_RESULT, 0)->u.nomination_result.reason, "DutyDisabled");
}

/* Fewer namespaces, a longer threshold: whoever judges by the old ones gets nothing to do. */
TEST(a_worker_with_older_settings_gets_no_work)
{
	w.o.answers[ROLE_WORKER] = STAGE_IS_SILENT;
	reload();
	nominate(1);
	acknowledge(1);
	stage_pass(w.s, 5000);
	ck_assert_uint_eq(count(MSG_PREFETCH), 0);
	ck_assert_uint_eq(count(MSG_GRANT), 0);
	stage_pass(w.s, PATIENCE_MS);
	stage_pass(w.s, 1000);
	ck_assert_uint_eq(count(MSG_GRANT), 1);
	ck_assert(!heard(MSG_GRANT, 0)->u.grant.verify_first);
}

TEST(a_watcher_gets_new_settings_behind_its_workers)
{
	w.o.answers[ROLE_WORKER] = STAGE_IS_SILENT;
	reload();
	ck_assert_uint_eq(count(MSG_SETTINGS_COMMIT), 1); /* to the reporter */
	stage_pass(w.s, PATIENCE_MS);
	ck_assert_uint_eq(count(MSG_SETTINGS_COMMIT), 2);
	stage_pass(w.s, 1000);
	all_have(ROLE_WORKER);
}

TEST(what_a_child_did_counts_though_it_refuses)
{
	nominate(1);
	acknowledge(1);
	const uint64_t number = w.holders[1];
	struct msg m[2] = { { .type = MSG_SETTINGS_ACK, .u.settings_ack.generation = 2 },
			    result_of(1, OUTCOME_DONE) };

	w.o.answers[ROLE_WORKER] = STAGE_IS_SILENT;
	reload();
	ck_assert(stage_say_all(w.s, ROLE_WORKER, number, m, 2));
	stage_run(w.s);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_WORKER, number), 2);
	ck_assert_uint_eq(only_record()->outcome, OUTCOME_DONE);
	ck_assert_uint_eq(count(MSG_GRANT), 1);
}

/* -- a cluster that is called otherwise -- */

/* The same cluster under another name, behind the same address, would be acted on at once; and one elsewhere
 * is another one. */
TEST_LOOP(a_pause_goes_with_its_cluster_to_another_name, 0, 2)
{
	struct supervisor *s = stage_supervisor(w.s);
	struct msg m = { .type = MSG_CTL_PAUSE,
			 .u.ctl_pause = { .duty = DUTY_EVICTED, .on = true, .cluster_name = "test" } };

	pauses_on_ctl_pause(s, &m);
	w.o.name = _i == 0 ? STAGE_OTHER : STAGE_OTHER_THERE;
	reload();
	for (int i = 0; i < 60; i++) /* the old one's processes end by force */
		stage_pass(w.s, 1000);
	ck_assert(in_force()->wanted[1] && !in_force()->wanted[0]);
	ck_assert_int_eq(pause_list_pauses(&s->pause_list, "other", DUTY_EVICTED, 0, false), _i == 0);
	ck_assert(!pause_list_pauses(&s->pause_list, "other", DUTY_IMAGE_PULL, 0, false));
	ck_assert_int_eq(pauses_any(s), _i == 0);
}

/* -- time -- */

/* Suspended for an hour with all that it has started, or kept waiting by a disk. */
TEST(nobody_is_killed_because_all_stood_still)
{
	struct supervisor *s = stage_supervisor(w.s);

	stage_pass(w.s, 1000);
	clock_fake_advance(3600000);
	lifecycle_tick(s->root);
	stage_run(w.s);
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		ck_assert(!one_has_died(roles[i]));
	for (int i = 0; i < 25; i++) { /* and who hangs is found all the same, though each tick is late */
		clock_fake_advance(5000);
		lifecycle_tick(s->root);
	}
	stage_run(w.s);
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		ck_assert(one_has_died(roles[i]));
}

/* -- a cluster that hangs -- */

#define LOADER_MS 41000 /* is killed then */

static uint64_t limit_of(size_t i)
{
	return heard(MSG_LOAD_BEGIN, i)->u.load_begin.limit_ms;
}

/* Its retry is under way: a run that would take 25 s. */
static void hang(void)
{
	w.o.answers[ROLE_LOADER] = STAGE_IS_SILENT;
	reload();
	stage_pass(w.s, LOADER_MS);
	stage_pass(w.s, LOADER_MS);
	ck_assert_uint_eq(count(MSG_LOAD_BEGIN), 2);
	ck_assert_uint_eq(limit_of(1), 25000);
}

TEST(a_reload_gives_no_cluster_the_time_of_a_retry)
{
	w.o.answers[ROLE_LOADER] = STAGE_IS_SILENT;
	reload();
	ck_assert_uint_eq(limit_of(0), 6000);
}

TEST(a_reload_waits_for_no_retry)
{
	hang();
	reload();
	ck_assert_uint_eq(count(MSG_LOAD_BEGIN), 3);
	ck_assert_uint_eq(limit_of(2), 6000);
	w.o.answers[ROLE_LOADER] = STAGE_TAKES;
	w.o.observe = true;
	stage_from_now(w.s, &w.o);
	stage_run(w.s);
	ck_assert(in_force()->all.observe);
	all_have(ROLE__MAX);
}

/* What nobody waits for does not cut off another. */
TEST(a_refused_credential_waits_for_a_retry)
{
	hang();
	say(ROLE_WATCHER, &(struct msg){ .type = MSG_CREDENTIAL, .u.credential.generation = 1 });
	ck_assert_uint_eq(count(MSG_LOAD_BEGIN), 2);
}

TEST(a_slow_cluster_gets_its_time_soon_after_a_reload)
{
	for (int i = 0; i < 8; i++) /* its retries are rare by now */
		stage_pass(w.s, 40000);
	reload();
	w.o.answers[ROLE_LOADER] = STAGE_IS_SILENT;
	stage_from_now(w.s, &w.o);
	forget();
	stage_pass(w.s, 1500);
	ck_assert_uint_eq(limit_of(0), 25000);
}

/* -- credentials of plugins -- */

/* Is the loader, which is silent, told to keep what a plugin has said? */
static bool keeps_plugin(void)
{
	const size_t runs = count(MSG_LOAD_BEGIN), n = count(MSG_LOAD_KEPT);

	ck_assert_uint_eq(n, 2 * runs);
	return heard(MSG_LOAD_KEPT, n - 1)->u.load_kept.plugin == STAGE_PLUGIN;
}

TEST(a_plugin_is_not_run_for_another_cluster)
{
	hang();
	ck_assert(keeps_plugin());
}

TEST(a_reload_runs_plugins)
{
	w.o.answers[ROLE_LOADER] = STAGE_IS_SILENT;
	reload();
	ck_assert(!keeps_plugin());
}

/* Also where the run that is under way had not heard of it. */
TEST_LOOP(a_plugin_whose_credential_is_refused_is_run, 0, 2)
{
	const struct msg refused = { .type = MSG_CREDENTIAL, .u.credential.generation = 1 };

	if (_i == 0) {
		w.o.answers[ROLE_LOADER] = STAGE_IS_SILENT;
		stage_from_now(w.s, &w.o);
		say(ROLE_WATCHER, &refused);
	} else {
		hang();
		say(ROLE_WORKER, &refused);
		w.o.answers[ROLE_LOADER] = STAGE_TAKES;
		stage_from_now(w.s, &w.o);
		stage_run(w.s);
	}
	ck_assert(!keeps_plugin());
}

TEST(a_refusal_counts_until_the_plugin_was_run)
{
	say(ROLE_WATCHER, &(struct msg){ .type = MSG_CREDENTIAL, .u.credential.generation = 1 });
	w.o.answers[ROLE_LOADER] = STAGE_IS_SILENT;
	stage_from_now(w.s, &w.o);
	forget();
	stage_pass(w.s, LOADER_MS);
	ck_assert(keeps_plugin());
}

TEST_MAIN("supervisor/reload")
{
	tcase_add_checked_fixture(t, begin, end);
}
