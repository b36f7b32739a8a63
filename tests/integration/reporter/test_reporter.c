/* test_reporter.c - the reporter as a process, in its sandbox: what it acknowledges survives SIGKILL, a
 * digest is posted once, the secret shows nowhere. */
// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "tests/integration/reporter/play.h"
#include "tests/suite.h"
#include "tests/facts_en.h"

#define set(m, member, s) msg_set(m, member, s, strlen(s))

static struct play p;

static void setup(void)
{
	play_init(&p);
}

static void teardown(void)
{
	ck_assert(!play_logged(&p, PLAY_SECRET));
	ck_assert(!play_logged(&p, "runtime error"));
	ck_assert(!play_logged(&p, "Sanitizer"));
	play_done(&p);
}

static struct msg intent(uint64_t id)
{
	struct msg m = { .type = MSG_INTENT, .u.intent = { .id = id, .duty = DUTY_EVICTED } };

	set(&m, intent.ns, "shop");
	set(&m, intent.name, "web-1");
	set(&m, intent.uid, "u1");
	set(&m, intent.action_key, "u1");
	set(&m, intent.reason, "Evicted");
	return m;
}

static void send_intent(uint64_t id, bool in_bulk)
{
	struct msg m = intent(id);

	m.u.intent.in_bulk = in_bulk;
	play_send(&p, &m);
}

static void send_intents(uint64_t from, uint64_t to)
{
	for (; from <= to; from++)
		send_intent(from, false);
}

static struct msg record(uint64_t id)
{
	struct msg m = { .type = MSG_RECORD,
			 .u.record = { .id = id, .outcome = OUTCOME_DONE, .replicas = -1, .http = 200 } };

	set(&m, record.reason, "Deleted");
	return m;
}

static void drain(void)
{
	const struct msg m = { .type = MSG_DRAIN, .u.drain.deadline_ms = 5000 };
	struct msg got;

	play_send(&p, &m);
	play_recv_type(&p, MSG_DRAINED, &got);
	ck_assert_uint_eq(got.u.drained.left, 0);
	ck_assert_int_eq(play_wait(&p), EXIT_CODE_OK);
}

TEST(what_is_acknowledged_survives)
{
	struct msg m;

	ck_assert_uint_eq(play_start(&p), 0);
	send_intents(1, 500);
	for (uint64_t id = 1; id <= 500; id++) {
		play_recv_type(&p, MSG_INTENT_ACK, &m);
		ck_assert_uint_eq(m.u.intent_ack.id, id);
	}
	m = record(7);
	play_send(&p, &m);
	play_recv_type(&p, MSG_RECORD_ACK, &m);
	ck_assert_uint_eq(m.u.record_ack.id, 7);
	play_kill(&p);
	ck_assert_uint_eq(play_start(&p), 499);
	send_intents(500, 500); /* the supervisor did not see the acknowledgement */
	play_recv_type(&p, MSG_INTENT_ACK, &m);
	ck_assert_uint_eq(m.u.intent_ack.id, 500);
	play_expect(&p, "/metrics", "opc_intents_open 499\n");
	drain();
}

TEST(an_id_that_is_taken_is_said)
{
	static const char *const uids[] = { "one", "one", "another" };

	ck_assert_uint_eq(play_start(&p), 0);
	for (size_t i = 0; i < 3; i++) {
		struct msg m = intent(1);

		strcpy(m.u.intent.uid, uids[i]);
		play_send(&p, &m);
		play_recv_type(&p, MSG_INTENT_ACK, &m);
		ck_assert_uint_eq(m.u.intent_ack.id, 1);
		ck_assert_int_eq(m.u.intent_ack.written, i < 2);
	}
	drain();
}

/* Below GATHER_MANY_MS and GATHER_MS of reporter/inbox.c, which a timer of libevent may fall short of by a
 * millisecond or two. */
#define WAIT_MANY_MS 20
#define WAIT_MS      8

/* Send two intents, the second when the first is acknowledged. Returns the milliseconds until both are: a
 * reporter that waits for more commits them 25 ms apart, however late this process or the reporter runs.
 * ret_second is what the second took. */
static uint64_t two_in_a_row(uint64_t id, bool in_bulk, uint64_t *ret_second)
{
	const uint64_t begin = clock_boot_ms();
	struct msg m;

	send_intent(id, in_bulk);
	play_recv_type(&p, MSG_INTENT_ACK, &m);
	const uint64_t second = clock_boot_ms();

	send_intent(id + 1, in_bulk);
	play_recv_type(&p, MSG_INTENT_ACK, &m);
	*ret_second = clock_boot_ms() - second;
	return clock_boot_ms() - begin;
}

/* A busy machine makes a commit slow now and then: one that is fast shows it. */
static void fast_once(uint64_t id)
{
	uint64_t took;

	for (unsigned n = 0; two_in_a_row(id, false, &took) >= WAIT_MANY_MS || took >= WAIT_MS; id += 2)
		ck_assert_uint_lt(n++, 500);
}

/* A storm in one cluster: those of another one do not wait with it. */
TEST(intents_in_bulk_wait_for_more)
{
	uint64_t took;
	struct msg m;

	ck_assert_uint_eq(play_start(&p), 0);
	send_intents(1, 300);
	for (unsigned n = 0; n < 300; n++)
		play_recv_type(&p, MSG_INTENT_ACK, &m);
	for (uint64_t id = 2001; id < 2041; id += 2)
		ck_assert_uint_ge(two_in_a_row(id, true, &took), WAIT_MANY_MS);
	fast_once(3001);
	drain();
}

/* Many that wait for a commit of many, and one that does not: was it acknowledged first? */
static bool overtakes(uint64_t id)
{
	enum { MANY = 40 };
	uint64_t first = 0;
	struct msg m;

	send_intent(id, false); /* committed now: what is in bulk waits from here on */
	play_recv_type(&p, MSG_INTENT_ACK, &m);
	for (unsigned n = 1; n <= MANY; n++)
		send_intent(id + n, true);
	send_intent(id + MANY + 1, false);
	for (unsigned n = 0; n <= MANY; n++) {
		play_recv_type(&p, MSG_INTENT_ACK, &m);
		first = first ? first : m.u.intent_ack.id;
	}
	return first == id + MANY + 1;
}

/* On a busy machine the time of those that wait may be over when the last one comes. */
TEST(an_urgent_intent_does_not_wait_for_many)
{
	unsigned n = 0;

	ck_assert_uint_eq(play_start(&p), 0);
	for (uint64_t id = 1; !overtakes(id); id += 100)
		ck_assert_uint_lt(n++, 100);
	drain();
}

TEST(questions_are_answered_whole)
{
	struct msg m = { .type = MSG_CTL_HISTORY,
			 .u.ctl_history = {
				 .conn = 3, .limit = 1000, .duty = -1, .outcomes = OUTCOMES_ALL } };
	const struct msg question = m;
	size_t rows = 0;

	(void)play_start(&p);
	send_intents(1, 300);
	play_send(&p, &question); /* what was sent before is in the answer */
	do {
		play_recv(&p, &m);
		rows += m.type == MSG_CTL_HISTORY_ROW;
		ck_assert(m.type != MSG_CTL_HISTORY_ROW ||
			  strcmp(m.u.ctl_history_row.cluster_name, "prod") == 0);
	} while (m.type != MSG_CTL_END);
	ck_assert_uint_eq(rows, 300);
	ck_assert_uint_eq(m.u.ctl_end.conn, 3);
	drain();
}

TEST(failing_since_comes_back_to_the_next_watcher)
{
	struct msg m = { .type = MSG_FAILING_SINCE,
			 .u.failing_since = { .duty = DUTY_IMAGE_PULL, .at = 1700000000000 } };
	const struct msg get = { .type = MSG_SAVED_GET };

	set(&m, failing_since.owner, "owner-1");
	set(&m, failing_since.revision, "6b7f");
	(void)play_start(&p);
	play_send(&p, &m);
	play_send(&p, &get);
	play_recv_type(&p, MSG_FAILING_SINCE_ROW, &m);
	ck_assert_str_eq(m.u.failing_since_row.owner, "owner-1");
	ck_assert_int_eq(m.u.failing_since_row.at, 1700000000000);
	play_recv_type(&p, MSG_SAVED_END, &m);
	drain();
}

static void say_synced(bool synced)
{
	const struct msg m = { .type = MSG_WATCH_STATS,
			       .u.watch_stats = { .leading = true, .synced = synced, .pods = 50000 } };

	play_send(&p, &m);
}

static void end_digest(uint64_t digest)
{
	const struct msg end = { .type = MSG_DIGEST_END,
				 .u.digest_end = { .digest = digest, .synced = true } };

	play_send(&p, &end);
}

/* The question of a report. The one for all that restarted, which comes once an hour, finds nothing. */
static uint64_t asked_for_report(void)
{
	struct msg m;

	for (;;) {
		play_recv_type(&p, MSG_DIGEST_GET, &m);
		if (!m.u.digest_get.all)
			return m.u.digest_get.digest;
		end_digest(m.u.digest_get.digest);
	}
}

/* Twelve restarts more each time; nobody finds more than that out. */
static void answer_digest(const char *pod)
{
	static uint64_t restarts;
	struct msg m, inspected = { .type = MSG_INSPECTED };
	const uint64_t digest = asked_for_report();

	restarts += 12;
	m = (struct msg){ .type = MSG_DIGEST_ROW,
			  .u.digest_row = { .digest = digest, .restarts = restarts, .created = 1 } };
	set(&m, digest_row.ns, "shop");
	set(&m, digest_row.workload, "web");
	set(&m, digest_row.pod, pod);
	set(&m, digest_row.container, "app");
	set(&m, digest_row.reason, "<at user_id=\"all\">");
	play_send(&p, &m);
	end_digest(digest);
	play_recv_type(&p, MSG_INSPECT, &m);
	inspected.u.inspected.inspection = m.u.inspect.inspection;
	play_send(&p, &inspected);
}

TEST(digest_is_posted_and_what_the_bot_says_counts)
{
	static const struct {
		const char *status, *body, *metric;
	} answers[] = {
		{ "200 OK", "{\"code\":0,\"msg\":\"success\"}",
		  "opc_digest_send_total{result=\"done\"} 1\n" },
		{ "200 OK", "{\"code\":19024,\"msg\":\"Key Words Not Found\"}", NULL },
		{ "302 Found\r\nLocation: /elsewhere", "", NULL },
		{ "500 Oops\r\nRetry-After: 1", "", NULL },
		{ "200 OK", "{\"StatusCode\":0}", "opc_digest_send_total{result=\"done\"} 2\n" },
		{ "413 Too Large", "", "opc_digest_send_total{result=\"given_up\"} 1\n" },
	};
	char *body = NULL;

	p.schedule = "@every 1s";
	(void)play_start(&p);
	say_synced(true);
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (i == 0 || answers[i - 1].metric)
			answer_digest("web-1");
		const int conn = play_bot_request(&p, &body);
		json_t *j = json_loads(body, 0, NULL);

		ck_assert_str_eq(json_string_value(json_object_get(j, "msg_type")), "interactive");
		ck_assert_ptr_nonnull(strstr(body, "pod重启次数过多"));
		ck_assert_ptr_nonnull(strstr(body, "shop/web"));
		ck_assert_ptr_null(strstr(body, "<at"));
		ck_assert_uint_eq(strlen(json_string_value(json_object_get(j, "sign"))), 44);
		json_decref(j);
		free(body);
		play_bot_answer(conn, answers[i].status, answers[i].body);
		if (answers[i].metric)
			play_expect(&p, "/metrics", answers[i].metric);
	}
	drain();
}

TEST(killed_while_posting_that_run_is_not_posted_again)
{
	char *first = NULL, *second = NULL;

	p.schedule = "@every 1s";
	(void)play_start(&p);
	say_synced(true);
	answer_digest("web-1");
	const int lost = play_bot_request(&p, &first);

	play_kill(&p);
	(void)close(lost);
	(void)play_start(&p);
	play_expect(&p, "/metrics", "opc_sink_messages_total{sink=\"feishu\",outcome=\"lost\"} 1\n");
	ck_assert(play_logged(&p, "it may have arrived, and is not sent again"));
	say_synced(true);
	answer_digest("web-1"); /* of a later run */
	const int conn = play_bot_request(&p, &second);

	ck_assert_ptr_nonnull(strstr(first, "RESTARTS 12"));
	ck_assert_ptr_nonnull(strstr(second, "RESTARTS 24"));
	play_bot_answer(conn, "200 OK", "{\"code\":0}");
	play_expect(&p, "/metrics", "opc_digest_send_total{result=\"done\"} 1\n");
	free(first);
	free(second);
	drain();
}

TEST(health_follows_the_watcher)
{
	struct msg m = { .type = MSG_CHILD_STATS };

	(void)play_start(&p);
#if !defined(OPC_NO_SANDBOX)
	ck_assert_msg(strstr(p.sandbox, "seccomp") != NULL, "%s", p.sandbox); /* all of this happens inside */
#endif
	play_expect(&p, "/livez", "HTTP/1.1 200 OK");
	play_expect(&p, "/readyz", "[-]watch-prod failed: reason withheld\n");
	say_synced(true);
	play_expect(&p, "/readyz", "HTTP/1.1 200 OK");
	play_expect(&p, "/metrics", "opc_cache_pods{cluster=\"prod\"} 50000\n");
	play_expect(&p, "/metrics", "process_resident_memory_bytes ");
	set(&m, child_stats.role, "watcher");
	set(&m, child_stats.cluster_name, "prod");
	set(&m, child_stats.state, "backoff");
	play_send(&p, &m);
	play_expect(&p, "/readyz", "HTTP/1.1 500 Internal Server Error");
	play_expect(&p, "/nothing", "HTTP/1.1 404 Not Found");
	m = (struct msg){ .type = MSG_TROUBLE_ROW,
			  .u.trouble_row = { .trouble = TROUBLE_FORBIDDEN, .n = 2 } };
	set(&m, trouble_row.cluster_name, "prod");
	play_send(&p, &m);
	play_expect(&p, "/metrics", "opc_trouble{trouble=\"forbidden\",cluster=\"prod\"} 2\n");
	drain();
}

static void offer(const struct settings *s, uint64_t generation, bool ok, const char *error)
{
	struct msg m;

	play_send_settings(&p, s, generation);
	play_recv_type(&p, MSG_SETTINGS_ACK, &m);
	ck_assert_uint_eq(m.u.settings_ack.generation, generation);
	ck_assert_msg(m.u.settings_ack.ok == ok, "%s", EN(m.u.settings_ack.error));
	ck_assert_ptr_nonnull(strstr(EN(m.u.settings_ack.error), error));
}

TEST(reload_takes_what_may_change_and_refuses_the_rest)
{
	const struct msg commit = { .type = MSG_SETTINGS_COMMIT, .u.settings_commit.generation = 3 };
	char *body = NULL;
	struct settings s;

	(void)play_start(&p);
	say_synced(true);
	play_settings(&p, &s);
	free(s.state_dir);
	s.state_dir = strdup("elsewhere");
	offer(&s, 2, false, "stateDir: an absolute path is needed");
	settings_done(&s);
	p.schedule = "@every 1s";
	play_settings(&p, &s);
	offer(&s, 3, true, "");
	settings_done(&s);
	ck_assert(play_bot_idle(&p, 2500)); /* prepared, not in force */
	play_send(&p, &commit);
	answer_digest("web-1");
	play_bot_answer(play_bot_request(&p, &body), "200 OK", "{\"code\":0}");
	free(body);
	play_expect(&p, "/metrics", "opc_digest_send_total{result=\"done\"} 1\n");
	drain();
}

/* Handshake up to where the process ends by itself. */
static int start_and_fail(struct play *x, const char *metrics_listen)
{
	struct settings s;
	struct msg m;

	play_spawn(x);
	play_recv_type(x, MSG_HELLO, &m);
	play_settings(x, &s);
	free(s.metrics_listen);
	s.metrics_listen = xstrdup(metrics_listen);
	play_send_settings(x, &s, 1);
	settings_done(&s);
	return play_wait(x);
}

TEST(second_instance_ends_with_75)
{
	struct play other = p;

	(void)play_start(&p);
	ck_assert_int_eq(start_and_fail(&other, "127.0.0.1:0"), EXIT_CODE_TEMPORARY);
	ck_assert(play_logged(&p, "another instance uses this state directory"));
	drain();
}

/* Whoever sent them lacked a descriptor: that passes. */
TEST(settings_without_their_memfd_do_not_end_with_78)
{
	const struct msg m = { .type = MSG_SETTINGS,
			       .u.settings = { .generation = 1, .cluster = CLUSTERS_MAX } };
	struct msg hello;

	play_spawn(&p);
	play_recv_type(&p, MSG_HELLO, &hello);
	play_send(&p, &m);
	ck_assert_int_eq(play_wait(&p), EXIT_CODE_RESOURCE);
}

/* What others need of it does not depend on who asks for metrics. */
TEST(an_address_in_use_is_a_trouble)
{
	char address[32];
	struct msg m;

	(void)snprintf(address, sizeof(address), "127.0.0.1:%u", p.bot_port);
	p.listen = address;
	(void)play_start(&p);
	ck_assert_ptr_nonnull(strstr(p.troubles[TROUBLE_LISTENER], address));
	ck_assert_ptr_nonnull(strstr(p.troubles[TROUBLE_LISTENER], "Address already in use"));
	(void)close(p.bot);
	p.bot = -1;
	/* It cannot bind any more: it ends in order, and who is started for it listens. */
	ck_assert(play_recv_within(&p, 40000, &m));
	ck_assert_int_eq((int)m.type, MSG_DRAINED);
	ck_assert_int_eq(play_wait(&p), 0);
	p.troubles[TROUBLE_LISTENER][0] = '\0';
	(void)play_start(&p);
	ck_assert_str_eq(p.troubles[TROUBLE_LISTENER], "");
	ck_assert(play_logged(&p, "serving metrics and health"));
	drain();
}

TEST(directory_open_to_others_ends_with_78)
{
	ck_assert_int_eq(chmod(p.dir, 0777), 0);
	ck_assert_int_eq(start_and_fail(&p, "127.0.0.1:0"), EXIT_CODE_CONFIG);
	ck_assert(play_logged(&p, "chmod 0700"));
}

/* -- a history that cannot be opened -- */

static void move(const char *from, const char *to)
{
	char *a = xasprintf("%s/%s", p.dir, from), *b = xasprintf("%s/%s", p.dir, to);

	ck_assert_int_eq(rename(a, b), 0);
	free(a);
	free(b);
}

static void damage(void)
{
	char *path = xasprintf("%s/history.db", p.dir);
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	(void)fputs("no database", f);
	ck_assert_int_eq(fclose(f), 0);
	free(path);
}

/* Up to READY; then it says that there is no history, and why. */
static void start_without_history(void)
{
	struct settings s;
	struct msg m;

	play_spawn(&p);
	play_recv_type(&p, MSG_HELLO, &m);
	p.phase = PH_SETUP;
	play_settings(&p, &s);
	play_send_settings(&p, &s, 1);
	settings_done(&s);
	play_recv_type(&p, MSG_READY, &m);
	p.phase = PH_RUN;
	play_recv_type(&p, MSG_NO_HISTORY, &m);
	ck_assert_ptr_nonnull(strstr(EN(m.u.no_history.why), "history.db: is damaged"));
	play_recv_type(&p, MSG_TROUBLE, &m);
	ck_assert_ptr_nonnull(strstr(p.troubles[TROUBLE_HISTORY], "history.db: is damaged"));
	ck_assert_ptr_nonnull(strstr(p.troubles[TROUBLE_HISTORY], "restore it, or move it away"));
}

/* It answers nothing that only the history could answer, and forgets nothing that is to be written. */
TEST(a_damaged_history_is_told_and_taken_up_when_it_is_restored)
{
	struct msg m = { .type = MSG_CTL_HISTORY,
			 .u.ctl_history = { .conn = 3, .limit = 9, .duty = -1, .outcomes = OUTCOMES_ALL } };
	const struct msg question = m, saved_get = { .type = MSG_SAVED_GET },
			 report = { .type = MSG_CTL_REPORT, .u.ctl_report.conn = 4 };
	size_t acks = 0;

	p.schedule = "@daily";
	(void)play_start(&p);
	send_intents(1, 3);
	play_recv_type(&p, MSG_INTENT_ACK, &m);
	drain();
	move("history.db", "backup");
	damage();
	start_without_history();
	play_expect(&p, "/readyz", "[-]history failed");
	play_expect(&p, "/livez", "HTTP/1.1 200 OK");
	play_expect(&p, "/", "HTTP/1.1 200 OK");
	send_intents(4, 4);
	play_send(&p, &saved_get);
	play_send(&p, &question);
	play_recv(&p, &m);
	ck_assert_int_eq((int)m.type, MSG_SAVED_END); /* neither an acknowledgement nor a memory */
	ck_assert(m.u.saved_end.failed);
	play_recv(&p, &m);
	ck_assert_int_eq((int)m.type, MSG_CTL_END);
	ck_assert_uint_eq(m.u.ctl_end.code, EXIT_CODE_TEMPORARY);
	play_send(&p, &report);
	play_recv(&p, &m);
	ck_assert_int_eq((int)m.type, MSG_CTL_END);
	ck_assert_uint_eq(m.u.ctl_end.code, EXIT_CODE_TEMPORARY);
	ck_assert(!play_recv_within(&p, 1500, &m));
	move("backup", "history.db"); /* in one step: in between there would be none, and a new one be made */
	for (size_t open = 0; open < 3 || acks < 1;) {
		play_recv(&p, &m);
		open += m.type == MSG_OPEN_INTENT;
		acks += m.type == MSG_INTENT_ACK && m.u.intent_ack.id == 4;
	}
	play_recv_type(&p, MSG_OPEN_END, &m);
	ck_assert_uint_eq(m.u.open_end.next_id, 5);
	ck_assert_str_eq(p.troubles[TROUBLE_HISTORY], "");
	play_expect(&p, "/metrics", "opc_intents_open 4\n");
	play_send(&p, &saved_get);
	play_recv_type(&p, MSG_SAVED_END, &m);
	send_intents(5, 5); /* sealed, it goes on with what it has opened */
	play_recv_type(&p, MSG_INTENT_ACK, &m);
	drain();
}

TEST(a_history_that_is_moved_away_is_made_anew)
{
	struct msg m;

	damage();
	start_without_history();
	move("history.db", "damaged");
	play_recv_type(&p, MSG_OPEN_END, &m);
	ck_assert_uint_eq(m.u.open_end.next_id, 1);
	send_intents(1, 1);
	play_recv_type(&p, MSG_INTENT_ACK, &m);
	drain();
}

/* By an operator who begins anew, say. Nothing may be done that stands in no file. */
TEST(a_history_that_is_removed_while_it_is_open_is_made_anew)
{
	static const char *const files[] = { "history.db", "history.db-wal" };
	struct msg m;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s", p.dir, files[i]);

		(void)play_start(&p);
		send_intents(2 * i + 1, 2 * i + 1);
		play_recv_type(&p, MSG_INTENT_ACK, &m);
		ck_assert_int_eq(unlink(path), 0);
		send_intents(2 * i + 2, 2 * i + 2);
		ck_assert_int_eq(play_wait(&p), EXIT_CODE_TEMPORARY);
	}
	ck_assert(play_logged(&p, "the history was removed or replaced while it was open"));
	ck_assert_uint_gt(play_start(&p), 0);
	drain();
}

/* A backup that is put in its place is read; it is not written beside it. */
TEST(a_history_that_is_replaced_while_it_is_open_is_read)
{
	struct msg m;

	(void)play_start(&p);
	send_intents(1, 1);
	play_recv_type(&p, MSG_INTENT_ACK, &m);
	drain();
	move("history.db", "backup");
	ck_assert_uint_eq(play_start(&p), 0);
	send_intents(2, 2);
	play_recv_type(&p, MSG_INTENT_ACK, &m);
	move("backup", "history.db");
	send_intents(3, 3);
	ck_assert_int_eq(play_wait(&p), EXIT_CODE_TEMPORARY);
	ck_assert(play_logged(&p, "the history was removed or replaced while it was open"));
	ck_assert_uint_eq(play_start(&p), 1);
	drain();
}

/* Its sandbox holds the one that was there: a new process takes the new one. */
TEST(a_folder_that_is_replaced_needs_another_process)
{
	struct msg m;
	char *away;

	damage();
	start_without_history();
	away = xasprintf("%s/away", p.folder);
	ck_assert_int_eq(rename(p.dir, away), 0);
	ck_assert_int_eq(mkdir(p.dir, 0700), 0);
	play_recv_type(&p, MSG_DRAINED, &m);
	ck_assert_int_eq(play_wait(&p), EXIT_CODE_OK);
	ck_assert_uint_eq(play_start(&p), 0);
	drain();
	free(away);
}

/* Who reloads waits to see whether it works now. */
TEST(a_reload_tries_to_open_the_history_at_once)
{
	const struct msg commit = { .type = MSG_SETTINGS_COMMIT, .u.settings_commit.generation = 2 };
	struct settings s;
	struct msg m;

	damage();
	start_without_history();
	for (int i = 0; i < 16 && !play_recv_within(&p, 500, &m); i++)
		; /* by now it is tried every eight seconds */
	play_settings(&p, &s);
	offer(&s, 2, true, "");
	settings_done(&s);
	move("history.db", "damaged");
	const uint64_t since = clock_boot_ms();

	play_send(&p, &commit);
	play_recv_type(&p, MSG_OPEN_END, &m);
	ck_assert_uint_lt(clock_boot_ms() - since, 4000);
	drain();
}

static void cases(__attribute__((unused)) Suite *suite, TCase *t)
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return EXIT_CODE_USAGE;
	play_executable = argv[1];
	return suite_run("integration/reporter", cases);
}
