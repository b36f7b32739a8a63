/* tell_attention.c - see tell_attention.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/outbox/tell_attention.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "model/duties.h"
#include "model/phrases.h"
#include "model/retell.h"
#include "model/troubles.h"
#include "reporter/news/when.h"
#include "reporter/outbox/audience.h"
#include "reporter/outbox/outbox.h"
#include "reporter/outbox/sender.h"

/* What an alarm is about: where its texts come from. */
#define OF_TROUBLE "trouble"
#define OF_REASON  "reason"
#define OF_PAUSE   "pause"
#define OF_SINK    "sink"

struct standing {
	enum trouble kind;
	int64_t since;
	char *cluster, *detail;
};
struct tell_attention {
	struct db *history;
	struct standing *v;
	size_t n;
};

/* A row of alarms. */
struct alarm {
	int64_t id, duty, begin_at, lasting_ms, gone_at;
	char *key, *cluster, *kind, *code, *ns, *name, *detail;
};
struct alarms {
	struct alarm *v;
	size_t n;
	uint32_t room;
	bool is_partial; /* reasons and pauses could not be read */
};

/* -- troubles that stand -- */

struct tell_attention *tell_attention_new(struct db *history)
{
	struct tell_attention *t = xcalloc(1, sizeof(*t));

	t->history = history;
	return t;
}

static void standing_done(struct standing *s)
{
	free(s->cluster);
	free(s->detail);
}

void tell_attention_free(struct tell_attention **t)
{
	if (!*t)
		return;
	for (size_t i = 0; i < (*t)->n; i++)
		standing_done(&(*t)->v[i]);
	free((*t)->v);
	free(*t);
	*t = NULL;
}

static struct standing *find_standing(struct tell_attention *t, const struct msg_trouble_row *m)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].kind == (enum trouble)m->trouble && strcmp(t->v[i].cluster, m->cluster_name) == 0)
			return &t->v[i];
	return NULL;
}

void tell_attention_trouble(struct tell_attention *t, const struct msg_trouble_row *m)
{
	struct standing *s = find_standing(t, m);

	if (m->n > 0 && !s) {
		t->v = xreallocarray(t->v, t->n + 1, sizeof(*t->v));
		t->v[t->n++] = (struct standing){ (enum trouble)m->trouble, m->since,
						  xstrdup(m->cluster_name), xstrdup(m->detail) };
	} else if (m->n > 0) {
		free(s->detail);
		s->detail = xstrdup(m->detail);
	} else if (s) {
		standing_done(s);
		*s = t->v[--t->n];
	}
}

/* -- what stands now -- */

static void alarms_done(struct alarms *l)
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

/* Texts are copied. */
static struct alarm *add_alarm(struct alarms *l, const char *kind, const char *code, const char *cluster,
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

static void add_troubles(const struct tell_attention *t, int64_t lasting_ms, struct alarms *ret)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct standing *s = &t->v[i];
		struct alarm *a;

		if (s->kind == TROUBLE_SINK) /* each sink is an alarm of its own */
			continue;
		a = add_alarm(ret, OF_TROUBLE, trouble_desc(s->kind)->name, s->cluster, DUTY_ALL, "", "");
		a->detail = xstrdup(s->detail);
		a->begin_at = s->since;
		a->lasting_ms = lasting_ms;
	}
}

static void add_sinks(const struct sender *sender, struct alarms *ret)
{
	const char *name, *why;
	int64_t at = 0;

	for (size_t i = 0; sender && (name = sender_sink(sender, i, &at, &why)); i++) {
		if (at == 0)
			continue;
		struct alarm *a = add_alarm(ret, OF_SINK, name, "", DUTY_ALL, "", name);

		a->detail = xstrdup(why);
		a->begin_at = at;
	}
}

static int add_reasons(struct db *db, struct alarms *ret)
{
	sqlite3_stmt *st = db_stmt(db, DB_ALARMS_OF_ATTENTION);
	int rc;

	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		struct alarm *a = add_alarm(ret, OF_REASON, db_text(st, 2), db_text(st, 0),
					    sqlite3_column_int64(st, 1), db_text(st, 3), "");
		const int64_t more = sqlite3_column_int64(st, 7) - 3;

		a->begin_at = sqlite3_column_int64(st, 4);
		a->detail = xstrdup(db_text(st, 5));
		free(a->name);
		a->name =
			more > 0 ? xasprintf("%s, +%" PRId64, db_text(st, 6), more) : xstrdup(db_text(st, 6));
	}
	(void)sqlite3_reset(st);
	return db_errno(rc);
}

static int add_pauses(struct db *db, struct alarms *ret)
{
	sqlite3_stmt *st = db_stmt(db, DB_ALARMS_OF_PAUSES);
	int rc;

	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		struct alarm *a = add_alarm(ret, OF_PAUSE, "Paused", db_text(st, 0),
					    sqlite3_column_int64(st, 1), "", db_text(st, 3));

		a->begin_at = sqlite3_column_int64(st, 2);
		a->detail = xstrdup(db_text(st, 4));
	}
	(void)sqlite3_reset(st);
	return db_errno(rc);
}

/* -- alarms in the history -- */

static int put_alarm(struct db *db, const struct alarm *a)
{
	return db_run(db_stmt(db, DB_ALARM_PUT, db_s("key", a->key), db_s("cluster_name", a->cluster),
			      db_s("kind", a->kind), db_s("code", a->code), db_i("duty", a->duty),
			      db_s("ns", a->ns), db_s("name", a->name), db_s("detail", a->detail),
			      db_i("begin_at", a->begin_at), db_i("lasting_ms", a->lasting_ms)),
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
				     .begin_at = sqlite3_column_int64(st, 9),
				     .lasting_ms = sqlite3_column_int64(st, 10),
				     .gone_at = sqlite3_column_int64(st, 11) };
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
	const bool is_unseen =
		standing->is_partial && (strcmp(a->kind, OF_REASON) == 0 || strcmp(a->kind, OF_PAUSE) == 0);

	return !is_unseen && !find_alarm(standing, a->key);
}

/* What lasts is told with what it is about today; the history keeps what it began with. */
static void set_texts(struct alarm *a, const struct alarm *now)
{
	free(a->name);
	free(a->detail);
	a->name = xstrdup(now->name);
	a->detail = xstrdup(now->detail);
}

/* What was put into the history while the clock was ahead would wait for that time to come. */
static int clamp_alarms(struct db *db)
{
	const int r = db_run(db_stmt(db, DB_ALARMS_CLAMP), NULL);

	return r < 0 ? r : db_run(db_stmt(db, DB_ALARMS_TOLD_CLAMP), NULL);
}

/* What the history holds becomes what stands now; *ret is that, with what ended. */
static int update_alarms(struct db *db, const struct alarms *standing, int64_t now, struct alarms *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < standing->n; i++)
		r = put_alarm(db, &standing->v[i]);
	if (r == 0)
		r = clamp_alarms(db);
	if (r == 0)
		r = read_alarms(db, ret);
	for (size_t i = 0; r == 0 && i < ret->n; i++) {
		struct alarm *a = &ret->v[i];
		const struct alarm *now_standing = find_alarm(standing, a->key);

		if (now_standing)
			set_texts(a, now_standing);
		if (a->gone_at || !has_ended(standing, a))
			continue;
		a->gone_at = now;
		r = db_run(db_stmt(db, DB_ALARM_GONE, db_i("id", a->id), db_i("gone_at", now)), NULL);
	}
	return r;
}

/* -- words -- */

enum stage { STAGE_BEGUN, STAGE_LASTS, STAGE_OVER, STAGE__MAX, STAGE_NONE = STAGE__MAX };

static const struct {
	enum phrase section, title;
} stages[STAGE__MAX] = {
	[STAGE_BEGUN] = { PHRASE_NEWS_SECTION_BEGUN, PHRASE_NEWS_ATTENTION_TITLE },
	[STAGE_LASTS] = { PHRASE_NEWS_SECTION_LASTS, PHRASE_NEWS_REMIND_TITLE },
	[STAGE_OVER] = { PHRASE_NEWS_SECTION_OVER, PHRASE_NEWS_RESOLVED_TITLE },
};

struct teller {
	struct db *db;
	const struct settings *settings;
	const struct sink_settings *sink;
	const struct zone *zone;
	enum language language;
	int64_t now;
	struct document doc;
	uint64_t n[STAGE__MAX];
};

struct words {
	const char *sentence, *remedy;
	bool is_blind;
};

static const struct trouble_desc *find_trouble(const struct alarm *a)
{
	for (enum trouble t = 0; t < TROUBLE__MAX; t++)
		if (strcmp(trouble_desc(t)->name, a->code) == 0)
			return trouble_desc(t);
	return trouble_desc(TROUBLE_SINK);
}

static struct words words_of(const struct alarm *a, enum language l)
{
	if (strcmp(a->kind, OF_REASON) == 0) {
		const struct reason_desc *r = reason_find(a->code);

		return (struct words){ r->text[l].sentence, r->text[l].remedy, false };
	}
	if (strcmp(a->kind, OF_PAUSE) == 0)
		return (struct words){ phrase_text(PHRASE_NEWS_PAUSED, l),
				       phrase_text(PHRASE_NEWS_PAUSED_REMEDY, l), false };
	const struct trouble_desc *d = find_trouble(a);

	return (struct words){ d->text[l].sentence, d->text[l].remedy, d->severity == TROUBLE_IS_BLIND };
}

/* "[prod] errImagePull: " and the sentence */
static char *title_of(const struct teller *t, const struct alarm *a, const char *sentence)
{
	const bool several = t->settings->cluster_names.n > 1 && *a->cluster;
	const bool of_duty = a->duty >= 0 && a->duty < DUTY__MAX;
	_cleanup_free_ char *cluster = several ? xasprintf("[%s] ", a->cluster) : xstrdup("");
	_cleanup_free_ char *text =
		of_duty ? xasprintf(phrase(NEWS_OF, t->language), duty_name((enum duty)a->duty), sentence)
			: xstrdup(sentence);

	return xasprintf("%s%s", cluster, text);
}

static void add_names(const struct teller *t, struct entry *e, const struct alarm *a)
{
	_cleanup_free_ char *names = NULL;

	if (strcmp(a->kind, OF_PAUSE) == 0)
		names = xasprintf(phrase(NEWS_PAUSED_BY, t->language), a->name, a->detail);
	else if (*a->ns && *a->name)
		names = xasprintf(phrase(NEWS_OF, t->language), a->ns, a->name);
	else if (*a->ns || *a->name)
		names = xstrdup(*a->ns ? a->ns : a->name);
	if (names)
		entry_add_line(e, names);
	if (*a->detail && strcmp(a->kind, OF_PAUSE) != 0) {
		_cleanup_free_ char *detail = retell(a->detail, t->language);

		entry_add_line(e, detail);
	}
}

static void add_times(const struct teller *t, struct entry *e, const struct alarm *a)
{
	char begin[WHEN_TEXT_MAX], end[WHEN_TEXT_MAX];

	when_format(a->begin_at, t->zone, begin);
	when_format(a->gone_at, t->zone, end);
	_cleanup_free_ char *line = e->is_over ? xasprintf(phrase(NEWS_FROM_TO, t->language), begin, end)
					       : xasprintf(phrase(NEWS_SINCE, t->language), begin);

	entry_add_line(e, line);
}

static void add_entry(struct teller *t, struct section *s, const struct alarm *a, enum stage stage)
{
	const struct words w = words_of(a, t->language);
	_cleanup_free_ char *title = title_of(t, a, w.sentence);
	_cleanup_free_ char *key = xasprintf("attention/%s", a->key);
	struct entry *e = section_add_entry(s, title);

	entry_set_key(e, key);
	e->is_over = stage == STAGE_OVER;
	e->begin_ms = a->begin_at;
	e->end_ms = e->is_over ? a->gone_at : 0;
	add_names(t, e, a);
	add_times(t, e, a);
	if (!e->is_over) {
		_cleanup_free_ char *remedy = xasprintf(phrase(NEWS_REMEDY, t->language), w.remedy);

		entry_add_line(e, remedy);
		t->doc.tone = w.is_blind ? TONE_BAD : t->doc.tone == TONE_BAD ? TONE_BAD : TONE_WARNING;
	}
	entry_add_fact(e, "cluster", a->cluster);
	entry_add_fact(e, "namespace", a->ns);
	if (a->duty >= 0)
		entry_add_fact(e, "duty", duty_name((enum duty)a->duty));
	entry_add_fact(e, "reason", a->code);
	entry_add_fact(e, "remedy", w.remedy);
}

/* -- who is told what -- */

static bool is_for(const struct teller *t, const struct alarm *a)
{
	const bool own = strcmp(a->kind, OF_SINK) == 0 && strcmp(a->name, t->sink->name) == 0;

	return !own && audience_concerns(t->sink, a->cluster, a->ns, a->duty);
}

/* What this sink is to hear of it now. Negative errno on failure. */
static int stage_of(const struct teller *t, const struct alarm *a, enum stage *ret)
{
	const int64_t now = t->now, remind = sink_remind_ms(t->sink, t->settings->remind_ms);
	const bool is_gone = a->gone_at && now - a->gone_at >= (int64_t)t->settings->gather_ms;
	int64_t told_at = 0;
	const int r = db_number(db_stmt(t->db, DB_ALARM_TOLD, db_i("id", a->id), db_s("sink", t->sink->name),
					db_i("begin_at", a->begin_at)),
				&told_at);

	*ret = STAGE_NONE;
	if (r == -ENOENT && !a->gone_at && now - a->begin_at >= a->lasting_ms)
		*ret = STAGE_BEGUN;
	if (r == 0 && is_gone)
		*ret = STAGE_OVER;
	if (r == 0 && !a->gone_at && remind > 0 && now - told_at >= remind)
		*ret = STAGE_LASTS;
	return r == -ENOENT ? 0 : r;
}

static int add_stage(struct teller *t, const struct alarms *all, enum stage stage)
{
	struct section *s = NULL;
	int r = 0;

	for (size_t i = 0; r == 0 && i < all->n; i++) {
		const struct alarm *a = &all->v[i];
		enum stage now = STAGE_NONE;

		if (is_for(t, a))
			r = stage_of(t, a, &now);
		if (r < 0 || now != stage)
			continue;
		s = s ? s : document_add_section(&t->doc, phrase_text(stages[stage].section, t->language));
		t->n[stage]++;
		if (s->n < t->sink->top)
			add_entry(t, s, a, stage);
		else
			s->more++;
	}
	return r;
}

/* Written down when all stages are composed: a begin that is told now does not last. */
static int note_told(const struct teller *t, const struct alarms *all)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < all->n; i++) {
		const struct alarm *a = &all->v[i];
		enum stage now = STAGE_NONE;

		if (is_for(t, a))
			r = stage_of(t, a, &now);
		if (r == 0 && (now == STAGE_BEGUN || now == STAGE_LASTS))
			r = db_run(db_stmt(t->db, DB_ALARM_TOLD_PUT, db_i("id", a->id),
					   db_s("sink", t->sink->name), db_i("begin_at", a->begin_at)),
				   NULL);
	}
	return r;
}

static void set_title(struct teller *t)
{
	const enum stage first = t->n[STAGE_BEGUN]   ? STAGE_BEGUN
				 : t->n[STAGE_LASTS] ? STAGE_LASTS
						     : STAGE_OVER;
	const bool one = t->settings->cluster_names.n == 1;
	_cleanup_free_ char *cluster =
		one ? xasprintf("[%s] ", t->settings->cluster_names.v[0]) : xstrdup("");
	_cleanup_free_ char *title =
		xasprintf(phrase_checked(phrase_en_NEWS_ATTENTION_TITLE, stages[first].title, t->language),
			  cluster, t->n[first]);

	document_set_title(&t->doc, title);
}

/* 1: something was put; 0: there is nothing for this sink; or negative errno. */
static int tell_sink(struct teller *t, const struct alarms *all)
{
	int r = 0;

	document_init(&t->doc, NEWS_ATTENTION, t->language, t->now);
	t->doc.tone = TONE_GOOD;
	for (enum stage s = 0; r == 0 && s < STAGE__MAX; s++)
		r = add_stage(t, all, s);
	const bool some = t->doc.n_sections > 0;

	if (r == 0 && some) {
		set_title(t);
		r = note_told(t, all);
	}
	if (r == 0 && some)
		r = outbox_put(t->db, t->sink->name, &t->doc);
	document_done(&t->doc);
	return r < 0 ? r : some;
}

/* -- all of it, in one transaction -- */

static int find_alarms(struct tell_attention *t, struct db *db, const struct settings *s,
		       const struct sender *sender, struct alarms *ret)
{
	/* A history that cannot be written is only read. */
	int r = db == t->history ? db_run(db_stmt(db, DB_ATTENTION_CLAMP), NULL) : 0;

	if (r == 0)
		r = add_reasons(t->history, ret);
	if (r == 0)
		r = add_pauses(t->history, ret);
	if (r < 0 && db != t->history) {
		ret->is_partial = true;
		r = 0;
	}
	add_troubles(t, (int64_t)s->gather_ms, ret);
	add_sinks(sender, ret);
	return r;
}

/* Their ends were told. */
static int forget_over(struct db *db, int64_t before)
{
	const int r = db_run(db_stmt(db, DB_ALARM_FORGET, db_i("before", before)), NULL);

	return r < 0 ? r : db_run(db_stmt(db, DB_ALARM_TOLD_FORGET), NULL);
}

static int tell(struct tell_attention *t, struct db *db, const struct settings *s, const struct zone *zone,
		const struct sender *sender, bool *ret_put)
{
	_cleanup_(alarms_done) struct alarms standing = { 0 };
	_cleanup_(alarms_done) struct alarms all = { 0 };
	const int64_t now = clock_wall_ms();
	int r = find_alarms(t, db, s, sender, &standing);

	if (r == 0)
		r = update_alarms(db, &standing, now, &all);
	for (size_t i = 0; r >= 0 && all.n > 0 && i < s->n_sinks; i++) {
		struct teller teller = { .db = db,
					 .settings = s,
					 .sink = &s->sinks[i],
					 .zone = zone,
					 .language = (enum language)s->sinks[i].language,
					 .now = now };

		if (audience_is_told(teller.sink, NEWS_ATTENTION))
			r = tell_sink(&teller, &all);
		*ret_put = *ret_put || r > 0;
	}
	return r < 0 || all.n == 0 ? r : forget_over(db, now - (int64_t)s->gather_ms);
}

int tell_attention(struct tell_attention *t, struct db *db, const struct settings *s, const struct zone *zone,
		   const struct sender *sender, bool *ret_put)
{
	int r = db_begin(db);

	*ret_put = false;
	if (r == 0)
		r = tell(t, db, s, zone, sender, ret_put);
	return db_end(db, r);
}
