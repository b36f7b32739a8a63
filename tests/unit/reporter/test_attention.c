/* test_attention.c - what needs an operator is reported when it has lasted, once, with the remedy. */
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "model/duties.h"
#include "model/guards.h"
#include "reporter/report/compose.h"
#include "reporter/history/attention.h"
#include "reporter/history/history.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "tests/unit/reporter/history_world.h"

#define HOUR INT64_C(3600000)

static char *text;

static void teardown(void)
{
	free(text);
	text = NULL;
	world_teardown();
}

/* How many things that need an operator a report would name now, and 1 for their head when there are any. */
static size_t begin(void)
{
	struct attention attention;
	const struct digest d = { 0 };
	static const bool answered[CLUSTERS_MAX];
	const struct report_input in = { .digest = &d,
					 .clusters = &w.clusters,
					 .at_ms = clock_wall_ms(),
					 .title = "",
					 .answered = answered,
					 .attention = &attention };
	const struct sink_settings sink = { .top = 20 };
	struct report report;
	struct document doc;

	ck_assert_int_eq(attention_begin(w.db, &attention), 0);
	report_build(&in, &report);
	const bool any = report_compose(&report, &in, &sink, 0, &doc);
	const size_t n = any ? doc.sections[doc.n_sections - 1].n + 1 : 0;

	ck_assert(any == (attention.n > 0));
	free(text);
	text = any ? document_to_text(&doc) : strdup("");
	document_done(&doc);
	report_done(&report);
	attention_done(&attention);
	return n;
}

static bool says(const char *what)
{
	return strstr(text, what) != NULL;
}

static void refuse(const char *uid, const char *reason)
{
	const struct msg m = world_refusal(uid, reason);

	world_write(&m, 1);
}

TEST(a_preview_shows_what_is_due_and_leaves_it_so)
{
	struct attention attention;

	refuse("uid-1", "Forbidden");
	clock_fake_advance(ATTENTION_LASTING_MS);
	refuse("uid-1", "Forbidden");
	sqlite3 *sql = sqlite3_db_handle(db_stmt(w.db, DB_ONE_ROW));
	const int written = sqlite3_total_changes(sql);

	ck_assert_int_eq(attention_preview(w.db, &attention), 0);
	ck_assert_uint_eq(attention.n, 1);
	ck_assert_str_eq(attention.v[0].reason, "Forbidden");
	attention_done(&attention);
	ck_assert_int_eq(sqlite3_total_changes(sql), written);
	ck_assert_int_eq(attention_begin(w.db, &attention), 0);
	ck_assert_uint_eq(attention.n, 1);
	attention_done(&attention);
	ck_assert_int_eq(db_do(w.db, DB_ATTENTION_REPORTED), 0);
	ck_assert_int_eq(attention_preview(w.db, &attention), 0);
	ck_assert_uint_eq(attention.n, 0);
	attention_done(&attention);
}

TEST(reported_when_it_has_lasted_and_once)
{
	refuse("u1", "HasFinalizers");
	refuse("u2", "NamespaceExcluded"); /* by somebody's will */
	clock_fake_advance(HOUR - 1);
	refuse("u1", "HasFinalizers");
	refuse("u2", "NamespaceExcluded");
	ck_assert_uint_eq(begin(), 0);
	clock_fake_advance(1);
	refuse("u1", "HasFinalizers");
	refuse("u2", "NamespaceExcluded");
	ck_assert_uint_eq(begin(), 2);
	ck_assert(says("Needs an operator; each is reported once"));
	ck_assert(says("[staging] deleteEvictedPod: HasFinalizers: blocked by finalizers"));
	ck_assert(says("kube-system/dns-1"));
	ck_assert(says("what to do: check why the controller that set the finalizer"));
	ck_assert(!says("NamespaceExcluded"));
	ck_assert_uint_eq(begin(), 2); /* not delivered yet: a crash in between loses nothing */
	ck_assert_int_eq(db_do(w.db, DB_ATTENTION_REPORTED), 0);
	refuse("u1", "HasFinalizers");
	ck_assert_uint_eq(begin(), 0);
	clock_fake_advance(24 * HOUR);
	refuse("u1", "HasFinalizers"); /* seen within a day of the last time: still the same */
	ck_assert_uint_eq(begin(), 0);
	clock_fake_advance(24 * HOUR + 1);
	refuse("u1", "HasFinalizers"); /* another time */
	clock_fake_advance(HOUR);
	refuse("u1", "HasFinalizers");
	ck_assert_uint_eq(begin(), 2);
}

TEST(over_before_the_report_is_not_reported)
{
	refuse("u1", "HasFinalizers");
	clock_fake_advance(HOUR);
	refuse("u1", "HasFinalizers");
	clock_fake_advance(24 * HOUR);
	ck_assert_uint_eq(begin(), 0);
}

TEST(missing_rights_are_reported_with_names)
{
	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 1; i <= 5; i++) {
			struct msg m[] = { world_intent(10 * (uint64_t)round + i, 0, "u"),
					   world_record(10 * (uint64_t)round + i, OUTCOME_FORBIDDEN) };

			m[0].u.intent.name[4] = (char)('0' + i);
			test_set(&m[1], record.reason, "Forbidden");
			SET_SAID(m[1].u.record.detail, "pods \"web\" is <forbidden>");
			world_write(m, 2);
		}
		clock_fake_advance(HOUR);
	}
	ck_assert_uint_eq(begin(), 2);
	ck_assert(says("[prod] deleteTerminatingPod: Forbidden"));
	ck_assert(says("shop/web-1, shop/web-2, shop/web-3 and 2 more"));
	ck_assert(says("grant the verb"));
}

static void remember(const char *kind, const char *key, int64_t at, uint64_t n, const char *what)
{
	struct msg m = { .type = MSG_SAVED, .u.saved = { .at = at, .count = n } };

	test_set(&m, saved.kind, kind);
	test_set(&m, saved.key, key);
	if (*what)
		SET_SAID(m.u.saved.evidence, what);
	world_write(&m, 1);
}

TEST(reverts_and_breaker_are_reported_at_once_while_they_last)
{
	struct msg m[] = { world_intent(1, 0, "u1"), world_record(1, OUTCOME_DONE) };

	m[0].u.intent.duty = DUTY_IMAGE_PULL;
	test_set(&m[0], intent.action_key, "rs-1");
	test_set(&m[1], record.target, "deployments.apps/shop/web");
	world_write(m, 2);
	remember("reverted", "rs-1/6b7f", 5, 0, ""); /* scaled down, not come back */
	ck_assert_uint_eq(begin(), 0);
	remember("reverted", "rs-1/6b7f", 5, 1, "");
	remember("breaker", "errImagePull", 5, 7, "7 workloads; all pull from registry.example");
	remember("node", "n1", 5, 1, "");
	ck_assert_uint_eq(begin(), 3);
	ck_assert(says("Reverted") && says("deployments.apps/shop/web"));
	ck_assert(says("all pull from registry.example"));
	remember("breaker", "errImagePull", 0, 0, "");
	remember("reverted", "rs-1/6b7f", 0, 0, "");
	ck_assert_uint_eq(begin(), 0);
}

/* Another cluster holds an object of the same uid: it is not named for this one. */
TEST(a_revert_names_the_workload_of_its_own_cluster)
{
	struct msg m[] = { world_intent(1, 0, "u1"), world_record(1, OUTCOME_DONE) };

	m[0].u.intent.cluster = 1;
	test_set(&m[0], intent.action_key, "rs-1");
	test_set(&m[1], record.target, "deployments.apps/shop/web");
	world_write(m, 2);
	remember("reverted", "rs-1/6b7f", 5, 1, "");
	ck_assert_uint_eq(begin(), 2);
	ck_assert(says("[prod]") && !says("deployments.apps/shop/web"));
}

TEST(spent_budget_is_reported_when_it_lasts)
{
	ck_assert_int_eq(attention_note_guards(w.db, GUARD_BIT(BUDGET),
					       (struct facts[1]){ quoting("Budget 12, Pause 3") }, "prod"),
			 0);
	clock_fake_advance(HOUR - 1);
	ck_assert_uint_eq(begin(), 0);
	clock_fake_advance(1);
	ck_assert_uint_eq(begin(), 2);
	ck_assert(says("BudgetSpent") && says("Budget 12") && says("raise the budget"));
	ck_assert_int_eq(attention_note_guards(w.db, GUARD_BIT(PAUSE),
					       (struct facts[1]){ quoting("Pause 3") }, "prod"),
			 0);
	ck_assert_uint_eq(begin(), 0);
}

/* A scale-down that is reverted day after day is written once: its age is no end. */
TEST(nothing_that_lasts_is_pruned)
{
	uint64_t days = 30;
	bool more;

	ck_assert_int_eq(attention_note_guards(w.db, GUARD_BIT(BUDGET),
					       (struct facts[1]){ quoting("Budget 12") }, "prod"),
			 0);
	refuse("u1", "HasFinalizers");
	clock_fake_advance(INT64_C(31) * 24 * HOUR);
	ck_assert_int_eq(history_prune(w.h, &days, &more), 0);
	ck_assert_uint_eq(begin(), 2);
	ck_assert(says("BudgetSpent") && !says("HasFinalizers"));
}

TEST(many_kinds_are_cut)
{
	char cluster[16];

	for (int i = 0; i < 30; i++) {
		(void)snprintf(cluster, sizeof(cluster), "c%d", i);
		ck_assert_int_eq(attention_note_guards(w.db, GUARD_BIT(BUDGET),
						       (struct facts[1]){ quoting("Budget 1") }, cluster),
				 0);
	}
	clock_fake_advance(HOUR);
	ck_assert_uint_eq(begin(), DIGEST_ATTENTION_MAX + 1);
	ck_assert(says("and 10 more"));
}

TEST_MAIN("reporter/attention")
{
	tcase_add_checked_fixture(t, world_setup, teardown);
}
