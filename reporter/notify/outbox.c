/* outbox.c - see outbox.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/notify/outbox.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/random.h"
#include "base/xalloc.h"
#include "text/texts.h"

const char *outbox_state_name(enum outbox_state s)
{
	static const char *const names[OUTBOX_STATE__MAX] = {
		[OUTBOX_WAITING] = "waiting",   [OUTBOX_SENDING] = "sending",         [OUTBOX_DONE] = "done",
		[OUTBOX_GIVEN_UP] = "given_up", [OUTBOX_UNCONFIRMED] = "unconfirmed",
	};

	return (unsigned)s < OUTBOX_STATE__MAX ? names[s] : "?";
}

int outbox_put(struct db *db, const char *sink, const struct document *d)
{
	_cleanup_free_ char *json = document_to_json(d);
	uint64_t random[2];

	random_bytes(random, sizeof(random));
	_cleanup_free_ char *id = xasprintf("%016" PRIx64 "%016" PRIx64, random[0], random[1]);

	return db_do(db, DB_OUTBOX_PUT, db_s("sink", sink), db_s("news", news_name(d->kind)),
		     db_s("message_id", id), db_s("document", json));
}

/* -- the next one -- */

void outbox_row_done(struct outbox_row *r)
{
	document_done(&r->document);
	*r = (struct outbox_row){ 0 };
}

static void read_row(sqlite3_stmt *st, struct outbox_row *ret)
{
	const char *json = db_text(st, 7);
	const int kind = news_parse(STR_C(db_text(st, 1)));

	*ret = (struct outbox_row){ .id = sqlite3_column_int64(st, 0),
				    .news = kind < 0 ? NEWS__MAX : (enum news)kind,
				    .made_at = sqlite3_column_int64(st, 3),
				    .next_at = sqlite3_column_int64(st, 4),
				    .tries = (uint64_t)sqlite3_column_int64(st, 5),
				    .doubts = (uint64_t)sqlite3_column_int64(st, 6) };
	if (document_from_json(json, (size_t)sqlite3_column_bytes(st, 7), &ret->document) < 0)
		ret->news = NEWS__MAX;
	else
		document_set(&ret->document.id, db_text(st, 2));
}

int outbox_next(struct db *db, const char *sink, struct outbox_row *ret)
{
	const struct facts unread = facts_of(TEXT_MESSAGE_UNREAD);
	int r = 0;

	do {
		sqlite3_stmt *st = db_stmt(db, DB_OUTBOX_NEXT, db_s("sink", sink));

		*ret = (struct outbox_row){ 0 };
		r = db_step(st);
		if (r <= 0)
			return r;
		read_row(st, ret);
		(void)sqlite3_reset(st);
		if (ret->news != NEWS__MAX)
			return 1;
		r = outbox_end(db, ret->id, OUTBOX_GIVEN_UP, &unread);
		outbox_row_done(ret);
	} while (r == 0);
	return r;
}

/* -- what became of it -- */

int outbox_begin(struct db *db, int64_t id)
{
	return db_do(db, DB_OUTBOX_BEGIN, db_i("id", id));
}

int outbox_again(struct db *db, int64_t id, int64_t next_at, bool in_doubt, const struct facts *error)
{
	return db_do(db, DB_OUTBOX_AGAIN, db_i("id", id), db_i("next_at", next_at),
		     db_i("in_doubt", in_doubt), db_f("error", error));
}

int outbox_end(struct db *db, int64_t id, enum outbox_state state, const struct facts *error)
{
	return db_do(db, DB_OUTBOX_END, db_i("id", id), db_s("state", outbox_state_name(state)),
		     db_f("error", error));
}

/* -- at a start, and where none is sent -- */

int outbox_recover(struct db *db, const char *sink, bool knows_ids, uint64_t *ret_unconfirmed)
{
	const struct facts stopped = facts_of(TEXT_WAS_STOPPED);
	_cleanup_free_ char *repeated = NULL;
	int changes = 0;

	for (enum news n = 0; n < NEWS__MAX; n++)
		if (knows_ids || news_in_doubt(n) == IN_DOUBT_REPEAT)
			xappend(&repeated, " ", news_name(n));
	int r = db_do(db, DB_OUTBOX_REPEAT, db_s("sink", sink), db_s("repeated", repeated),
		      db_f("error", &stopped));

	if (r == 0)
		r = db_run(db_stmt(db, DB_OUTBOX_UNCONFIRM, db_s("sink", sink), db_f("error", &stopped)),
			   &changes);
	*ret_unconfirmed = (uint64_t)changes;
	return r;
}

static int give_up_all(struct db *db, const char *sink, outbox_lost_fn *lost, void *ctx)
{
	const struct facts gone = facts_of(TEXT_SINK_GONE);
	int changes = 0;
	const int r = db_run(db_stmt(db, DB_OUTBOX_GIVE_UP_ALL, db_s("sink", sink), db_f("error", &gone)),
			     &changes);

	if (r == 0 && changes > 0)
		lost(ctx, sink, (uint64_t)changes);
	return r;
}

int outbox_drop_removed_sinks(struct db *db, const struct str_list *sinks, outbox_lost_fn *lost, void *ctx)
{
	struct str_list removed = { 0 };
	sqlite3_stmt *st = db_stmt(db, DB_OUTBOX_SINKS);
	int r;

	while ((r = db_step(st)) > 0) {
		const struct str name = STR_C(db_text(st, 0));

		if (!str_list_has(sinks, name))
			str_list_add(&removed, name.p, name.n);
	}
	for (size_t i = 0; r == 0 && i < removed.n; i++)
		r = give_up_all(db, removed.v[i], lost, ctx);
	str_list_done(&removed);
	return r;
}

int outbox_give_up_excess(struct db *db, const char *sink, uint64_t max, uint64_t *ret)
{
	const struct facts many = facts_of(TEXT_MANY_WAIT);
	int changes = 0;
	const int r = db_run(db_stmt(db, DB_OUTBOX_GIVE_UP_EXCESS, db_s("sink", sink), db_i("max", max),
				     db_f("error", &many)),
			     &changes);

	*ret = (uint64_t)changes;
	return r;
}

int outbox_stats(struct db *db, const char *sink, struct outbox_stats *ret)
{
	sqlite3_stmt *st =
		db_stmt(db, DB_OUTBOX_STATS, db_s("sink", sink), db_s("report", news_name(NEWS_REPORT)));
	int r;

	*ret = (struct outbox_stats){ 0 };
	while ((r = db_step(st)) > 0) {
		*ret = (struct outbox_stats){ .waiting = (uint64_t)sqlite3_column_int64(st, 0),
					      .oldest_at = sqlite3_column_int64(st, 1),
					      .delivered_at = sqlite3_column_int64(st, 2),
					      .lost_reports = (uint64_t)sqlite3_column_int64(st, 3) };
		db_facts(st, 4, &ret->error);
	}
	return r;
}
