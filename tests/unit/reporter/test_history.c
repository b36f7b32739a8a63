/* test_history.c - nothing is acknowledged before it is on disk; the same message twice is harmless; answers
 * tell what was written. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <signal.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "model/duties.h"
#include "reporter/history/query.h"
#include "reporter/history/history.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "tests/unit/reporter/history_world.h"

static const char *of_row(const struct msg *m)
{
	struct facts all;

	history_row_facts(&m->u.ctl_history_row, &all);
	return EN(all);
}

TEST(commits_before_it_reports)
{
	const struct msg m[] = { world_intent(1, 0, "u1"), world_intent(2, 1, "u2"),
				 world_record(1, OUTCOME_DONE) };

	for (size_t i = 0; i < 3; i++)
		ck_assert(history_add(w.h, &m[i]));
	ck_assert_uint_eq(w.seen.n, 0);
	ck_assert_uint_eq(history_queued(w.h), 3);
	ck_assert_int_eq(history_flush(w.h), 0);
	ck_assert_uint_eq(w.seen.n, 3);
	ck_assert_int_eq(w.seen.type[2], MSG_RECORD);
	ck_assert_str_eq(w.seen.cluster, "prod"); /* the intent's */
	ck_assert_uint_eq(w.seen.duty, DUTY_TERMINATING);
	ck_assert_uint_eq(history_open_intents(w.h), 1);
}

static struct msg in_bulk(uint64_t id, const char *uid)
{
	struct msg m = world_intent(id, 0, uid);

	m.u.intent.in_bulk = true;
	return m;
}

/* What waits beside it keeps its order, and is as well reported by the next commit. */
TEST(an_urgent_intent_is_committed_alone)
{
	static const enum msg_type order[] = { MSG_INTENT, MSG_INTENT, MSG_RECORD, MSG_INTENT, MSG_RECORD };
	const struct msg m[] = { world_record(1, OUTCOME_DONE), world_intent(2, 0, "u2"), in_bulk(3, "u3"),
				 world_record(2, OUTCOME_DONE), world_intent(4, 0, "u4") };
	const struct msg first = in_bulk(1, "u1");

	world_write(&first, 1);
	w.seen.n = 0;
	for (size_t i = 0; i < 5; i++)
		ck_assert(history_add(w.h, &m[i]));
	ck_assert_int_eq(history_flush_part(w.h, true), 0);
	ck_assert_uint_eq(w.seen.n, 2);
	ck_assert_uint_eq(history_open_intents(w.h), 3);
	ck_assert_uint_eq(history_queued(w.h), 3);
	ck_assert_int_eq(history_flush_part(w.h, true), 0); /* none is left */
	ck_assert_uint_eq(w.seen.n, 2);
	ck_assert_int_eq(history_flush(w.h), 0);
	ck_assert_uint_eq(w.seen.n, 5);
	for (size_t i = 0; i < 5; i++) {
		ck_assert_int_eq(w.seen.type[i], order[i]);
		ck_assert_int_eq(w.seen.effect[i], HISTORY_NEW);
	}
	ck_assert_uint_eq(history_open_intents(w.h), 2);
}

/* As many as fit into its time, and the others by the next ones. */
TEST(a_part_takes_its_time)
{
	enum { MANY = 3000 };
	size_t left = MANY;
	int r;

	clock_fake_clear();
	for (uint64_t id = 1; id <= MANY; id++) {
		const struct msg m = in_bulk(id, "u");

		ck_assert(history_add(w.h, &m));
	}
	while ((r = history_flush_part(w.h, false)) > 0) {
		ck_assert_uint_lt(history_queued(w.h), left);
		left = history_queued(w.h);
	}
	ck_assert_int_eq(r, 0);
	ck_assert_uint_lt(left, MANY); /* it took more than one */
	ck_assert_uint_eq(history_queued(w.h), 0);
	ck_assert_uint_eq(history_open_intents(w.h), MANY);
}

TEST(same_message_twice_is_known)
{
	const struct msg m[] = { world_intent(7, 0, "u7"), world_intent(7, 0, "u7"),
				 world_record(7, OUTCOME_DONE), world_record(7, OUTCOME_FAILED) };

	world_write(m, 4);
	ck_assert_int_eq(w.seen.effect[0], HISTORY_NEW);
	ck_assert_int_eq(w.seen.effect[1], HISTORY_KNOWN);
	ck_assert_int_eq(w.seen.effect[2], HISTORY_NEW);
	ck_assert_int_eq(w.seen.effect[3], HISTORY_KNOWN);
	ck_assert_uint_eq(history_open_intents(w.h), 0);
}

/* A result that was there first does not keep the intent open for ever. */
TEST(an_intent_whose_result_is_known_is_not_open)
{
	const struct msg m[] = { world_record(9, OUTCOME_DONE), world_intent(9, 0, "u9"),
				 world_record(9, OUTCOME_DONE) };
	struct msg out[8];

	world_write(m, 2);
	ck_assert_uint_eq(world_open_intents(out, 8), 2);
	world_write(m + 2, 1);
	ck_assert_uint_eq(world_open_intents(out, 8), 1); /* its end alone */
}

TEST(id_of_another_object_is_a_conflict)
{
	const struct msg m[] = { world_intent(7, 0, "u7"), world_intent(7, 0, "other") };

	world_write(m, 2);
	ck_assert_int_eq(w.seen.effect[1], HISTORY_CONFLICT);
}

static struct msg quote(uint64_t id, uint64_t number, const char *text)
{
	struct msg m = { .type = MSG_QUOTE, .u.quote = { .id = id, .number = number, .quote = QUOTE_LOG } };

	strcpy(m.u.quote.pod, "web");
	strcpy(m.u.quote.container, "app");
	msg_set(&m, quote.text, text, strlen(text));
	return m;
}

/* Those that are kept with an action, by CTL_SHOW. */
static size_t quotes_of(uint64_t id, struct msg_ctl_quote_row *ret, size_t max)
{
	struct msg m = { .type = MSG_CTL_SHOW, .u.ctl_show = { .conn = 9, .id = id } };
	struct query *q = NULL;
	size_t n = 0;

	ck_assert_int_eq(query_show(w.db, w.h, &m, &q), 0);
	while (query_next(q, &m) > 0)
		if (m.type == MSG_CTL_QUOTE_ROW && n < max)
			ret[n++] = m.u.ctl_quote_row;
	query_free(&q);
	return n;
}

/* Only while the action is open, sent twice or not; and gone with it. */
TEST(quotes_are_kept_with_an_action)
{
	const struct msg m[] = { quote(1, 0, "too early"),      world_intent(1, 0, "u1"),
				 world_intent(2, 0, "u2"),      quote(1, 0, "one\ntwo"),
				 quote(1, 0, "one\ntwo"),       quote(1, 3, "more"),
				 world_record(1, OUTCOME_DONE), quote(1, 2, "too late") };
	struct msg_ctl_quote_row rows[8];
	uint64_t days = 1;
	int64_t seq;
	bool more;

	world_write(m, ARRAY_SIZE(m));
	ck_assert_uint_eq(quotes_of(1, rows, 8), 2);
	ck_assert_uint_eq(rows[0].conn, 9);
	ck_assert_str_eq(rows[0].text, "one\ntwo");
	ck_assert_uint_eq(rows[0].quote, QUOTE_LOG);
	ck_assert_str_eq(rows[0].container, "app");
	ck_assert_uint_eq(rows[1].number, 3);
	ck_assert_uint_eq(quotes_of(2, rows, 8), 0);
	clock_fake_advance(3 * 86400000);
	ck_assert_int_eq(history_prune(w.h, &days, &more), 0);
	ck_assert_int_eq(db_number(db_stmt(w.db, DB_SHOW_QUOTE_IDS, db_i("id", 1)), &seq), -ENOENT);
}

TEST(open_intents_survive_a_crash)
{
	const struct msg m[] = { world_intent(1, 0, "u1"), world_intent(2, 1, "u2"), world_intent(3, 1, "u3"),
				 world_record(2, OUTCOME_GONE) };
	struct msg out[8];

	world_write(m, 4);
	world_close();
	world_open();
	ck_assert_uint_eq(history_open_intents(w.h), 2);
	ck_assert_uint_eq(world_open_intents(out, 8), 3);
	ck_assert_int_eq(out[0].type, MSG_OPEN_INTENT);
	ck_assert_uint_eq(out[0].u.open_intent.id, 1);
	ck_assert_str_eq(out[0].u.open_intent.uid, "u1");
	ck_assert_str_eq(out[0].u.open_intent.rv, "42");
	ck_assert_int_eq(out[0].u.open_intent.since, WORLD_NOW - 5000);
	ck_assert_uint_eq(out[1].u.open_intent.id, 3);
	ck_assert_uint_eq(out[1].u.open_intent.cluster, 1);
	ck_assert_int_eq(out[2].type, MSG_OPEN_END);
	ck_assert_uint_eq(out[2].u.open_end.next_id, 4);
}

/* A killed process never loses what was reported: the child acknowledges over a pipe and dies by SIGKILL. */
TEST(killed_writer_loses_nothing_acknowledged)
{
	int fd[2];
	uint64_t id, last = 0, next = 0;

	world_close();
	ck_assert_int_eq(pipe(fd), 0);
	const pid_t pid = fork();

	if (pid == 0) {
		world_open();
		for (id = 1;; id++) {
			const struct msg m = world_intent(id, 0, "u");

			if (!history_add(w.h, &m) || history_flush(w.h) < 0 ||
			    write(fd[1], &id, sizeof(id)) != sizeof(id))
				_exit(1);
		}
	}
	(void)close(fd[1]);
	for (int i = 0; i < 50; i++)
		ck_assert_int_eq(read(fd[0], &last, sizeof(last)), sizeof(last));
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	while (read(fd[0], &id, sizeof(id)) == sizeof(id))
		last = id;
	(void)waitpid(pid, NULL, 0);
	(void)close(fd[0]);
	world_open();
	ck_assert_int_eq(world_next_id(&next), 0);
	ck_assert_uint_ge(next, last + 1);
	ck_assert_uint_ge(history_open_intents(w.h), last);
}

static int pages_written(void)
{
	int now = 0, most = 0;

	ck_assert_int_eq(sqlite3_db_status(sqlite3_db_handle(db_stmt(w.db, DB_BEGIN)),
					   SQLITE_DBSTATUS_CACHE_WRITE, &now, &most, 0),
			 SQLITE_OK);
	return now;
}

/* However long the history is: uids are random, but nothing is sorted by them. */
TEST(commit_of_many_writes_few_pages)
{
	enum { OLD = 2000, MANY = 10 };
	char uid[32];
	int before = 0;

	for (uint64_t id = 1; id <= OLD + MANY; id++) {
		if (id > OLD && before == 0) {
			ck_assert_int_eq(history_flush(w.h), 0);
			before = pages_written();
		}
		w.seen.n = 0;
		(void)snprintf(uid, sizeof(uid), "%016llx", (unsigned long long)(id * 0x9e3779b97f4a7c15));
		const struct msg m = world_intent(id, 0, uid);
		const struct msg r = world_record(id, OUTCOME_DONE);

		ck_assert(history_add(w.h, &m) && history_add(w.h, &r));
		if (id % 20 == 0)
			ck_assert_int_eq(history_flush(w.h), 0);
	}
	ck_assert_int_eq(history_flush(w.h), 0);
	ck_assert_int_lt(pages_written() - before, 12);
}

/* A file that may not grow is what a full disk looks like. */
TEST(full_disk_acknowledges_nothing_and_keeps_all)
{
	struct rlimit old, none;
	const struct msg m = world_intent(1, 0, "u1");

	(void)signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	none = old;
	none.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	ck_assert(history_add(w.h, &m));
	const int r = history_flush(w.h);

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	ck_assert_int_lt(r, 0);
	ck_assert(!history_writable(w.h));
	ck_assert_uint_eq(w.seen.n, 0);
	ck_assert_uint_eq(history_queued(w.h), 1);
	ck_assert_int_eq(history_flush(w.h), 0);
	ck_assert(history_writable(w.h));
	ck_assert_uint_eq(w.seen.n, 1);
	ck_assert_int_eq(w.seen.effect[0], HISTORY_NEW);
}

/* As long as the file cannot be opened; what has come meanwhile is written then. */
TEST(without_a_database_nothing_is_acknowledged_and_all_is_kept)
{
	struct facts why;
	char file[SUITE_PATH_MAX + 16], away[SUITE_PATH_MAX + 16];
	const struct msg before = world_intent(1, 0, "u1"), m = world_intent(2, 0, "u2");

	world_write(&before, 1);
	world_close();
	(void)snprintf(file, sizeof(file), "%s/history.db", w.dir);
	(void)snprintf(away, sizeof(away), "%s/away", w.dir);
	ck_assert_int_eq(rename(file, away), 0);
	ck_assert_int_eq(mkdir(file, 0700), 0);
	ck_assert_int_eq(db_claim(w.dir, &w.db, &why), 0);
	ck_assert_int_eq(db_open(w.db, 0, &why), -EPERM);
	w.h = history_new(w.db, &w.clusters, world_on_committed, &w.seen);
	w.seen = (struct seen){ 0 };
	ck_assert(!history_writable(w.h));
	ck_assert(history_add(w.h, &m));
	ck_assert_int_lt(history_flush(w.h), 0);
	ck_assert_uint_eq(history_queued(w.h), 1);
	ck_assert_uint_eq(w.seen.n, 0);
	ck_assert_int_eq(rmdir(file), 0);
	ck_assert_int_eq(rename(away, file), 0);
	ck_assert_int_eq(db_open(w.db, 0, &why), 0);
	history_opened(w.h);
	ck_assert(history_writable(w.h));
	ck_assert_uint_eq(history_open_intents(w.h), 1);
	ck_assert_int_eq(history_flush(w.h), 0);
	ck_assert_uint_eq(w.seen.n, 1);
	ck_assert_uint_eq(history_open_intents(w.h), 2);
}

TEST(refusals_are_counted_not_repeated)
{
	const struct msg_ctl_history q = {
		.conn = 9, .limit = 10, .duty = -1, .outcomes = OUTCOMES_ALL, .refusals = true
	};
	struct msg out[8];
	const struct msg m[] = { world_refusal("u9", "NamespaceExcluded"),
				 world_refusal("u9", "NamespaceExcluded") };

	world_write(m, 2);
	clock_fake_advance(60000);
	world_write(m, 1);
	ck_assert_uint_eq(world_query(&q, out, 8), 2);
	ck_assert_uint_eq(out[0].u.ctl_history_row.id, 0);
	ck_assert_int_eq(out[0].u.ctl_history_row.intent_at, WORLD_NOW);
	ck_assert_int_eq(out[0].u.ctl_history_row.result_at, WORLD_NOW + 60000);
	ck_assert_int_eq(out[0].u.ctl_history_row.outcome, OUTCOME_REFUSED);
	ck_assert_str_eq(out[0].u.ctl_history_row.cluster_name, "staging");
	ck_assert_str_eq(of_row(&out[0]), "excluded; seen 3");
	ck_assert_int_eq(out[1].type, MSG_CTL_END);
	ck_assert_uint_eq(out[1].u.ctl_end.conn, 9);
	ck_assert_uint_eq(out[1].u.ctl_end.code, 0);
}

/* Two clusters hold pods of one uid after a backup of etcd was restored in the other. */
TEST(refusals_of_two_clusters_do_not_mix)
{
	const struct msg_ctl_history q = {
		.limit = 10, .duty = -1, .outcomes = OUTCOMES_ALL, .refusals = true
	};
	struct msg out[8],
		m[] = { world_refusal("u9", "X"), world_refusal("u9", "X"), world_refusal("u9", "X") };

	m[2].u.refusal.cluster = 0;
	SET_SAID(m[2].u.refusal.evidence, "another");
	world_write(m, 3);
	ck_assert_uint_eq(world_query(&q, out, 8), 3);
	ck_assert_str_eq(out[0].u.ctl_history_row.cluster_name, "staging");
	ck_assert_str_eq(of_row(&out[0]), "excluded; seen 2");
	ck_assert_str_eq(out[1].u.ctl_history_row.cluster_name, "prod");
	ck_assert_str_eq(of_row(&out[1]), "another");
}

TEST(history_answers_newest_first_with_filters)
{
	struct msg_ctl_history q = { .conn = 5, .limit = 10, .duty = -1, .outcomes = OUTCOMES_ALL };
	struct msg out[8];
	const struct msg a[] = { world_intent(1, 0, "u1"), world_record(1, OUTCOME_DONE),
				 world_refusal("u9", "X") };
	const struct msg b[] = { world_intent(2, 1, "u2") };

	world_write(a, 3);
	clock_fake_advance(1000);
	world_write(b, 1);
	ck_assert_uint_eq(world_query(&q, out, 8), 3);
	ck_assert_uint_eq(out[0].u.ctl_history_row.id, 2);
	ck_assert_int_eq(out[0].u.ctl_history_row.outcome, -1);
	ck_assert_str_eq(out[0].u.ctl_history_row.reason, "StuckTerminating");
	ck_assert_str_eq(out[1].u.ctl_history_row.reason, "Deleted");
	ck_assert_str_eq(of_row(&out[1]), "3h past its deadline; node is gone");
	ck_assert_str_eq(out[1].u.ctl_history_row.target, "pods/shop/web-1");
	ck_assert_int_eq(out[1].u.ctl_history_row.replicas, 3);
	ck_assert_uint_eq(out[1].u.ctl_history_row.http, 200);
	q.limit = 1;
	ck_assert_uint_eq(world_query(&q, out, 8), 2);
	q = (struct msg_ctl_history){
		.limit = 10, .duty = DUTY_EVICTED, .outcomes = OUTCOMES_ALL, .refusals = true
	};
	ck_assert_uint_eq(world_query(&q, out, 8), 2);
	q = (struct msg_ctl_history){
		.limit = 10, .duty = -1, .outcomes = OUTCOMES_ALL, .since = WORLD_NOW + 1
	};
	ck_assert_uint_eq(world_query(&q, out, 8), 2);
	(void)snprintf(q.ns, sizeof(q.ns), "elsewhere");
	ck_assert_uint_eq(world_query(&q, out, 8), 1);
}

/* For a follower: an end is news however long ago its action began; so is the end of its pod. */
TEST(history_answers_by_the_last_change)
{
	const int64_t hour = 3600000;
	struct msg_ctl_history q = {
		.limit = 10, .duty = -1, .outcomes = UINT64_C(1) << OUTCOME_DONE, .since = WORLD_NOW + hour
	};
	const struct msg begun[] = { world_intent(1, 0, "u1"), world_intent(2, 0, "u2"),
				     world_intent(3, 0, "u3"), world_record(3, OUTCOME_UNCONFIRMED) },
			 done = world_record(2, OUTCOME_DONE), late = world_intent(4, 0, "u4"),
			 late_done = world_record(4, OUTCOME_DONE);
	struct msg settled = { .type = MSG_SETTLED }, out[8];

	test_set(&settled, settled.uid, "u3");
	world_write(begun, 4);
	clock_fake_advance(hour);
	world_write(&late, 1);
	world_write(&late_done, 1);
	clock_fake_advance(1000);
	world_write(&done, 1);
	clock_fake_advance(1000);
	world_write(&settled, 1);
	ck_assert_uint_eq(world_query(&q, out, 8), 2);
	ck_assert_uint_eq(out[0].u.ctl_history_row.id, 4);
	q.changed = true;
	ck_assert_uint_eq(world_query(&q, out, 8), 4);
	ck_assert_uint_eq(out[0].u.ctl_history_row.id, 3);
	ck_assert_uint_eq(out[1].u.ctl_history_row.id, 2);
	ck_assert_uint_eq(out[2].u.ctl_history_row.id, 4);
	q.limit = 1;
	ck_assert_uint_eq(world_query(&q, out, 8), 2);
	ck_assert_uint_eq(out[0].u.ctl_history_row.id, 3);
	q = (struct msg_ctl_history){
		.limit = 10, .duty = -1, .outcomes = OUTCOMES_ALL, .since = WORLD_NOW + hour, .changed = true
	};
	ck_assert_uint_eq(world_query(&q, out, 8), 4); /* not 1, which is open as before */
}

TEST(failing_since_is_saved_replaced_and_forgotten)
{
	const struct msg m[] = { world_failing_since(0, "o1", 100), world_failing_since(0, "o2", 200),
				 world_failing_since(1, "o3", 300), world_failing_since(0, "o1", 150),
				 world_failing_since(0, "o2", 0) };
	struct msg out[8];

	world_write(m, 5);
	world_close();
	world_open();
	ck_assert_uint_eq(world_saved(0, false, out, 8), 2);
	ck_assert_str_eq(out[0].u.failing_since_row.owner, "o1");
	ck_assert_str_eq(out[0].u.failing_since_row.revision, "6b7f");
	ck_assert_int_eq(out[0].u.failing_since_row.at, 150);
	ck_assert_int_eq(out[1].type, MSG_SAVED_END);
	ck_assert_uint_eq(out[1].u.saved_end.cluster, 0);
}

TEST(intents_of_a_removed_cluster_end_unconfirmed)
{
	const struct msg m[] = { world_intent(1, 0, "u1"), world_intent(2, 1, "u2") };
	uint64_t n = 0;

	world_write(m, 2);
	world_forget_staging();
	ck_assert_int_eq(history_end_orphans(w.h, &n), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(history_open_intents(w.h), 1);
	ck_assert_str_eq(w.seen.cluster, "staging");
}

/* SQLite's calls come here; the bytes go to the disk all the same. */
static size_t synced;

int fdatasync(int fd)
{
	synced++;
	return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
	synced++;
	return (int)syscall(SYS_fsync, fd);
}

TEST(what_was_written_is_on_the_disk)
{
	for (uint64_t id = 1; id <= 3; id++) {
		const struct msg m = world_intent(id, 0, "u1");

		synced = 0;
		world_write(&m, 1);
		ck_assert_uint_ge(synced, 1);
	}
}

/* 750 actions of that outcome, ten days old, in a file that they fill; how many days are kept then? */
static uint64_t fill_with(enum outcome outcome)
{
	uint64_t days = 30;
	struct facts why;
	char path[SUITE_PATH_MAX + 16], uid[16];
	struct stat st;
	bool more = true;
	int calls = 0;

	for (int i = 0; i < 1500; i++) {
		(void)snprintf(uid, sizeof(uid), "u%d", i / 2);
		const uint64_t id = (uint64_t)i / 2 + 1;
		const struct msg m = i % 2 ? world_record(id, outcome) : world_intent(id, 0, uid);

		ck_assert(history_add(w.h, &m));
	}
	ck_assert_int_eq(history_flush(w.h), 0);
	clock_fake_advance(INT64_C(10) * 86400000);
	world_close();
	(void)snprintf(path, sizeof(path), "%s/history.db", w.dir);
	ck_assert_int_eq(stat(path, &st), 0);
	world_open();
	db_close(&w.db);
	ck_assert_int_eq(test_open(w.dir, (uint64_t)st.st_size, &w.db, &why), 0);
	history_free(&w.h);
	w.h = history_new(w.db, &w.clusters, world_on_committed, &w.seen);
	for (; more && calls < 100; calls++)
		ck_assert_int_eq(history_prune(w.h, &days, &more), 0);
	ck_assert_uint_lt(db_fill(w.db), 90);
	return days;
}

/* Kept for thirty days, until the file is nearly full. */
TEST(prune_makes_room_in_a_full_file)
{
	uint64_t days = 30;
	bool more;

	ck_assert_uint_eq(fill_with(OUTCOME_DONE), 7);
	ck_assert_uint_lt(db_fill(w.db), 70);
	ck_assert_int_eq(history_prune(w.h, &days, &more), 0);
	ck_assert_uint_eq(days, 30);
}

/* A watcher that was taken over may nominate without end. */
TEST(prune_gives_up_what_changed_nothing_first)
{
	ck_assert_uint_eq(fill_with(OUTCOME_REFUSED), 30);
}

/* Of what a watcher has written down the newest stay; what was done stays, however much that is. */
TEST(prune_leaves_each_cluster_its_share)
{
	const uint64_t share = 16 << 20 >> 14; /* db_share() of 16 MiB */
	const struct msg done[] = { world_intent(1, 0, "u1"), world_record(1, OUTCOME_DONE) };
	struct msg_ctl_history q = {
		.limit = 100000, .duty = -1, .outcomes = OUTCOMES_ALL, .refusals = true
	};
	struct msg *out = xcalloc(share + 8, sizeof(*out));
	uint64_t days = 30;
	char uid[16];
	struct facts why;
	bool more = true;

	db_close(&w.db);
	ck_assert_int_eq(test_open(w.dir, 16 << 20, &w.db, &why), 0);
	history_free(&w.h);
	w.h = history_new(w.db, &w.clusters, world_on_committed, &w.seen);
	world_write(done, 2);
	for (unsigned i = 0; i < share + 100; i++) {
		(void)snprintf(uid, sizeof(uid), "r%u", i);
		const struct msg m = world_refusal(uid, "X");

		ck_assert(history_add(w.h, &m));
		ck_assert_int_eq(i % 100 ? 0 : history_flush(w.h), 0);
	}
	ck_assert_int_eq(history_flush(w.h), 0);
	ck_assert_int_eq(history_prune(w.h, &days, &more), 0);
	ck_assert_uint_eq(days, 30);
	ck_assert_uint_eq(world_query(&q, out, share + 8), share + 2); /* the action, and the end */
	free(out);
}

TEST(prune_keeps_open_new_and_the_last_id)
{
	uint64_t days = 30;
	const struct msg old[] = { world_intent(1, 0, "u1"), world_record(1, OUTCOME_DONE),
				   world_intent(2, 0, "u2"), world_refusal("u9", "X"),
				   world_intent(5, 0, "u5"), world_record(5, OUTCOME_DONE) };
	uint64_t next = 0;
	bool more = true;
	struct msg_ctl_history q = { .limit = 10, .duty = -1, .outcomes = OUTCOMES_ALL, .refusals = true };
	struct msg out[8];

	world_write(old, 6);
	clock_fake_advance(INT64_C(31) * 86400000);
	ck_assert_int_eq(history_prune(w.h, &days, &more), 0);
	ck_assert(!more);
	ck_assert_uint_eq(world_query(&q, out, 8), 3); /* 5: newest id; 2: open; end */
	ck_assert_uint_eq(out[0].u.ctl_history_row.id, 5);
	ck_assert_uint_eq(out[1].u.ctl_history_row.id, 2);
	ck_assert_int_eq(world_next_id(&next), 0);
	ck_assert_uint_eq(next, 6);
}

/* Open is what open_intents says, also where a result is there already, as after a restore of a backup. */
TEST(prune_keeps_what_is_open_though_it_has_a_result)
{
	uint64_t days = 30;
	const struct msg old[] = { world_intent(1, 0, "u1"), world_record(1, OUTCOME_DONE),
				   world_intent(2, 0, "u2"), world_record(2, OUTCOME_DONE),
				   world_intent(3, 0, "u3") };
	bool more = true;
	struct msg out[4];

	world_write(old, 5);
	ck_assert_int_eq(db_run(db_stmt(w.db, DB_OPEN_PUT, db_i("id", 1)), NULL), 0);
	clock_fake_advance(INT64_C(31) * 86400000);
	ck_assert_int_eq(history_prune(w.h, &days, &more), 0);
	ck_assert_uint_eq(world_open_intents(out, 4), 3); /* 1, 3, and the end */
	ck_assert_uint_eq(out[0].u.open_intent.id, 1);
	ck_assert_uint_eq(out[1].u.open_intent.id, 3);
}

/* Rows that somebody changed by hand must not make this process send what its peers would kill it for. */
TEST(hand_made_rows_are_forced_into_the_protocol)
{
	static const char sql_text[] =
		"UPDATE intents SET ns = '', name = 'a b\x07', duty = 99, reason = '', evidence = x'ff'";
	const struct msg m[] = { world_intent(1, 0, "u1") };
	struct msg out[4];
	char path[128];
	sqlite3 *sql = NULL;

	world_write(m, 1);
	world_close();
	(void)snprintf(path, sizeof(path), "%s/history.db", w.dir);
	ck_assert_int_eq(sqlite3_open(path, &sql), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(sql, sql_text, NULL, NULL, NULL), SQLITE_OK);
	(void)sqlite3_close(sql);
	world_open();
	ck_assert_uint_eq(world_open_intents(out, 4), 2);
	ck_assert_str_eq(out[0].u.open_intent.ns, "-");
	ck_assert_str_eq(out[0].u.open_intent.name, "a-b-");
	ck_assert_uint_eq(out[0].u.open_intent.duty, DUTY__MAX - 1);
	ck_assert(facts_empty(&out[0].u.open_intent.evidence));
}

TEST_MAIN("reporter/history")
{
	tcase_add_checked_fixture(t, world_setup, world_teardown);
}
