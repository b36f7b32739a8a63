/* test_db.c - the state directory: made private, held by one instance, refused when it is not what it should
 * be. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <malloc.h>

#include "reporter/history/attention.h"
#include "reporter/history/schema.h"
#include "tests/suite.h"
#include "tests/unit/reporter/support.h"

static char folder[SUITE_PATH_MAX], dir[SUITE_PATH_MAX + 8];
static struct db *db;

static void setup(void)
{
	suite_folder(folder);
	(void)snprintf(dir, sizeof(dir), "%s/state", folder);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	db = test_db_open(dir);
}

static void teardown(void)
{
	db_close(&db);
}

/* Each is compiled when it is first needed. */
TEST(every_statement_is_good)
{
	for (int id = 0; id < DB__MAX; id++) {
		ck_assert_msg(db_stmt(db, (enum db_stmt)id) != NULL, "statement %d: %s", id, db_error(db));
	}
}

static void spoil(const char *file)
{
	sqlite3 *sql = NULL;

	ck_assert_int_eq(sqlite3_open(file, &sql), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(sql, "DROP TABLE pauses", NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_close(sql), SQLITE_OK);
}

TEST(a_statement_that_cannot_be_compiled_fails)
{
	char file[SUITE_PATH_MAX + 24];
	int64_t n = 0;

	db_close(&db);
	(void)snprintf(file, sizeof(file), "%s/history.db", dir);
	spoil(file);
	db = test_db_open(dir);
	ck_assert_ptr_null(db_stmt(db, DB_PAUSED));
	ck_assert_ptr_nonnull(strstr(db_error(db), "pauses"));
	ck_assert_int_lt(db_number(db_stmt(db, DB_PAUSED), &n), 0);
	ck_assert_int_lt(db_run(db_stmt(db, DB_PAUSE_FORGET), NULL), 0);
}

TEST(second_instance_is_refused)
{
	char text[DB_TEXT_MAX] = "";
	struct db *other = NULL;

	ck_assert_int_eq(test_open(dir, 0, &other, text), -EWOULDBLOCK);
	ck_assert_ptr_null(other);
	ck_assert_ptr_nonnull(strstr(text, "another instance"));
	ck_assert_ptr_nonnull(strstr(text, dir));
}

TEST(directory_others_may_write_to_is_refused)
{
	char text[DB_TEXT_MAX] = "";
	struct db *other = NULL;
	char mine[SUITE_PATH_MAX];

	suite_folder(mine);
	ck_assert_int_eq(chmod(mine, 0770), 0);
	ck_assert_int_eq(test_open(mine, 0, &other, text), -EPERM);
	ck_assert_ptr_nonnull(strstr(text, "0770"));
	ck_assert_int_eq(chmod(mine, 0700), 0);
	ck_assert_int_eq(test_open(mine, 0, &other, text), 0);
	db_close(&other);
}

TEST(missing_directories_are_made_private)
{
	char text[DB_TEXT_MAX] = "", mine[SUITE_PATH_MAX], deep[SUITE_PATH_MAX + 8];
	struct db *other = NULL;
	struct stat st;

	suite_folder(mine);
	(void)snprintf(deep, sizeof(deep), "%s/state", mine);
	ck_assert_int_eq(test_open(deep, 0, &other, text), 0);
	ck_assert_int_eq(stat(deep, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0700);
	db_close(&other);
}

static void replace_file(const char *bytes, size_t n)
{
	char path[128];

	db_close(&db);
	(void)snprintf(path, sizeof(path), "%s/history.db", dir);
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
}

TEST(damaged_file_is_named_and_refused)
{
	static char garbage[8192];
	char text[DB_TEXT_MAX] = "";

	memset(garbage, 'x', sizeof(garbage));
	replace_file(garbage, sizeof(garbage));
	ck_assert_int_eq(test_open(dir, 0, &db, text), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(text, "history.db"));
	ck_assert_ptr_nonnull(strstr(text, "move it away"));
	replace_file("", 0);
	db = test_db_open(dir);
}

TEST(what_turns_out_to_be_unusable_is_closed_again)
{
	char text[DB_TEXT_MAX] = "", file[SUITE_PATH_MAX + 24];

	db_close(&db);
	(void)snprintf(file, sizeof(file), "%s/history.db", dir);
	spoil(file);
	db = test_db_open(dir);
	ck_assert_ptr_null(db_stmt(db, DB_PAUSED));
	ck_assert_int_lt(db_give_up(db, text), 0);
	ck_assert_ptr_nonnull(strstr(text, "history.db: cannot be used: no such table: pauses"));
	ck_assert(!db_is_open(db));
}

/* It is left as it is; nothing is made in its place. */
TEST(what_cannot_be_opened_fails_until_it_can)
{
	static const char garbage[] = "no database";
	char text[DB_TEXT_MAX] = "", path[SUITE_PATH_MAX + 24], found[64] = "";
	int64_t n = 0;

	replace_file(garbage, sizeof(garbage));
	ck_assert_int_eq(db_claim(dir, &db, text), 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(db_open(db, 0, text), -EBADMSG);
		ck_assert(!db_is_open(db));
		ck_assert_ptr_null(db_stmt(db, DB_OPEN_COUNT));
		ck_assert_int_lt(db_number(db_stmt(db, DB_OPEN_COUNT), &n), 0);
		ck_assert_int_lt(db_begin(db), 0);
		ck_assert_int_lt(db_end(db, 0), 0);
		ck_assert_uint_eq(db_fill(db), 0);
		ck_assert_str_eq(db_error(db), "it is not open");
	}
	(void)snprintf(path, sizeof(path), "%s/history.db", dir);
	FILE *f = fopen(path, "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fread(found, 1, sizeof(found), f), sizeof(garbage));
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_str_eq(found, garbage);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(db_open(db, 0, text), 0);
	ck_assert(db_is_open(db));
	ck_assert_int_eq(db_number(db_stmt(db, DB_OPEN_COUNT), &n), 0);
}

TEST(a_directory_that_was_replaced_is_another_one)
{
	char text[DB_TEXT_MAX] = "", away[SUITE_PATH_MAX + 8];

	replace_file("no database", 11);
	ck_assert_int_eq(db_claim(dir, &db, text), 0);
	ck_assert_int_eq(db_open(db, 0, text), -EBADMSG);
	(void)snprintf(away, sizeof(away), "%s/away", folder);
	ck_assert_int_eq(rename(dir, away), 0);
	ck_assert_int_eq(db_open(db, 0, text), -ESTALE);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	ck_assert_int_eq(db_open(db, 0, text), -ESTALE);
	ck_assert_ptr_nonnull(strstr(text, "was replaced"));
	ck_assert_int_eq(rmdir(dir), 0);
	ck_assert_int_eq(rename(away, dir), 0);
	ck_assert_int_eq(db_open(db, 0, text), -EBADMSG);
}

TEST(a_file_that_is_none_is_refused)
{
	char text[DB_TEXT_MAX] = "", path[128];

	db_close(&db);
	(void)snprintf(path, sizeof(path), "%s/history.db-wal", dir);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(test_open(dir, 0, &db, text), -EPERM);
	ck_assert_ptr_nonnull(strstr(text, "history.db-wal: is not a regular file"));
	ck_assert_int_eq(unlink(path), 0);
	(void)snprintf(path, sizeof(path), "%s/history.db", dir);
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(path, 1000, 0), 0);
		ck_assert_int_eq(test_open(dir, 0, &db, text), -EPERM);
	}
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	ck_assert_int_eq(test_open(dir, 0, &db, text), -EPERM);
	ck_assert_int_eq(unlink(path), 0);
	db = test_db_open(dir);
}

/* Rows until it is full: a limit that is kept, told as such, and room again when rows are gone. */
TEST(the_file_has_a_limit)
{
	static char long_text[201];
	const int64_t max = 1 << 20;
	char text[DB_TEXT_MAX] = "", path[128], name[32];
	struct stat st;
	int r = 0, n = 0;

	db_close(&db);
	ck_assert_int_eq(test_open(dir, (uint64_t)max, &db, text), 0);
	ck_assert_uint_lt(db_fill(db), 20);
	memset(long_text, 'x', sizeof(long_text) - 1);
	for (; r == 0 && n < 100000; n++) {
		const struct msg m = { .type = MSG_SAVED };

		if (n % 100 == 0)
			ck_assert_int_eq(db_begin(db), 0);
		(void)snprintf(name, sizeof(name), "k%d", n);
		r = db_run(db_stmt_msg(db, DB_SAVED_PUT, &m, db_s("cluster_name", "prod"), db_s("kind", "x"),
				       db_s("key", name), db_s("text", long_text)),
			   NULL);
		if (r == 0 && n % 100 == 99)
			r = db_end(db, 0);
	}
	ck_assert_int_eq(db_end(db, r), -ENOSPC);
	ck_assert_uint_ge(db_fill(db), 90);
	(void)snprintf(path, sizeof(path), "%s/history.db", dir);
	db_close(&db);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_le(st.st_size, max);
	ck_assert_int_eq(test_open(dir, (uint64_t)max / 2, &db, text), -EFBIG);
	ck_assert_ptr_nonnull(strstr(text, "historyMegabytes"));
	ck_assert_int_eq(test_open(dir, (uint64_t)max, &db, text), 0);
}

TEST(newer_schema_is_refused)
{
	char text[DB_TEXT_MAX] = "", path[128], version[64];
	sqlite3 *sql = NULL;

	db_close(&db);
	(void)snprintf(version, sizeof(version), "PRAGMA user_version = %d", schema_version());
	(void)snprintf(path, sizeof(path), "%s/history.db", dir);
	ck_assert_int_eq(sqlite3_open(path, &sql), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(sql, "PRAGMA user_version = 9999", NULL, NULL, NULL), SQLITE_OK);
	(void)sqlite3_close(sql);
	ck_assert_int_eq(test_open(dir, 0, &db, text), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(text, "newer version"));
	ck_assert_int_eq(sqlite3_open(path, &sql), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(sql, version, NULL, NULL, NULL), SQLITE_OK);
	(void)sqlite3_close(sql);
	db = test_db_open(dir);
}

/* As if a program of that version had written these rows. */
static void open_file_of(int version, const char *rows)
{
	char path[128];
	sqlite3 *sql = NULL;

	db_close(&db);
	(void)snprintf(path, sizeof(path), "%s/history.db", dir);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(sqlite3_open(path, &sql), SQLITE_OK);
	ck_assert_int_eq(schema_migrate(sql, version), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(sql, rows, NULL, NULL, NULL), SQLITE_OK);
	(void)sqlite3_close(sql);
	db = test_db_open(dir);
}

/* Every column that an older version did not know reads as what was true then. */
TEST(file_of_the_first_version_is_brought_up_to_date)
{
	static const char rows[] =
		"INSERT INTO intents(id, intent_at, cluster_name, observe, duty, ns, name, uid, rv, subject, "
		"since, reason,"
		" evidence) VALUES(7, 1000, 'prod', 0, 0, 'shop', 'web-1', 'u7', '42', 'o7', 900, "
		"'ImagePullFailed', 'x');"
		"INSERT INTO results(id, result_at, at, outcome, reason, detail, http, target, target_uid, "
		"target_rv,"
		" replicas) VALUES(7, 2000, 1900, 0, 'Scaled', '', 200, 'deployments.apps/shop/web', 'd7', "
		"'43', 3);"
		"INSERT INTO since(cluster_name, owner, revision, at) VALUES('prod', 'o7', 'r', 900);";
	struct msg m = { .type = MSG_FAILING_SINCE_ROW };
	int64_t n = -1;

	open_file_of(1, rows);
	sqlite3_stmt *st = db_stmt(db, DB_FAILING_SINCE_ROW, db_i("id", 1));

	ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
	db_read_msg(st, &m);
	ck_assert_int_eq(m.u.failing_since_row.at, 900);
	ck_assert_int_eq(m.u.failing_since_row.attempted, 0);
	m = (struct msg){ .type = MSG_CTL_HISTORY_ROW };
	st = db_stmt(db, DB_HISTORY_ACTION, db_i("id", 7));
	ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
	db_read_msg(st, &m);
	ck_assert_uint_eq(m.u.ctl_history_row.action, ACTION_DELETE);
	ck_assert_int_eq(m.u.ctl_history_row.replicas, 3);
	ck_assert_int_eq(db_number(db_stmt(db, DB_OPEN_COUNT), &n), 0);
	ck_assert_int_eq(n, 1);
	db_close(&db);
	db = test_db_open(dir); /* nothing is done twice */
}

static int number(sqlite3 *sql, const char *pragma)
{
	sqlite3_stmt *st = NULL;

	ck_assert_int_eq(sqlite3_prepare_v2(sql, pragma, -1, &st, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
	const int n = sqlite3_column_int(st, 0);

	(void)sqlite3_finalize(st);
	return n;
}

static int put_saved(const char *key)
{
	const struct msg m = { .type = MSG_SAVED };

	return db_run(db_stmt_msg(db, DB_SAVED_PUT, &m, db_s("cluster_name", "prod"), db_s("kind", "x"),
				  db_s("key", key), db_s("text", "")),
		      NULL);
}

static int saved_keys(void)
{
	return number(sqlite3_db_handle(db_stmt(db, DB_BEGIN)), "SELECT count(*) FROM saved_state");
}

/* What it keeps of the file for the next question is let go; then it answers as before. */
TEST(kept_pages_are_let_go)
{
	static char long_text[1001];
	char name[32];

	memset(long_text, 'x', sizeof(long_text) - 1);
	ck_assert_int_eq(db_begin(db), 0);
	for (int i = 0; i < 300; i++) {
		const struct msg m = { .type = MSG_SAVED };

		(void)snprintf(name, sizeof(name), "k%d", i);
		ck_assert_int_eq(
			db_run(db_stmt_msg(db, DB_SAVED_PUT, &m, db_s("cluster_name", "prod"),
					   db_s("kind", "x"), db_s("key", name), db_s("text", long_text)),
			       NULL),
			0);
	}
	ck_assert_int_eq(db_end(db, 0), 0);
#if !defined(__SANITIZE_ADDRESS__) /* whose heap is another one */
	const size_t before = mallinfo2().uordblks;

	db_trim(db);
	ck_assert_uint_lt(mallinfo2().uordblks + 200000, before);
#else
	db_trim(db);
#endif
	ck_assert_int_eq(saved_keys(), 300);
}

/* After each of them the next one begins. */
TEST(transaction_is_written_whole_or_not_at_all)
{
	ck_assert_int_eq(db_begin(db), 0);
	ck_assert_int_eq(db_end(db, put_saved("a")), 0);
	ck_assert_int_eq(saved_keys(), 1);
	ck_assert_int_eq(db_begin(db), 0);
	ck_assert_int_eq(put_saved("b"), 0);
	ck_assert_int_eq(db_end(db, -EIO), -EIO);
	ck_assert_int_eq(saved_keys(), 1);
	ck_assert_int_eq(db_begin(db), 0);
	ck_assert_int_lt(db_begin(db), 0);
	ck_assert_int_eq(put_saved("c"), 0);
	ck_assert_int_eq(db_end(db, 1), 0);
	ck_assert_int_eq(saved_keys(), 2);
	ck_assert_int_lt(db_end(db, 0), 0);
	ck_assert_int_eq(db_end(db, -EIO), -EIO);
}

/* The program of before can take up what an upgrade without room left behind. */
TEST(upgrade_that_fails_leaves_the_version_of_before)
{
	char path[128], limit[64];
	sqlite3 *sql = NULL;

	(void)snprintf(path, sizeof(path), "%s/history.db", dir);
	db_close(&db);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(sqlite3_open(path, &sql), SQLITE_OK);
	ck_assert_int_eq(schema_migrate(sql, 1), SQLITE_OK);
	const int pages = number(sql, "PRAGMA page_count");

	(void)snprintf(limit, sizeof(limit), "PRAGMA max_page_count = %d", pages + 12);
	ck_assert_int_eq(number(sql, limit), pages + 12);
	ck_assert_int_eq(schema_migrate(sql, schema_version()), SQLITE_FULL);
	ck_assert_int_eq(number(sql, "PRAGMA user_version"), 1);
	ck_assert_int_eq(number(sql, "PRAGMA page_count"), pages);
	ck_assert_int_eq(number(sql, "PRAGMA max_page_count = 10000"), 10000);
	ck_assert_int_eq(schema_migrate(sql, schema_version()), SQLITE_OK);
	(void)sqlite3_close(sql);
	db = test_db_open(dir);
}

TEST(what_the_second_version_left_open_is_open)
{
	static const char rows[] =
		"INSERT INTO intents(id, intent_at, cluster_name, observe, duty, ns, name, uid, rv, subject, "
		"since, reason, evidence, closed, origin)"
		" VALUES(7, 1000, 'prod', 0, 2, 'shop', 'web-1', 'u7', '42', 'o7', 900, 'x', 'x', 1, 0),"
		" (8, 1001, 'prod', 0, 0, 'shop', 'web-2', 'u8', '42', 'u8', 900, 'x', 'x', 0, 0),"
		" (9, 1002, 'prod', 0, 2, 'shop', 'web-1', 'u7', '42', 'o7', 900, 'x', 'x', 1, 7);"
		"INSERT INTO results(id, result_at, at, outcome, reason, detail, http, target, target_uid, "
		"target_rv, replicas)"
		" VALUES(7, 2000, 1900, 0, 'Scaled', '', 200, 'deployments.apps/shop/web', 'd7', '43', 3),"
		" (9, 2001, 1901, 0, 'Scaled', '', 200, 'deployments.apps/shop/web', 'd7', '44', 0);";
	const struct msg reverted = { .type = MSG_SAVED,
				      .u.saved = { .kind = "reverted", .key = "o7/r", .at = 5, .count = 1 } };
	struct attention attention;
	int64_t n = -1;

	open_file_of(2, rows);
	ck_assert_int_eq(db_number(db_stmt(db, DB_OPEN_COUNT), &n), 0);
	ck_assert_int_eq(n, 1);
	ck_assert_int_eq(db_number(db_stmt(db, DB_OPEN_IDS), &n), 0);
	ck_assert_int_eq(n, 8);
	sqlite3_stmt *st = db_stmt(db, DB_SHOW, db_i("id", 7));

	ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
	ck_assert_str_eq((const char *)sqlite3_column_text(st, sqlite3_column_count(st) - 1), "9");
	(void)sqlite3_reset(st);
	ck_assert_int_eq(attention_note(db, &reverted, "prod"), 0);
	ck_assert_int_eq(attention_begin(db, &attention), 0);
	ck_assert_uint_eq(attention.n, 1);
	ck_assert_str_eq(attention.v[0].names, "deployments.apps/shop/web");
	ck_assert_int_eq(attention.v[0].duty, DUTY_IMAGE_PULL);
	attention_done(&attention);
}

TEST_MAIN("reporter/db")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
