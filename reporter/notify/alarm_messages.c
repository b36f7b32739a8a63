/* alarm_messages.c - see alarm_messages.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/notify/alarm_messages.h"

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
#include "reporter/notify/alarms.h"
#include "reporter/notify/sink_select.h"
#include "reporter/notify/outbox.h"
#include "reporter/notify/sender.h"

struct standing {
	enum trouble kind;
	int64_t since;
	char *cluster, *detail;
};
struct alarm_messages {
	struct db *history;
	struct standing *v;
	size_t n;
};

/* -- troubles that stand -- */

struct alarm_messages *alarm_messages_new(struct db *history)
{
	struct alarm_messages *t = xcalloc(1, sizeof(*t));

	t->history = history;
	return t;
}

static void standing_done(struct standing *s)
{
	free(s->cluster);
	free(s->detail);
}

void alarm_messages_free(struct alarm_messages **t)
{
	if (!*t)
		return;
	for (size_t i = 0; i < (*t)->n; i++)
		standing_done(&(*t)->v[i]);
	free((*t)->v);
	free(*t);
	*t = NULL;
}

static struct standing *find_standing(struct alarm_messages *t, const struct msg_trouble_row *m)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].kind == (enum trouble)m->trouble && strcmp(t->v[i].cluster, m->cluster_name) == 0)
			return &t->v[i];
	return NULL;
}

void alarm_messages_trouble(struct alarm_messages *t, const struct msg_trouble_row *m)
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

static void add_troubles(const struct alarm_messages *t, int64_t lasting_ms, struct alarms *ret)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct standing *s = &t->v[i];
		struct alarm *a;

		if (s->kind == TROUBLE_SINK) /* each sink is an alarm of its own */
			continue;
		a = alarms_add(ret, ALARM_OF_TROUBLE, trouble_desc(s->kind)->name, s->cluster, DUTY_ALL, "",
			       "");
		a->detail = xstrdup(s->detail);
		a->state.begin_at = s->since;
		a->state.lasting_ms = lasting_ms;
	}
}

static void add_sinks(const struct sender *sender, struct alarms *ret)
{
	const char *name, *why;
	int64_t at = 0;

	for (size_t i = 0; sender && (name = sender_sink(sender, i, &at, &why)); i++) {
		if (at == 0)
			continue;
		struct alarm *a = alarms_add(ret, ALARM_OF_SINK, name, "", DUTY_ALL, "", name);

		a->detail = xstrdup(why);
		a->state.begin_at = at;
	}
}

/* -- words -- */

static const struct {
	enum phrase section, title;
} stages[STAGE__MAX] = {
	[STAGE_BEGUN] = { PHRASE_NEWS_SECTION_BEGUN, PHRASE_NEWS_ATTENTION_TITLE },
	[STAGE_MORE] = { PHRASE_NEWS_SECTION_JOINED, PHRASE_NEWS_JOINED_TITLE },
	[STAGE_LASTS] = { PHRASE_NEWS_SECTION_LASTS, PHRASE_NEWS_REMIND_TITLE },
	[STAGE_OVER] = { PHRASE_NEWS_SECTION_OVER, PHRASE_NEWS_RESOLVED_TITLE },
};

/* What a sink heard of an alarm, and hears now. */
struct sink_alarm_state {
	struct alarm_notice told;
	enum alarm_stage stage;
};

struct teller {
	struct db *db, *history;
	const struct settings *settings;
	const struct sink_settings *sink;
	const struct zone *zone;
	enum language language;
	struct alarm_pace pace;
	struct sink_alarm_state *of; /* by alarm */
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
	if (strcmp(a->kind, ALARM_OF_REASON) == 0) {
		const struct reason_desc *r = reason_find(a->code);

		return (struct words){ r->text[l].sentence, r->text[l].remedy, false };
	}
	if (strcmp(a->kind, ALARM_OF_PAUSE) == 0)
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

	if (strcmp(a->kind, ALARM_OF_PAUSE) == 0)
		names = xasprintf(phrase(NEWS_PAUSED_BY, t->language), a->name, a->detail);
	else if (*a->ns && *a->name)
		names = xasprintf(phrase(NEWS_OF, t->language), a->ns, a->name);
	else if (*a->ns || *a->name)
		names = xstrdup(*a->ns ? a->ns : a->name);
	if (names)
		entry_add_line(e, names);
	if (*a->detail && strcmp(a->kind, ALARM_OF_PAUSE) != 0) {
		_cleanup_free_ char *detail = retell(a->detail, t->language);

		entry_add_line(e, detail);
	}
}

static void add_times(const struct teller *t, struct entry *e, const struct alarm *a)
{
	char begin[WHEN_TEXT_MAX], end[WHEN_TEXT_MAX];

	when_format(a->state.begin_at, t->zone, begin);
	when_format(a->state.gone_at, t->zone, end);
	_cleanup_free_ char *line = e->is_over ? xasprintf(phrase(NEWS_FROM_TO, t->language), begin, end)
					       : xasprintf(phrase(NEWS_SINCE, t->language), begin);

	entry_add_line(e, line);
}

static void add_entry(struct teller *t, struct section *s, const struct alarm *a, enum alarm_stage stage)
{
	const struct words w = words_of(a, t->language);
	_cleanup_free_ char *title = title_of(t, a, w.sentence);
	_cleanup_free_ char *key = xasprintf("attention/%s", a->key);
	struct entry *e = section_add_entry(s, title);

	entry_set_key(e, key);
	e->is_over = stage == STAGE_OVER;
	e->begin_ms = a->state.begin_at;
	e->end_ms = e->is_over ? a->state.gone_at : 0;
	add_names(t, e, a);
	if (stage == STAGE_MORE) {
		_cleanup_free_ char *in_all = xasprintf(phrase(NEWS_IN_ALL, t->language), a->n);

		entry_add_line(e, in_all);
	}
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
	const bool own = strcmp(a->kind, ALARM_OF_SINK) == 0 && strcmp(a->name, t->sink->name) == 0;

	return !own && select_object(t->sink, a->cluster, a->ns, a->duty);
}

/* What this sink heard of it. 0 or negative errno. */
static int read_notice(const struct teller *t, const struct alarm *a, struct alarm_notice *ret)
{
	sqlite3_stmt *st = db_stmt(t->db, DB_ALARM_NOTICE, db_i("id", a->id), db_s("sink", t->sink->name),
				   db_i("begin_at", a->state.begin_at));
	const int rc = sqlite3_step(st);

	*ret = (struct alarm_notice){ 0 };
	if (rc == SQLITE_ROW)
		*ret = (struct alarm_notice){ true, sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
					      sqlite3_column_int64(st, 2) };
	(void)sqlite3_reset(st);
	return db_errno(rc);
}

/* What it is to hear now. */
static int choose_stages(struct teller *t, const struct alarms *all)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < all->n; i++) {
		struct sink_alarm_state *h = &t->of[i];

		h->stage = STAGE_NONE;
		if (!is_for(t, &all->v[i]))
			continue;
		r = read_notice(t, &all->v[i], &h->told);
		h->stage = alarm_stage(&all->v[i].state, &h->told, &t->pace);
	}
	return r;
}

/* Of those that came since alone: a copy whose names, detail and begin are theirs. */
static int add_more(struct teller *t, struct section *s, const struct alarm *a,
		    const struct alarm_notice *told)
{
	sqlite3_stmt *st =
		db_stmt(t->history, DB_ALARM_MORE, db_s("cluster_name", a->cluster), db_i("duty", a->duty),
			db_s("code", a->code), db_s("ns", a->ns), db_i("up_to", told->up_to));
	const int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW) {
		struct alarm more = *a;
		_cleanup_free_ char *detail = db_text_dup(st, 1);
		_cleanup_free_ char *names = alarm_names(db_text(st, 2), sqlite3_column_int64(st, 3));

		more.state.begin_at = sqlite3_column_int64(st, 0);
		more.detail = detail;
		more.name = names;
		add_entry(t, s, &more, STAGE_MORE);
		s->entries[s->n - 1].begin_ms = a->state.begin_at; /* it is the same alarm */
	}
	(void)sqlite3_reset(st);
	return db_errno(rc);
}

static int add_stage(struct teller *t, const struct alarms *all, enum alarm_stage stage)
{
	struct section *s = NULL;
	int r = 0;

	for (size_t i = 0; r == 0 && i < all->n; i++) {
		const struct alarm *a = &all->v[i];

		if (t->of[i].stage != stage)
			continue;
		s = s ? s : document_add_section(&t->doc, phrase_text(stages[stage].section, t->language));
		t->n[stage]++;
		if (s->n >= t->sink->top)
			s->more++;
		else if (stage == STAGE_MORE)
			r = add_more(t, s, a, &t->of[i].told);
		else
			add_entry(t, s, a, stage);
	}
	return r;
}

/* An end is forgotten with its alarm. */
static int write_notices(const struct teller *t, const struct alarms *all)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < all->n; i++) {
		const struct alarm *a = &all->v[i];
		const struct sink_alarm_state *h = &t->of[i];

		if (h->stage == STAGE_NONE || h->stage == STAGE_OVER)
			continue;
		const struct alarm_notice now = alarm_notice_now(&a->state, &h->told, &t->pace, h->stage);

		r = db_run(db_stmt(t->db, DB_ALARM_NOTICE_PUT, db_i("id", a->id), db_s("sink", t->sink->name),
				   db_i("begin_at", a->state.begin_at), db_i("up_to", now.up_to),
				   db_i("pause_ms", now.pause_ms)),
			   NULL);
		if (r == 0)
			r = db_run(db_stmt(t->db, DB_ALARM_NAME, db_i("id", a->id), db_s("name", a->name)),
				   NULL);
	}
	return r;
}

static void set_title(struct teller *t)
{
	enum alarm_stage first = 0;

	while (t->n[first] == 0 && first + 1 < STAGE__MAX)
		first++;
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
	_cleanup_free_ struct sink_alarm_state *of = xcalloc(all->n, sizeof(*of));
	int r;

	t->of = of;
	document_init(&t->doc, NEWS_ATTENTION, t->language, t->pace.now);
	t->doc.tone = TONE_GOOD;
	r = choose_stages(t, all);
	for (enum alarm_stage s = 0; r == 0 && s < STAGE__MAX; s++)
		r = add_stage(t, all, s);
	const bool some = t->doc.n_sections > 0;

	if (r == 0 && some) {
		set_title(t);
		r = write_notices(t, all);
	}
	if (r == 0 && some)
		r = outbox_put(t->db, t->sink->name, &t->doc);
	document_done(&t->doc);
	return r < 0 ? r : some;
}

/* -- all of it, in one transaction -- */

static int find_alarms(struct alarm_messages *t, struct db *db, const struct settings *s,
		       const struct sender *sender, struct alarms *ret)
{
	int r = db == t->history ? alarms_join(db) : 0;

	if (r == 0)
		r = alarms_add_reasons(t->history, ret);
	if (r == 0)
		r = alarms_add_pauses(t->history, ret);
	if (r < 0 && db != t->history) {
		ret->is_partial = true;
		r = 0;
	}
	add_troubles(t, (int64_t)s->gather_ms, ret);
	add_sinks(sender, ret);
	return r;
}

static int tell(struct alarm_messages *t, struct db *db, const struct settings *s, const struct zone *zone,
		const struct sender *sender, bool *ret_put)
{
	_cleanup_(alarms_done) struct alarms standing = { 0 };
	_cleanup_(alarms_done) struct alarms all = { 0 };
	const int64_t now = clock_wall_ms();
	int r = find_alarms(t, db, s, sender, &standing);

	if (r == 0)
		r = alarms_update(db, &standing, now, &all);
	for (size_t i = 0; r >= 0 && all.n > 0 && i < s->n_sinks; i++) {
		const struct sink_settings *sink = &s->sinks[i];
		struct teller teller = { .db = db,
					 .history = t->history,
					 .settings = s,
					 .sink = sink,
					 .zone = zone,
					 .language = (enum language)sink->language,
					 .pace = { now, (int64_t)s->gather_ms,
						   sink_remind_ms(sink, s->remind_ms) } };

		if (select_news(teller.sink, NEWS_ATTENTION))
			r = tell_sink(&teller, &all);
		*ret_put = *ret_put || r > 0;
	}
	return r < 0 || all.n == 0 ? r : alarms_forget_over(db, now - (int64_t)s->gather_ms);
}

int alarm_messages_put(struct alarm_messages *t, struct db *db, const struct settings *s,
		       const struct zone *zone, const struct sender *sender, bool *ret_put)
{
	int r = db_begin(db);

	*ret_put = false;
	if (r == 0)
		r = tell(t, db, s, zone, sender, ret_put);
	return db_end(db, r);
}
