/* samples.c - see samples.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/report/samples.h"

#include <errno.h>

#define HOUR_MS INT64_C(3600000)
#define DAY_MS  (24 * HOUR_MS)
/* The clock of a kubelet may be behind. */
#define SKEW_MS INT64_C(300000)

/* What is known of one container. */
struct sampled {
	int64_t id, restarts, created, seen_at, known_since;
};

static struct msg as_msg(const struct msg_digest_row *row)
{
	return (struct msg){ .type = MSG_DIGEST_ROW, .u.digest_row = *row };
}

/* 1, 0 (never seen) or negative errno. */
static int find(struct db *db, const struct msg *m, const char *cluster_name, struct sampled *ret)
{
	sqlite3_stmt *st = db_stmt_msg(db, DB_SAMPLED_OF, m, db_s("cluster_name", cluster_name));
	const int rc = sqlite3_step(st);

	*ret = (struct sampled){ 0 };
	if (rc == SQLITE_ROW)
		*ret = (struct sampled){ sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
					 sqlite3_column_int64(st, 2), sqlite3_column_int64(st, 3),
					 sqlite3_column_int64(st, 4) };
	(void)sqlite3_reset(st);
	return rc == SQLITE_ROW ? 1 : db_errno(rc);
}

/* When all containers of the cluster were last asked for; 0 = never. */
static int full_at(struct db *db, const char *cluster_name, int64_t *ret)
{
	const int r = db_number(db_stmt(db, DB_SAMPLING_FULL_AT, db_s("cluster_name", cluster_name)), ret);

	return r == -ENOENT ? (*ret = 0, 0) : r;
}

/* Restarts that came since it was last seen. What has a smaller count, or another age, began anew. */
static int64_t came(const struct sampled *s, const struct msg_digest_row *row)
{
	const int64_t now = (int64_t)row->restarts;

	return s->created == row->created && now >= s->restarts ? now - s->restarts : now;
}

static int put_one(struct db *db, const struct msg_digest_row *row, const char *cluster_name, int64_t full,
		   int64_t now_ms)
{
	const struct msg m = as_msg(row);
	struct sampled s;
	const int known = find(db, &m, cluster_name, &s);

	if (known < 0)
		return known;
	/* Of what was there before anybody looked only the count is known. */
	const int64_t since = known ? s.known_since : full > 0 ? row->created : now_ms;
	const int64_t delta = known ? came(&s, row) : full > 0 ? (int64_t)row->restarts : 0;

	if (known && delta == 0 && s.created == row->created && now_ms - s.seen_at < DAY_MS)
		return 0;
	int r = db_run(db_stmt_msg(db, DB_SAMPLED_PUT, &m, db_s("cluster_name", cluster_name),
				   db_i("at", now_ms), db_i("known_since", since)),
		       NULL);

	if (r == 0 && delta > 0)
		r = db_run(db_stmt_msg(db, DB_SAMPLE_PUT, &m, db_s("cluster_name", cluster_name),
				       db_i("at", now_ms), db_i("delta", delta)),
			   NULL);
	return r;
}

int samples_put(struct db *db, const struct msg_digest_row *row, const char *cluster_name, int64_t now_ms)
{
	int64_t full = 0;
	const int r = full_at(db, cluster_name, &full);

	return r < 0 ? r : put_one(db, row, cluster_name, full, now_ms);
}

int samples_answered(struct db *db, const char *cluster_name, bool all, int64_t now_ms)
{
	return db_run(db_stmt(db, DB_SAMPLING_PUT, db_s("cluster_name", cluster_name), db_i("at", now_ms),
			      db_i("full_at", all ? now_ms : 0)),
		      NULL);
}

int samples_since(struct db *db, const char *cluster_name, int64_t now_ms, int64_t *ret)
{
	int64_t full = 0, at = 0;
	int r = full_at(db, cluster_name, &full);

	*ret = 0;
	if (r < 0 || full == 0 || full > now_ms || now_ms - full >= DAY_MS)
		return r;
	r = db_number(db_stmt(db, DB_SAMPLING_AT, db_s("cluster_name", cluster_name)), &at);
	if (r == 0 && at > SKEW_MS && at <= now_ms)
		*ret = at - SKEW_MS;
	return r;
}

int samples_delta(struct db *db, const struct msg_digest_row *row, const char *cluster_name, int64_t from_ms,
		  int64_t *ret)
{
	const struct msg m = as_msg(row);
	struct sampled s;
	const int known = find(db, &m, cluster_name, &s);
	int64_t full = 0, counted = 0;
	int r = known == 0 ? full_at(db, cluster_name, &full) : 0;
	const bool began = row->created > 0 && row->created >= from_ms;

	/* What is first seen after a full answer has restarted since. */
	*ret = began || full > 0 ? (int64_t)row->restarts : DELTA_UNKNOWN;
	if (known <= 0 || s.known_since > from_ms)
		return known < 0 ? known : r;
	r = db_number(db_stmt(db, DB_SAMPLES_SUM, db_i("series", s.id), db_i("from", from_ms)), &counted);
	*ret = r < 0 ? *ret : counted + came(&s, row);
	return r;
}
