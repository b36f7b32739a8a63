/* test_migrate.c - a history that an older version of this program wrote reads the same after its migration.
 * golden/history/schema3.sql is a dump of a file that holds every duty, outcome and kind of row; schema3.rows
 * is what the version that wrote it said of it, with names that have changed since as they are now, the field
 * `finishes` and `mac` of an intent, the deletions that are followed until
 * their pod is gone, and the scale-downs that may come back (SCALED_ROW). */
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/rfc3339.h"
#include "model/duties.h"
#include "reporter/digest/run_log.h"
#include "reporter/digest/samples.h"
#include "reporter/history/attention.h"
#include "tests/suite.h"
#include "tests/unit/reporter/history_world.h"

/* When the file was written. */
#define WRITTEN_AT INT64_C(1795318944001)
#define LAST_ID    100
#define ROWS_MAX   100

static FILE *out;

static char *slurp(const char *path)
{
	char *text = calloc(1, 1 << 18);
	FILE *f = fopen(path, "r");

	ck_assert_msg(f && text, "%s", path);
	(void)fread(text, 1, (1 << 18) - 1, f);
	(void)fclose(f);
	return text;
}

static void setup(void)
{
	char *dump = slurp(GOLDEN_DIR "/schema3.sql"), path[SUITE_PATH_MAX + 16];
	sqlite3 *sql = NULL;

	world_setup();
	world_close();
	clock_fake_set(WRITTEN_AT, 1000);
	(void)snprintf(path, sizeof(path), "%s/history.db", w.dir);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(sqlite3_open(path, &sql), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(sql, dump, NULL, NULL, NULL), SQLITE_OK);
	(void)sqlite3_close(sql);
	free(dump);
	world_open();
}

static void print_msg(const struct msg *m)
{
	const struct msg_desc *d = msg_desc(m->type);

	(void)fprintf(out, "%s", d->name);
	for (size_t i = 0; i < d->n; i++) {
		const void *p = (const char *)&m->u + d->fields[i].off;

		if (d->fields[i].kind > KIND_BOOL)
			(void)fprintf(out, "|%s", (const char *)p);
		else if (d->fields[i].kind == KIND_BOOL)
			(void)fprintf(out, "|%d", *(const bool *)p);
		else
			(void)fprintf(out, "|%lld", (long long)*(const int64_t *)p);
	}
	(void)fprintf(out, "\n");
}

static void print_response(const struct msg *m, size_t n)
{
	ck_assert_uint_lt(n, ROWS_MAX);
	for (size_t i = 0; i < n; i++)
		print_msg(&m[i]);
}

static void print_actions(void)
{
	const struct msg_ctl_history all = {
		.limit = 1000, .duty = DUTY_ALL, .outcomes = OUTCOMES_ALL, .refusals = true
	};
	struct msg m[ROWS_MAX];

	print_response(m, world_open_intents(m, ROWS_MAX));
	for (uint64_t i = 0; i < 4; i++)
		print_response(m, world_saved(i / 2, i % 2, m, ROWS_MAX));
	print_response(m, world_query(&all, m, ROWS_MAX));
	for (uint64_t id = 1; id <= LAST_ID; id++) {
		query_restorable(w.db, w.h, &(struct msg_ctl_restore){ .id = id, .by_operator = true }, m);
		if (m->type == MSG_CTL_END && strstr(m->u.ctl_end.text, "no action has this number"))
			continue;
		print_msg(m);
		if (id % 3 == 1)
			print_response(m, world_show(id, m, ROWS_MAX));
	}
}

/* What was noted counts together with what is seen from now on, and is reported once. */
static void print_attention(void)
{
	struct msg again = world_refusal("r2", "HasFinalizers");

	again.u.refusal.cluster = 0;
	again.u.refusal.duty = DUTY_TERMINATING;
	test_set(&again, refusal.name, "dns-r2");
	for (int i = 0; i < 2; i++) {
		struct attention a;
		char since[RFC3339_MAX];

		world_write(&again, 1);
		ck_assert_int_eq(attention_begin(w.db, &a), 0);
		for (size_t k = 0; k < a.n; k++) {
			rfc3339_format(a.v[k].first_at, false, since);
			(void)fprintf(out, "attention|%s|%s|%s|%s|%s|%s\n", a.v[k].cluster,
				      duty_name((enum duty)a.v[k].duty), a.v[k].reason, a.v[k].names, since,
				      a.v[k].detail);
		}
		ck_assert_int_eq(attention_reported(w.db), 0);
		attention_done(&a);
		clock_fake_advance(3600000);
	}
	clock_fake_set(WRITTEN_AT, 1000);
}

static void print_runs(void)
{
	struct run_log_past past;
	uint64_t in_doubt = 9;
	int64_t claimed = 9, last = 9;

	ck_assert_int_eq(run_log_recover(w.db, &in_doubt, &claimed), 0);
	ck_assert_int_eq(run_log_past(w.db, &past), 0);
	ck_assert_int_eq(run_log_arm(w.db, "@every 1s|UTC", &last), 0);
	(void)fprintf(out, "digests|%lld|%lld|%lld|%lld|%lld|%lld\n", (long long)in_doubt, (long long)claimed,
		      (long long)past.reported, (long long)past.lost, (long long)past.last_success,
		      (long long)last);

	for (uint64_t i = 0; i < 8; i++) {
		const char *cluster = w.clusters.v[i / 4];
		int64_t delta = -2;
		char pod[] = "web-0";

		pod[4] = (char)('0' + i % 4);
		struct msg m = test_row(i / 4, 1, "shop", "web", pod, 20);

		m.u.digest_row.created = 1790000000000;
		ck_assert_int_eq(samples_put(w.db, &m.u.digest_row, cluster, WRITTEN_AT), 0);
		ck_assert_int_eq(samples_delta(w.db, &m.u.digest_row, cluster, past.collected_at, &delta), 0);
		(void)fprintf(out, "restarts|%lld\n", (long long)delta);
	}
}

TEST(every_row_reads_the_same)
{
	char *want = slurp(GOLDEN_DIR "/schema3.rows"), *got = NULL, *w_at = NULL, *g_at = NULL;
	size_t n = 0;

	out = open_memstream(&got, &n);
	print_actions();
	print_attention();
	print_runs();
	(void)fclose(out);
	const char *a = strtok_r(want, "\n", &w_at), *b = strtok_r(got, "\n", &g_at);

	for (; a && b; a = strtok_r(NULL, "\n", &w_at), b = strtok_r(NULL, "\n", &g_at))
		ck_assert_str_eq(b, a);
	ck_assert(!a && !b);
	free(want);
	free(got);
}

TEST_MAIN("reporter/migrate")
{
	tcase_add_checked_fixture(t, setup, world_teardown);
}
