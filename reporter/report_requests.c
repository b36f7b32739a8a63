/* report_requests.c - see report_requests.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/report_requests.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "ipc/timer.h"
#include "model/phrases.h"
#include "reporter/report/attach.h"
#include "reporter/report/report_run.h"
#include "reporter/history/attention.h"
#include "reporter/sinks/delivery.h"
#include "text/facts_text.h"
#include "text/texts.h"

/* Questions at once: as many as the control socket has connections. */
#define ASKS_MAX 8
/* Rows of a section in a terminal. */
#define TOP_SHOWN 20u

struct ask {
	TAILQ_ENTRY(ask) entry;
	struct report_requests *requests;
	struct msg_ctl_report question;
	char *sink;                /* its name, which a reload may take away */
	struct str_list clusters;  /* that it is about; empty: all */
	struct delivery *delivery; /* of a test */
	struct timer *end;         /* frees it outside of the callback that ends it */
};

struct report_requests {
	struct event_base *base;
	const struct settings *settings;
	struct db *db;
	struct digest_runner *runner;
	void (*send)(void *ctx, const struct msg *m);
	void *ctx;
	TAILQ_HEAD(ask_list, ask) asks;
	size_t n;
};

/* -- answers -- */

static void send_text(struct report_requests *d, uint64_t conn, const char *text)
{
	const size_t room = sizeof(((struct msg_ctl_text *)NULL)->text) - 1;

	while (*text) {
		const size_t line = strcspn(text, "\n"), n = unicode_cut(text, line, room);
		struct msg m = { .type = MSG_CTL_TEXT, .u.ctl_text = { .conn = conn, .more = n < line } };

		msg_set(&m, ctl_text.text, text, n > 0 && text[n - 1] == '\r' && n == line ? n - 1 : n);
		d->send(d->ctx, &m);
		text += n == line && text[n] ? n + 1 : n;
	}
}

static void send_end(struct report_requests *d, uint64_t conn, int code, const struct facts *why)
{
	struct msg m = { .type = MSG_CTL_END, .u.ctl_end = { .conn = conn, .code = (uint64_t)code } };

	if (why)
		facts_set(&m.u.ctl_end.why, why);
	d->send(d->ctx, &m);
}

static void refuse(struct report_requests *d, const struct msg_ctl_report *q, int code, enum text why)
{
	const struct facts f = facts_of(why);

	send_end(d, q->conn, code, &f);
}

static const struct sink_settings *find_sink(const struct settings *s, const char *name)
{
	for (size_t i = 0; i < s->n_sinks; i++)
		if (!*name || strcmp(s->sinks[i].name, name) == 0)
			return &s->sinks[i];
	return NULL;
}

/* What there is instead. */
static void refuse_name(struct report_requests *d, const struct msg_ctl_report *q)
{
	_cleanup_free_ char *names = NULL;

	for (size_t i = 0; i < d->settings->n_sinks; i++)
		xappend(&names, ", ", d->settings->sinks[i].name);
	struct facts why = facts_of(names ? TEXT_UNKNOWN_SINK : TEXT_NO_SINK);

	if (names) {
		facts_name(&why, FACT_SINK, STR_C(q->sink));
		facts_quoted(&why, FACT_SINKS, STR_C(names));
	}
	send_end(d, q->conn, EXIT_CODE_USAGE, &why);
}

/* -- questions under way -- */

static void ask_free(struct ask *a)
{
	TAILQ_REMOVE(&a->requests->asks, a, entry);
	a->requests->n--;
	delivery_free(&a->delivery);
	timer_free(&a->end);
	free(a->sink);
	str_list_done(&a->clusters);
	free(a);
}

static void on_end(void *ctx)
{
	ask_free(ctx);
}

static struct ask *ask_new(struct report_requests *d, const struct msg_ctl_report *q, const char *sink)
{
	struct ask *a = xcalloc(1, sizeof(*a));

	*a = (struct ask){ .requests = d, .question = *q, .sink = xstrdup(sink) };
	a->end = timer_new(d->base, on_end, a);
	TAILQ_INSERT_TAIL(&d->asks, a, entry);
	d->n++;
	return a;
}

static void end_ask(struct ask *a, int code, const struct facts *why)
{
	send_end(a->requests, a->question.conn, code, why);
	timer_set(a->end, 0);
}

/* -- the report as of now -- */

/* For people who read JSON. */
static char *indented(const struct document *doc)
{
	_cleanup_free_ char *json = document_to_json(doc);
	json_t *root = json_loads(json, 0, NULL);
	char *ret = root ? json_dumps(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;

	json_decref(root);
	if (!ret)
		abort();
	return ret;
}

/* Not signed: who may look may not send. */
static char *body_of(const struct sink_settings *s, const struct document *doc)
{
	struct sink_settings unsigned_sink = *s;
	struct sink_request rq;
	uint64_t left_out;

	unsigned_sink.secret = NULL;
	sink_compose(&unsigned_sink, doc, 0, clock_wall_ms(), &rq, &left_out);
	char *ret = TAKE_PTR(rq.body);

	sink_request_done(&rq);
	return ret;
}

/* The caller frees it. */
static char *in_form(struct report_requests *d, enum report_form form, const struct sink_settings *s,
		     const struct zone *zone, struct document *doc)
{
	if (form == REPORT_FORM_TEXT)
		return document_to_text(doc);
	if (form == REPORT_FORM_JSON)
		return indented(doc);
	if (form == REPORT_FORM_HTML || s->type == SINK_EMAIL)
		digest_attach_page(d->db, s, zone,
				   cluster_names_count(&d->settings->cluster_names, NULL) == 1, doc);
	return form == REPORT_FORM_HTML ? xstrdup(doc->html) : body_of(s, doc);
}

/* For programs and browsers, which take no bare sentence. */
static void compose_nothing(const char *title, enum language l, struct document *ret)
{
	document_init(ret, NEWS_REPORT, l, clock_wall_ms());
	ret->tone = TONE_GOOD;
	document_set(&ret->title, title);
	document_add(&ret->lines, phrase(REPORT_NOTHING, l));
}

static void show(struct ask *a, const struct report_run *e, const struct report_schedule *schedule,
		 const struct sink_settings *s)
{
	const enum language l = (enum language)a->question.language;
	const enum report_form form = (enum report_form)a->question.form;
	_cleanup_(attention_done) struct attention attention = { 0 };
	struct report_requests *d = a->requests;
	struct document doc;

	(void)attention_preview(d->db, &attention);
	const bool any = report_run_compose(e, schedule, s, 0, &attention, &doc);

	if (!any)
		compose_nothing(schedule->title, l, &doc);
	_cleanup_free_ char *text = any || form == REPORT_FORM_JSON || form == REPORT_FORM_HTML
					    ? in_form(d, form, s, schedule->zone, &doc)
					    : xstrdup(phrase(REPORT_NOTHING, l));

	document_done(&doc);
	send_text(d, a->question.conn, text);
	end_ask(a, EXIT_CODE_OK, NULL);
}

/* Who asks without a sink sees all of it, or of some clusters. Borrowed from the question. */
static struct sink_settings everything(const struct ask *a)
{
	char *none = (char *)(uintptr_t) ""; /* never written */

	return (struct sink_settings){ .name = none,
				       .type = SINK_WEBHOOK,
				       .language = a->question.language,
				       .clusters = a->clusters,
				       .top = TOP_SHOWN,
				       .news = UINT64_C(1) << NEWS_ACTIONS };
}

static void on_edition(void *ctx, const struct report_run *e, const struct report_schedule *schedule)
{
	struct ask *a = ctx;
	const struct sink_settings all = everything(a);
	const struct sink_settings *s =
		a->question.ask == REPORT_ASK_NOW ? &all : find_sink(a->requests->settings, a->sink);

	const struct facts busy = facts_of(TEXT_REPORT_BUSY);

	if (e && s)
		show(a, e, schedule, s);
	else
		end_ask(a, EXIT_CODE_TEMPORARY, &busy);
}

/* Those of the lines that are names of clusters; empty: all of them. False: none is. */
static bool take_clusters(const struct str_list *known, const char *lines, struct str_list *ret)
{
	for (struct str rest = STR_C(lines); rest.n > 0;) {
		const struct str name = str_cut(&rest, '\n');

		if (str_list_has(known, name))
			str_list_add(ret, name.p, name.n);
	}
	return !*lines || ret->n > 0;
}

static void start_preview(struct report_requests *d, const struct msg_ctl_report *q,
			  const struct sink_settings *sink)
{
	const bool is_now = q->ask == REPORT_ASK_NOW;
	_cleanup_(str_list_done) struct str_list clusters = { 0 };

	if (!take_clusters(&d->settings->cluster_names, q->clusters, &clusters)) {
		refuse(d, q, EXIT_CODE_USAGE, TEXT_UNKNOWN_CLUSTER);
		return;
	}
	if (!policy_enables(&d->settings->policy, DUTY_RESTARTS)) {
		refuse(d, q, EXIT_CODE_CONFIG, TEXT_REPORT_OFF);
		return;
	}
	if (!db_is_open(d->db)) { /* what restarted since the last report is not known */
		refuse(d, q, EXIT_CODE_TEMPORARY, TEXT_HISTORY_UNREADABLE);
		return;
	}
	struct ask *a = ask_new(d, q, is_now ? "" : sink->name);
	const struct facts busy = facts_of(TEXT_REPORT_BUSY);

	a->clusters = clusters;
	clusters = (struct str_list){ 0 };
	const struct sink_settings all = everything(a);

	if (digest_runner_preview(d->runner, is_now ? &all : sink, on_edition, a) < 0)
		end_ask(a, EXIT_CODE_TEMPORARY, &busy);
}

/* -- a test -- */

/* What an answer means for the one who asked: the exit code, and what to do. */
static const struct {
	int code;
	enum text text;
} causes[] = {
	[SINK_NO_CAUSE] = { EXIT_CODE_FAILURE, TEXT_SINK_OTHER },
	[SINK_UNREACHABLE] = { EXIT_CODE_UNAVAILABLE, TEXT_SINK_UNREACHABLE },
	[SINK_PROXY] = { EXIT_CODE_UNAVAILABLE, TEXT_SINK_PROXY },
	[SINK_BAD_SECRET] = { EXIT_CODE_CREDENTIAL, TEXT_SINK_BAD_SECRET },
	[SINK_BAD_ADDRESS] = { EXIT_CODE_CONFIG, TEXT_SINK_BAD_ADDRESS },
	[SINK_NO_KEYWORD] = { EXIT_CODE_CONFIG, TEXT_SINK_NO_KEYWORD },
	[SINK_FORBIDDEN] = { EXIT_CODE_CREDENTIAL, TEXT_SINK_FORBIDDEN },
	[SINK_TOO_OFTEN] = { EXIT_CODE_TEMPORARY, TEXT_SINK_TOO_OFTEN },
	[SINK_TOO_LARGE] = { EXIT_CODE_FAILURE, TEXT_SINK_TOO_LARGE },
	[SINK_BROKEN] = { EXIT_CODE_TEMPORARY, TEXT_SINK_BROKEN },
	[SINK_OTHER] = { EXIT_CODE_FAILURE, TEXT_SINK_OTHER },
};

static void on_answer(void *ctx, const struct sink_answer *said)
{
	struct ask *a = ctx;
	const enum language l = (enum language)a->question.language;
	const bool doubtful = said->verdict == SINK_UNKNOWN, accepted = said->verdict == SINK_ACCEPTED;
	const int code = accepted ? EXIT_CODE_OK : doubtful ? EXIT_CODE_TEMPORARY : causes[said->cause].code;
	struct facts told = facts_of(TEXT_SINK_TOLD);

	facts_name(&told, FACT_SINK, STR_C(a->sink));
	facts_text(&told, FACT_VERDICT,
		   accepted   ? TEXT_SINK_ACCEPTED
		   : doubtful ? TEXT_SINK_IN_DOUBT
			      : causes[said->cause].text);
	facts_facts(&told, FACT_BECAUSE, &said->why);
	_cleanup_free_ char *all = facts_render_in(&told, l);

	if (accepted)
		send_text(a->requests, a->question.conn, all);
	end_ask(a, code, accepted ? NULL : &told);
}

static void make_test(const struct sink_settings *s, struct document *d)
{
	const enum language l = (enum language)s->language;
	_cleanup_free_ char *line = xasprintf(phrase(SINK_TEST_LINE, l), s->name);

	document_init(d, NEWS_REPORT, l, clock_wall_ms());
	d->is_test = true;
	free(d->id);
	d->id = xasprintf("test-%" PRId64, d->at_ms);
	document_set(&d->title, phrase(SINK_TEST_TITLE, l));
	document_add(&d->lines, line);
}

static void start_test(struct report_requests *d, const struct msg_ctl_report *q,
		       const struct sink_settings *s)
{
	struct ask *a = ask_new(d, q, s->name);
	struct document doc;

	a->delivery = delivery_new(d->base, s, on_answer, a);
	make_test(s, &doc);
	delivery_send(a->delivery, &doc);
	document_done(&doc);
}

/* -- the interface -- */

struct report_requests *report_requests_new(struct event_base *base, const struct settings *s, struct db *db,
					    struct digest_runner *runner,
					    void (*send)(void *ctx, const struct msg *m), void *ctx)
{
	struct report_requests *d = xcalloc(1, sizeof(*d));

	*d = (struct report_requests){
		.base = base, .settings = s, .db = db, .runner = runner, .send = send, .ctx = ctx
	};
	TAILQ_INIT(&d->asks);
	return d;
}

void report_requests_free(struct report_requests **d)
{
	struct ask *a;

	if (!*d)
		return;
	while ((a = TAILQ_FIRST(&(*d)->asks)))
		ask_free(a);
	free(*d);
	*d = NULL;
}

void report_requests_on_ask(struct report_requests *d, const struct msg_ctl_report *q)
{
	const struct sink_settings *s = find_sink(d->settings, q->sink);

	if (d->n >= ASKS_MAX)
		refuse(d, q, EXIT_CODE_TEMPORARY, TEXT_REPORT_BUSY);
	else if (q->ask != REPORT_ASK_NOW && !s)
		refuse_name(d, q);
	else if (q->ask == REPORT_ASK_TEST)
		start_test(d, q, s);
	else
		start_preview(d, q, s);
}
