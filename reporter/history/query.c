/* query.c - see query.h. The end of a response is its last row, so that everything is read in one way. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/history/query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "ipc/timer.h"
#include "text/texts.h"

#define SCALED_MAX  4096  /* that a watcher is told of */
#define QUESTION_MS 8000u /* nothing else runs meanwhile, and a heartbeat is due */

/* One kind of row: which there are, and how one becomes a message. */
struct row_kind {
	enum db_stmt ids, row, negative_row; /* negative_row: for ids below 0 */
	enum msg_type type;
	/* Instead of `row`: 1, 0 (there is nothing to say), or negative errno. */
	int (*read)(struct query *q, int64_t id, struct msg *ret);
};

struct query_row {
	int64_t id;
	const struct row_kind *kind;
	struct msg_packed *made; /* at once, when it was asked for; NULL = made of the id by its kind */
};

struct query {
	struct db *db;
	const struct history *history;
	bool asked; /* by an operator, who can ask again; else by a process that cannot go on without it */
	uint64_t cluster, conn;
	struct query_row *rows;
	size_t n, i;
	uint32_t room;
};

/* -- reading -- */

/* A statement with everything bound that it may name. */
static sqlite3_stmt *prepare(const struct query *q, enum db_stmt stmt, int64_t id, const struct msg *question)
{
	const char *cluster = question && question->type == MSG_CTL_HISTORY
				      ? question->u.ctl_history.cluster_name
				      : history_cluster_name(q->history, q->cluster);

	return db_stmt_msg(q->db, stmt, question, db_i("id", id), db_i("conn", q->conn),
			   db_i("cluster", q->cluster), db_s("cluster_name", cluster),
			   db_i("open", OUTCOME_OPEN), db_i("open_bit", OUTCOME__MAX),
			   db_i("refused", OUTCOME_REFUSED), db_i("written", OUTCOMES_WRITTEN),
			   db_i("spent", OUTCOMES_SPENT), db_i("restore", ACTION_RESTORE),
			   db_i("scale_down", ACTION_SCALE_DOWN), db_i("done", OUTCOME_DONE),
			   db_i("fresh_attempt", ACTION_FRESH_ATTEMPT),
			   db_i("known_written", OUTCOMES_KNOWN_WRITTEN), db_i("scaled_max", SCALED_MAX));
}

static int read_row(struct query *q, const struct query_row *row, struct msg *ret)
{
	const int64_t id = row->id;

	if (row->made) {
		msg_unpack(row->made, ret);
		return 1;
	}
	if (row->kind->read)
		return row->kind->read(q, id, ret);
	sqlite3_stmt *st =
		prepare(q, id < 0 ? row->kind->negative_row : row->kind->row, id < 0 ? -id : id, NULL);

	return db_read_row(st, row->kind->type, ret);
}

/* Without those whose cluster is not configured any more. */
static int read_open_intent(struct query *q, int64_t id, struct msg *ret)
{
	sqlite3_stmt *st = prepare(q, DB_OPEN_ROW, id, NULL);
	int cluster = -1, r;

	*ret = (struct msg){ .type = MSG_OPEN_INTENT };
	while ((r = db_step(st)) > 0) {
		db_read_msg(st, ret);
		cluster = history_cluster_index(q->history, db_text(st, 0));
		ret->u.open_intent.cluster = cluster < 0 ? 0 : (uint64_t)cluster;
	}
	return cluster >= 0 ? 1 : r;
}

/* One column of an action; false where it is empty. */
static bool read_column(sqlite3_stmt *st, int column, uint64_t conn, struct msg *ret)
{
	*ret = (struct msg){ .type = MSG_CTL_SHOW_ROW, .u.ctl_show_row.conn = conn };
	msg_text(ret, ctl_show_row.name, sqlite3_column_name(st, column));
	if (sqlite3_column_type(st, column) == SQLITE_BLOB) {
		db_facts(st, column, &ret->u.ctl_show_row.facts);
		return !facts_empty(&ret->u.ctl_show_row.facts);
	}
	msg_text(ret, ctl_show_row.value, db_text(st, column));
	return *ret->u.ctl_show_row.value != '\0';
}

/* The end of a response to connection conn of the control socket. */
static void make_end(uint64_t conn, int code, enum text why, struct msg *ret)
{
	*ret = (struct msg){ .type = MSG_CTL_END, .u.ctl_end = { .conn = conn, .code = (uint64_t)code } };
	facts_finding(&ret->u.ctl_end.why, why);
}

/* -- kinds -- */

static const struct row_kind open_rows[] = {
	{ DB_PAUSE_IDS, .row = DB_PAUSE_ROW, .type = MSG_PAUSE },
	{ DB_OPEN_IDS, .type = MSG_OPEN_INTENT, .read = read_open_intent },
	{ DB_ONE_ROW, .row = DB_OPEN_END, .type = MSG_OPEN_END },
};
static const struct row_kind saved_rows[] = {
	{ DB_SAVED_IDS, .row = DB_SAVED_ROW, .type = MSG_SAVED_ROW },
	{ DB_UNSETTLED_IDS, .row = DB_UNSETTLED_ROW, .type = MSG_UNSETTLED_ROW },
	{ DB_ACTION_IDS, .row = DB_ACTION_ROW, .type = MSG_ACTION_ROW },
	{ DB_SCALED_IDS, .row = DB_SCALED_ROW, .type = MSG_SCALED_ROW },
	{ DB_FAILING_SINCE_IDS, .row = DB_FAILING_SINCE_ROW, .type = MSG_FAILING_SINCE_ROW },
	{ DB_ONE_ROW, .row = DB_SAVED_END, .type = MSG_SAVED_END },
};
static const struct row_kind history_row = { DB_HISTORY_IDS, DB_HISTORY_ACTION, DB_HISTORY_REFUSAL,
					     MSG_CTL_HISTORY_ROW, NULL };
static const struct row_kind changed_row = { DB_HISTORY_CHANGED_IDS, DB_HISTORY_ACTION, DB_HISTORY_REFUSAL,
					     MSG_CTL_HISTORY_ROW, NULL };
static const struct row_kind quote_row = { DB_SHOW_QUOTE_IDS, .row = DB_QUOTE_ROW,
					   .type = MSG_CTL_QUOTE_ROW };
static const struct row_kind ctl_end = { .row = DB_CTL_END, .type = MSG_CTL_END };

/* made: the query's from now on. */
static void add_row(struct query *q, const struct row_kind *kind, int64_t id, struct msg_packed *made)
{
	q->rows = xgrow(q->rows, &q->room, (uint32_t)q->n, sizeof(*q->rows));
	q->rows[q->n++] = (struct query_row){ id, kind, made };
}

/* A row of that kind for each id; fields of the question (NULL = none) bind what is named like them. 0 or
 * negative errno. */
static int add_rows(struct query *q, const struct row_kind *kind, int64_t id, const struct msg *question)
{
	sqlite3_stmt *st = prepare(q, kind->ids, id, question);
	int r;

	while ((r = db_step(st)) > 0)
		add_row(q, kind, sqlite3_column_int64(st, 0), NULL);
	return r;
}

static int finish_new(struct query *q, int r, struct query **ret)
{
	if (r < 0)
		query_free(&q);
	*ret = q;
	return r;
}

/* Fix which rows there are. */
static int collect(const struct query *like, const struct row_kind *kinds, size_t n_kinds, struct query **ret)
{
	struct query *q = xmemdup(like, sizeof(*like));
	int r = 0;

	for (size_t i = 0; r == 0 && i < n_kinds; i++)
		r = add_rows(q, &kinds[i], 0, NULL);
	return finish_new(q, r, ret);
}

int query_open_intents(struct db *db, const struct history *h, struct query **ret)
{
	const struct query q = { .db = db, .history = h };

	return collect(&q, open_rows, ARRAY_SIZE(open_rows), ret);
}

int query_saved(struct db *db, const struct history *h, uint64_t cluster, struct query **ret)
{
	const struct query q = { .db = db, .history = h, .cluster = cluster };

	return collect(&q, saved_rows, ARRAY_SIZE(saved_rows), ret);
}

int query_history(struct db *db, const struct history *h, const struct msg *question, struct query **ret)
{
	const struct msg_ctl_history *asked = &question->u.ctl_history;
	const struct query like = { .db = db, .history = h, .asked = true, .conn = asked->conn };
	struct query *q = xmemdup(&like, sizeof(like));

	db_limit(db, QUESTION_MS);
	int r = add_rows(q, asked->changed ? &changed_row : &history_row, 0, question);
	const size_t n = q->n;

	for (size_t i = 0; r == 0 && asked->quotes && i < n; i++)
		if (q->rows[i].id > 0)
			r = add_rows(q, &quote_row, q->rows[i].id, NULL);
	db_limit(db, 0);
	add_row(q, &ctl_end, 0, NULL);
	return finish_new(q, r, ret);
}

int query_show(struct db *db, const struct history *h, const struct msg *question, struct query **ret)
{
	const struct msg_ctl_show *s = &question->u.ctl_show;
	const struct query like = { .db = db, .history = h, .asked = true, .conn = s->conn };
	struct query *q = xmemdup(&like, sizeof(like));
	sqlite3_stmt *st = prepare(q, DB_SHOW, (int64_t)s->id, NULL);
	int r = db_step(st);
	struct msg m;

	if (r == 0) {
		make_end(s->conn, EXIT_CODE_FAILURE, TEXT_NO_ACTION, &m);
		add_row(q, NULL, 0, msg_pack(&m));
	}
	if (r <= 0)
		return finish_new(q, r, ret);
	for (int i = 0; i < sqlite3_column_count(st); i++)
		if (read_column(st, i, s->conn, &m))
			add_row(q, NULL, 0, msg_pack(&m));
	(void)sqlite3_reset(st);
	r = add_rows(q, &quote_row, (int64_t)s->id, NULL);
	add_row(q, &ctl_end, 0, NULL);
	return finish_new(q, r, ret);
}

void query_free(struct query **q)
{
	if (!*q)
		return;
	for (size_t i = 0; i < (*q)->n; i++)
		free((*q)->rows[i].made);
	free((*q)->rows);
	free(*q);
	*q = NULL;
}

/* -- one after the other -- */

int query_next(struct query *q, struct msg *ret)
{
	int r = 0;

	for (; r == 0 && q->i < q->n; q->i += r >= 0)
		r = read_row(q, &q->rows[q->i], ret);
	return r;
}

/* Give up: *ret ends the response with an error. False for the responses that another process cannot go on
 * without: those must be tried until they succeed. */
static bool query_fail(struct query *q, struct msg *ret)
{
	if (!q->asked)
		return false;
	query_failed(q->conn, 0, ret);
	q->i = q->n;
	return true;
}

void query_failed(uint64_t conn, int err, struct msg *ret)
{
	make_end(conn, EXIT_CODE_TEMPORARY, err == -ETIME ? TEXT_HISTORY_LONG : TEXT_HISTORY_UNREADABLE, ret);
}

/* -- side by side -- */

#define TRIES_MAX 5

struct response {
	struct query *query;
	struct msg *unsent; /* made, but the channel was full */
	int failures;
};

struct response_stream {
	struct timer *run;
	const struct response_stream_ops *ops;
	void *ctx;
	struct response responses[RESPONSES_MAX];
	size_t n;
	bool full;
};

static void response_done(struct response *p)
{
	query_free(&p->query);
	free(p->unsent);
	*p = (struct response){ 0 };
}

/* 1: goes on; 0: the response is complete; negative errno of the send. */
static int send_one(struct response_stream *s, struct response *p)
{
	struct msg m;
	int r = p->unsent ? 1 : query_next(p->query, &m);

	if (r < 0) {
		s->ops->trouble(s->ctx, r);
		if (++p->failures < TRIES_MAX || !query_fail(p->query, &m))
			return r;
		r = 1;
	}
	if (r == 0)
		return 0;
	r = s->ops->send(s->ctx, p->unsent ? p->unsent : &m);
	if (r == -EAGAIN) {
		if (!p->unsent)
			p->unsent = xmemdup(&m, sizeof(m));
		s->full = true;
		return r;
	}
	free(p->unsent);
	p->unsent = NULL;
	return r < 0 ? 0 : 1; /* the peer is gone: nobody waits for the rest */
}

static int send_some(struct response_stream *s, struct response *p)
{
	int r = 1;

	for (int i = 0; i < RESPONSE_BATCH && r == 1 && !s->full; i++)
		r = send_one(s, p);
	return r;
}

static void wake(struct response_stream *s, uint64_t ms)
{
	if (s->n > 0 && !s->full)
		timer_set(s->run, ms);
}

static void on_run(void *ctx)
{
	struct response_stream *s = ctx;
	bool trouble = false;
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i++) {
		const int r = s->full ? 1 : send_some(s, &s->responses[i]);

		trouble = trouble || (r < 0 && r != -EAGAIN);
		if (r == 0)
			response_done(&s->responses[i]);
		else
			s->responses[kept++] = s->responses[i];
	}
	s->n = kept;
	wake(s, trouble ? 1000 : 0);
}

struct response_stream *response_stream_new(struct event_base *base, const struct response_stream_ops *ops,
					    void *ctx)
{
	struct response_stream *s = xcalloc(1, sizeof(*s));

	s->run = timer_new(base, on_run, s);
	s->ops = ops;
	s->ctx = ctx;
	return s;
}

void response_stream_free(struct response_stream **s)
{
	if (!*s)
		return;
	for (size_t i = 0; i < (*s)->n; i++)
		response_done(&(*s)->responses[i]);
	timer_free(&(*s)->run);
	free(*s);
	*s = NULL;
}

bool response_stream_add(struct response_stream *s, struct query *c)
{
	if (s->n == RESPONSES_MAX)
		return false;
	s->responses[s->n++] = (struct response){ .query = c };
	wake(s, 0);
	return true;
}

void response_stream_room(struct response_stream *s)
{
	s->full = false;
	wake(s, 0);
}

/* -- what can be taken back -- */

/* Why the action cannot be taken back, which names its number; TEXT__MAX when it can. */
static enum text objection(const struct msg_ctl_history_row *a, const struct msg_ctl_restore_row *r,
			   int cluster)
{
	const bool written = a->outcome >= 0 && (OUTCOMES_WRITTEN >> a->outcome) & 1;
	const struct {
		bool holds;
		enum text why;
	} table[] = {
		{ a->action == ACTION_RESTORE, TEXT_IS_RESTORE },
		{ a->outcome < 0, TEXT_NOT_ENDED },
		{ a->observe, TEXT_WAS_DRY_RUN },
		{ !written, TEXT_WROTE_NOTHING },
		{ action_desc((enum action_kind)a->action)->target == TARGET_POD, TEXT_DELETED_POD },
		{ !r->want_target[0] || !r->want_uid[0] || r->want_replicas < 1, TEXT_WAS_NOT_SCALED },
		{ cluster < 0, TEXT_ITS_CLUSTER_GONE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].holds)
			return table[i].why;
	return TEXT__MAX;
}

static void explain(const struct msg_ctl_history_row *a, bool by_operator, struct msg *row)
{
	struct facts *evidence = &row->u.ctl_restore_row.evidence;

	msg_text(row, ctl_restore_row.reason, reason_code(by_operator ? REASON_RESTORED : REASON_CORRECTED));
	facts_finding(evidence, by_operator ? TEXT_TAKEN_BACK_ASKED : TEXT_TAKEN_BACK_CORRECTED);
	facts_count(evidence, FACT_ACTION, (int64_t)a->id);
	facts_time(evidence, FACT_SINCE, a->intent_at);
	facts_name(evidence, FACT_REASON, STR_C(a->reason));
	facts_name(evidence, FACT_OBJECT, STR_C(a->target));
	facts_count(evidence, FACT_HAD, a->replicas);
}

void query_restorable(struct db *db, const struct history *h, const struct msg_ctl_restore *q,
		      struct msg *ret)
{
	const struct msg question = { .type = MSG_CTL_RESTORE, .u.ctl_restore = *q };
	const struct query like = { .db = db, .history = h, .conn = q->conn };
	const int64_t id = (int64_t)q->id;
	struct msg past;
	int r = db_read_row(prepare(&like, DB_HISTORY_ACTION, id, NULL), MSG_CTL_HISTORY_ROW, &past);

	if (r > 0)
		r = db_read_row(prepare(&like, DB_RESTORE_ROW, id, &question), MSG_CTL_RESTORE_ROW, ret);
	if (r < 0) {
		query_failed(q->conn, r, ret);
		return;
	}
	if (r == 0) {
		make_end(q->conn, EXIT_CODE_FAILURE, TEXT_NO_ACTION, ret);
		return;
	}
	const struct msg_ctl_history_row *a = &past.u.ctl_history_row;
	const int cluster = history_cluster_index(h, a->cluster_name);
	const enum text why = objection(a, &ret->u.ctl_restore_row, cluster);

	if (why == TEXT__MAX) {
		ret->u.ctl_restore_row.cluster = (uint64_t)cluster;
		explain(a, q->by_operator, ret);
		return;
	}
	make_end(q->conn, EXIT_CODE_FAILURE, why, ret);
	facts_count(&ret->u.ctl_end.why, FACT_ACTION, (int64_t)q->id);
}

/* -- the newest, for a page -- */

/* Which there are, and how one becomes a message. */
static const struct {
	enum db_stmt ids, row;
	enum msg_type type;
} recent[RECENT__MAX] = {
	[RECENT_ACTIONS] = { DB_RECENT_ACTIONS, DB_HISTORY_ACTION, MSG_CTL_HISTORY_ROW },
	[RECENT_AT_ZERO] = { DB_AT_ZERO_IDS, DB_HISTORY_ACTION, MSG_CTL_HISTORY_ROW },
	[RECENT_REFUSALS] = { DB_RECENT_REFUSALS, DB_HISTORY_REFUSAL, MSG_CTL_HISTORY_ROW },
	[RECENT_PAUSES] = { DB_PAUSE_IDS, DB_PAUSE_ROW, MSG_PAUSE },
};

/* At most max ids of a statement. */
static int recent_ids(struct db *db, enum db_stmt ids, size_t max, int64_t ret[static RECENT_MAX],
		      size_t *ret_n)
{
	sqlite3_stmt *st = db_stmt(db, ids, db_i("limit", max), db_s("cluster_name", ""),
				   db_i("scale_down", ACTION_SCALE_DOWN), db_i("written", OUTCOMES_WRITTEN),
				   db_i("done", OUTCOME_DONE));
	int r = 0;

	*ret_n = 0;
	while (*ret_n < max && *ret_n < RECENT_MAX && (r = db_step(st)) > 0)
		ret[(*ret_n)++] = sqlite3_column_int64(st, 0);
	(void)sqlite3_reset(st);
	return r;
}

int recent_rows(struct db *db, enum recent which, size_t max, void *ret, size_t *ret_n)
{
	const size_t size = msg_desc(recent[which].type)->size;
	int64_t id[RECENT_MAX];
	size_t n = 0;
	int r = recent_ids(db, recent[which].ids, max, id, &n);
	struct msg m;

	*ret_n = 0;
	for (size_t i = 0; r >= 0 && i < n; i++) {
		r = db_read_row(db_stmt(db, recent[which].row, db_i("id", id[i]), db_i("conn", 0),
					db_i("open", OUTCOME_OPEN), db_i("refused", OUTCOME_REFUSED)),
				recent[which].type, &m);
		if (r > 0)
			memcpy((char *)ret + size * (*ret_n)++, &m.u, size);
	}
	return r < 0 ? r : 0;
}
