/* status_page.c - see status_page.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/page/status_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/actions.h"
#include "model/duties.h"
#include "model/phrases.h"
#include "model/reasons.h"
#include "model/retell.h"
#include "reporter/news/when.h"
#include "reporter/page/html.h"
#include "reporter/page/html_table.h"

struct page {
	struct html *h;
	const struct live *l;
	enum language language;
};

static void say_when(const struct page *p, int64_t at_ms, char ret[static WHEN_TEXT_MAX])
{
	when_format(at_ms, p->l->zone, ret);
}

static void begin_section(struct page *p, const char *title)
{
	html_open(p->h, "section");
	html_element(p->h, "h2", NULL, title);
}

static size_t rows_of(size_t n, size_t max)
{
	return n < max ? n : max;
}

static void put_more(struct page *p, size_t n, size_t max)
{
	if (n <= max)
		return;
	html_open_class(p->h, "p", "dim");
	html_text_f(p->h, phrase(PAGE_MORE, p->language), (uint64_t)(n - max));
	html_close(p->h);
}

/* A time, or a word where there is none. */
static void put_when_or(struct page *p, struct table *t, int64_t at_ms, const char *none)
{
	char when[WHEN_TEXT_MAX];

	say_when(p, at_ms, when);
	table_cell(t, at_ms > 0 ? when : none);
}

/* -- the head -- */

static void put_head(struct page *p)
{
	const struct live *l = p->l;
	char when[WHEN_TEXT_MAX];

	say_when(p, l->now_ms, when);
	html_open(p->h, "header");
	html_element(p->h, "h1", NULL, phrase(LIVE_TITLE, p->language));
	html_open(p->h, "p");
	if (l->live && l->ready)
		html_element(p->h, "span", "badge good", phrase(LIVE_READY, p->language));
	else
		html_element(p->h, "span", "badge bad", phrase(LIVE_NOT_READY, p->language));
	html_element(p->h, "span", "badge",
		     l->observe ? phrase(LIVE_OBSERVE, p->language) : phrase(LIVE_ENFORCE, p->language));
	if (l->n_pauses > 0)
		html_element(p->h, "span", "badge warn", phrase(LIVE_PAUSED_BADGE, p->language));
	html_close(p->h);
	html_open_class(p->h, "p", "dim");
	html_text_f(p->h, phrase(LIVE_AT, p->language), when, LIVE_REFRESH_S);
	html_close(p->h);
	html_close(p->h);
}

/* -- what is wrong -- */

static void put_trouble(struct page *p, struct table *t, const struct live_trouble *trouble)
{
	table_begin_row(t);
	table_open_cell(t);
	html_open_class(p->h, "p", trouble->is_blind ? "bad" : "warn");
	html_element(p->h, "b", NULL, trouble->sentence);
	html_close(p->h);
	if (*trouble->object)
		html_element(p->h, "p", NULL, trouble->object);
	if (*trouble->detail) {
		_cleanup_free_ char *detail = retell(trouble->detail, p->language);

		html_element(p->h, "p", "small", detail);
	}
	if (*trouble->remedy) {
		html_open_class(p->h, "p", "small");
		html_text_f(p->h, phrase(NEWS_REMEDY, p->language), trouble->remedy);
		html_close(p->h);
	}
	html_close(p->h);
	table_cell(t, trouble->cluster);
	put_when_or(p, t, trouble->since_ms, "");
	table_end_row(t);
}

static void put_troubles(struct page *p)
{
	static const struct table_column columns[] = {
		{ PHRASE_PAGE_WHAT, NULL },
		{ PHRASE_PAGE_CLUSTER, NULL },
		{ PHRASE_PAGE_SINCE, "word" },
	};
	struct table t;

	begin_section(p, phrase(LIVE_TROUBLES, p->language));
	if (p->l->n_troubles == 0) {
		html_element(p->h, "p", "good", phrase(LIVE_WELL, p->language));
	} else {
		table_begin(&t, p->h, p->language, columns, ARRAY_SIZE(columns));
		for (size_t i = 0; i < rows_of(p->l->n_troubles, LIVE_ROWS_MAX); i++)
			put_trouble(p, &t, &p->l->troubles[i]);
		table_end(&t);
		put_more(p, p->l->n_troubles, LIVE_ROWS_MAX);
	}
	html_close(p->h);
}

/* What is kept in English. */
static void put_retold(const struct page *p, struct table *t, const char *text)
{
	_cleanup_free_ char *told = retell(text, p->language);

	table_cell(t, told);
}

static void put_pause(struct page *p, struct table *t, const struct msg_pause *pause)
{
	table_begin_row(t);
	table_open_cell(t);
	html_element(p->h, "b", NULL,
		     *pause->cluster_name ? pause->cluster_name : phrase(LIVE_ALL_CLUSTERS, p->language));
	html_text(p->h, " ");
	html_text(p->h, pause->duty == DUTY_ALL ? "" : duty_name((enum duty)pause->duty));
	html_close(p->h);
	table_cell(t, pause->by);
	put_retold(p, t, pause->why);
	put_when_or(p, t, pause->at, "");
	put_when_or(p, t, pause->until, phrase(LIVE_UNTIL_RESUMED, p->language));
	table_end_row(t);
}

static void put_pauses(struct page *p)
{
	static const struct table_column columns[] = {
		{ PHRASE_PAGE_WHAT, NULL },    { PHRASE_LIVE_PAUSED_BY, NULL }, { PHRASE_LIVE_REASON, NULL },
		{ PHRASE_PAGE_SINCE, "word" }, { PHRASE_LIVE_UNTIL, "word" },
	};
	struct table t;

	if (p->l->n_pauses == 0)
		return;
	begin_section(p, phrase(LIVE_PAUSES, p->language));
	table_begin(&t, p->h, p->language, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < rows_of(p->l->n_pauses, LIVE_ROWS_MAX); i++)
		put_pause(p, &t, &p->l->pauses[i]);
	table_end(&t);
	put_more(p, p->l->n_pauses, LIVE_ROWS_MAX);
	html_close(p->h);
}

/* -- the clusters, and what is due in them -- */

static void put_cluster(struct page *p, struct table *t, const struct live_cluster *c)
{
	table_begin_row(t);
	table_open_cell(t);
	html_element(p->h, "b", NULL, c->name);
	html_close(p->h);
	table_open_cell(t);
	html_element(p->h, "span", c->synced ? "good" : "bad",
		     c->synced ? phrase(LIVE_SYNCED, p->language) : phrase(LIVE_NOT_SYNCED, p->language));
	html_close(p->h);
	table_cell(t, c->leading ? phrase(LIVE_YES, p->language) : phrase(LIVE_NO, p->language));
	table_cell_f(t, "%" PRIu64, c->pods);
	table_cell_f(t, "%" PRIu64, c->blocked);
	table_open_cell(t);
	_cleanup_free_ char *problem = retell(c->problem, p->language);

	if (*problem)
		html_element(p->h, "p", NULL, problem);
	if (*c->blocked_by)
		html_element(p->h, "p", NULL, c->blocked_by);
	html_close(p->h);
	table_end_row(t);
}

static void put_clusters(struct page *p)
{
	static const struct table_column columns[] = {
		{ PHRASE_PAGE_CLUSTER, NULL }, { PHRASE_LIVE_STATE, "word" },  { PHRASE_LIVE_LEADER, "word" },
		{ PHRASE_PAGE_COUNT, "num" },  { PHRASE_LIVE_BLOCKED, "num" }, { PHRASE_LIVE_NOTE, NULL },
	};
	struct table t;

	begin_section(p, phrase(LIVE_CLUSTERS, p->language));
	table_begin(&t, p->h, p->language, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < rows_of(p->l->n_clusters, LIVE_ROWS_MAX); i++)
		put_cluster(p, &t, &p->l->clusters[i]);
	table_end(&t);
	put_more(p, p->l->n_clusters, LIVE_ROWS_MAX);
	html_close(p->h);
}

/* How they stand, in words. */
static const char *verdict_text(const char *verdict, enum language l)
{
	static const struct {
		const char *name;
		enum phrase text;
	} verdicts[] = {
		{ "due", PHRASE_LIVE_VERDICT_DUE },
		{ "waiting", PHRASE_LIVE_VERDICT_WAITING },
		{ "blocked", PHRASE_LIVE_VERDICT_BLOCKED },
		{ "refused", PHRASE_LIVE_VERDICT_REFUSED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++)
		if (strcmp(verdicts[i].name, verdict) == 0)
			return phrase_text(verdicts[i].text, l);
	return verdict;
}

/* The reason in words; its code where there are none. */
static const char *reason_text(const char *code, enum language l)
{
	const char *sentence = reason_find(code)->text[l].sentence;

	return *sentence ? sentence : code;
}

static void put_due(struct page *p)
{
	static const struct table_column columns[] = {
		{ PHRASE_PAGE_CLUSTER, NULL }, { PHRASE_PAGE_DUTY, "word" }, { PHRASE_LIVE_VERDICT, "word" },
		{ PHRASE_PAGE_COUNT, "num" },  { PHRASE_PAGE_WHY, NULL },    { PHRASE_LIVE_OLDEST, "word" },
	};
	struct table t;

	begin_section(p, phrase(LIVE_DUE, p->language));
	if (p->l->n_due == 0) {
		html_element(p->h, "p", "dim", phrase(LIVE_NOTHING_DUE, p->language));
		html_close(p->h);
		return;
	}
	table_begin(&t, p->h, p->language, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < rows_of(p->l->n_due, LIVE_ROWS_MAX); i++) {
		const struct live_due *d = &p->l->due[i];

		table_begin_row(&t);
		table_cell(&t, d->cluster);
		table_cell(&t, d->duty);
		table_cell(&t, verdict_text(d->verdict, p->language));
		table_cell_f(&t, "%" PRIu64, d->n);
		table_cell(&t, reason_text(d->reason, p->language));
		put_when_or(p, &t, d->oldest_ms, "");
		table_end_row(&t);
	}
	table_end(&t);
	put_more(p, p->l->n_due, LIVE_ROWS_MAX);
	html_close(p->h);
}

/* -- what was done, what was refused -- */

static void put_object(struct page *p, struct table *t, const struct msg_ctl_history_row *r)
{
	table_open_cell(t);
	if (p->l->n_clusters > 1) {
		html_element(p->h, "span", "dim", r->cluster_name);
		html_text(p->h, " ");
	}
	html_open(p->h, "b");
	html_text_f(p->h, "%s/%s", r->ns, r->name);
	html_close(p->h);
	html_close(p->h);
}

static void put_why(struct page *p, struct table *t, const struct msg_ctl_history_row *r)
{
	table_open_cell(t);
	html_element(p->h, "p", NULL, reason_text(r->reason, p->language));
	if (*r->detail) {
		_cleanup_free_ char *detail = retell(r->detail, p->language);

		html_element(p->h, "p", "dim small", detail);
	}
	html_close(p->h);
}

static const char *outcome_class(int64_t outcome)
{
	switch (outcome) {
	case OUTCOME_DONE:
		return "good";
	case OUTCOME_FORBIDDEN:
	case OUTCOME_FAILED:
		return "bad";
	case OUTCOME_UNCONFIRMED:
		return "warn";
	default:
		return "dim";
	}
}

static void put_action(struct page *p, struct table *t, const struct msg_ctl_history_row *r)
{
	table_begin_row(t);
	put_object(p, t, r);
	put_when_or(p, t, r->intent_at, "");
	table_open_cell(t);
	html_text(p->h, r->action < ACTION__MAX ? action_desc((enum action_kind)r->action)->name : "");
	html_close(p->h);
	table_open_cell(t);
	html_element(p->h, "span", outcome_class(r->outcome), outcome_name((enum outcome)r->outcome));
	html_close(p->h);
	put_why(p, t, r);
	table_end_row(t);
}

static void put_actions(struct page *p)
{
	static const struct table_column columns[] = {
		{ PHRASE_PAGE_WHAT, NULL },      { PHRASE_LIVE_WHEN, "word" }, { PHRASE_LIVE_ACTION, "word" },
		{ PHRASE_LIVE_OUTCOME, "word" }, { PHRASE_PAGE_WHY, NULL },
	};
	struct table t;

	begin_section(p, phrase(LIVE_ACTIONS, p->language));
	if (p->l->n_actions == 0) {
		html_element(p->h, "p", "dim", phrase(LIVE_NO_ACTIONS, p->language));
	} else {
		table_begin(&t, p->h, p->language, columns, ARRAY_SIZE(columns));
		for (size_t i = 0; i < rows_of(p->l->n_actions, LIVE_ACTIONS_MAX); i++)
			put_action(p, &t, &p->l->actions[i]);
		table_end(&t);
	}
	html_close(p->h);
}

static void put_refusals(struct page *p)
{
	static const struct table_column columns[] = {
		{ PHRASE_PAGE_WHAT, NULL },
		{ PHRASE_LIVE_WHEN, "word" },
		{ PHRASE_PAGE_DUTY, "word" },
		{ PHRASE_PAGE_WHY, NULL },
	};
	struct table t;

	if (p->l->n_refusals == 0)
		return;
	begin_section(p, phrase(LIVE_REFUSALS, p->language));
	table_begin(&t, p->h, p->language, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < rows_of(p->l->n_refusals, LIVE_ACTIONS_MAX); i++) {
		const struct msg_ctl_history_row *r = &p->l->refusals[i];

		table_begin_row(&t);
		put_object(p, &t, r);
		put_when_or(p, &t, r->result_at, "");
		table_cell(&t, duty_name((enum duty)r->duty));
		put_why(p, &t, r);
		table_end_row(&t);
	}
	table_end(&t);
	html_close(p->h);
}

/* -- reports and messages -- */

static void put_key(struct page *p, const char *title, int64_t at_ms, const char *none)
{
	char when[WHEN_TEXT_MAX];

	say_when(p, at_ms, when);
	html_open(p->h, "div");
	html_element(p->h, "dt", NULL, title);
	html_element(p->h, "dd", NULL, at_ms > 0 ? when : none);
	html_close(p->h);
}

static void put_sinks(struct page *p)
{
	static const struct table_column columns[] = {
		{ PHRASE_LIVE_SINK, NULL },
		{ PHRASE_LIVE_WAITING, "num" },
		{ PHRASE_LIVE_DELIVERED, "word" },
		{ PHRASE_LIVE_SINK_ERROR, NULL },
	};
	struct table t;

	if (p->l->n_sinks == 0)
		return;
	table_begin(&t, p->h, p->language, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < rows_of(p->l->n_sinks, LIVE_ROWS_MAX); i++) {
		const struct live_sink *s = &p->l->sinks[i];

		table_begin_row(&t);
		table_open_cell(&t);
		html_element(p->h, "b", NULL, s->name);
		html_text_f(p->h, " (%s)", s->type);
		html_close(p->h);
		table_cell_f(&t, "%" PRIu64, s->waiting);
		put_when_or(p, &t, s->delivered_ms, phrase(LIVE_NEVER, p->language));
		put_retold(p, &t, s->error);
		table_end_row(&t);
	}
	table_end(&t);
}

static void put_news(struct page *p)
{
	begin_section(p, phrase(LIVE_NEWS, p->language));
	html_open_class(p->h, "dl", "key");
	put_key(p, phrase(LIVE_NEXT_REPORT, p->language), p->l->report_next_ms, phrase(NONE, p->language));
	put_key(p, phrase(LIVE_LAST_REPORT, p->language), p->l->report_delivered_ms,
		phrase(LIVE_NEVER, p->language));
	html_close(p->h);
	put_sinks(p);
	html_close(p->h);
}

char *page_status(const struct live *l, size_t *ret_size)
{
	struct page p = { html_new_page(language_name(l->language), phrase(LIVE_TITLE, l->language),
					LIVE_REFRESH_S),
			  l, l->language };

	put_head(&p);
	put_troubles(&p);
	put_pauses(&p);
	put_clusters(&p);
	put_due(&p);
	put_actions(&p);
	put_refusals(&p);
	put_news(&p);
	html_open(p.h, "footer");
	html_text_f(p.h, phrase(LIVE_VERSION, p.language), l->version,
		    l->zone ? phrase(LIVE_ZONE_LOCAL, p.language) : "UTC");
	html_close(p.h);
	return html_end(&p.h, ret_size);
}
