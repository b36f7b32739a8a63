/* alarms.c - see alarms.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/notify/alarms.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* -- what comes next -- */

static int64_t at_least(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The pause in force: tell.gather may have been changed since. */
static int64_t pause_of(const struct alarm_notice *told, const struct alarm_pace *pace)
{
	return at_least(told->pause_ms, pace->gather_ms);
}

enum alarm_stage alarm_stage(const struct alarm_state *a, const struct alarm_notice *told,
			     const struct alarm_pace *pace)
{
	const int64_t silent_ms = pace->now - told->at;

	if (!told->any)
		return !a->gone_at && !a->elsewhere && pace->now - a->begin_at >= a->lasting_ms ? STAGE_BEGUN
												: STAGE_NONE;
	if (a->gone_at)
		return pace->now - a->gone_at >= pace->gather_ms ? STAGE_OVER : STAGE_NONE;
	if (pace->remind_ms > 0 && silent_ms >= pace->remind_ms)
		return STAGE_LASTS; /* with all of its objects */
	return a->newest > told->up_to && silent_ms >= pause_of(told, pace) ? STAGE_MORE : STAGE_NONE;
}

static int64_t next_pause(const struct alarm_notice *told, const struct alarm_pace *pace)
{
	const int64_t twice = 2 * pause_of(told, pace);

	if (pace->now - told->at >= 2 * ALARM_PAUSE_MAX_MS)
		return pace->gather_ms;
	return twice < ALARM_PAUSE_MAX_MS ? twice : ALARM_PAUSE_MAX_MS;
}

struct alarm_notice alarm_notice_now(const struct alarm_state *a, const struct alarm_notice *told,
				     const struct alarm_pace *pace, enum alarm_stage stage)
{
	const int64_t pause_ms = stage == STAGE_MORE ? next_pause(told, pace) : pause_of(told, pace);

	return (struct alarm_notice){ .any = stage != STAGE_OVER,
				      .at = pace->now,
				      .up_to = at_least(a->newest, told->up_to),
				      .pause_ms = pause_ms };
}

/* -- alarms -- */

static void alarm_done(struct alarm *a)
{
	free(a->key);
	free(a->cluster);
	free(a->kind);
	free(a->code);
	free(a->ns);
	free(a->name);
	free(a->detail);
}

void alarms_done(struct alarms *l)
{
	for (size_t i = 0; i < l->n; i++)
		alarm_done(&l->v[i]);
	free(l->v);
	*l = (struct alarms){ 0 };
}

static struct alarm *add(struct alarms *l, const struct alarm *a)
{
	l->v = xgrow(l->v, &l->room, (uint32_t)l->n, sizeof(*l->v));
	l->v[l->n] = *a;
	return &l->v[l->n++];
}

struct alarm *alarms_add(struct alarms *l, const char *kind, const char *code, const char *cluster,
			 int64_t duty, const char *ns, const char *name)
{
	const struct alarm a = {
		.key = xasprintf("%s/%s/%s/%" PRId64 "/%s", kind, code, cluster, duty, ns),
		.kind = xstrdup(kind),
		.code = xstrdup(code),
		.cluster = xstrdup(cluster),
		.duty = duty,
		.ns = xstrdup(ns),
		.name = xstrdup(name),
		.is_changed = true,
	};

	return add(l, &a);
}

static struct alarm *find_alarm(const struct alarms *l, const char *key)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].key, key) == 0)
			return &l->v[i];
	return NULL;
}

/* Has it ended? What could not be looked at has not. */
static bool has_ended(const struct alarms *present, const struct alarm *a)
{
	const bool is_unseen = present->is_partial && (strcmp(a->kind, ALARM_OF_REASON) == 0 ||
						       strcmp(a->kind, ALARM_OF_PAUSE) == 0);

	return !is_unseen && !find_alarm(present, a->key);
}

/* It is notified with what it is about today; its begin stays. */
static void take_over(struct alarm *kept, struct alarm *today)
{
	char *const name = kept->name;
	struct facts *const detail = kept->detail;

	kept->is_changed = kept->is_changed || kept->state.gone_at != 0;
	kept->name = today->name;
	kept->detail = today->detail;
	kept->n = today->n;
	kept->state.gone_at = 0;
	kept->state.newest = today->state.newest;
	kept->state.elsewhere = today->state.elsewhere;
	today->name = name;
	today->detail = detail;
}

void alarms_merge(struct alarms *kept, struct alarms *present, int64_t now)
{
	size_t left = 0;

	for (size_t i = 0; i < kept->n; i++) {
		struct alarm *a = &kept->v[i];

		if (a->state.gone_at || !has_ended(present, a))
			continue;
		a->state.gone_at = now;
		a->is_changed = true;
	}
	for (size_t i = 0; i < present->n; i++) {
		struct alarm *a = find_alarm(kept, present->v[i].key);

		if (a) {
			take_over(a, &present->v[i]);
			present->v[left++] = present->v[i];
			continue;
		}
		a = add(kept, &present->v[i]);
		if (a->state.begin_at > now)
			a->state.begin_at = now;
	}
	present->n = left;
}

/* -- what the history knows to stand -- */

int alarms_join(struct db *history)
{
	const int r = db_do(history, DB_ATTENTION_CLAMP);

	return r < 0 ? r : db_do(history, DB_ATTENTION_JOIN);
}

/* Columns are those of ALARMS. */
static int read_alarms(sqlite3_stmt *st, bool is_new, struct alarms *ret)
{
	int r;

	while ((r = db_step(st)) > 0) {
		struct alarm *a = alarms_add(ret, db_text(st, 0), db_text(st, 1), db_text(st, 2),
					     sqlite3_column_int64(st, 3), db_text(st, 4), db_text(st, 5));

		a->is_changed = is_new;
		a->detail = db_facts_dup(st, 6);
		a->state = (struct alarm_state){ .begin_at = sqlite3_column_int64(st, 7),
						 .lasting_ms = sqlite3_column_int64(st, 8),
						 .gone_at = sqlite3_column_int64(st, 9),
						 .newest = sqlite3_column_int64(st, 11) };
		a->n = sqlite3_column_int64(st, 10);
	}
	return r;
}

int alarms_add_present(struct db *db, struct alarms *ret)
{
	return read_alarms(db_stmt(db, DB_ALARMS_PRESENT), true, ret);
}

/* -- what is kept of them -- */

/* What was put into the history while the clock was ahead would wait for that time to come. */
int alarms_read(struct db *db, struct alarms *ret)
{
	int r = db_do(db, DB_ALARMS_CLAMP);

	if (r == 0)
		r = db_do(db, DB_ALARM_NOTICES_CLAMP);
	return r < 0 ? r : read_alarms(db_stmt(db, DB_ALARMS), false, ret);
}

int alarms_write(struct db *db, struct alarms *l)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < l->n; i++) {
		const struct alarm *a = &l->v[i];

		if (a->is_changed)
			r = db_do(db, DB_ALARM_PUT, db_s("key", a->key), db_s("cluster_name", a->cluster),
				  db_s("kind", a->kind), db_s("code", a->code), db_i("duty", a->duty),
				  db_s("ns", a->ns), db_s("name", a->name), db_f("detail", a->detail),
				  db_i("begin_at", a->state.begin_at),
				  db_i("lasting_ms", a->state.lasting_ms), db_i("gone_at", a->state.gone_at));
	}
	return r;
}

int alarms_forget_over(struct db *db, int64_t before)
{
	const int r = db_do(db, DB_ALARM_FORGET, db_i("before", before));

	return r < 0 ? r : db_do(db, DB_ALARM_NOTICE_FORGET);
}

int alarm_notice_read(struct db *db, const struct alarm *a, const char *sink, struct alarm_notice *ret)
{
	sqlite3_stmt *st = db_stmt(db, DB_ALARM_NOTICE, db_s("key", a->key), db_s("sink", sink));
	int r;

	*ret = (struct alarm_notice){ 0 };
	while ((r = db_step(st)) > 0)
		*ret = (struct alarm_notice){ true, sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
					      sqlite3_column_int64(st, 2) };
	return r;
}

int alarm_notice_write(struct db *db, const struct alarm *a, const char *sink,
		       const struct alarm_notice *notice)
{
	if (!notice->any)
		return db_do(db, DB_ALARM_NOTICE_DELETE, db_s("key", a->key), db_s("sink", sink));
	return db_do(db, DB_ALARM_NOTICE_PUT, db_s("key", a->key), db_s("sink", sink),
		     db_i("notified_at", notice->at), db_i("up_to", notice->up_to),
		     db_i("pause_ms", notice->pause_ms));
}
