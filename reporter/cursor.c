/* cursor.c - see cursor.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/cursor.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/xalloc.h"

/* One kind of answer: which rows, how one becomes a message, what ends it. */
struct answer {
	enum db_stmt ids;
	enum db_stmt row, negative_row; /* for ids below 0 */
	enum msg_type type;
	int (*finish)(struct cursor *c,
		      struct msg *m); /* fields that are no columns; 0 = leave the row out */
	int (*end)(struct cursor *c, struct msg *m);
};

struct cursor {
	struct db *db;
	struct history *history;
	const struct answer *answer;
	uint64_t cluster, conn;
	int64_t *ids;
	size_t n, room, i;
	bool ended;
};

static int finish_open(struct cursor *c, struct msg *m)
{
	sqlite3_stmt *st = db_stmt(c->db, DB_INTENT_OF);
	int index = -1;

	db_bind_i64(st, "id", (int64_t)m->u.open_intent.id);
	if (sqlite3_step(st) == SQLITE_ROW)
		index = history_cluster_index(c->history, (const char *)sqlite3_column_text(st, 0));
	(void)sqlite3_reset(st);
	if (index < 0)
		return 0;
	m->u.open_intent.cluster = (uint64_t)index;
	return 1;
}

static int end_open(struct cursor *c, struct msg *m)
{
	*m = (struct msg){ .type = MSG_OPEN_END };
	return history_next_id(c->history, &m->u.open_end.next_id);
}

static int finish_since(struct cursor *c, struct msg *m)
{
	m->u.since_row.cluster = c->cluster;
	return 1;
}

static int end_since(struct cursor *c, struct msg *m)
{
	*m = (struct msg){ .type = MSG_SINCE_END, .u.since_end.cluster = c->cluster };
	return 0;
}

static int finish_history(struct cursor *c, struct msg *m)
{
	m->u.ctl_history_row.conn = c->conn;
	return 1;
}

static int end_history(struct cursor *c, struct msg *m)
{
	*m = (struct msg){ .type = MSG_CTL_END, .u.ctl_end.conn = c->conn };
	return 0;
}

static const struct answer open_answer = { DB_OPEN_IDS,     DB_OPEN_ROW, DB_OPEN_ROW,
					   MSG_OPEN_INTENT, finish_open, end_open };
static const struct answer since_answer = { DB_SINCE_IDS,  DB_SINCE_ROW, DB_SINCE_ROW,
					    MSG_SINCE_ROW, finish_since, end_since };
static const struct answer history_answer = { DB_HISTORY_IDS,      DB_HISTORY_ACTION, DB_HISTORY_REFUSAL,
					      MSG_CTL_HISTORY_ROW, finish_history,    end_history };

static int collect_ids(struct cursor *c, sqlite3_stmt *st)
{
	int rc;

	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		if (c->n == c->room) {
			c->room = c->room ? 2 * c->room : 64;
			c->ids = xreallocarray(c->ids, c->room, sizeof(*c->ids));
		}
		c->ids[c->n++] = sqlite3_column_int64(st, 0);
	}
	(void)sqlite3_reset(st);
	return db_errno(rc);
}

static struct cursor *cursor_new(struct db *db, struct history *h, const struct answer *a)
{
	struct cursor *c = xcalloc(1, sizeof(*c));

	c->db = db;
	c->history = h;
	c->answer = a;
	return c;
}

static int cursor_fill(struct cursor *c, sqlite3_stmt *st, struct cursor **ret)
{
	const int r = collect_ids(c, st);

	if (r < 0)
		cursor_free(&c);
	else
		*ret = c;
	return r;
}

int cursor_open_intents(struct db *db, struct history *h, struct cursor **ret)
{
	return cursor_fill(cursor_new(db, h, &open_answer), db_stmt(db, DB_OPEN_IDS), ret);
}

int cursor_since(struct db *db, struct history *h, uint64_t cluster, struct cursor **ret)
{
	struct cursor *c = cursor_new(db, h, &since_answer);
	sqlite3_stmt *st = db_stmt(db, DB_SINCE_IDS);

	c->cluster = cluster;
	db_bind_text(st, "cluster_name", history_cluster_name(h, cluster));
	return cursor_fill(c, st, ret);
}

int cursor_history(struct db *db, struct history *h, const struct msg_ctl_history *q, struct cursor **ret)
{
	struct cursor *c = cursor_new(db, h, &history_answer);
	sqlite3_stmt *st = db_stmt(db, DB_HISTORY_IDS);
	const struct msg m = { .type = MSG_CTL_HISTORY, .u.ctl_history = *q };

	c->conn = q->conn;
	db_bind_msg(st, &m);
	return cursor_fill(c, st, ret);
}

void cursor_free(struct cursor **c)
{
	if (!*c)
		return;
	free((*c)->ids);
	free(*c);
	*c = NULL;
}

/* 1 with *ret set, 0 when the row is gone or left out, or negative errno. */
static int read_row(struct cursor *c, int64_t id, struct msg *ret)
{
	sqlite3_stmt *st = db_stmt(c->db, id < 0 ? c->answer->negative_row : c->answer->row);

	db_bind_i64(st, "id", id < 0 ? -id : id);
	const int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW) {
		*ret = (struct msg){ .type = c->answer->type };
		db_read_msg(st, ret);
	}
	(void)sqlite3_reset(st);
	return rc == SQLITE_ROW ? c->answer->finish(c, ret) : db_errno(rc);
}

int cursor_next(struct cursor *c, struct msg *ret)
{
	while (c->i < c->n) {
		const int r = read_row(c, c->ids[c->i], ret);

		if (r < 0)
			return r;
		c->i++;
		if (r > 0)
			return r;
	}
	if (c->ended)
		return 0;
	const int r = c->answer->end(c, ret);

	c->ended = r == 0;
	return r < 0 ? r : 1;
}

bool cursor_fail(struct cursor *c, struct msg *ret)
{
	if (c->answer != &history_answer)
		return false;
	cursor_failed(c->conn, ret);
	c->i = c->n;
	c->ended = true;
	return true;
}

void cursor_failed(uint64_t conn, struct msg *ret)
{
	static const char text[] = "the history cannot be read just now; the log says why";

	*ret = (struct msg){ .type = MSG_CTL_END };
	ret->u.ctl_end.conn = conn;
	ret->u.ctl_end.code = EXIT_CODE_TEMPORARY;
	msg_set(ret, ctl_end.text, text, sizeof(text) - 1);
}
