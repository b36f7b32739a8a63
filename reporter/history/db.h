/* db.h - the reporter's SQLite file: directory, lock, schema, prepared statements, and the bridge between
 * messages and rows. Layer: process (reporter).  Threads: none.
 * WAL with synchronous=FULL and exclusive locking (no shared memory file): a commit that returned 0 survives
 * a power cut. Opened before the sandbox; afterwards only files beneath the directory are touched. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_HISTORY_DB_H
#define REPORTER_HISTORY_DB_H

#include <sqlite3.h>
#include <stdint.h>

#include "ipc/msg.h"

struct db;

#define DB_TEXT_MAX 512

enum db_stmt {
#define S(ID, sql) DB_##ID,
#include "reporter/history/statements.def"
#undef S
	DB__MAX
};

/* Open (and create, mode 0700) dir and the database in it, bring the schema up to date. On error ret_text
 * holds a sentence for people that names the place and the remedy:
 * -EWOULDBLOCK another instance holds the lock; -EPERM the directory is not ours or others may write to it;
 * -EBADMSG the file is damaged, no database, or from a newer version; else what the system said. */
int db_open(const char *dir, struct db **ret, char ret_text[static DB_TEXT_MAX]);
/* Accepts NULL. */
void db_close(struct db **d);

/* A statement, reset and without bindings but :now and :day_ago (Unix ms), where it has them; borrowed. Reset
 * it again (or ask for it again) when done. */
sqlite3_stmt *db_stmt(struct db *d, enum db_stmt id);
/* The same with every parameter bound that is named like a field of m. Texts are borrowed until the reset. */
sqlite3_stmt *db_stmt_msg(struct db *d, enum db_stmt id, const struct msg *m);
/* Bind one parameter by its name, a literal; a statement that does not have it is left alone. A text is
 * borrowed until the reset. */
#define db_bind_i64(st, name, v)  db_bind_i64_param(st, ":" name, v)
#define db_bind_text(st, name, v) db_bind_text_param(st, ":" name, v)
void db_bind_i64_param(sqlite3_stmt *st, const char *param, int64_t v);
void db_bind_text_param(sqlite3_stmt *st, const char *param, const char *v);
/* Set every field of m (type already set) that a column is named after: forced into the field's range and
 * character set, so that a row changed by hand can never break the protocol. */
void db_read_msg(sqlite3_stmt *st, struct msg *m);
/* Run a statement that returns at most one row, make that a message of `type`, and reset it. 1, 0 (there is
 * no row) or negative errno. */
int db_read_row(sqlite3_stmt *st, enum msg_type type, struct msg *ret);
/* Run a statement that returns no rows and reset it. 0 or negative errno. *ret_changes may be NULL. */
int db_run(struct db *d, sqlite3_stmt *st, int *ret_changes);
/* Run a statement that returns one number and reset it. 0, -ENOENT (no row) or negative errno. */
int db_number(struct db *d, sqlite3_stmt *st, int64_t *ret);
/* errno for a result code of SQLite; 0 for success, row and done. */
int db_errno(int rc);
/* What SQLite says about the last failure; borrowed until the next call. */
const char *db_error(struct db *d);

/* Transactions do not nest. Rollback after a failed commit is harmless and needed. */
int db_begin(struct db *d);
int db_commit(struct db *d);
void db_rollback(struct db *d);

#endif
