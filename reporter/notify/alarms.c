/* alarms.c - see alarms.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/notify/alarms.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* Objects that are named, as the statements have it. */
#define NAMED 3

void alarms_done(struct alarms *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct alarm *a = &l->v[i];

		free(a->key);
		free(a->cluster);
		free(a->kind);
		free(a->code);
		free(a->ns);
		free(a->name);
		free(a->detail);
	}
	free(l->v);
	*l = (struct alarms){ 0 };
}

static struct alarm *new_alarm(struct alarms *l)
{
	l->v = xgrow(l->v, &l->room, (uint32_t)l->n, sizeof(*l->v));
	l->v[l->n] = (struct alarm){ 0 };
	return &l->v[l->n++];
}

struct alarm *alarms_add(struct alarms *l, const char *kind, const char *code, const char *cluster,
			 int64_t duty, const char *ns, const char *name)
{
	struct alarm *a = new_alarm(l);

	a->key = xasprintf("%s/%s/%s/%" PRId64 "/%s", kind, code, cluster, duty, ns);
	a->kind = xstrdup(kind);
	a->code = xstrdup(code);
	a->cluster = xstrdup(cluster);
	a->duty = duty;
	a->ns = xstrdup(ns);
	a->name = xstrdup(name);
	return a;
}

/* -- what the history knows to stand -- */

int alarms_join(struct db *history)
{
	const int r = db_run(db_stmt(history, DB_ATTENTION_CLAMP), NULL);

	return r < 0 ? r : db_run(db_stmt(history, DB_ATTENTION_JOIN), NULL);
}

char *alarm_names(const char *first, int64_t n)
{
	return n > NAMED ? xasprintf("%s, +%" PRId64, first, n - NAMED) : xstrdup(first);
}

int alarms_add_reasons(struct db *db, struct alarms *ret)
{
	sqlite3_stmt *st = db_stmt(db, DB_ALARMS_OF_ATTENTION);
	int rc;

	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		struct alarm *a = alarms_add(ret, ALARM_OF_REASON, db_text(st, 2), db_text(st, 0),
					     sqlite3_column_int64(st, 1), db_text(st, 3), "");

		a->state.begin_at = sqlite3_column_int64(st, 4);
		a->detail = xstrdup(db_text(st, 5));
		a->n = sqlite3_column_int64(st, 7);
		a->state.newest = sqlite3_column_int64(st, 8);
		free(a->name);
		a->name = alarm_names(db_text(st, 6), a->n);
	}
	(void)sqlite3_reset(st);
	return db_errno(rc);
}

int alarms_add_pauses(struct db *db, struct alarms *ret)
{
	sqlite3_stmt *st = db_stmt(db, DB_ALARMS_OF_PAUSES);
	int rc;

	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		struct alarm *a = alarms_add(ret, ALARM_OF_PAUSE, "Paused", db_text(st, 0),
					     sqlite3_column_int64(st, 1), "", db_text(st, 3));

		a->state.begin_at = sqlite3_column_int64(st, 2);
		a->detail = xstrdup(db_text(st, 4));
	}
	(void)sqlite3_reset(st);
	return db_errno(rc);
}

/* -- what is kept of them -- */

static int put_alarm(struct db *db, const struct alarm *a)
{
	return db_run(db_stmt(db, DB_ALARM_PUT, db_s("key", a->key), db_s("cluster_name", a->cluster),
			      db_s("kind", a->kind), db_s("code", a->code), db_i("duty", a->duty),
			      db_s("ns", a->ns), db_s("name", a->name), db_s("detail", a->detail),
			      db_i("begin_at", a->state.begin_at), db_i("lasting_ms", a->state.lasting_ms)),
		      NULL);
}

static int read_alarms(struct db *db, struct alarms *ret)
{
	sqlite3_stmt *st = db_stmt(db, DB_ALARMS);
	int rc;

	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		struct alarm *a = new_alarm(ret);

		*a = (struct alarm){ .id = sqlite3_column_int64(st, 0),
				     .key = xstrdup(db_text(st, 1)),
				     .cluster = xstrdup(db_text(st, 2)),
				     .kind = xstrdup(db_text(st, 3)),
				     .code = xstrdup(db_text(st, 4)),
				     .duty = sqlite3_column_int64(st, 5),
				     .ns = xstrdup(db_text(st, 6)),
				     .name = xstrdup(db_text(st, 7)),
				     .detail = xstrdup(db_text(st, 8)),
				     .state = { .begin_at = sqlite3_column_int64(st, 9),
						.lasting_ms = sqlite3_column_int64(st, 10),
						.gone_at = sqlite3_column_int64(st, 11) } };
	}
	(void)sqlite3_reset(st);
	return db_errno(rc);
}

static const struct alarm *find_alarm(const struct alarms *l, const char *key)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].key, key) == 0)
			return &l->v[i];
	return NULL;
}

/* Has it ended? What could not be looked at has not. */
static bool has_ended(const struct alarms *standing, const struct alarm *a)
{
	const bool is_unseen = standing->is_partial && (strcmp(a->kind, ALARM_OF_REASON) == 0 ||
							strcmp(a->kind, ALARM_OF_PAUSE) == 0);

	return !is_unseen && !find_alarm(standing, a->key);
}

/* What lasts is told with what it is about today; the history keeps what was told of it. */
static void set_today(struct alarm *a, const struct alarm *now)
{
	free(a->name);
	free(a->detail);
	a->name = xstrdup(now->name);
	a->detail = xstrdup(now->detail);
	a->n = now->n;
	a->state.newest = now->state.newest;
}

/* What was put into the history while the clock was ahead would wait for that time to come. */
static int clamp_alarms(struct db *db)
{
	const int r = db_run(db_stmt(db, DB_ALARMS_CLAMP), NULL);

	return r < 0 ? r : db_run(db_stmt(db, DB_ALARM_NOTICES_CLAMP), NULL);
}

static int update_alarm(struct db *db, const struct alarms *standing, int64_t now, struct alarm *a)
{
	const struct alarm *today = find_alarm(standing, a->key);

	if (today)
		set_today(a, today);
	if (today && a->state.newest > 0)
		return db_run(db_stmt(db, DB_ALARM_NOTICE_ADOPT, db_i("id", a->id),
				      db_i("newest", a->state.newest)),
			      NULL);
	if (a->state.gone_at || !has_ended(standing, a))
		return 0;
	a->state.gone_at = now;
	return db_run(db_stmt(db, DB_ALARM_GONE, db_i("id", a->id), db_i("gone_at", now)), NULL);
}

int alarms_update(struct db *db, const struct alarms *standing, int64_t now, struct alarms *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < standing->n; i++)
		r = put_alarm(db, &standing->v[i]);
	if (r == 0)
		r = clamp_alarms(db);
	if (r == 0)
		r = read_alarms(db, ret);
	for (size_t i = 0; r == 0 && i < ret->n; i++)
		r = update_alarm(db, standing, now, &ret->v[i]);
	return r;
}

int alarms_forget_over(struct db *db, int64_t before)
{
	const int r = db_run(db_stmt(db, DB_ALARM_FORGET, db_i("before", before)), NULL);

	return r < 0 ? r : db_run(db_stmt(db, DB_ALARM_NOTICE_FORGET), NULL);
}
