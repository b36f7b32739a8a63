/* test_presence.c - an instance without election looks for others: when it does, and what it makes of
 * answers. The algorithm is tested by kube/test_leader.c. */
// SPDX-License-Identifier: Apache-2.0
#include <event2/event.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "model/annotations.h"
#include "kube/leader.h" /* before harness.h, whose names it shadows */
#include "fake_kube.h"
#include "harness.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "tests/unit/kube/wire.h"
#include "watcher/cluster_watch.h"

static struct event_base *base;
static struct cluster_watch *w;

static void finish(void)
{
	cluster_watch_free(&w);
	if (base)
		event_base_free(base);
	base = NULL;
	clock_fake_clear();
}

static struct settings with_lease(bool presence, bool election, enum policy_mode mode)
{
	struct settings s;

	settings_init(&s);
	policy_done(&s.policy);
	policy_init(&s.policy);
	free(s.cluster.server);
	s.cluster.server = xstrdup("https://10.0.0.1:6443");
	s.presence = presence;
	s.election = election;
	s.lease_name = xstrdup("ours");
	s.lease_namespace = xstrdup("home");
	s.policy.mode = mode;
	return s;
}

static void start_with(bool presence, bool election, enum policy_mode mode)
{
	struct settings s = with_lease(presence, election, mode);

	finish();
	clock_fake_set(NOW, 1000000);
	memset(&fake, 0, sizeof(fake));
	fake_request = (struct fake_request){ .expected = true };
	n_sent = 0;
	room = 1 << 30;
	base = event_base_new();
	w = cluster_watch_new(base, 2, 7, &s, NULL);
	cluster_watch_start(w);
}

static void answer(long status)
{
	struct http_result r = { .failure = status ? HTTP_OK : HTTP_TIMEOUT, .status = status, .body = "" };

	if (!status)
		transport_said(&r.why, "timed out");

	fake_request.open = false;
	fake_request.on_done(fake_request.ctx, &r);
}

/* The server has taken the write, and answers with what it holds now. */
static void answer_lease(void)
{
	static const char key[] = "\"holderIdentity\":\"";
	const char *at = strstr(fake_request.body, key);
	struct wire answer = { 0 }, lease = { 0 }, meta = { 0 }, spec = { 0 };
	char holder[LEASE_TEXT];

	ck_assert_ptr_nonnull(at);
	at += strlen(key);
	(void)snprintf(holder, sizeof(holder), "%.*s", (int)strcspn(at, "\""), at);
	wire_field_str(&meta, 6, "42");
	wire_field_str(&spec, 1, holder);
	wire_field_varint(&spec, 2, LEADER_PRESENCE_MS / 1000);
	wire_field_message(&lease, 1, &meta);
	wire_field_message(&lease, 2, &spec);
	wire_envelope(&answer, "coordination.k8s.io/v1", "Lease", &lease);
	const struct http_result r = { .status = 200, .body = (const char *)answer.p, .body_len = answer.n };

	fake_request.open = false;
	fake_request.on_done(fake_request.ctx, &r);
	wire_done(&answer);
}

struct timers {
	const struct event *v[16];
	size_t n;
};

static int note_timer(const struct event_base *b, const struct event *e, void *ctx)
{
	struct timers *all = ctx;

	(void)b;
	ck_assert_uint_lt(all->n, ARRAY_SIZE(all->v));
	all->v[all->n++] = e;
	return 0;
}

static int is_timer(const struct event_base *b, const struct event *e, void *timer)
{
	(void)b;
	return e == timer;
}

/* The time of every timer has come, without waiting for it; what one has ended comes no more. */
static void pass_timers(int64_t ms)
{
	struct timers all = { .n = 0 };

	clock_fake_advance(ms);
	(void)event_base_foreach_event(base, note_timer, &all);
	for (size_t i = 0; i < all.n; i++)
		if (event_base_foreach_event(base, is_timer, (void *)(uintptr_t)all.v[i]))
			event_get_callback(all.v[i])(-1, EV_TIMEOUT, event_get_callback_arg(all.v[i]));
}

static const struct msg_watch_stats *stats_now(void)
{
	fake.ops.on_list(fake.ctx, "");
	fake.ops.on_sync(fake.ctx, ""); /* sends them */
	return &last(MSG_WATCH_STATS)->u.watch_stats;
}

/* Without election, in mode enforce, unless it is switched off; the others ask for no Lease, or as an
 * election does. */
TEST(a_presence_is_kept_by_who_acts_without_election)
{
	start_with(true, false, MODE_ENFORCE);
	ck_assert_str_eq(fake_request.method, "GET");
	ck_assert_str_eq(fake_request.path, "/apis/coordination.k8s.io/v1/namespaces/home/leases/ours");
	ck_assert(stats_now()->presence);
	ck_assert_msg(stats_now()->leading && count(MSG_LEADER) == 0, "its right to act depends on it");
	start_with(false, false, MODE_ENFORCE);
	ck_assert_int_eq(fake_request.started, 0);
	ck_assert(!stats_now()->presence);
	start_with(true, false, MODE_OBSERVE);
	ck_assert_int_eq(fake_request.started, 0);
	ck_assert(!stats_now()->presence);
	start_with(true, true, MODE_ENFORCE);
	ck_assert_int_eq(fake_request.started, 1);
	ck_assert(!stats_now()->presence);
}

/* Containers of one host have its name, and in each the supervisor is process 1. */
TEST(two_instances_of_one_name_and_process_are_not_one)
{
	for (int election = 0; election < 2; election++) {
		start_with(!election, election, MODE_ENFORCE);
		answer(404);
		ck_assert_str_eq(fake_request.method, "POST");
		ck_assert_ptr_nonnull(strstr(fake_request.body, "_00000007_"));
	}
}

/* Under the name of the cluster there may be another one, where another replica leads. */
TEST(who_led_at_another_server_does_not_lead_here)
{
	struct settings s = with_lease(false, true, MODE_ENFORCE);

	start_with(false, true, MODE_ENFORCE);
	answer(404);
	answer_lease();
	ck_assert(last(MSG_LEADER)->u.leader.leading);
	cluster_watch_set_settings(w, &s);
	ck_assert(last(MSG_LEADER)->u.leader.leading); /* the same server */
	ck_assert(!fake_request.open);
	s = with_lease(false, true, MODE_ENFORCE);
	free(s.cluster.server);
	s.cluster.server = xstrdup("https://10.0.0.2:6443");
	cluster_watch_set_settings(w, &s);
	ck_assert(!last(MSG_LEADER)->u.leader.leading);
	ck_assert(fake_request.open);
	ck_assert_str_eq(fake_request.method, "GET");
	answer(404);
	answer_lease();
	ck_assert(last(MSG_LEADER)->u.leader.leading);
}

TEST(a_presence_follows_the_mode)
{
	struct settings s = with_lease(true, false, MODE_ENFORCE);

	start_with(true, false, MODE_OBSERVE);
	cluster_watch_set_settings(w, &s);
	ck_assert_int_eq(fake_request.started, 1);
	ck_assert(stats_now()->presence);
	s = with_lease(true, false, MODE_OBSERVE);
	cluster_watch_set_settings(w, &s);
	ck_assert(!fake_request.open);
	ck_assert(!stats_now()->presence);
	ck_assert_msg(last(MSG_TROUBLE)->u.trouble.trouble == TROUBLE_ANOTHER_INSTANCE &&
			      facts_empty(&last(MSG_TROUBLE)->u.trouble.particulars),
		      "who looks for nobody knows of nobody");
}

static void start_with_lease(void)
{
	start_with(true, false, MODE_ENFORCE);
	answer(404);
	ck_assert_str_eq(fake_request.method, "POST");
	answer_lease();
	ck_assert(!fake_request.open);
}

static void set_mode(enum policy_mode mode)
{
	struct settings s = with_lease(true, false, mode);

	cluster_watch_set_settings(w, &s);
}

static void ck_assert_gives_back(void)
{
	ck_assert_msg(fake_request.open, "the Lease is kept until it runs out");
	ck_assert_str_eq(fake_request.method, "PATCH");
	ck_assert_ptr_nonnull(strstr(fake_request.body, "\"holderIdentity\":\"\""));
}

static void set_true(void *ctx)
{
	*(bool *)ctx = true;
}

/* So that another one sees it gone, and an elected standby need not wait for its end. */
TEST(a_presence_that_is_not_wanted_any_more_gives_the_lease_back)
{
	start_with_lease();
	set_mode(MODE_OBSERVE);
	ck_assert_gives_back();
	ck_assert(!stats_now()->presence);
	answer_lease();
	ck_assert(!fake_request.open);
	pass_timers(LEADER_PRESENCE_MS);
	ck_assert(!fake_request.open);
}

/* The answer to a renewal that is under way would be taken for the end of the release. */
TEST(a_renewal_under_way_is_given_up_for_the_release)
{
	start_with_lease();
	for (int i = 0; i < 10 && !fake_request.open; i++)
		pass_timers(LEADER_PRESENCE_MS / 10);
	ck_assert(fake_request.open);
	ck_assert_ptr_null(strstr(fake_request.body, "\"holderIdentity\":\"\""));
	set_mode(MODE_OBSERVE);
	ck_assert_gives_back();
	answer_lease();
	ck_assert(!fake_request.open);
}

TEST(a_lease_that_cannot_be_given_back_is_left)
{
	start_with_lease();
	set_mode(MODE_OBSERVE);
	ck_assert_gives_back();
	answer(403);
	ck_assert(facts_empty(&stats_now()->unseen));
	pass_timers(LEADER_PRESENCE_MS);
	ck_assert(!fake_request.open);
}

TEST(a_presence_that_is_wanted_again_takes_the_lease_anew)
{
	start_with_lease();
	set_mode(MODE_OBSERVE);
	ck_assert_gives_back();
	set_mode(MODE_ENFORCE);
	ck_assert(fake_request.open);
	ck_assert_str_eq(fake_request.method, "GET");
	ck_assert(stats_now()->presence);
}

/* A watcher that ends waits for it, whatever settings come meanwhile. */
TEST(the_end_waits_for_the_lease_to_be_given_back)
{
	for (int drain_first = 0; drain_first < 2; drain_first++) {
		bool drained = false;

		start_with_lease();
		if (!drain_first)
			set_mode(MODE_OBSERVE);
		cluster_watch_drain(w, set_true, &drained);
		if (drain_first)
			set_mode(MODE_OBSERVE);
		ck_assert_gives_back();
		ck_assert(!drained);
		answer_lease();
		ck_assert(drained);
	}
}

/* What only an operator can change is said by `status`, and is no trouble; what passes is not even said. */
TEST(a_presence_without_rights_is_no_trouble)
{
	static const struct {
		long first, second; /* answers to GET and, behind a 404, to POST */
		bool said;
	} rows[] = { { 403, 0, true },    { 404, 404, true },  { 404, 403, true },
		     { 404, 409, false }, { 500, 0, false },   { 429, 0, false },
		     { 0, 0, false },     { 404, 503, false }, { 401, 0, false } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start_with(true, false, MODE_ENFORCE);
		answer(rows[i].first);
		if (rows[i].first == 404) {
			ck_assert_str_eq(fake_request.method, "POST");
			answer(rows[i].second);
		}
		ck_assert_msg(!fake_request.open, "row %zu: asked again at once", i);
		ck_assert_msg(!facts_empty(&stats_now()->unseen) == rows[i].said, "row %zu: %s", i,
			      EN(stats_now()->unseen));
		ck_assert_uint_eq(count(MSG_TROUBLE), 0);
		ck_assert_uint_eq(count(MSG_CREDENTIAL), rows[i].first == 401);
	}
}

/* An election cannot do without. The 404 to its GET is the beginning of its creation, and no end of a
 * trouble. */
TEST(an_election_without_lease_is_a_trouble)
{
	static const long to_create[] = { 404, 403, 500, 0 };

	start_with(true, true, MODE_ENFORCE);
	answer(403);
	ck_assert_uint_eq(last(MSG_TROUBLE)->u.trouble.trouble, TROUBLE_LEASE);
	for (size_t i = 0; i < ARRAY_SIZE(to_create); i++) {
		start_with(true, true, MODE_ENFORCE);
		answer(404);
		ck_assert_uint_eq(count(MSG_TROUBLE), 0);
		answer(to_create[i]);
		ck_assert_uint_eq(count(MSG_TROUBLE), 1);
		ck_assert_uint_eq(last(MSG_TROUBLE)->u.trouble.trouble, TROUBLE_LEASE);
		ck_assert(!facts_empty(&last(MSG_TROUBLE)->u.trouble.particulars));
		pass_timers(LEADER_RETRY_MS * 3);
		answer(404);
		ck_assert_str_eq(fake_request.method, "POST");
		ck_assert_msg(count(MSG_TROUBLE) == 1, "row %zu: it ends before the Lease is there", i);
		answer(409);
		ck_assert_uint_eq(count(MSG_TROUBLE), 2);
		ck_assert(facts_empty(&last(MSG_TROUBLE)->u.trouble.particulars));
	}
}

/* The Lease is free, and tells of the last hour. */
static void answer_free_lease(const char *memory)
{
	struct wire answer = { 0 }, lease = { 0 }, meta = { 0 }, spec = { 0 }, annotation = { 0 };

	wire_field_str(&annotation, 1, ANNOTATION_MEMORY);
	wire_field_str(&annotation, 2, memory);
	wire_field_str(&meta, 6, "41");
	wire_field_message(&meta, 12, &annotation);
	wire_field_str(&spec, 1, "");
	wire_field_message(&lease, 1, &meta);
	wire_field_message(&lease, 2, &spec);
	wire_envelope(&answer, "coordination.k8s.io/v1", "Lease", &lease);
	const struct http_result r = { .status = 200, .body = (const char *)answer.p, .body_len = answer.n };

	fake_request.open = false;
	fake_request.on_done(fake_request.ctx, &r);
	wire_done(&answer);
}

/* The history is slow to open, and the Lease tells of the same act: it counts once, whichever comes first. */
TEST_LOOP(an_act_that_history_and_lease_tell_of_counts_once, 0, 2)
{
	const struct msg new = { .type = MSG_NOMINATION_RESULT,
				 .u.nomination_result = { .duty = DUTY_EVICTED, .ns = "new" } };
	const struct msg act = { .type = MSG_ACTION_ROW,
				 .u.action_row = {
					 .cluster = 2, .duty = DUTY_EVICTED, .at = NOW, .ns = "web" } };
	const struct msg end = { .type = MSG_SAVED_END, .u.saved_end.cluster = 2 };
	_cleanup_free_ char *memory = xasprintf("deleteEvictedPod web %lld 0 1;", (long long)NOW);

	start_with(false, true, MODE_ENFORCE);
	for (int i = 0; i < 2; i++) {
		if (i != _i) {
			answer_free_lease(memory);
			ck_assert_str_eq(fake_request.method, "PATCH");
			answer_lease();
			ck_assert(last(MSG_LEADER)->u.leader.leading);
		} else {
			cluster_watch_on_msg(w, &act);
			cluster_watch_on_msg(w, &end);
		}
	}
	cluster_watch_on_msg(w, &act); /* asked for when the end was on its way */
	cluster_watch_on_msg(w, &end);
	cluster_watch_on_msg(w, &new);
	pass_timers(LEADER_RETRY_MS);
	ck_assert_ptr_nonnull(strstr(fake_request.body, "deleteEvictedPod new "));
	ck_assert_ptr_nonnull(strstr(fake_request.body, memory));
}

/* A reporter dies in the midst of its answer: it is asked for again, and an act counts once. */
TEST(an_act_of_an_answer_that_broke_off_counts_once)
{
	const struct msg act = { .type = MSG_ACTION_ROW,
				 .u.action_row = {
					 .cluster = 2, .duty = DUTY_EVICTED, .at = NOW, .ns = "web" } };
	const struct msg result = { .type = MSG_NOMINATION_RESULT,
				    .u.nomination_result = { .duty = DUTY_EVICTED, .ns = "web" } };
	const struct msg cut = { .type = MSG_SAVED_END, .u.saved_end = { .cluster = 2, .failed = true } };
	const struct msg end = { .type = MSG_SAVED_END, .u.saved_end.cluster = 2 };
	_cleanup_free_ char *once = xasprintf("deleteEvictedPod web %lld 0 1;", (long long)NOW);

	start_with(false, true, MODE_ENFORCE);
	answer_free_lease("");
	answer_lease();
	(void)stats_now(); /* the list is here: it asks */
	ck_assert_uint_eq(count(MSG_SAVED_GET), 1);
	cluster_watch_on_msg(w, &result); /* of an earlier life: the row tells of it */
	cluster_watch_on_msg(w, &act);
	cluster_watch_on_msg(w, &cut);
	cluster_watch_on_msg(w, &result);
	cluster_watch_on_msg(w, &act);
	pass_timers(LEADER_RETRY_MS);
	ck_assert_uint_eq(count(MSG_SAVED_GET), 2);
	ck_assert_ptr_null(strstr(fake_request.body, "deleteEvictedPod"));
	answer_lease();
	cluster_watch_on_msg(w, &end);
	pass_timers(LEADER_RETRY_MS);
	ck_assert_uint_eq(count(MSG_SAVED_GET), 2);
	ck_assert_ptr_nonnull(strstr(fake_request.body, once));
}

/* While no pod changes. */
TEST(a_shared_credential_is_told_when_the_settings_change)
{
	start_with(false, false, MODE_OBSERVE);
	for (int i = 1; i <= 3; i++) {
		struct settings s = with_lease(false, false, MODE_OBSERVE);

		s.cluster.shared = i % 2;
		n_sent = 0;
		cluster_watch_set_settings(w, &s);
		ck_assert_uint_eq(count(MSG_WATCH_STATS), 1);
		ck_assert_int_eq(last(MSG_WATCH_STATS)->u.watch_stats.shared, i % 2);
	}
}

TEST_MAIN("watcher/presence")
{
	tcase_add_checked_fixture(t, NULL, finish);
}
