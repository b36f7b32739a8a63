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
#include "model/troubles.h"
#include "reporter/news/words.h"
#include "reporter/notify/sink_select.h"
#include "reporter/notify/outbox.h"
#include "reporter/notify/sender.h"

/* -- the alarms of the present -- */

static void add_troubles(const struct alarm_sources *from, struct alarms *ret)
{
	const struct state_entry *e;

	for (size_t i = 0; (e = state_at(from->state, MSG_TROUBLE_ROW, i)); i++) {
		const struct msg_trouble_row *m = &e->m->u.trouble_row;

		/* Each sink is an alarm of its own. */
		if (m->n == 0 || m->trouble == TROUBLE_SINK)
			continue;
		struct alarm *a =
			alarms_add(ret, ALARM_OF_TROUBLE, trouble_desc((enum trouble)m->trouble)->name,
				   e->cluster, DUTY_ALL, "", "");

		a->detail = facts_dup(&m->particulars);
		a->state.begin_at = m->since;
		a->state.lasting_ms = (int64_t)from->settings->gather_ms;
		a->state.elsewhere = m->elsewhere;
	}
}

static void add_sinks(const struct sender *sender, struct alarms *ret)
{
	const struct facts *why;
	const char *name;
	int64_t at = 0;

	for (size_t i = 0; sender && (name = sender_sink(sender, i, &at, &why)); i++) {
		if (at == 0)
			continue;
		struct alarm *a = alarms_add(ret, ALARM_OF_SINK, name, "", DUTY_ALL, "", name);

		a->detail = facts_dup(why);
		a->state.begin_at = at;
	}
}

static int find_alarms(const struct alarm_sources *from, struct alarms *ret)
{
	const int r = alarms_add_present(from->history, ret);

	add_troubles(from, ret);
	add_sinks(from->sender, ret);
	return r;
}

/* -- words -- */

static const struct {
	enum phrase section, title;
} stages[STAGE__MAX] = {
	[STAGE_BEGUN] = { PHRASE_NEWS_SECTION_BEGUN, PHRASE_NEWS_BEGUN_TITLE },
	[STAGE_MORE] = { PHRASE_NEWS_SECTION_JOINED, PHRASE_NEWS_JOINED_TITLE },
	[STAGE_LASTS] = { PHRASE_NEWS_SECTION_LASTS, PHRASE_NEWS_REMIND_TITLE },
	[STAGE_OVER] = { PHRASE_NEWS_SECTION_OVER, PHRASE_NEWS_RESOLVED_TITLE },
};

/* Of one sink and one alarm. */
struct sink_alarm_state {
	struct alarm_notice notice; /* what the sink was notified of */
	enum alarm_stage stage;     /* of the message */
	struct alarm_notice next;   /* with the message, where there is a stage */
};

/* The message to one sink. */
struct composer {
	const struct alarm_sources *from;
	const struct sink_settings *sink;
	enum language language;
	struct alarm_pace pace;
	struct sink_alarm_state *of; /* by alarm */
	struct document *doc;
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
static char *title_of(const struct composer *t, const struct alarm *a, const char *sentence)
{
	const bool of_duty = a->duty >= 0 && a->duty < DUTY__MAX;
	_cleanup_free_ char *cluster = cluster_prefix(&t->from->settings->cluster_names, a->cluster);
	_cleanup_free_ char *text =
		of_duty ? xasprintf(phrase(NEWS_OF, t->language), duty_name((enum duty)a->duty), sentence)
			: xstrdup(sentence);

	return xasprintf("%s%s", cluster, text);
}

static void add_names(const struct composer *t, struct entry *e, const struct alarm *a)
{
	_cleanup_free_ char *detail = facts_in_zone(a->detail, t->from->zone, t->language);

	if (strcmp(a->kind, ALARM_OF_PAUSE) == 0) {
		document_addf(&e->lines, phrase(NEWS_PAUSED_BY, t->language), a->name, detail);
		return;
	}
	if (*a->ns && *a->name)
		document_addf(&e->lines, phrase(NEWS_OF, t->language), a->ns, a->name);
	else if (*a->ns || *a->name)
		document_add(&e->lines, *a->ns ? a->ns : a->name);
	if (*detail)
		document_add(&e->lines, detail);
}

static void add_times(const struct composer *t, struct entry *e, const struct alarm *a)
{
	char begin[WHEN_IN_ZONE_MAX], end[WHEN_IN_ZONE_MAX];

	when_format_in_zone(a->state.begin_at, t->from->zone, begin);
	when_format_in_zone(a->state.gone_at, t->from->zone, end);
	if (e->is_over)
		document_addf(&e->lines, phrase(NEWS_FROM_TO, t->language), begin, end);
	else
		document_addf(&e->lines, phrase(NEWS_SINCE, t->language), begin);
}

static void add_entry(struct composer *t, struct section *s, const struct alarm *a, enum alarm_stage stage)
{
	const struct words w = words_of(a, t->language);
	_cleanup_free_ char *title = title_of(t, a, w.sentence);
	struct entry *e = section_add_entry(s, title);

	entry_set_key(e, "attention/%s", a->key);
	e->is_over = stage == STAGE_OVER;
	e->begin_ms = a->state.begin_at;
	e->end_ms = e->is_over ? a->state.gone_at : 0;
	add_names(t, e, a);
	if (stage == STAGE_MORE)
		document_addf(&e->lines, phrase(NEWS_IN_ALL, t->language), a->n);
	add_times(t, e, a);
	if (!e->is_over) {
		document_addf(&e->lines, phrase(NEWS_REMEDY, t->language), w.remedy);
		if (a->n <= 1) /* the detail is that of one object */
			entry_add_contact(e, a->detail);
		t->doc->tone = w.is_blind ? TONE_BAD : t->doc->tone == TONE_BAD ? TONE_BAD : TONE_WARNING;
	}
	entry_add_fact(e, "cluster", a->cluster);
	entry_add_fact(e, "namespace", a->ns);
	if (a->duty >= 0)
		entry_add_fact(e, "duty", duty_name((enum duty)a->duty));
	entry_add_fact(e, "reason", a->code);
	entry_add_fact(e, "remedy", w.remedy);
}

/* -- who is told what -- */

static bool is_for(const struct composer *t, const struct alarm *a)
{
	const bool own = strcmp(a->kind, ALARM_OF_SINK) == 0 && strcmp(a->name, t->sink->name) == 0;

	return !own && select_object(t->sink, a->cluster, a->ns, a->duty);
}

/* Of those that came since alone: a copy whose names, detail and begin are theirs. */
static int add_more(struct composer *t, struct section *s, const struct alarm *a,
		    const struct alarm_notice *notice)
{
	sqlite3_stmt *st = db_stmt(t->from->history, DB_ALARM_MORE, db_s("cluster_name", a->cluster),
				   db_i("duty", a->duty), db_s("code", a->code), db_s("ns", a->ns),
				   db_i("up_to", notice->up_to));
	int r;

	while ((r = db_step(st)) > 0) {
		struct alarm more = *a;
		_cleanup_free_ struct facts *detail = db_facts_dup(st, 1);
		_cleanup_free_ char *names = db_text_dup(st, 2);

		more.state.begin_at = sqlite3_column_int64(st, 0);
		more.detail = detail;
		more.name = names;
		add_entry(t, s, &more, STAGE_MORE);
		s->entries[s->n - 1].begin_ms = a->state.begin_at; /* it is the same alarm */
	}
	return r;
}

static int add_stage(struct composer *t, const struct alarms *all, enum alarm_stage stage)
{
	struct section *s = NULL;
	int r = 0;

	for (size_t i = 0; r == 0 && i < all->n; i++) {
		const struct alarm *a = &all->v[i];

		if (t->of[i].stage != stage)
			continue;
		s = s ? s : document_add_section(t->doc, phrase_text(stages[stage].section, t->language));
		t->n[stage]++;
		if (s->n >= t->sink->top)
			s->more++;
		else if (stage == STAGE_MORE)
			r = add_more(t, s, a, &t->of[i].notice);
		else
			add_entry(t, s, a, stage);
	}
	return r;
}

/* The first section's first entry is the news: `top` of a sink is 1 or more. */
static void set_title(struct composer *t)
{
	enum alarm_stage first = 0;

	while (t->n[first] == 0 && first + 1 < STAGE__MAX)
		first++;
	const struct settings *s = t->from->settings;
	const char *only = "";
	_cleanup_free_ char *cluster = cluster_names_count(&s->cluster_names, &only) == 1
					       ? xasprintf("[%s] ", settings_cluster_title(s, only))
					       : xstrdup("");
	_cleanup_free_ char *news =
		xasprintf(phrase_checked(phrase_en_NEWS_BEGUN_TITLE, stages[first].title, t->language),
			  cluster, t->doc->sections[0].entries[0].title);
	_cleanup_free_ char *title =
		t->n[first] == 1 ? xstrdup(news)
				 : xasprintf(phrase(NEWS_AND_MORE, t->language), news, t->n[first] - 1);

	document_set(&t->doc->title, title);
}

static void choose_stages(struct composer *t, const struct alarms *all)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct alarm *a = &all->v[i];
		struct sink_alarm_state *s = &t->of[i];

		s->stage = is_for(t, a) ? alarm_stage(&a->state, &s->notice, &t->pace) : STAGE_NONE;
		if (s->stage != STAGE_NONE)
			s->next = alarm_notice_now(&a->state, &s->notice, &t->pace, s->stage);
	}
}

/* of[i].notice goes in, of[i].stage and next come out. 1, with *ret to be freed by document_done(); 0 = there
 * is nothing to say, or negative errno, with *ret empty. */
static int compose(const struct alarm_sources *from, const struct sink_settings *sink,
		   const struct alarms *all, int64_t now, struct sink_alarm_state *of, struct document *ret)
{
	struct composer t = { .from = from,
			      .sink = sink,
			      .language = (enum language)sink->language,
			      .pace = { now, (int64_t)from->settings->gather_ms,
					sink_remind_ms(sink, from->settings->remind_ms) },
			      .of = of,
			      .doc = ret };
	int r = 0;

	document_init(ret, NEWS_ATTENTION, t.language, now);
	ret->tone = TONE_GOOD;
	choose_stages(&t, all);
	for (enum alarm_stage s = 0; r == 0 && s < STAGE__MAX; s++)
		r = add_stage(&t, all, s);
	if (r == 0 && ret->n_sections > 0) {
		set_title(&t);
		document_add_links(ret, &from->settings->links);
		return 1;
	}
	document_done(ret);
	return r;
}

/* -- all of it, in one transaction -- */

static struct db *keeper(const struct alarm_sources *from)
{
	return from->memory ? from->memory : from->history;
}

/* 1: a message was put; 0: there is none for this sink; or negative errno. */
static int put_message(const struct alarm_sources *from, const struct sink_settings *sink, struct alarms *all,
		       int64_t now)
{
	_cleanup_free_ struct sink_alarm_state *of = xcalloc(all->n, sizeof(*of));
	struct document doc;
	int r = 0;

	for (size_t i = 0; r == 0 && i < all->n; i++)
		r = alarm_notice_read(keeper(from), &all->v[i], sink->name, &of[i].notice);
	if (r == 0)
		r = compose(from, sink, all, now, of, &doc);
	if (r <= 0)
		return r;
	r = outbox_put(keeper(from), sink->name, &doc);
	document_done(&doc);
	for (size_t i = 0; r == 0 && i < all->n; i++) {
		if (of[i].stage == STAGE_NONE)
			continue;
		all->v[i].is_changed = true;
		r = alarm_notice_write(keeper(from), &all->v[i], sink->name, &of[i].next);
	}
	return r < 0 ? r : 1;
}

static int put_messages(const struct alarm_sources *from, bool *ret_put)
{
	_cleanup_(alarms_done) struct alarms present = { 0 };
	_cleanup_(alarms_done) struct alarms all = { 0 };
	const int64_t now = clock_wall_ms();
	int r = from->memory ? 0 : alarms_join(from->history);

	if (r == 0)
		r = find_alarms(from, &present);
	present.is_partial = r < 0;
	if (r == 0 || from->memory)
		r = alarms_read(keeper(from), &all);
	alarms_merge(&all, &present, now);
	for (size_t i = 0; r >= 0 && all.n > 0 && i < from->settings->n_sinks; i++) {
		const struct sink_settings *sink = &from->settings->sinks[i];

		if (select_news(sink, NEWS_ATTENTION))
			r = put_message(from, sink, &all, now);
		*ret_put = *ret_put || r > 0;
	}
	if (r >= 0)
		r = alarms_write(keeper(from), &all);
	/* From memory the ends go back to the history. */
	return r < 0 || all.n == 0 || from->memory
		       ? r
		       : alarms_forget_over(from->history, now - (int64_t)from->settings->gather_ms);
}

int alarm_messages_put(const struct alarm_sources *from, bool *ret_put)
{
	int r = db_begin(keeper(from));

	*ret_put = false;
	if (r == 0)
		r = put_messages(from, ret_put);
	return db_end(keeper(from), r);
}
