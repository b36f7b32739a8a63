/* test_db.c - the state directory: made private, held by one instance, refused when it is not what it should
 * be. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <malloc.h>

#include "base/cleanup.h"
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
	struct facts why;
	struct db *other = NULL;

	ck_assert_int_eq(test_open(dir, 0, &other, &why), -EWOULDBLOCK);
	ck_assert_ptr_null(other);
	ck_assert_ptr_nonnull(strstr(EN(why), "another instance"));
	ck_assert_ptr_nonnull(strstr(EN(why), dir));
}

TEST(directory_others_may_write_to_is_refused)
{
	struct facts why;
	struct db *other = NULL;
	char mine[SUITE_PATH_MAX];

	suite_folder(mine);
	ck_assert_int_eq(chmod(mine, 0770), 0);
	ck_assert_int_eq(test_open(mine, 0, &other, &why), -EPERM);
	ck_assert_ptr_nonnull(strstr(EN(why), "0770"));
	ck_assert_int_eq(chmod(mine, 0700), 0);
	ck_assert_int_eq(test_open(mine, 0, &other, &why), 0);
	db_close(&other);
}

TEST(missing_directories_are_made_private)
{
	struct facts why;
	char mine[SUITE_PATH_MAX], deep[SUITE_PATH_MAX + 8];
	struct db *other = NULL;
	struct stat st;

	suite_folder(mine);
	(void)snprintf(deep, sizeof(deep), "%s/state", mine);
	ck_assert_int_eq(test_open(deep, 0, &other, &why), 0);
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
	struct facts why;

	memset(garbage, 'x', sizeof(garbage));
	replace_file(garbage, sizeof(garbage));
	ck_assert_int_eq(test_open(dir, 0, &db, &why), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(EN(why), "history.db"));
	ck_assert_ptr_nonnull(strstr(EN(why), "move it away"));
	replace_file("", 0);
	db = test_db_open(dir);
}

TEST(what_turns_out_to_be_unusable_is_closed_again)
{
	struct facts why;
	char file[SUITE_PATH_MAX + 24];

	db_close(&db);
	(void)snprintf(file, sizeof(file), "%s/history.db", dir);
	spoil(file);
	db = test_db_open(dir);
	ck_assert_ptr_null(db_stmt(db, DB_PAUSED));
	ck_assert_int_lt(db_give_up(db, &why), 0);
	ck_assert_ptr_nonnull(strstr(EN(why), "history.db: cannot be used: no such table: pauses"));
	ck_assert(!db_is_open(db));
}

/* It is left as it is; nothing is made in its place. */
TEST(what_cannot_be_opened_fails_until_it_can)
{
	static const char garbage[] = "no database";
	struct facts why;
	char path[SUITE_PATH_MAX + 24], found[64] = "";
	int64_t n = 0;

	replace_file(garbage, sizeof(garbage));
	ck_assert_int_eq(db_claim(dir, &db, &why), 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(db_open(db, 0, &why), -EBADMSG);
		ck_assert(!db_is_open(db));
		ck_assert_ptr_null(db_stmt(db, DB_OPEN_COUNT));
		ck_assert_int_lt(db_number(db_stmt(db, DB_OPEN_COUNT), &n), 0);
		ck_assert_int_lt(db_begin(db), 0);
		ck_assert_int_lt(db_end(db, 0), 0);
		ck_assert_uint_eq(db_fill(db), 0);
		ck_assert_str_eq(db_error(db), "closed");
	}
	(void)snprintf(path, sizeof(path), "%s/history.db", dir);
	FILE *f = fopen(path, "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fread(found, 1, sizeof(found), f), sizeof(garbage));
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_str_eq(found, garbage);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(db_open(db, 0, &why), 0);
	ck_assert(db_is_open(db));
	ck_assert_int_eq(db_number(db_stmt(db, DB_OPEN_COUNT), &n), 0);
}

TEST(a_directory_that_was_replaced_is_another_one)
{
	struct facts why;
	char away[SUITE_PATH_MAX + 8];

	replace_file("no database", 11);
	ck_assert_int_eq(db_claim(dir, &db, &why), 0);
	ck_assert_int_eq(db_open(db, 0, &why), -EBADMSG);
	(void)snprintf(away, sizeof(away), "%s/away", folder);
	ck_assert_int_eq(rename(dir, away), 0);
	ck_assert_int_eq(db_open(db, 0, &why), -ESTALE);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	ck_assert_int_eq(db_open(db, 0, &why), -ESTALE);
	ck_assert_ptr_nonnull(strstr(EN(why), "was replaced"));
	ck_assert_int_eq(rmdir(dir), 0);
	ck_assert_int_eq(rename(away, dir), 0);
	ck_assert_int_eq(db_open(db, 0, &why), -EBADMSG);
}

/* What is written into a file that has no name is lost with this process. */
TEST_LOOP(nothing_is_committed_into_a_file_that_was_removed, 0, 2)
{
	char path[SUITE_PATH_MAX + 24];

	ck_assert_int_eq(db_end(db, db_begin(db)), 0);
	(void)snprintf(path, sizeof(path), "%s/history.db%s", dir, _i ? "-wal" : "");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(db_end(db, db_begin(db)), -ESTALE);
}

/* Neither into one that has another name now. What else comes into the directory does no harm. */
TEST(nothing_is_committed_into_a_file_that_was_replaced)
{
	char path[SUITE_PATH_MAX + 24], other[SUITE_PATH_MAX + 24];
	struct stat st;

	ck_assert_int_eq(db_end(db, db_begin(db)), 0);
	(void)snprintf(path, sizeof(path), "%s/history.db", dir);
	(void)snprintf(other, sizeof(other), "%s/copy", dir);
	for (int i = 0; i < 2; i++) {
		(void)usleep(20000); /* so exact is the time of a change */
		FILE *f = fopen(other, "w");

		ck_assert_ptr_nonnull(f);
		ck_assert_int_eq(fclose(f), 0);
		ck_assert_int_eq(db_end(db, db_begin(db)), 0);
	}
	(void)usleep(20000);
	ck_assert_int_eq(rename(other, path), 0);
	ck_assert_int_eq(db_end(db, db_begin(db)), -ESTALE);
	db_close(&db);
	(void)snprintf(path, sizeof(path), "%s/history.db-wal", dir);
	ck_assert(stat(path, &st) < 0 || st.st_size == 0);
}

TEST(a_file_that_is_none_is_refused)
{
	struct facts why;
	char path[128];

	db_close(&db);
	(void)snprintf(path, sizeof(path), "%s/history.db-wal", dir);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(test_open(dir, 0, &db, &why), -EPERM);
	ck_assert_ptr_nonnull(strstr(EN(why), "history.db-wal: is not a regular file"));
	ck_assert_int_eq(unlink(path), 0);
	(void)snprintf(path, sizeof(path), "%s/history.db", dir);
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(path, 1000, 0), 0);
		ck_assert_int_eq(test_open(dir, 0, &db, &why), -EPERM);
	}
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	ck_assert_int_eq(test_open(dir, 0, &db, &why), -EPERM);
	ck_assert_int_eq(unlink(path), 0);
	db = test_db_open(dir);
}

/* Rows until it is full: a limit that is kept, told as such, and room again when rows are gone. */
TEST(the_file_has_a_limit)
{
	static char long_text[201];
	const int64_t max = 1 << 20;
	struct facts why;
	char path[128], name[32];
	struct stat st;
	int r = 0, n = 0;

	db_close(&db);
	ck_assert_int_eq(test_open(dir, (uint64_t)max, &db, &why), 0);
	ck_assert_uint_lt(db_fill(db), 20);
	struct facts evidence = { 0 };

	memset(long_text, 'x', sizeof(long_text) - 1);
	facts_quoted(&evidence, FACT_WHY, STR_C(long_text));
	for (; r == 0 && n < 100000; n++) {
		const struct msg m = { .type = MSG_SAVED };

		if (n % 100 == 0)
			ck_assert_int_eq(db_begin(db), 0);
		(void)snprintf(name, sizeof(name), "k%d", n);
		r = db_run(db_stmt_msg(db, DB_SAVED_PUT, &m, db_s("cluster_name", "prod"), db_s("kind", "x"),
				       db_s("key", name), db_f("evidence", &evidence)),
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
	ck_assert_int_eq(test_open(dir, (uint64_t)max / 2, &db, &why), -EFBIG);
	ck_assert_ptr_nonnull(strstr(EN(why), "historyMegabytes"));
	ck_assert_int_eq(test_open(dir, (uint64_t)max, &db, &why), 0);
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

/* Of a newer and of an older version. */
TEST(a_file_of_another_version_is_refused_and_left_alone)
{
	static const int versions[] = { 1, 9999, -1 };
	struct facts why;
	char path[128], pragma[64];
	sqlite3 *sql = NULL;

	db_close(&db);
	(void)snprintf(path, sizeof(path), "%s/history.db", dir);
	ck_assert_int_eq(sqlite3_open(path, &sql), SQLITE_OK);
	const int mine = number(sql, "PRAGMA user_version");

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		(void)snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", versions[i]);
		ck_assert_int_eq(sqlite3_exec(sql, pragma, NULL, NULL, NULL), SQLITE_OK);
		(void)sqlite3_close(sql);
		ck_assert_int_eq(test_open(dir, 0, &db, &why), -EBADMSG);
		ck_assert_ptr_nonnull(strstr(EN(why), "another version"));
		ck_assert_int_eq(sqlite3_open(path, &sql), SQLITE_OK);
		ck_assert_int_eq(number(sql, "PRAGMA user_version"), versions[i]);
	}
	(void)snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", mine);
	ck_assert_int_eq(sqlite3_exec(sql, pragma, NULL, NULL, NULL), SQLITE_OK);
	(void)sqlite3_close(sql);
	db = test_db_open(dir);
}

/* What a start without room left behind can be taken up: there is no table, or there are all. */
TEST(tables_are_made_whole_or_not_at_all)
{
	struct facts why;
	char path[128];
	sqlite3 *sql = NULL;

	db_close(&db);
	(void)snprintf(path, sizeof(path), "%s/history.db", dir);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(test_open(dir, UINT64_C(12) * 4096, &db, &why), -ENOSPC);
	ck_assert_int_eq(sqlite3_open(path, &sql), SQLITE_OK);
	ck_assert_int_eq(number(sql, "PRAGMA user_version"), 0);
	ck_assert_int_eq(number(sql, "SELECT count(*) FROM sqlite_master"), 0);
	(void)sqlite3_close(sql);
	db = test_db_open(dir);
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

	struct facts evidence = { 0 };

	memset(long_text, 'x', sizeof(long_text) - 1);
	facts_quoted(&evidence, FACT_WHY, STR_C(long_text));
	ck_assert_int_eq(db_begin(db), 0);
	for (int i = 0; i < 300; i++) {
		const struct msg m = { .type = MSG_SAVED };

		(void)snprintf(name, sizeof(name), "k%d", i);
		ck_assert_int_eq(
			db_run(db_stmt_msg(db, DB_SAVED_PUT, &m, db_s("cluster_name", "prod"),
					   db_s("kind", "x"), db_s("key", name), db_f("evidence", &evidence)),
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

TEST_MAIN("reporter/db")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
