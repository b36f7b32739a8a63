/* test_replace.c - events and lists that replace the cache: client-go's cases of its first-in-first-out
 * queue in atomic mode (RF, tools/cache/the_real_fifo_test.go) and of the shared informer (SI,
 * shared_informer_test.go, controller_test.go). Between a list's begin and its end nothing is judged. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "base/cleanup.h"
#include "play.h"
#include "tests/suite.h"

static void is_synced(bool want)
{
	ck_assert_int_eq(sync_state_synced(&controller_cluster(c)->sync), want);
}

/* TestRealFIFO_basic: two producers; each one's pods come in its order. */
TEST(rf01_each_producer_in_its_order)
{
	static const char *const producers[] = { "alpha", "beta" };
	int64_t newest[2] = { 0 };

	ready_with(NULL, 0);
	for (int i = 1; i <= 500; i++)
		for (int k = 0; k < 2; k++) {
			char name[32], uid[64], rv[16];
			struct pod_facts p = pod_evicted();

			(void)snprintf(name, sizeof(name), "pod-%d", i);
			(void)snprintf(uid, sizeof(uid), "0b8f0f3e-0000-4000-800%d-%012d", k, i);
			(void)snprintf(rv, sizeof(rv), "%d", i);
			p.ns = STR_C(producers[k]);
			p.name = STR_C(name);
			p.uid = STR_C(uid);
			p.rv = STR_C(rv);
			ck_assert_int_eq(controller_pod(c, &p), 0);
		}
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1000);
	for (size_t i = 0; i < n_sent; i++) {
		const int k = strcmp(sent[i].u.nominate.ns, producers[0]) != 0;
		const int64_t rv = strtoll(sent[i].u.nominate.rv, NULL, 10);

		ck_assert_int_eq(rv, newest[k] + 1);
		newest[k] = rv;
	}
}

TEST(rf02_delete_then_replace)
{
	ready_with(NULL, 0);
	ck_assert_str_eq(play("=foo:0;-foo:1;=foo:2"), "+foo:0|-foo:0|+foo:2|");
}

static const struct {
	const char *script, *want;
} replaced[] = {
	{ "+o:1;=", "+o:1|-o:1|" },
	{ "+o:1;-o:2;=", "+o:1|-o:1||" },
	{ "+o:1;=o:2;=o:3;=", "+o:1|~o:2|~o:3|-o:3|" },
	{ "+o:1;=;=", "+o:1|-o:1||" },
	{ "+o:1;-o:2;+o:3;=", "+o:1|-o:1|+o:3|-o:3|" },
};

TEST_LOOP(rf03_replace_ends_what_only_events_named, 0, ARRAY_SIZE(replaced))
{
	ready_with(NULL, 0);
	ck_assert_str_eq(play(replaced[_i].script), replaced[_i].want);
}

TEST(rf04_add_update_delete)
{
	ready_with(NULL, 0);
	ck_assert_str_eq(play("+foo:10;+foo:12;-foo:15"), "+foo:10|~foo:12|-foo:12|");
	ck_assert_str_eq(nominated(), "foo:10");
	/* Not looked at in between: only how it ended counts. */
	play_turns = false;
	ck_assert_str_eq(play("+bar:20;+bar:22;-bar:25"), "+bar:20|~bar:22|-bar:22|");
	run_all();
	ck_assert_str_eq(nominated(), "foo:10");
}

TEST(rf06_unknown_delete_changes_nothing)
{
	ready_with(NULL, 0);
	ck_assert_str_eq(play("-foo:10;+bar:15;-qux:17;-baz:18;-bar:20"), "|+bar:15|||-bar:15|");
	ck_assert_str_eq(nominated(), "bar:15");
}

TEST(rf07_add_then_replace)
{
	ready_with(NULL, 0);
	ck_assert_str_eq(play("+foo:10;=foo:15"), "+foo:10|~foo:15|");
}

/* TestRealFIFO_ReplaceMakesDeletions and its sequences; known: foo, bar, baz. What is known may be newer
 * than the list: the list counts. */
static const struct {
	const char *script, *want;
} deletions[] = {
	{ "-baz:10;=foo:5", "-baz:7|-bar:6|" },
	{ "+baz:10;=foo:5", "~baz:10|-bar:6 -baz:10|" },
	{ "-baz:10;+baz:11;=foo:5", "-baz:7|+baz:11|-bar:6 -baz:11|" },
	{ "+new:10;=foo:5", "+new:10|-bar:6 -baz:7 -new:10|" },
	{ "+foo:9;-bar:10;=foo:5 bar:6", "~foo:9|-bar:6|-baz:7 ~foo:5 +bar:6|" },
};

TEST_LOOP(rf09_replace_makes_deletions, 0, ARRAY_SIZE(deletions))
{
	ready_with(NULL, 0);
	ck_assert_str_eq(play("=foo:5 bar:6 baz:7"), "+bar:6 +baz:7 +foo:5|");
	ck_assert_str_eq(play(deletions[_i].script), deletions[_i].want);
}

TEST(rf10_not_synced_until_the_first_list_is_whole)
{
	HEAR(SAVED_END, saved_end, { 0 });
	controller_list(c, STR_LIT(""));
	play_event("bar:6", true);
	play_event("baz:10", true);
	is_synced(false);
	play_event("foo:5", false);
	run_all();
	is_synced(false);
	ck_assert_uint_eq(judged(), 0);
	controller_sync(c, STR_LIT(""));
	is_synced(true);
	pass(QUIET_MS);
	ck_assert_str_eq(nominated(), "foo:5");
}

TEST(rf11_no_line_jumpers)
{
	ready_with(NULL, 0);
	play_turns = false;
	(void)play("+foo:10;+bar:1;+foo:11;+foo:13;+zab:30");
	run_all();
	(void)play("+new:14");
	run_all();
	ck_assert_str_eq(nominated(), "foo:13 bar:1 zab:30 new:14");
}

/* A key is namespace and name. What is synced depends on lists alone: unlike there, an event is none. */
TEST(rf12_keys_and_has_synced)
{
	struct pod_facts p = pod_evicted(), q = p;

	HEAR(SAVED_END, saved_end, { 0 });
	is_synced(false);
	event(&p);
	is_synced(false);
	(void)play("<foo:1");
	is_synced(false);
	(void)play("=");
	is_synced(true);
	(void)play("=foo:1 foo:2");
	ck_assert_uint_eq(store_count(controller_cluster(c)->store), 1);
	is_synced(true);
	event(&p);
	q.ns = STR_LIT("store");
	q.uid = STR_LIT(UID_2);
	event(&q);
	ck_assert_uint_eq(store_count(controller_cluster(c)->store), 3);
	controller_delete(c, &q);
	ck_assert_uint_ne(store_find(controller_cluster(c)->store, p.ns, p.name), 0);
	ck_assert_uint_eq(store_find(controller_cluster(c)->store, q.ns, q.name), 0);
}

TEST(rf14_a_broken_item_in_a_batch)
{
	struct pod_facts broken = pod_evicted();

	ready_with(NULL, 0);
	play_turns = false;
	broken.uid.n = 0;
	(void)play("+foo:1;+bar:2");
	ck_assert_int_eq(controller_pod(c, &broken), -EINVAL);
	(void)play("+foo:3;+baz:4");
	run_all();
	ck_assert_str_eq(nominated(), "foo:3 bar:2 baz:4");
}

TEST(rf15_replace_is_one)
{
	ready_with(NULL, 0);
	const uint64_t before = judged();

	controller_list(c, STR_LIT(""));
	for (const char *const *w = (const char *const[]){ "a:1", "b:2", "c:3", NULL }; *w; w++) {
		play_event(*w, false);
		pass(1000);
		ck_assert_uint_eq(judged(), before);
		ck_assert_uint_eq(n_sent, 0);
	}
	controller_sync(c, STR_LIT(""));
	run_all();
	ck_assert_uint_eq(judged(), before + 3);
	ck_assert_str_eq(nominated(), "a:1 b:2 c:3");
	/* Three in a row stay three; the last one counts. A list that breaks off ends nothing. */
	ck_assert_str_eq(play("=a:1 d:4;=e:5;=e:5 f:6;<g:7"), "-b:2 -c:3 +d:4|-a:1 -d:4 +e:5|+f:6|+g:7|");
}

/* TestSharedInformerWatchDisruption: one known pod unchanged, one changed, one new. */
TEST(si03_watch_disruption)
{
	ready_with(NULL, 0);
	(void)play("=one:1 two:2");
	const uint64_t before = judged();

	ck_assert_str_eq(play("=one:1 two:3 three:4"), "~two:3 +three:4|");
	ck_assert_uint_eq(judged(), before + 2);
}

/* TestReplaceEvents: when the events of a list fire, the cache is already the new one. Here a pod that fails
 * to pull comes first in the list, the sibling that protects its workload last. */
TEST(si06_a_list_is_judged_on_the_new_state)
{
	struct pod_facts p = pod_pull_failing(), q = pod_healthy();

	q.name = STR_LIT("web-1-other");
	q.uid = STR_LIT(UID_2);
	fails_since(&p, NOW - 2 * HOURS);
	ready_with(NULL, 0);
	const struct pod_facts both[] = { p, q };

	controller_list(c, STR_LIT(""));
	event(&p);
	event(&q);
	controller_sync(c, STR_LIT(""));
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	nominated_at(10 * HOURS, 0);
	sync_with(both, 1); /* the sibling is gone with this list */
	run_all();
	pass(HOURS);
	nominated_at(1, 1);
}

/* TestResetWatch: after a list that is not the first, pods count as those of events: no quiet period. */
TEST(si07_a_later_list_is_no_initial_one)
{
	ready_with(NULL, 0);
	(void)play("=foo:1");
	ck_assert_str_eq(nominated(), "foo:1");
	(void)play("=foo:2 bar:3");
	ck_assert_str_eq(nominated(), "foo:1 bar:3");
}

static void fresh(void)
{
	begin();
	play_turns = true;
}

TEST_MAIN("watcher/replace")
{
	tcase_add_checked_fixture(t, fresh, end);
}
