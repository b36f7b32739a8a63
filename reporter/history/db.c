/* db.c - see db.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/history/db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/private_dir.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "text/private_dir_text.h"
#include "text/texts.h"

#define PAGES_A_ROW 4     /* of the whole file, for each row of a cluster's share of a table */
#define LIMIT_STEPS 10000 /* instructions of SQLite between two looks at the clock */
/* Of schema.def: the user_version of a file that this program reads. */
#define DB_SCHEMA_VERSION 20

/* Which parameters of a statement are fields of the message it is bound with. */
struct bindings {
	const struct msg_desc *desc;
	struct {
		const struct msg_field *field;
		int param;
	} * v;
	size_t n;
};

struct db {
	sqlite3 *sql; /* NULL = it is not open */
	char *dir;
	dev_t dir_dev; /* of the one that was claimed */
	ino_t dir_ino;
	int64_t max_pages; /* 0 = no limit */
	int lock_fd, dir_fd;
	struct timespec dir_at; /* when a name in the directory last changed, as far as was_removed() knows */
	uint64_t until_ms;      /* of db_limit() */
	sqlite3_stmt *stmt[DB__MAX];
	int now[DB__MAX], day_ago[DB__MAX]; /* these parameters of each; 0 = it has none */
	struct bindings bindings[DB__MAX];
};

static const char *const statements[DB__MAX] = {
#define S(ID, text) [DB_##ID] = text,
#include "reporter/history/statements.def"
#undef S
};

static const char schema[] =
#include "reporter/history/schema.def"
	;

/* What was kept with an action goes with it: to look for what is left over would read the whole history. In
 * memory, as the file is for any version of this program. */
static const char cascade[] = "CREATE TEMP TRIGGER cascade AFTER DELETE ON intents BEGIN"
			      " DELETE FROM results WHERE id = old.id; DELETE FROM quotes WHERE id = old.id;"
			      " DELETE FROM unsettled WHERE id = old.id; END";

/* errno for a result code of SQLite; 0 for success, row and done. */
static int db_errno(int rc)
{
	static const struct {
		int rc, err;
	} table[] = {
		{ SQLITE_OK, 0 },
		{ SQLITE_ROW, 0 },
		{ SQLITE_DONE, 0 },
		{ SQLITE_FULL, -ENOSPC },
		{ SQLITE_READONLY, -EROFS },
		{ SQLITE_NOMEM, -ENOMEM },
		{ SQLITE_BUSY, -EBUSY },
		{ SQLITE_CORRUPT, -EBADMSG },
		{ SQLITE_NOTADB, -EBADMSG },
		{ SQLITE_MISMATCH, -EBADMSG },
		{ SQLITE_CANTOPEN, -EACCES },
		{ SQLITE_INTERRUPT, -ETIME },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].rc == (rc & 0xff))
			return table[i].err;
	return -EIO;
}

const char *db_error(struct db *d)
{
	return d->sql ? sqlite3_errmsg(d->sql) : "closed";
}

bool db_is_open(const struct db *d)
{
	return d->sql != NULL;
}

/* -- opening -- */

static int prepare(struct db *d, enum db_stmt id)
{
	const int rc =
		sqlite3_prepare_v3(d->sql, statements[id], -1, SQLITE_PREPARE_PERSISTENT, &d->stmt[id], NULL);

	d->now[id] = sqlite3_bind_parameter_index(d->stmt[id], ":now");
	d->day_ago[id] = sqlite3_bind_parameter_index(d->stmt[id], ":day_ago");
	return rc;
}

/* Exclusive locking before WAL: then no -shm file is made or mapped. There are no statistics of tables, so no
 * value that is bound makes another plan better: without QPSG a SQLite that was built for them compiles a
 * statement again at every use. */
static int configure(sqlite3 *sql)
{
	(void)sqlite3_extended_result_codes(sql, 1);
	(void)sqlite3_db_config(sql, SQLITE_DBCONFIG_ENABLE_QPSG, 1, NULL);
	return sqlite3_exec(
		sql,
		"PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
		"PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF; PRAGMA cache_size = -2048;",
		NULL, NULL, NULL);
}

/* The C library's calls take a path for every question, also about what is open: the sandbox denies that. A
 * file that was opened for an answer stays open: closing it would give up the locks of the database. */
static int stat_open(int fd, struct stat *ret)
{
	return (int)syscall(SYS_fstat, fd, ret);
}

static int stat_path(const char *path, struct stat *ret)
{
	if (stat(path, ret) == 0)
		return 0;
	if (errno != EACCES)
		return -1;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	return fd < 0 ? -1 : stat_open(fd, ret);
}

static void set_system_calls(void)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	(void)vfs->xSetSystemCall(vfs, "fstat", (sqlite3_syscall_ptr)stat_open);
	(void)vfs->xSetSystemCall(vfs, "stat", (sqlite3_syscall_ptr)stat_path);
}

/* Say which file it is about, and what the system said ("": nothing). Returns r. */
static int fault(struct facts *ret_why, int r, enum text text, const char *path, const char *system)
{
	*ret_why = facts_of(text);
	facts_quoted(ret_why, FACT_PLACE, STR_C(path));
	facts_quoted(ret_why, FACT_SYSTEM, STR_C(system));
	return r;
}

/* Nobody but us and root can put something in the directory; what an operator copied into it may be anything.
 */
static int check_file(const char *path, struct facts *ret_why)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : fault(ret_why, -errno, TEXT_FILE_UNREAD, path, strerror(errno));
	if (S_ISREG(st.st_mode) && st.st_uid == geteuid())
		return 0;
	(void)fault(ret_why, 0, TEXT_HISTORY_NO_FILE, path, "");
	facts_count(ret_why, FACT_OWN_UID, geteuid());
	return -EPERM;
}

static int64_t ask_pragma(sqlite3 *sql, const char *pragma)
{
	sqlite3_stmt *st = NULL;
	int64_t n = 0;

	if (sqlite3_prepare_v2(sql, pragma, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		n = sqlite3_column_int64(st, 0);
	(void)sqlite3_finalize(st);
	return n;
}

/* SQLite takes the size that the file has for a limit that is below. */
static int set_limit(struct db *d, uint64_t max_bytes, const char *path, struct facts *ret_why)
{
	const int64_t page = ask_pragma(d->sql, "PRAGMA page_size");
	const int64_t want = max_bytes && page ? (int64_t)max_bytes / page : 0;
	char pragma[64];

	if (want == 0)
		return 0;
	(void)snprintf(pragma, sizeof(pragma), "PRAGMA max_page_count = %lld", (long long)want);
	d->max_pages = ask_pragma(d->sql, pragma);
	if (d->max_pages <= want)
		return 0;
	(void)fault(ret_why, 0, TEXT_HISTORY_LARGE, path, "");
	facts_count(ret_why, FACT_MEGABYTES, d->max_pages * page / 1048576 + 1);
	return -EFBIG;
}

uint64_t db_share(const struct db *d)
{
	return d->max_pages ? (uint64_t)d->max_pages / PAGES_A_ROW : INT64_MAX;
}

unsigned db_fill(struct db *d)
{
	const int64_t used = d->max_pages ? ask_pragma(d->sql, "PRAGMA page_count") -
						    ask_pragma(d->sql, "PRAGMA freelist_count")
					  : 0;

	return d->max_pages ? (unsigned)(used * 100 / d->max_pages) : 0;
}

static int failed(const struct db *d, int rc, const char *path, struct facts *ret_why)
{
	const char *why = d->sql ? sqlite3_errmsg(d->sql) : strerrordesc_np(ENOMEM);
	const int r = db_errno(rc);

	if (rc == SQLITE_MISMATCH)
		return fault(ret_why, -EBADMSG, TEXT_HISTORY_OTHER_VERSION, path, "");
	return fault(ret_why, r, r == -EBADMSG ? TEXT_HISTORY_DAMAGED : TEXT_FILE_UNUSABLE, path, why);
}

static void close_file(struct db *d)
{
	for (int i = 0; i < DB__MAX; i++) {
		(void)sqlite3_finalize(d->stmt[i]);
		d->stmt[i] = NULL;
	}
	/* Where the file has another name now SQLite leaves the log behind, and the next process would apply
	 * it to the file that has the name. */
	if (d->sql)
		(void)sqlite3_exec(d->sql, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
	(void)sqlite3_close(d->sql);
	d->sql = NULL;
	d->max_pages = 0;
}

/* Make the tables of a new file, in one commit. SQLITE_MISMATCH: it is of another version. */
static int make_tables(sqlite3 *sql)
{
	const int64_t version = ask_pragma(sql, "PRAGMA user_version");
	char stamp[64];

	if (version != 0)
		return version == DB_SCHEMA_VERSION ? SQLITE_OK : SQLITE_MISMATCH;
	(void)snprintf(stamp, sizeof(stamp), "PRAGMA user_version = %d; COMMIT", DB_SCHEMA_VERSION);
	int rc = sqlite3_exec(sql, "BEGIN IMMEDIATE", NULL, NULL, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(sql, schema, NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(sql, stamp, NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		(void)sqlite3_exec(sql, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

static int try_file(struct db *d, const char *path, uint64_t max_bytes, struct facts *ret_why)
{
	int rc = sqlite3_open_v2(path, &d->sql,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW, NULL);

	if (rc == SQLITE_OK)
		rc = configure(d->sql);
	if (rc != SQLITE_OK)
		return failed(d, rc, path, ret_why);
	const int r = set_limit(d, max_bytes, path, ret_why);

	if (r < 0)
		return r;
	rc = make_tables(d->sql);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(d->sql, cascade, NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = prepare(d, DB_INTENT_PUT); /* reads the whole schema: damage shows now */
	return rc == SQLITE_OK ? 0 : failed(d, rc, path, ret_why);
}

static int open_file(struct db *d, const char *path, uint64_t max_bytes, struct facts *ret_why)
{
	const int r = try_file(d, path, max_bytes, ret_why);

	if (r < 0)
		close_file(d);
	return r;
}

/* What SQLite would read outside of the directory later: its first random bytes. */
static void prepare_sqlite(void)
{
	char seed;

	/* No locks, no statistics: there is one thread. Refused when it is in force already. */
	(void)sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	/* Each page of the cache by itself, so that db_trim() can release it. */
	(void)sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
	set_system_calls();
	sqlite3_randomness(1, &seed);
}

static int note_dir(struct db *d, struct facts *ret_why)
{
	struct stat st;

	d->dir_fd = open(d->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->dir_fd < 0 || fstat(d->dir_fd, &st) < 0)
		return fault(ret_why, -errno, TEXT_FILE_UNREAD, d->dir, strerror(errno));
	d->dir_dev = st.st_dev;
	d->dir_ino = st.st_ino;
	return 0;
}

/* The sandbox and the lock hold the one that was claimed, whatever its name says now. */
static int check_dir(const struct db *d, struct facts *ret_why)
{
	struct stat st;

	if (stat(d->dir, &st) == 0 && st.st_dev == d->dir_dev && st.st_ino == d->dir_ino)
		return 0;
	return fault(ret_why, -ESTALE, TEXT_DIR_REPLACED, d->dir, "");
}

/* Has a name in the directory changed since the last call? */
static bool dir_has_changed(struct db *d)
{
	const struct timespec before = d->dir_at;
	struct stat st;

	if (d->dir_fd < 0 || stat_open(d->dir_fd, &st) < 0)
		return false;
	d->dir_at = st.st_mtim;
	return before.tv_sec != st.st_mtim.tv_sec || before.tv_nsec != st.st_mtim.tv_nsec;
}

int db_claim(const char *dir, struct db **ret, struct facts *ret_why)
{
	_cleanup_(db_close) struct db *d = xcalloc(1, sizeof(*d));

	d->lock_fd = d->dir_fd = -1;
	d->dir = xstrdup(dir);
	(void)umask(077);
	prepare_sqlite();
	struct private_dir_error e;
	int r = private_dir_make(dir, &e);

	if (r == 0)
		r = private_dir_lock(dir, 0, &d->lock_fd, &e);
	if (r < 0)
		private_dir_facts(dir, &e, ret_why);
	if (r == 0)
		r = note_dir(d, ret_why);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(d);
	return 0;
}

void db_trim(struct db *d)
{
	if (d->sql)
		(void)sqlite3_db_release_memory(d->sql);
}

int db_open(struct db *d, uint64_t max_bytes, struct facts *ret_why)
{
	static const char *const files[] = { "history.db-wal", "history.db-journal", "history.db" };
	_cleanup_free_ char *path = NULL;
	int r = check_dir(d, ret_why);

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(files); i++) {
		free(path);
		path = xasprintf("%s/%s", d->dir, files[i]);
		r = check_file(path, ret_why);
	}
	if (r == 0)
		r = open_file(d, path, max_bytes, ret_why);
	(void)dir_has_changed(d);
	return r;
}

int db_give_up(struct db *d, struct facts *ret_why)
{
	_cleanup_free_ char *path = xasprintf("%s/history.db", d->dir);
	const int r = failed(d, sqlite3_errcode(d->sql), path, ret_why);

	close_file(d);
	return r < 0 ? r : -EIO;
}

int db_open_memory(uint64_t max_bytes, struct db **ret)
{
	_cleanup_(db_close) struct db *d = xcalloc(1, sizeof(*d));
	struct facts why;

	d->lock_fd = d->dir_fd = -1;
	const int r = open_file(d, ":memory:", max_bytes, &why);

	if (r == 0)
		*ret = TAKE_PTR(d);
	return r;
}

void db_close(struct db **d)
{
	if (!*d)
		return;
	close_file(*d);
	for (int i = 0; i < DB__MAX; i++)
		free((*d)->bindings[i].v);
	if ((*d)->lock_fd >= 0)
		(void)close((*d)->lock_fd);
	if ((*d)->dir_fd >= 0)
		(void)close((*d)->dir_fd);
	free((*d)->dir);
	free(*d);
	*d = NULL;
}

/* -- statements -- */

static int is_over(void *ctx)
{
	return clock_boot_ms() >= ((const struct db *)ctx)->until_ms;
}

void db_limit(struct db *d, uint64_t ms)
{
	d->until_ms = clock_boot_ms() + ms;
	if (d->sql)
		sqlite3_progress_handler(d->sql, LIMIT_STEPS, ms ? is_over : NULL, d);
}

/* Names are looked up once a statement: it is bound with messages of one type. */
static const struct bindings *bindings_of(struct db *d, enum db_stmt id, const struct msg *m)
{
	const struct msg_desc *desc = msg_desc(m->type);
	struct bindings *b = &d->bindings[id];
	char param[64];

	if (b->desc == desc)
		return b;
	b->desc = desc;
	b->n = 0;
	b->v = xreallocarray(b->v, desc->n, sizeof(*b->v));
	for (size_t i = 0; i < desc->n; i++) {
		(void)snprintf(param, sizeof(param), ":%s", desc->fields[i].name);
		b->v[b->n].field = &desc->fields[i];
		b->v[b->n].param = sqlite3_bind_parameter_index(d->stmt[id], param);
		b->n += b->v[b->n].param > 0;
	}
	return b;
}

static void bind_facts(sqlite3_stmt *st, int param, const struct facts *f)
{
	const struct str bytes = f ? facts_bytes(f) : STR_LIT("\x80");

	(void)sqlite3_bind_blob(st, param, bytes.p, (int)bytes.n, SQLITE_STATIC);
}

static void bind_field(sqlite3_stmt *st, int param, const struct msg *m, const struct msg_field *f)
{
	const void *p = (const char *)&m->u + f->off;

	if (f->kind == KIND_U64 || f->kind == KIND_I64)
		(void)sqlite3_bind_int64(st, param, *(const int64_t *)p);
	else if (f->kind == KIND_BOOL)
		(void)sqlite3_bind_int64(st, param, *(const bool *)p);
	else if (f->kind == KIND_FACTS)
		bind_facts(st, param, p);
	else
		(void)sqlite3_bind_text(st, param, p, -1, SQLITE_STATIC);
}

static void bind_value(sqlite3_stmt *st, const struct db_value *v)
{
	const int i = sqlite3_bind_parameter_index(st, v->param);

	if (i > 0 && v->is_facts)
		bind_facts(st, i, v->facts);
	else if (i > 0 && v->text)
		(void)sqlite3_bind_text(st, i, v->text, -1, SQLITE_STATIC);
	else if (i > 0)
		(void)sqlite3_bind_int64(st, i, v->number);
}

sqlite3_stmt *db_stmt_values(struct db *d, enum db_stmt id, const struct msg *m, const struct db_value *v)
{
	/* Each is kept from its first use on: most are for an hour that never comes. */
	if (!d->sql || (!d->stmt[id] && prepare(d, id) != SQLITE_OK))
		return NULL;
	sqlite3_stmt *st = d->stmt[id];
	const struct bindings *b = m ? bindings_of(d, id, m) : NULL;

	(void)sqlite3_reset(st);
	(void)sqlite3_clear_bindings(st);
	if (d->now[id])
		(void)sqlite3_bind_int64(st, d->now[id], clock_wall_ms());
	if (d->day_ago[id])
		(void)sqlite3_bind_int64(st, d->day_ago[id], clock_wall_ms() - DAY_MS);
	for (size_t i = 0; b && i < b->n; i++)
		bind_field(st, b->v[i].param, m, b->v[i].field);
	for (; v->param; v++)
		bind_value(st, v);
	return st;
}

static void read_text(sqlite3_stmt *st, int col, struct msg *m, const struct msg_field *f)
{
	const char *s = (const char *)sqlite3_column_text(st, col);
	char *dst = (char *)&m->u + f->off;

	msg_set_text(m, dst, (size_t)f->max + 1, s ? s : "", s ? strlen(s) : 0);
	if (f->min > 0 && !*dst)
		msg_set_text(m, dst, (size_t)f->max + 1, "-", 1);
}

static void read_field(sqlite3_stmt *st, int col, struct msg *m, const struct msg_field *f)
{
	void *dst = (char *)&m->u + f->off;
	const int64_t v = f->kind <= KIND_BOOL ? sqlite3_column_int64(st, col) : 0;
	const uint64_t u = (uint64_t)v, min = (uint64_t)f->min;

	if (f->kind == KIND_U64)
		*(uint64_t *)dst = u < min ? min : u > f->max ? f->max : u;
	else if (f->kind == KIND_I64)
		*(int64_t *)dst = v < f->min ? f->min : v > (int64_t)f->max ? (int64_t)f->max : v;
	else if (f->kind == KIND_BOOL)
		*(bool *)dst = v != 0;
	else if (f->kind == KIND_FACTS)
		db_facts(st, col, dst);
	else
		read_text(st, col, m, f);
}

void db_read_msg(sqlite3_stmt *st, struct msg *m)
{
	const struct msg_desc *d = msg_desc(m->type);
	const int columns = sqlite3_column_count(st);

	for (int c = 0; c < columns; c++)
		for (size_t i = 0; d && i < d->n; i++)
			if (strcmp(sqlite3_column_name(st, c), d->fields[i].name) == 0)
				read_field(st, c, m, &d->fields[i]);
}

const char *db_text(sqlite3_stmt *st, int column)
{
	const char *s = (const char *)sqlite3_column_text(st, column);

	return s ? s : "";
}

char *db_text_dup(sqlite3_stmt *st, int column)
{
	return xstrdup(db_text(st, column));
}

void db_facts(sqlite3_stmt *st, int column, struct facts *ret)
{
	const void *bytes = sqlite3_column_blob(st, column);

	facts_clear(ret);
	if (bytes)
		(void)facts_read(bytes, (size_t)sqlite3_column_bytes(st, column), ret, NULL);
}

struct facts *db_facts_dup(sqlite3_stmt *st, int column)
{
	struct facts f;

	db_facts(st, column, &f);
	return facts_dup(&f);
}

int db_step(sqlite3_stmt *st)
{
	const int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW)
		return 1;
	(void)sqlite3_reset(st);
	return db_errno(rc);
}

int db_read_row(sqlite3_stmt *st, enum msg_type type, struct msg *ret)
{
	const int r = db_step(st);

	*ret = (struct msg){ .type = type };
	if (r > 0)
		db_read_msg(st, ret);
	(void)sqlite3_reset(st);
	return r;
}

int db_run(sqlite3_stmt *st, int *ret_changes)
{
	const int rc = sqlite3_step(st);

	if (ret_changes)
		*ret_changes = rc == SQLITE_DONE ? sqlite3_changes(sqlite3_db_handle(st)) : 0;
	(void)sqlite3_reset(st);
	return db_errno(rc);
}

int db_copy(struct db *from, enum db_stmt rows, struct db *to, enum db_stmt put)
{
	sqlite3_stmt *st = db_stmt(from, rows);
	int r = 0, more = 0;

	while (r == 0 && (more = db_step(st)) > 0) {
		sqlite3_stmt *into = db_stmt(to, put);

		for (int i = 0; i < sqlite3_column_count(st); i++) {
			_cleanup_free_ char *name = xconcat(":", sqlite3_column_name(st, i), NULL);

			(void)sqlite3_bind_value(into, sqlite3_bind_parameter_index(into, name),
						 sqlite3_column_value(st, i));
		}
		r = db_run(into, NULL);
	}
	if (r < 0)
		(void)sqlite3_reset(st);
	return r < 0 ? r : more;
}

int db_number(sqlite3_stmt *st, int64_t *ret)
{
	const int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(st, 0);
	(void)sqlite3_reset(st);
	return rc == SQLITE_DONE ? -ENOENT : db_errno(rc);
}

int db_begin(struct db *d)
{
	return db_do(d, DB_BEGIN);
}

/* SQLite goes on writing into a file that was removed, or has another name now, and nobody reads it again. It
 * is asked seldom, as its answer costs a descriptor (stat_path()). */
static bool was_removed(struct db *d)
{
	static const char *const files[] = { "history.db", "history.db-wal" };
	int gone = false;

	for (size_t i = 0; d->dir && i < ARRAY_SIZE(files); i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s", d->dir, files[i]);

		gone = gone || (access(path, F_OK) < 0 && errno == ENOENT);
	}
	if (!gone && dir_has_changed(d))
		(void)sqlite3_file_control(d->sql, NULL, SQLITE_FCNTL_HAS_MOVED, &gone);
	return gone;
}

/* A commit that failed may leave the transaction open, and a failure may have ended it already. */
int db_end(struct db *d, int r)
{
	const int err = r < 0 ? r : db_do(d, DB_COMMIT);

	if (err < 0 && d->sql && !sqlite3_get_autocommit(d->sql))
		(void)db_do(d, DB_ROLLBACK);
	return err == 0 && was_removed(d) ? -ESTALE : err;
}
