/* recent.c - see recent.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/history/recent.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/actions.h"

/* At most max ids of a statement. */
static int read_ids(struct db *db, enum db_stmt ids, size_t max, int64_t ret[static RECENT_MAX],
		    size_t *ret_n)
{
	sqlite3_stmt *st = db_stmt(db, ids, db_i("limit", max));
	int rc = SQLITE_ROW;

	*ret_n = 0;
	while (*ret_n < max && *ret_n < RECENT_MAX && (rc = sqlite3_step(st)) == SQLITE_ROW)
		ret[(*ret_n)++] = sqlite3_column_int64(st, 0);
	(void)sqlite3_reset(st);
	return db_errno(rc);
}

/* The rows of those ids into ret, `size` bytes each. A row that has gone is left out. */
static int read_rows(struct db *db, enum db_stmt ids, enum db_stmt row, enum msg_type type, size_t max,
		     char *ret, size_t size, size_t *ret_n)
{
	int64_t id[RECENT_MAX];
	size_t n = 0;
	int r = read_ids(db, ids, max, id, &n);
	struct msg m;

	*ret_n = 0;
	for (size_t i = 0; r >= 0 && i < n; i++) {
		r = db_read_row(db_stmt(db, row, db_i("id", id[i]), db_i("conn", 0),
					db_i("open", OUTCOME_OPEN), db_i("refused", OUTCOME_REFUSED)),
				type, &m);
		if (r > 0)
			memcpy(ret + size * (*ret_n)++, &m.u, size);
	}
	return r < 0 ? r : 0;
}

int recent_actions(struct db *db, size_t max, struct msg_ctl_history_row *ret, size_t *ret_n)
{
	return read_rows(db, DB_RECENT_ACTIONS, DB_HISTORY_ACTION, MSG_CTL_HISTORY_ROW, max, (char *)ret,
			 sizeof(*ret), ret_n);
}

int recent_refusals(struct db *db, size_t max, struct msg_ctl_history_row *ret, size_t *ret_n)
{
	return read_rows(db, DB_RECENT_REFUSALS, DB_HISTORY_REFUSAL, MSG_CTL_HISTORY_ROW, max, (char *)ret,
			 sizeof(*ret), ret_n);
}

int recent_pauses(struct db *db, size_t max, struct msg_pause *ret, size_t *ret_n)
{
	return read_rows(db, DB_PAUSE_IDS, DB_PAUSE_ROW, MSG_PAUSE, max, (char *)ret, sizeof(*ret), ret_n);
}

int recent_attention(struct db *db, size_t max, struct recent_attention *ret, size_t *ret_n)
{
	sqlite3_stmt *st = db_stmt(db, DB_RECENT_ATTENTION, db_i("limit", max));
	int rc = SQLITE_ROW;

	*ret_n = 0;
	while (*ret_n < max && (rc = sqlite3_step(st)) == SQLITE_ROW)
		ret[(*ret_n)++] =
			(struct recent_attention){ db_text_dup(st, 0), db_text_dup(st, 1), db_text_dup(st, 2),
						   db_text_dup(st, 3), sqlite3_column_int64(st, 4) };
	(void)sqlite3_reset(st);
	return db_errno(rc);
}

void recent_attention_done(struct recent_attention *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].cluster);
		free(v[i].object);
		free(v[i].reason);
		free(v[i].detail);
	}
}
