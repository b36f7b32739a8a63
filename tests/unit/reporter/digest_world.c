/* digest_world.c - see digest_world.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/suite.h"
#include "tests/unit/reporter/digest_world.h"

#include "base/clock.h"
#include "base/xalloc.h"
#include "model/guards.h"
#include "reporter/history/attention.h"
#include "tests/facts_en.h"

static char dir[SUITE_PATH_MAX];
struct db *db;
struct digest_runner *run;
struct world w;
size_t clusters;
static char *text;

static void on_send(void *ctx, const struct msg *m)
{
	const struct msg_digest_get *q = &m->u.digest_get;
	struct world *x = ctx;

	if (m->type == MSG_INSPECT) {
		x->inspections[x->n_inspections++] = m->u.inspect;
		return;
	}
	if (q->all) {
		x->sampled++;
		x->sample = *q;
		return;
	}
	x->asked++;
	x->number = q->digest;
}
static void on_wake(void *ctx, uint64_t ms)
{
	((struct world *)ctx)->wake_ms = ms;
}
static void on_ended(void *ctx, const struct scheduled_run *ended)
{
	struct world *x = ctx;

	x->ended++;
	x->last = *ended;
	(void)snprintf(x->error, sizeof(x->error), "%s|%s", ended->incomplete, ended->incomplete);
}
static void on_trouble(void *ctx, int err, const char *what)
{
	(void)err;
	(void)what;
	((struct world *)ctx)->troubles++;
}
static const struct digest_ops ops = { on_send, on_wake, on_ended, on_trouble };

/* One is told reports, the other is not. */
static struct sink_settings sinks[] = {
	{ .name = (char *)"team", .news = 1 << NEWS_REPORT, .top = 20 },
	{ .name = (char *)"pager", .news = 1 << NEWS_ATTENTION },
};

static struct report_schedule p;

void set_schedule(const char *schedule, bool enable)
{
	report_schedule_done(&p);
	p = (struct report_schedule){ .enable = enable, .sample = true, .sinks = sinks, .n_sinks = 2 };

	ck_assert_int_eq(cron_parse(schedule, &p.cron, NULL), 0);
	p.schedule = xstrdup(schedule);
	p.title = xstrdup("Restarts");
	test_names(&p.clusters, "prod", clusters > 1 ? "staging" : NULL);
	digest_runner_set_schedule(run, &p);
}

void kill_it(void)
{
	digest_runner_free(&run);
	db_close(&db);
}

void start_unarmed(void)
{
	kill_it();
	db = test_db_open(dir);
	run = digest_runner_new(db, &ops, &w);
	ck_assert_int_eq(digest_runner_recover(run), 0);
	for (size_t i = 0; i < clusters; i++)
		digest_runner_synced(run, i, true);
}

void start_again(void)
{
	start_unarmed();
	set_schedule("0 0 9 * * *", true);
}

void world_setup(void)
{
	clusters = 1;
	clock_fake_set(DUE_AT - 10000, 5000000);
	suite_folder(dir);
	start_again();
}

void world_teardown(void)
{
	kill_it();
	report_schedule_done(&p);
	free(text);
	text = NULL;
	w = (struct world){ 0 };
	clock_fake_clear();
}

void need_an_operator(void)
{
	clock_fake_advance(-ATTENTION_LASTING_MS);
	ck_assert_int_eq(attention_note_guards(db, GUARD_BIT(BUDGET),
					       (struct facts[1]){ quoting("Budget 1") }, "prod"),
			 0);
	clock_fake_advance(ATTENTION_LASTING_MS);
}

void pass(int64_t ms)
{
	clock_fake_advance(ms);
	digest_runner_tick(run);
}

void answer_row(uint64_t cluster, const char *pod, uint64_t restarts)
{
	const struct msg m = test_row(cluster, w.number, "shop", "web", pod, restarts);

	digest_runner_on_row(run, &m.u.digest_row);
}

void answer_end(uint64_t cluster, bool synced)
{
	const struct msg_digest_end e = { cluster, w.number, synced };

	digest_runner_on_end(run, &e);
}

void answer_inspection(size_t i, bool found)
{
	struct msg m = { .type = MSG_INSPECTED,
			 .u.inspected = { .cluster = w.inspections[i].cluster,
					  .inspection = w.inspections[i].inspection,
					  .found = found } };

	test_set(&m, inspected.kind, "Rollout");
	test_set(&m, inspected.workload, "front");
	digest_runner_on_inspected(run, &m.u.inspected);
}

void answer_inspections(void)
{
	while (w.answered < w.n_inspections)
		answer_inspection(w.answered++, false);
}

void answer_count(uint64_t restarts)
{
	answer_row(0, "web-1", restarts);
	answer_end(0, true);
	answer_inspections();
}

void answer(void)
{
	answer_count(12);
}

void reach_end(void)
{
	pass(10000);
	ck_assert_uint_eq(w.asked, clusters);
	answer();
	ck_assert_uint_eq(messages(), 1);
}

static sqlite3 *handle(void)
{
	return sqlite3_db_handle(db_stmt(db, DB_ONE_ROW));
}

static int64_t number(const char *sql)
{
	sqlite3_stmt *st = NULL;
	int64_t ret;

	ck_assert_int_eq(sqlite3_prepare_v2(handle(), sql, -1, &st, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
	ret = sqlite3_column_int64(st, 0);
	(void)sqlite3_finalize(st);
	return ret;
}

size_t messages(void)
{
	ck_assert_int_eq(number("SELECT count(*) FROM outbox WHERE sink <> 'team'"), 0);
	return (size_t)number("SELECT count(*) FROM outbox");
}

const char *message(void)
{
	struct outbox_row row;

	ck_assert_int_eq(outbox_next(db, "team", &row), 1);
	free(text);
	text = document_to_text(&row.document);
	outbox_row_done(&row);
	return text;
}

void end_message(enum outbox_state state)
{
	ck_assert_int_eq(outbox_end(db, number("SELECT max(id) FROM outbox"), state,
				    (struct facts[1]){ quoting("why") }),
			 0);
}

void break_outbox(bool broken)
{
	ck_assert_int_eq(sqlite3_exec(handle(),
				      broken ? "ALTER TABLE outbox RENAME TO away"
					     : "ALTER TABLE away RENAME TO outbox",
				      NULL, NULL, NULL),
			 SQLITE_OK);
}

void run_state(int64_t due_at, char ret[static 32])
{
	char sql[128];
	sqlite3_stmt *st = NULL;
	char path[128];
	sqlite3 *other = NULL;

	/* The run's own connection is closed by then. */
	(void)snprintf(path, sizeof(path), "%s/history.db", dir);
	ck_assert_int_eq(sqlite3_open(path, &other), SQLITE_OK);
	(void)snprintf(sql, sizeof(sql), "SELECT state FROM digests WHERE due_at = %lld", (long long)due_at);
	ck_assert_int_eq(sqlite3_prepare_v2(other, sql, -1, &st, NULL), SQLITE_OK);
	ret[0] = '\0';
	if (sqlite3_step(st) == SQLITE_ROW)
		(void)snprintf(ret, 32, "%s", (const char *)sqlite3_column_text(st, 0));
	(void)sqlite3_finalize(st);
	(void)sqlite3_close(other);
}
