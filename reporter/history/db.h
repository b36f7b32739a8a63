/* db.h - the reporter's SQLite file: directory, lock, schema, prepared statements, and the bridge between
 * messages and rows. Layer: process (reporter).  Threads: none.
 * WAL with synchronous=FULL and exclusive locking (no shared memory file): a commit that returned 0 survives
 * a power cut. The directory is claimed before the sandbox, the file is opened in it: what is in it may have
 * come from anywhere. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_HISTORY_DB_H
#define REPORTER_HISTORY_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "ipc/msg.h"

struct db;

enum db_stmt {
#define S(ID, sql) DB_##ID,
#include "reporter/history/statements.def"
#undef S
	DB__MAX
};

/* Make dir (mode 0700) where it is missing, and lock it. On error *ret_why names the place and the
 * remedy: -EWOULDBLOCK another instance holds the lock; -EPERM the directory is not
 * ours or others may write to it; else what the system said. */
int db_claim(const char *dir, struct db **ret, struct facts *ret_why);
/* Open (and create) the database in it. It never grows beyond max_bytes (0: no
 * limit): then writing is -ENOSPC. Errors as above: -EPERM it is no regular file, or another user's; -EFBIG
 * it is larger already; -EBADMSG it is damaged, no database, or of another version (schema.def). Nothing is
 * put aside or made anew then; it may be tried again. Until it is open every statement fails. -ESTALE: the
 * directory has been replaced since it was claimed, and nothing in the new one can be opened by this process.
 */
int db_open(struct db *d, uint64_t max_bytes, struct facts *ret_why);
/* Let go of the pages that are kept for the next question; d may be without a database. */
void db_trim(struct db *d);
bool db_is_open(const struct db *d);
/* It is open, but the last statement shows that it cannot be used: close it again. As a failed db_open(). */
int db_give_up(struct db *d, struct facts *ret_why);
/* One in memory, in no directory. */
int db_open_memory(uint64_t max_bytes, struct db **ret);
/* So many rows of one table may one cluster's watcher fill: of a kilobyte each they are a sixteenth of the
 * file. Without a limit of the file there is none. */
uint64_t db_share(const struct db *d);
/* How full it is, in percent of max_bytes; 0 when it has no limit or cannot be asked. */
unsigned db_fill(struct db *d);
/* Accepts NULL. */
void db_close(struct db **d);

/* A value for the parameter of that name, a literal: a number, a text or facts. */
struct db_value {
	const char *param, *text;
	int64_t number;
	const struct facts *facts;
	bool is_facts;
};
#define db_i(name, v) ((struct db_value){ .param = ":" name, .number = (int64_t)(v) })
#define db_s(name, v) ((struct db_value){ .param = ":" name, .text = (v) })
#define db_f(name, v) ((struct db_value){ .param = ":" name, .facts = (v), .is_facts = true })

/* A statement, reset and bound; borrowed: reset it again (or ask for it again) when done. It has :now and
 * :day_ago (Unix ms), what is named like a field of m (db_stmt_msg; NULL = no message), and then the values
 * given, db_i, db_s and db_f (NULL: no
 * facts). What it does not name is left out. Texts are borrowed until the reset. NULL where the
 * database fails; every function here, and those of SQLite that step and read, answer that with a failure. */
#define DB_VALUES_(...)            ((const struct db_value[]){ { 0 }, ##__VA_ARGS__, { 0 } } + 1)
#define db_stmt(d, id, ...)        db_stmt_values(d, id, NULL, DB_VALUES_(__VA_ARGS__))
#define db_stmt_msg(d, id, m, ...) db_stmt_values(d, id, m, DB_VALUES_(__VA_ARGS__))
sqlite3_stmt *db_stmt_values(struct db *d, enum db_stmt id, const struct msg *m, const struct db_value *v);
/* Set every field of m (type already set) that a column is named after: forced into the field's range and
 * character set, so that a row changed by hand can never break the protocol. */
void db_read_msg(sqlite3_stmt *st, struct msg *m);
/* Run a statement that returns at most one row, make that a message of `type`, and reset it. 1, 0 (there is
 * no row) or negative errno. */
int db_read_row(sqlite3_stmt *st, enum msg_type type, struct msg *ret);
/* The text of a column of the present row, "" for NULL: borrowed until the next step; a copy that the caller
 * frees. */
const char *db_text(sqlite3_stmt *st, int column);
char *db_text_dup(sqlite3_stmt *st, int column);
/* Facts of a column of the present row, none where they are damaged. */
void db_facts(sqlite3_stmt *st, int column, struct facts *ret);
/* The same, as facts_dup(). */
struct facts *db_facts_dup(sqlite3_stmt *st, int column);
/* The next row of a statement. 1; behind the last row 0, or negative errno, and the statement is reset:
 *	while ((r = db_step(st)) > 0)
 *		... */
int db_step(sqlite3_stmt *st);
/* Run a statement that returns no rows and reset it. 0 or negative errno. *ret_changes may be NULL. */
int db_run(sqlite3_stmt *st, int *ret_changes);
#define db_do(d, id, ...)        db_run(db_stmt(d, id, ##__VA_ARGS__), NULL)
#define db_do_msg(d, id, m, ...) db_run(db_stmt_msg(d, id, m, ##__VA_ARGS__), NULL)
/* Run `put` of another database once for each row of a statement, with the columns bound by their names. 0 or
 * negative errno. */
int db_copy(struct db *from, enum db_stmt rows, struct db *to, enum db_stmt put);
/* Run a statement that returns one number and reset it. 0, -ENOENT (no row) or negative errno. */
int db_number(sqlite3_stmt *st, int64_t *ret);
/* From now on a statement that is run after so long fails with -ETIME; 0: none does. */
void db_limit(struct db *d, uint64_t ms);
/* What SQLite says about the last failure; borrowed until the next call. */
const char *db_error(struct db *d);

/* A transaction; they do not nest. What stands between the two hands its result on: db_end commits when r is
 * not negative and otherwise undoes all of it, as it does when the commit fails. It also takes the failure of
 * db_begin. Returns 0, or the errno that made it undo; -ESTALE: the file was removed or
 * replaced since it was opened, so nothing that was committed lasts longer than this process. */
int db_begin(struct db *d);
int db_end(struct db *d, int r);

#endif
