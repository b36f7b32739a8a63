/* digest_world.c - see digest_world.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/suite.h"
#include "tests/unit/reporter/digest_world.h"

#include "base/clock.h"
#include "base/xalloc.h"
#include "model/guards.h"
#include "reporter/history/attention.h"

static char dir[SUITE_PATH_MAX];
static struct db *db;
struct digest_runner *run;
struct world w;
size_t clusters;

static void on_ask(void *ctx, uint64_t cluster, uint64_t digest)
{
	(void)cluster;
	((struct world *)ctx)->asked++;
	((struct world *)ctx)->number = digest;
}
static void on_post(void *ctx, char *body)
{
	struct world *x = ctx;

	x->bodies[x->posts++] = body;
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
	(void)snprintf(x->error, sizeof(x->error), "%s|%s", ended->incomplete,
		       ended->error ? ended->error : "");
}
static void on_trouble(void *ctx, int err, const char *what)
{
	(void)err;
	(void)what;
	((struct world *)ctx)->troubles++;
}
static void on_drained(void *ctx)
{
	((struct world *)ctx)->drained = true;
}
static const struct digest_ops ops = { on_ask, on_post, on_wake, on_ended, on_trouble, on_drained };

static void forget_world(void)
{
	for (size_t i = 0; i < w.posts; i++)
		free(w.bodies[i]);
	w = (struct world){ 0 };
}

void set_schedule(const char *schedule, bool enable)
{
	struct digest_options p = { .enable = enable, .sink = &post_feishu };

	ck_assert_int_eq(cron_parse(schedule, &p.cron, NULL), 0);
	p.schedule = xstrdup(schedule);
	p.title = xstrdup("Restarts");
	p.secret = xstrdup("");
	test_names(&p.clusters, "prod", clusters > 1 ? "staging" : NULL);
	digest_runner_set_options(run, &p);
}

void kill_it(void)
{
	digest_runner_free(&run);
	db_close(&db);
}

uint64_t start_unarmed(void)
{
	uint64_t in_doubt = 99;

	kill_it();
	db = test_db_open(dir);
	run = digest_runner_new(db, &ops, &w);
	ck_assert_int_eq(digest_runner_recover(run, &in_doubt), 0);
	for (size_t i = 0; i < clusters; i++)
		digest_runner_synced(run, i, true);
	return in_doubt;
}

uint64_t start_again(void)
{
	const uint64_t in_doubt = start_unarmed();

	set_schedule("0 0 9 * * *", true);
	return in_doubt;
}

void world_setup(void)
{
	clusters = 1;
	clock_fake_set(DUE_AT - 10000, 5000000);
	suite_folder(dir);
	ck_assert_uint_eq(start_again(), 0);
}

void world_teardown(void)
{
	kill_it();
	forget_world();
	clock_fake_clear();
}

void need_an_operator(void)
{
	clock_fake_advance(-ATTENTION_LASTING_MS);
	ck_assert_int_eq(attention_note_guards(db, GUARD_BIT(BUDGET), "Budget 1", "prod"), 0);
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

void answer(void)
{
	answer_row(0, "web-1", 12);
	answer_end(0, true);
}

void answer_bot(enum sink_verdict v)
{
	const struct sink_answer a = {
		.verdict = v, .code = v == SINK_ACCEPTED ? 0 : 9499, .retry_after_ms = -1, .text = "why"
	};

	digest_runner_on_answer(run, &a);
}

/* To the moment where the first part is on its way. */
void reach_post(void)
{
	pass(10000);
	ck_assert_uint_eq(w.asked, clusters);
	answer();
	ck_assert_uint_eq(w.posts, 1);
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

/* Enough rows for several messages. */
void reach_many_parts(void)
{
	char name[200];

	pass(10000);
	for (int i = 0; i < 600; i++) {
		(void)snprintf(name, sizeof(name), "workload-with-a-rather-long-name-%03d", i);
		const struct msg m = test_row(0, w.number, "shop", name, name, 50);

		digest_runner_on_row(run, &m.u.digest_row);
	}
	answer_end(0, true);
	ck_assert_uint_eq(w.posts, 1);
}
