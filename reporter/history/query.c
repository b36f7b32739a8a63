/* query.c - see query.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/history/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"

#define DAY_MS INT64_C(86400000)

/* One kind of row: which there are, how one becomes a message. */
struct part {
	enum db_stmt ids;
	enum db_stmt row, negative_row; /* for ids below 0 */
	enum msg_type type;
	int (*finish)(struct query *c, struct msg *m); /* fields that are no columns; 0 = leave the row out */
	int (*read)(struct query *c, int64_t id, struct msg *ret); /* instead of row and finish */
};

/* One kind of answer: its rows, part after part, and what ends it. */
struct answer {
	const struct part *parts;
	size_t n_parts;
	int (*end)(struct query *c, struct msg *m);
	bool may_fail; /* a person asked, who can ask again; else another process stands on it */
};

struct item {
	int64_t id;
	const struct part *part;
};

struct query {
	struct db *db;
	struct history *history;
	const struct answer *answer;
	uint64_t cluster, conn, lease;
	struct item *items;
	size_t n, room, i;
	bool ended;
};

static int finish_open(struct query *c, struct msg *m)
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

static int finish_pause(struct query *c, struct msg *m)
{
	(void)c;
	m->u.pause.on = true;
	return 1;
}

static int end_open(struct query *c, struct msg *m)
{
	*m = (struct msg){ .type = MSG_OPEN_END };
	return history_next_id(c->history, &m->u.open_end.next_id);
}

static int finish_since(struct query *c, struct msg *m)
{
	m->u.failing_since_row.cluster = c->cluster;
	return 1;
}

static int finish_memo(struct query *c, struct msg *m)
{
	m->u.saved_row.cluster = c->cluster;
	return 1;
}

static int finish_act(struct query *c, struct msg *m)
{
	m->u.action_row.cluster = c->cluster;
	return 1;
}

static int end_since(struct query *c, struct msg *m)
{
	*m = (struct msg){ .type = MSG_SAVED_END, .u.saved_end.cluster = c->cluster };
	return 0;
}

static int finish_history(struct query *c, struct msg *m)
{
	m->u.ctl_history_row.conn = c->conn;
	return 1;
}

static int end_history(struct query *c, struct msg *m)
{
	*m = (struct msg){ .type = MSG_CTL_END, .u.ctl_end.conn = c->conn };
	return 0;
}

/* One column of the row of c->lease; empty ones are left out. */
static int read_show(struct query *c, int64_t column, struct msg *ret)
{
	sqlite3_stmt *st = db_stmt(c->db, DB_SHOW);

	db_bind_i64(st, "id", (int64_t)c->lease);
	const int rc = sqlite3_step(st);
	const char *value = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(st, (int)column) : NULL;
	const char *name = sqlite3_column_name(st, (int)column);
	const bool some = value && *value;

	*ret = (struct msg){ .type = MSG_CTL_SHOW_ROW, .u.ctl_show_row.conn = c->conn };
	if (some) {
		msg_set(ret, ctl_show_row.name, name, strlen(name));
		msg_set(ret, ctl_show_row.value, value, strlen(value));
	}
	(void)sqlite3_reset(st);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? some : db_errno(rc);
}

static int end_show(struct query *c, struct msg *m)
{
	static const char unknown[] = "no action has this number: see `ops-pod-cleaner history`";

	*m = (struct msg){ .type = MSG_CTL_END, .u.ctl_end.conn = c->conn };
	if (c->n > 0)
		return 0;
	m->u.ctl_end.code = EXIT_CODE_FAILURE;
	msg_set(m, ctl_end.text, unknown, sizeof(unknown) - 1);
	return 0;
}

static const struct part open_parts[] = {
	{ DB_PAUSE_IDS, DB_PAUSE_ROW, DB_PAUSE_ROW, MSG_PAUSE, finish_pause },
	{ DB_OPEN_IDS, DB_OPEN_ROW, DB_OPEN_ROW, MSG_OPEN_INTENT, finish_open },
};
static const struct part since_parts[] = {
	{ DB_SAVED_IDS, DB_SAVED_ROW, DB_SAVED_ROW, MSG_SAVED_ROW, finish_memo },
	{ DB_ACTION_IDS, DB_ACTION_ROW, DB_ACTION_ROW, MSG_ACTION_ROW, finish_act },
	{ DB_FAILING_SINCE_IDS, DB_FAILING_SINCE_ROW, DB_FAILING_SINCE_ROW, MSG_FAILING_SINCE_ROW,
	  finish_since },
};
static const struct part history_parts[] = {
	{ DB_HISTORY_IDS, DB_HISTORY_ACTION, DB_HISTORY_REFUSAL, MSG_CTL_HISTORY_ROW, finish_history },
};
static const struct part show_part = { .ids = DB_SHOW, .type = MSG_CTL_SHOW_ROW, .read = read_show };
static const struct answer open_answer = { open_parts, ARRAY_SIZE(open_parts), end_open, false };
static const struct answer since_answer = { since_parts, ARRAY_SIZE(since_parts), end_since, false };
static const struct answer history_answer = { history_parts, ARRAY_SIZE(history_parts), end_history, true };

static const struct answer show_answer = { NULL, 0, end_show, true };

static void add_item(struct query *c, const struct part *part, int64_t id)
{
	if (c->n == c->room) {
		c->room = c->room ? 2 * c->room : 64;
		c->items = xreallocarray(c->items, c->room, sizeof(*c->items));
	}
	c->items[c->n++] = (struct item){ id, part };
}

static int collect_ids(struct query *c, const struct part *part, sqlite3_stmt *st)
{
	int rc;

	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		add_item(c, part, sqlite3_column_int64(st, 0));
	(void)sqlite3_reset(st);
	return db_errno(rc);
}

static struct query *query_new(struct db *db, struct history *h, const struct answer *a)
{
	struct query *c = xcalloc(1, sizeof(*c));

	c->db = db;
	c->history = h;
	c->answer = a;
	return c;
}

/* Fix which rows there are. question (NULL = none), cluster_name and observe bind what names them. */
static int query_fill(struct query *c, const struct msg *question, bool observe, struct query **ret)
{
	const int64_t now = clock_wall_ms();
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->answer->n_parts; i++) {
		const enum db_stmt ids = c->answer->parts[i].ids;
		sqlite3_stmt *st = question ? db_stmt_msg(c->db, ids, question) : db_stmt(c->db, ids);

		db_bind_text(st, "cluster_name", history_cluster_name(c->history, c->cluster));
		db_bind_i64(st, "observe", observe);
		db_bind_i64(st, "now", now);
		db_bind_i64(st, "open", OUTCOME__MAX);
		db_bind_i64(st, "refused", OUTCOME_REFUSED);
		db_bind_i64(st, "day_ago", now - DAY_MS);
		r = collect_ids(c, &c->answer->parts[i], st);
	}
	if (r < 0)
		query_free(&c);
	else
		*ret = c;
	return r;
}

int query_open_intents(struct db *db, struct history *h, struct query **ret)
{
	return query_fill(query_new(db, h, &open_answer), NULL, false, ret);
}

int query_since(struct db *db, struct history *h, uint64_t cluster, bool observe, struct query **ret)
{
	struct query *c = query_new(db, h, &since_answer);

	c->cluster = cluster;
	return query_fill(c, NULL, observe, ret);
}

int query_history(struct db *db, struct history *h, const struct msg_ctl_history *q, struct query **ret)
{
	struct query *c = query_new(db, h, &history_answer);
	const struct msg m = { .type = MSG_CTL_HISTORY, .u.ctl_history = *q };

	c->conn = q->conn;
	return query_fill(c, &m, false, ret);
}

int query_show(struct db *db, struct history *h, const struct msg_ctl_show *q, struct query **ret)
{
	struct query *c = query_new(db, h, &show_answer);
	sqlite3_stmt *st = db_stmt(db, DB_SHOW);

	c->conn = q->conn;
	c->lease = q->id;
	db_bind_i64(st, "id", (int64_t)q->id);
	const int rc = sqlite3_step(st);

	for (int i = 0; rc == SQLITE_ROW && i < sqlite3_column_count(st); i++)
		add_item(c, &show_part, i);
	(void)sqlite3_reset(st);
	const int r = db_errno(rc);

	if (r < 0)
		query_free(&c);
	*ret = c;
	return r;
}

void query_free(struct query **c)
{
	if (!*c)
		return;
	free((*c)->items);
	free(*c);
	*c = NULL;
}

/* 1 with *ret set, 0 when the row is gone or left out, or negative errno. */
static int read_row(struct query *c, const struct item *item, struct msg *ret)
{
	const int64_t id = item->id;

	if (item->part->read)
		return item->part->read(c, id, ret);
	sqlite3_stmt *st = db_stmt(c->db, id < 0 ? item->part->negative_row : item->part->row);

	db_bind_i64(st, "id", id < 0 ? -id : id);
	const int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW) {
		*ret = (struct msg){ .type = item->part->type };
		db_read_msg(st, ret);
	}
	(void)sqlite3_reset(st);
	return rc == SQLITE_ROW ? item->part->finish(c, ret) : db_errno(rc);
}

int query_next(struct query *c, struct msg *ret)
{
	while (c->i < c->n) {
		const int r = read_row(c, &c->items[c->i], ret);

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

bool query_fail(struct query *c, struct msg *ret)
{
	if (!c->answer->may_fail)
		return false;
	query_failed(c->conn, ret);
	c->i = c->n;
	c->ended = true;
	return true;
}

void query_failed(uint64_t conn, struct msg *ret)
{
	static const char text[] = "the history cannot be read just now; the log says why";

	*ret = (struct msg){ .type = MSG_CTL_END };
	ret->u.ctl_end.conn = conn;
	ret->u.ctl_end.code = EXIT_CODE_TEMPORARY;
	msg_set(ret, ctl_end.text, text, sizeof(text) - 1);
}
