/* test_watch.c - the watcher on its event loop, between a fake reflector and a list of messages. */
// SPDX-License-Identifier: Apache-2.0
#include <event2/event.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "fake_kube.h"
#include "harness.h"
#include "tests/suite.h"
#include "watcher/cluster_watch.h"
#include "tests/facts_en.h"

static struct event_base *base;
static struct cluster_watch *w;

static void loop(void)
{
	for (int i = 0; i < 200; i++)
		(void)event_base_loop(base, EVLOOP_NONBLOCK);
}

static void some_settings(struct settings *s)
{
	settings_init(s);
	policy_done(&s->policy);
	policy_init(&s->policy);
	free(s->cluster.server);
	s->cluster.server = xstrdup("https://10.0.0.1:6443");
	s->startup_quiet_ms = 0;
}

static void open_watch(void)
{
	struct settings s;

	clock_fake_set(NOW, 1000000);
	memset(&fake, 0, sizeof(fake));
	memset(&fake_namespaces, 0, sizeof(fake_namespaces));
	n_sent = 0;
	room = 1 << 30;
	fake_generation = 1;
	base = event_base_new();
	some_settings(&s);
	w = cluster_watch_new(base, 2, 7, &s, NULL);
	cluster_watch_start(w);
}

static void close_watch(void)
{
	cluster_watch_free(&w);
	event_base_free(base);
	clock_fake_clear();
}

static void tell(enum msg_type type)
{
	struct msg m = { .type = type };

	cluster_watch_on_msg(w, &m);
	loop();
}

static void list(const struct pod_facts *pods, size_t n)
{
	fake.ops.on_list(fake.ctx, "");
	for (size_t i = 0; i < n; i++)
		fake.ops.on_pod(fake.ctx, &pods[i]);
	fake.ops.on_sync(fake.ctx, "");
	fake.ops.on_alive(fake.ctx, clock_wall_ms());
	fake.ops.on_alive(fake.ctx, 0);
	tell(MSG_SAVED_END);
}

/* -- cases -- */

TEST(from_event_to_nomination)
{
	struct pod_facts p = pod_healthy(), q = pod_evicted();

	ck_assert_int_eq(fake.started, 1);
	ck_assert_str_eq(fake.server, "https://10.0.0.1:6443");
	list(&p, 1);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	fake.ops.on_pod(fake.ctx, &q);
	ck_assert_msg(count(MSG_NOMINATE) == 0, "the socket is read first, judged is later");
	loop();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	ck_assert_uint_eq(last(MSG_NOMINATE)->u.nominate.cluster, 2);
	struct msg settled = { .type = MSG_NOMINATION_RESULT };

	msg_copy_fields(&settled, last(MSG_NOMINATE));
	settled.u.nomination_result.outcome = OUTCOME_DONE;
	cluster_watch_on_msg(w, &settled);
	fake.ops.on_delete(fake.ctx, &q);
	loop();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

/* How old it is, the server's clock tells; where it has none, the list is waited for. */
TEST_LOOP(what_is_saved_is_asked_for_when_the_time_is_known, 0, 2)
{
	fake.ops.on_list(fake.ctx, "");
	ck_assert_uint_eq(count(MSG_SAVED_GET), 0);
	for (int i = 0; i < 2; i++)
		_i ? fake.ops.on_alive(fake.ctx, NOW) : fake.ops.on_sync(fake.ctx, "");
	ck_assert_uint_eq(count(MSG_SAVED_GET), 1);
}

TEST(stats_follow)
{
	struct pod_facts p = pod_healthy();

	ck_assert_uint_eq(count(MSG_WATCH_STATS), 1);
	ck_assert(!last(MSG_WATCH_STATS)->u.watch_stats.synced);
	ck_assert_uint_gt(strlen(EN(last(MSG_WATCH_STATS)->u.watch_stats.error)), 0);
	list(&p, 1);
	const struct msg_watch_stats *s = &last(MSG_WATCH_STATS)->u.watch_stats;

	ck_assert_uint_eq(s->cluster, 2);
	ck_assert(s->synced);
	ck_assert_uint_eq(s->pods, 1);
	ck_assert_uint_eq(s->events, 7);
	ck_assert_uint_eq(s->lists, 1);
	ck_assert_uint_eq(s->queue, 0); /* as soon as it is judged */
	ck_assert_uint_gt(s->bytes, 0);
	clock_fake_set(NOW + 2 * HOUR, 1000000);
	list(&p, 1);
	ck_assert(last(MSG_WATCH_STATS)->u.watch_stats.host_ahead);
}

/* What is known has its room; while a list is read, what it does not name any more is there, too. */
TEST(a_full_cache_takes_no_other_pod)
{
	struct pod_facts p = pod_healthy(), q = pod_evicted();
	struct settings s;

	q.name = STR_C("other");
	ck_assert_uint_eq(fake.config.max_objects, 0);
	ck_assert(!fake.ops.is_full(fake.ctx, &p));
	close_watch();
	base = event_base_new();
	some_settings(&s);
	s.max_pods = 1;
	w = cluster_watch_new(base, 2, 7, &s, NULL);
	cluster_watch_start(w);
	ck_assert_uint_eq(fake.config.max_objects, 1);
	ck_assert(!fake.ops.is_full(fake.ctx, &p));
	list(&p, 1);
	ck_assert(!fake.ops.is_full(fake.ctx, &p));
	ck_assert(fake.ops.is_full(fake.ctx, &q));
	fake.ops.on_list(fake.ctx, "");
	ck_assert(!fake.ops.is_full(fake.ctx, &q));
	fake.ops.on_list_failed(fake.ctx, "");
	ck_assert(fake.ops.is_full(fake.ctx, &q));
	fake.ops.on_delete(fake.ctx, &p);
	ck_assert(!fake.ops.is_full(fake.ctx, &q));
}

TEST(a_refused_credential_is_reported)
{
	fake.ops.on_trouble(fake.ctx, 401, words("Unauthorized"));
	fake.ops.on_trouble(fake.ctx, 401, words("Unauthorized"));
	ck_assert_uint_eq(count(MSG_CREDENTIAL), 1);
	ck_assert_uint_eq(last(MSG_CREDENTIAL)->u.credential.cluster, 2);
	ck_assert_uint_eq(last(MSG_CREDENTIAL)->u.credential.generation, 1);
	clock_fake_advance(10000);
	fake.ops.on_trouble(fake.ctx, 401, words("Unauthorized"));
	ck_assert_uint_eq(count(MSG_CREDENTIAL), 2);
	fake_generation = 2;
	fake.ops.on_trouble(fake.ctx, 401, words("Unauthorized"));
	ck_assert_uint_eq(count(MSG_CREDENTIAL), 3);
	fake.ops.on_trouble(fake.ctx, 403, words("pods is forbidden"));
	ck_assert_uint_eq(count(MSG_CREDENTIAL), 3);
}

TEST(new_settings)
{
	struct pod_facts p = pod_evicted();
	struct settings s;

	some_settings(&s);
	s.policy.duty[DUTY_EVICTED].enable = false;
	cluster_watch_set_settings(w, &s);
	list(&p, 1);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	ck_assert_int_eq(fake.started, 1);
	/* Another token and a duty switched on: judged again, not listed again. */
	some_settings(&s);
	s.cluster.token = xstrdup("t2");
	cluster_watch_set_settings(w, &s);
	loop();
	ck_assert_str_eq(fake.token, "t2");
	ck_assert_int_eq(fake.started, 1);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	/* After a refused credential the old stream is not waited for, but the cache stays. */
	fake.ops.on_trouble(fake.ctx, 401, words("Unauthorized"));
	some_settings(&s);
	cluster_watch_set_settings(w, &s);
	ck_assert_int_eq(fake.started, 2);
	tell(MSG_CTL_EXPLAIN);
	/* Other namespaces: everything anew. */
	some_settings(&s);
	list_set(&s.policy.duty[DUTY_EVICTED].namespaces, "shop,blog");
	cluster_watch_set_settings(w, &s);
	ck_assert_int_eq(fake.started, 3);
	ck_assert_uint_eq(fake.config.n_namespaces, 2);
	ck_assert_str_eq(fake.config.namespaces[0], "shop");
	list(&p, 1);
	ck_assert_uint_eq(last(MSG_WATCH_STATS)->u.watch_stats.pods, 1);
}

/* -- digest -- */

/* Refusals answer quickly and with a Date: a cache that is not kept in step gets stale all the same. */
TEST(refusals_keep_no_cache_fresh)
{
	struct pod_facts p = pod_evicted();

	list(NULL, 0);
	for (int i = 0; i < 61; i++) {
		clock_fake_advance(5000);
		fake.ops.on_alive(fake.ctx, clock_wall_ms());
		fake.ops.on_trouble(fake.ctx, 403, words("pods is forbidden"));
	}
	fake.ops.on_pod(fake.ctx, &p);
	loop();
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	fake.ops.on_alive(fake.ctx, 0);
	loop();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

static void ask_digest(uint64_t number)
{
	const struct msg m = { .type = MSG_DIGEST_GET, .u.digest_get = { .cluster = 2, .digest = number } };

	cluster_watch_on_msg(w, &m);
	loop();
}

TEST(restart_rows_rows)
{
	struct pod_facts p[3] = { pod_crashing(), pod_healthy(), pod_crashing() };

	p[0].owner.name = STR_LIT("web-76f9cd8d5c");
	p[0].revision = STR_LIT("76f9cd8d5c");
	p[1].name = STR_LIT("fine");
	p[2].name = STR_LIT("alone");
	p[2].owner = (struct owner_facts){ 0 };
	list(p, 3);
	ask_digest(9);
	ck_assert_uint_eq(count(MSG_DIGEST_ROW), 2);
	ck_assert_uint_eq(count(MSG_DIGEST_END), 1);
	ck_assert(last(MSG_DIGEST_END)->u.digest_end.synced);
	ck_assert_uint_eq(last(MSG_DIGEST_END)->u.digest_end.digest, 9);
	for (size_t i = 0; i < n_sent; i++) {
		const struct msg_digest_row *r = &sent[i].u.digest_row;

		if (sent[i].type != MSG_DIGEST_ROW)
			continue;
		bool alone = strcmp(r->pod, "alone") == 0;

		ck_assert_uint_eq(r->digest, 9);
		ck_assert_str_eq(r->ns, "shop");
		ck_assert_str_eq(r->workload, alone ? "alone" : "web");
		ck_assert_str_eq(r->kind, alone ? "Pod" : "ReplicaSet");
		ck_assert_uint_eq(r->restarts, (uint64_t)p[0].containers[0].restarts);
		ck_assert_str_eq(r->container, "app");
		ck_assert_uint_gt(strlen(r->reason), 0);
	}
}

static void ask_all(uint64_t number, int64_t since)
{
	const struct msg m = { .type = MSG_DIGEST_GET,
			       .u.digest_get = {
				       .cluster = 2, .digest = number, .all = true, .since = since } };

	cluster_watch_on_msg(w, &m);
	loop();
}

/* Below the threshold, too, and every container; but not what ended before. */
TEST(all_that_restarted_is_told)
{
	struct pod_facts p[3] = { pod_crashing(), pod_crashing(), pod_crashing() };

	p[0].containers[0].restarts = 1;
	p[0].containers[0].state = CONTAINER_RUNNING;
	p[0].containers[0].last_finished_at = 5000;
	p[0].containers[1] = p[0].containers[0];
	p[0].containers[1].name = STR_LIT("side");
	p[0].containers[1].last_finished_at = 9000;
	p[0].containers[1].last_reason = STR_LIT("OOMKilled");
	p[0].n_containers = 2;
	p[0].node = STR_LIT("node-7");
	p[1].name = STR_LIT("ignored");
	p[1].skip = true;
	p[2].name = STR_LIT("on-purpose"), p[2].containers[0].asked = true;
	list(p, 3);
	ask_digest(8);
	ck_assert_uint_eq(count(MSG_DIGEST_ROW), 0);
	ask_all(9, 0);
	ck_assert_uint_eq(count(MSG_DIGEST_ROW), 2);
	ck_assert(last(MSG_DIGEST_END)->u.digest_end.synced);
	n_sent = 0;
	ask_all(10, 6000);
	ck_assert_uint_eq(count(MSG_DIGEST_ROW), 1);
	const struct msg_digest_row *r = &last(MSG_DIGEST_ROW)->u.digest_row;

	ck_assert_str_eq(r->container, "side");
	ck_assert_str_eq(r->node, "node-7");
	ck_assert_str_eq(r->last_reason, "OOMKilled");
	ck_assert_int_eq(r->ended_at, 9000);
	ck_assert_uint_gt(strlen(r->uid), 0);
}

/* A report and the hourly look do not end one another. */
TEST(both_questions_are_answered)
{
	struct pod_facts p = pod_crashing();

	list(&p, 1);
	room = 0;
	ask_digest(1);
	ask_all(2, 0);
	while (count(MSG_DIGEST_END) < 2) {
		room = 100;
		cluster_watch_on_room(w);
		loop();
	}
	ck_assert_uint_eq(count(MSG_DIGEST_ROW), 2);
	for (size_t i = 0; i < n_sent; i++)
		ck_assert(sent[i].type != MSG_DIGEST_END || sent[i].u.digest_end.synced);
}

TEST(restart_rows_is_complete_without_room)
{
	struct pod_facts p = pod_crashing();

	fake.ops.on_list(fake.ctx, "");
	for (int i = 0; i < 1500; i++) {
		const struct pod_facts q = nth(&p, i);

		fake.ops.on_pod(fake.ctx, &q);
	}
	fake.ops.on_sync(fake.ctx, "");
	tell(MSG_SAVED_END);
	room = 0;
	ask_digest(1);
	while (count(MSG_DIGEST_END) == 0) {
		room = 100;
		cluster_watch_on_room(w);
		loop();
	}
	ck_assert_uint_eq(count(MSG_DIGEST_ROW), 1500);
	ck_assert_str_eq(last(MSG_DIGEST_ROW)->u.digest_row.pod, "pod-1499");
	ck_assert_uint_eq(count(MSG_DIGEST_END), 1);
}

TEST(restart_rows_give_way_to_a_newer_digest)
{
	struct pod_facts p = pod_crashing();

	list(&p, 1);
	room = 0;
	ask_digest(1);
	room = 1 << 30;
	ask_digest(2);
	ck_assert_uint_eq(count(MSG_DIGEST_END), 2);
	ck_assert_uint_eq(sent[n_sent - 1].u.digest_end.digest, 2);
	for (size_t i = 0; i < n_sent; i++)
		if (sent[i].type == MSG_DIGEST_END)
			ck_assert_int_eq(sent[i].u.digest_end.synced, sent[i].u.digest_end.digest == 2);
}

TEST(restart_rows_before_the_list_is_marked)
{
	ask_digest(1);
	ck_assert(!last(MSG_DIGEST_END)->u.digest_end.synced);
}

/* -- explain -- */

TEST(explain_says_every_duty)
{
	struct pod_facts p = pod_evicted();
	struct msg ask = { .type = MSG_CTL_EXPLAIN, .u.ctl_explain = { .conn = 77, .cluster = 2 } };

	msg_set(&ask, ctl_explain.ns, "shop", 4);
	msg_set(&ask, ctl_explain.name, "web-1-abcde", 11);
	cluster_watch_on_msg(w, &ask);
	loop();
	ck_assert_uint_eq(last(MSG_CTL_END)->u.ctl_end.code, 1);
	ck_assert_str_eq(
		EN(last(MSG_CTL_END)->u.ctl_end.why),
		"no pod or workload shop/web-1-abcde is in the cache; the first list is not complete yet");
	list(&p, 1);
	room = 2;
	cluster_watch_on_msg(w, &ask);
	loop();
	room = 1 << 30;
	cluster_watch_on_room(w);
	loop();
	ck_assert_uint_eq(count(MSG_CTL_EXPLAIN_ROW), DUTY__MAX);
	ck_assert_uint_eq(count(MSG_CTL_END), 2);
	ck_assert_uint_eq(last(MSG_CTL_END)->u.ctl_end.code, 0);
	for (size_t i = 0, duty = 0; i < n_sent; i++) {
		const struct msg_ctl_explain_row *r = &sent[i].u.ctl_explain_row;

		if (sent[i].type != MSG_CTL_EXPLAIN_ROW)
			continue;
		ck_assert_uint_eq(r->conn, 77);
		ck_assert_uint_eq(r->duty, duty);
		ck_assert_uint_eq(r->verdict, duty == DUTY_EVICTED ? VERDICT_ACT : VERDICT_NONE);
		duty++;
	}
}

/* What is logged between the two. */
static int log_pipe[2], log_before;

static void log_catch(void)
{
	ck_assert_int_eq(pipe2(log_pipe, O_CLOEXEC | O_NONBLOCK), 0);
	log_before = dup(STDERR_FILENO);
	ck_assert_int_eq(dup2(log_pipe[1], STDERR_FILENO), STDERR_FILENO);
}

static void log_caught(char text[static 4096])
{
	ck_assert_int_eq(dup2(log_before, STDERR_FILENO), STDERR_FILENO);
	close(log_before);
	close(log_pipe[1]);
	const ssize_t n = read(log_pipe[0], text, 4095);

	text[n > 0 ? n : 0] = '\0';
	close(log_pipe[0]);
}

/* One line with the name, then for ten seconds none, however many come; the next line says how many there
 * were. The pods around it are judged. */
TEST(a_hostile_object_is_logged)
{
	struct pod_facts p = pod_evicted();
	char text[4096];

	log_catch();
	fake.ops.on_list(fake.ctx, "");
	fake.ops.on_bad_object(fake.ctx, "a pod that is not valid protobuf was skipped: shop/bro?ken");
	for (unsigned i = 0; i < 1000; i++)
		fake.ops.on_bad_object(fake.ctx, "another");
	fake.ops.on_pod(fake.ctx, &p);
	fake.ops.on_sync(fake.ctx, "");
	fake.ops.on_alive(fake.ctx, 0);
	tell(MSG_SAVED_END);
	clock_fake_advance(10 * S);
	fake.ops.on_bad_object(fake.ctx, "the last");
	loop();
	log_caught(text);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	const char *line = strstr(text, "left out");

	ck_assert_ptr_nonnull(line);
	ck_assert_ptr_nonnull(strstr(line, "shop/bro?ken"));
	ck_assert_ptr_null(strstr(text, "another"));
	line = strstr(line + 1, "left out");
	ck_assert_ptr_nonnull(line);
	ck_assert_ptr_nonnull(strstr(line, "the last"));
	ck_assert_ptr_nonnull(strstr(line, "1002"));
	ck_assert_ptr_null(strstr(line + 1, "left out"));
}

/* -- labels of namespaces -- */

static void serve_by(const char *item)
{
	struct settings s;

	some_settings(&s);
	list_set(&s.policy.duty[DUTY_EVICTED].namespaces, item);
	cluster_watch_set_settings(w, &s);
	loop();
}

static void say_namespace(const char *name, const char *team)
{
	struct pod_facts p = { .name = STR_C(name), .uid = STR_LIT("ns-uid"), .rv = STR_LIT("1") };

	p.labels[p.n_labels++] = (struct label){ STR_LIT("team"), STR_C(team) };
	fake_namespaces.ops.on_pod(fake_namespaces.ctx, &p);
	loop();
}

static void list_namespaces(const char *name, const char *team)
{
	fake_namespaces.ops.on_list(fake_namespaces.ctx, "");
	say_namespace(name, team);
	fake_namespaces.ops.on_sync(fake_namespaces.ctx, "");
	loop();
}

TEST(namespaces_are_watched_only_where_labels_are_asked_for)
{
	ck_assert_int_eq(fake_namespaces.started, 0);
	serve_by("team-*");
	ck_assert_int_eq(fake_namespaces.started, 0);
	serve_by("label:team=a");
	ck_assert_int_eq(fake_namespaces.started, 1);
	ck_assert_int_eq(fake_namespaces.config.what, REFLECT_NAMESPACES);
	serve_by("label:team=b");
	ck_assert_int_eq(fake_namespaces.started, 1);
	ck_assert(fake_namespaces.running);
	serve_by("*");
	ck_assert(!fake_namespaces.running);
}

/* Nothing is judged before the labels are here; what gets the label later is judged then. */
TEST(labels_of_namespaces_decide)
{
	struct pod_facts p = pod_evicted();

	serve_by("label:team=a");
	list(&p, 1);
	list(&p, 1); /* the figures follow a list */
	ck_assert_uint_eq(count(MSG_NOMINATE) + count(MSG_REFUSAL), 0);
	ck_assert_ptr_nonnull(
		strstr(EN(last(MSG_WATCH_STATS)->u.watch_stats.error), "first list of namespaces"));
	list_namespaces("shop", "b");
	ck_assert_uint_eq(count(MSG_NOMINATE) + count(MSG_REFUSAL), 0);
	say_namespace("bank", "a");
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	say_namespace("shop", "a");
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

TEST(labels_of_namespaces_that_are_here_first)
{
	struct pod_facts p = pod_evicted();

	serve_by("label:team=a");
	list_namespaces("shop", "a");
	list(&p, 1);
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

/* Whoever is not allowed to read them does nothing by label, and hears of it. The gone namespace is unknown
 * again. */
TEST_LOOP(unknown_labels_refuse, 0, 2)
{
	struct pod_facts p = pod_evicted(), ns = { .name = STR_LIT("shop"), .uid = STR_LIT("ns-uid") };

	serve_by("label:team=a");
	if (_i) {
		list_namespaces("shop", "a");
		fake_namespaces.ops.on_delete(fake_namespaces.ctx, &ns);
	}
	list(&p, 1);
	if (!_i) {
		fake_namespaces.ops.on_trouble(fake_namespaces.ctx, 0, words("no answer"));
		loop();
		ck_assert_uint_eq(count(MSG_REFUSAL), 0); /* it may come yet */
		fake_namespaces.ops.on_trouble(fake_namespaces.ctx, 403, words("namespaces: forbidden"));
		list(&p, 1); /* the figures follow a list */
		ck_assert_str_eq(EN(last(MSG_WATCH_STATS)->u.watch_stats.error), "namespaces: forbidden");
	}
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	ck_assert_uint_eq(count(MSG_REFUSAL), 1);
	ck_assert_str_eq(last(MSG_REFUSAL)->u.refusal.reason, "NamespaceUnknown");
	if (!_i)
		fake_namespaces.ops.on_trouble(fake_namespaces.ctx, 0, NULL);
	list_namespaces("shop", "a");
	say_namespace("shop", "a");
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

/* Its bytes say nothing of the pods in the cache. */
TEST(namespaces_keep_no_cache_of_pods_fresh)
{
	struct pod_facts p = pod_evicted();

	serve_by("label:team=a");
	fake.ops.on_list(fake.ctx, "");
	fake.ops.on_pod(fake.ctx, &p);
	fake.ops.on_sync(fake.ctx, "");
	clock_fake_advance(SYNC_STATE_STALE_MS + 1);
	fake_namespaces.ops.on_alive(fake_namespaces.ctx, 0);
	list_namespaces("shop", "a");
	tell(MSG_SAVED_END);
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	fake.ops.on_alive(fake.ctx, 0);
	loop();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

static void stop_loop(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	*(bool *)arg = true;
}

/* A hundred thousand pods with a time to wait for: the loop sleeps until the first is due. The clock is real.
 */
TEST(waiting_costs_no_wake_up)
{
	struct pod_facts p = pod_terminating();
	const struct timeval second = { 1, 0 };
	bool over = false;
	char name[24], uid[37];
	unsigned wakes = 0;

	clock_fake_clear();
	fake.ops.on_list(fake.ctx, "");
	p.deletion = clock_wall_ms() + HOUR;
	p.name = (struct str){ name, 12 };
	p.uid = (struct str){ uid, 36 };
	for (unsigned i = 0; i < 100000; i++) {
		(void)snprintf(name, sizeof(name), "web-1-%06u", i);
		(void)snprintf(uid, sizeof(uid), "0b8f0f3e-0000-4000-8000-%012u", i);
		fake.ops.on_pod(fake.ctx, &p);
	}
	fake.ops.on_sync(fake.ctx, "");
	fake.ops.on_alive(fake.ctx, 0);
	tell(MSG_SAVED_END);
	/* Judging the list, and the figures that follow it, take their time; then there is nothing to do. */
	while (last(MSG_WATCH_STATS)->u.watch_stats.deadlines < 100000)
		(void)event_base_loop(base, EVLOOP_ONCE);
	for (unsigned tries = 0; tries < 20; tries++) {
		over = false;
		wakes = 0;
		(void)event_base_once(base, -1, EV_TIMEOUT, stop_loop, &over, &second);
		while (!over) {
			(void)event_base_loop(base, EVLOOP_ONCE);
			wakes++;
		}
		if (wakes == 1)
			break;
	}
	ck_assert_uint_eq(wakes, 1); /* the one that ends the second */
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
}

/* Once; and all of it again when the reporter is a new one. */
TEST(what_is_due_is_told)
{
	struct pod_facts p = pod_evicted();

	list(&p, 1);
	loop();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	fake.ops.on_sync(fake.ctx, "");
	ck_assert_uint_eq(count(MSG_DUE_ROW), 1);
	ck_assert_uint_eq(last(MSG_DUE_ROW)->u.due_row.cluster, 2);
	fake.ops.on_sync(fake.ctx, "");
	ck_assert_uint_eq(count(MSG_DUE_ROW), 1);
	tell(MSG_DUE_GET);
	fake.ops.on_sync(fake.ctx, "");
	ck_assert_uint_eq(count(MSG_DUE_ROW), 2);
	ck_assert(last(MSG_WATCH_STATS)->u.watch_stats.leading);
}

/* Every message sent passes the codec: charset, length, range. */
TEST(what_is_sent_can_be_read)
{
	struct pod_facts p[2] = { pod_evicted(), pod_crashing() };
	struct msg back;
	uint8_t buf[IPC_FRAME_MAX];
	const char *field;

	p[0].uid = STR_LIT("odd uid \x01\xff");
	p[0].rv = STR_LIT("odd rv");
	p[1].name = STR_LIT("crash");
	p[1].containers[0].name = STR_LIT("");
	list(p, 2);
	ask_digest(1);
	ck_assert_uint_gt(n_sent, 5);
	for (size_t i = 0; i < n_sent; i++) {
		size_t n = msg_encode(&sent[i], buf);
		int used = msg_decode(ROLE_WATCHER, ROLE_SUPERVISOR, PH_RUN, buf, n, &back, &field);
		ck_assert_int_eq(used, (int)n);
	}
}

TEST_MAIN("watcher/watch")
{
	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, open_watch, close_watch);
}
