/* delivery.c - see delivery.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/sinks/delivery.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "config/table.h"
#include "text/texts.h"

/* Largest answer read. */
#define ANSWER_MAX ((size_t)4 * 1024)
/* Whole time of one message. */
#define TIMEOUT_MS 10000u
/* So long the readers of a mail wait for one of them whom the server puts off for the moment: most greylists
 * take a mail after five minutes, few after more than 25. A mailbox that stays full holds nobody up for
 * longer. */
#define PUT_OFF_MS (UINT64_C(30) * 60 * 1000)
/* Nor longer than a part of the time after which the mail is given up, which leaves another try: pauses
 * double. Where that is less than this there is none to lose. */
#define PUT_OFF_PART  4u
#define PUT_OFF_LEAST 15000u

struct delivery {
	struct event_base *base;
	delivery_answer_fn *fn;
	void *ctx;
	struct sink_settings sink; /* a copy */
	struct sink_limit limit;
	unsigned form;              /* the sink refuses those before it */
	struct http_client *client; /* NULL before the first message */
	/* the message under way */
	struct http_request *request;
	struct mail *mail;      /* the same of a mail */
	uint64_t put_off_since; /* boot ms; 0: the last mail was taken for everybody, or refused for good */
	uint64_t patience_ms;   /* with a reader who is put off */
	struct sink_settings sent_to;
	unsigned sent_form;
	char *document;       /* JSON: it may be sent again in another form */
	struct event *answer; /* hands the answer over outside of the client's own callback */
	struct sink_answer said;
};

/* -- a copy of the settings -- */

static struct sink_settings copy_sink(const struct sink_settings *s)
{
	struct sink_settings c = *s;

	for (const struct setting *row = settings_sink_table; row->path; row++) {
		void *member = setting_member(row, &c);
		char **text = member;
		struct str_list *list = member;

		if (setting_is_text(row->kind)) {
			*text = *text ? xstrdup(*text) : NULL;
		} else if (setting_is_list(row->kind)) {
			const struct str_list from = *list;

			*list = (struct str_list){ 0 };
			str_list_add_all(list, &from);
		}
	}
	return c;
}

static void free_sink(struct sink_settings *s)
{
	for (const struct setting *row = settings_sink_table; row->path; row++)
		setting_clear(row, s);
	*s = (struct sink_settings){ 0 };
}

/* -- where to -- */

/* What e points to is held by base_url, and by s. */
static struct http_endpoint endpoint_of(const struct sink_settings *s, char **base_url)
{
	*base_url = xstrndup(s->url, sink_base_length(s->url));
	return (struct http_endpoint){
		.base_url = *base_url,
		.address = s->address,
		.proxy = s->proxy,
		.ca_pem = s->ca_pem,
		.user_agent = "ops-pod-cleaner",
	};
}

static void set_endpoint(struct delivery *d)
{
	_cleanup_free_ char *base_url = NULL;
	const struct http_endpoint e = endpoint_of(&d->sink, &base_url);

	if (d->client)
		http_client_set_endpoint(d->client, &e);
	else
		d->client = http_client_new(d->base, &e);
}

/* -- new, free -- */

static void on_said(evutil_socket_t fd, short what, void *arg)
{
	struct delivery *d = arg;
	const struct sink_answer said = d->said;

	(void)fd;
	(void)what;
	d->fn(d->ctx, &said); /* d may be gone after it */
}

struct delivery *delivery_new(struct event_base *base, const struct sink_settings *s, delivery_answer_fn *fn,
			      void *ctx)
{
	struct delivery *d = xcalloc(1, sizeof(*d));

	*d = (struct delivery){
		.base = base, .fn = fn, .ctx = ctx, .sink = copy_sink(s), .patience_ms = PUT_OFF_MS
	};
	d->answer = event_new(base, -1, 0, on_said, d);
	return d;
}

static void end_message(struct delivery *d)
{
	free(d->document);
	d->document = NULL;
	free_sink(&d->sent_to);
}

void delivery_free(struct delivery **ref)
{
	struct delivery *d = *ref;

	*ref = NULL;
	if (!d)
		return;
	if (d->request)
		http_request_cancel(&d->request);
	mail_cancel(&d->mail);
	http_client_free(&d->client);
	event_free(d->answer);
	end_message(d);
	free_sink(&d->sink);
	free(d);
}

static bool is_same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool is_same_way(const struct sink_settings *a, const struct sink_settings *b)
{
	return a->type == b->type && is_same(a->url, b->url) && is_same(a->secret, b->secret) &&
	       is_same(a->proxy, b->proxy) && is_same(a->ca_pem, b->ca_pem) && is_same(a->from, b->from) &&
	       is_same(a->address, b->address) && is_same(a->problem, b->problem) &&
	       str_list_equal(&a->to, &b->to);
}

bool delivery_set(struct delivery *d, const struct sink_settings *s)
{
	const bool same = is_same_way(&d->sink, s);

	d->put_off_since = same ? d->put_off_since : 0;
	free_sink(&d->sink);
	d->sink = copy_sink(s);
	d->form = 0;
	if (d->client && d->sink.url)
		set_endpoint(d);
	return !same;
}

void delivery_set_patience(struct delivery *d, uint64_t give_up_ms)
{
	const uint64_t part = give_up_ms / PUT_OFF_PART;

	d->patience_ms = part < PUT_OFF_LEAST ? 0 : part < PUT_OFF_MS ? part : PUT_OFF_MS;
}

/* Is a mail kept from all, while one of them is put off? */
static bool waits_for_all(const struct delivery *d)
{
	const uint64_t since = d->put_off_since ? clock_boot_ms() - d->put_off_since : 0;

	return since < d->patience_ms;
}

uint64_t delivery_wait(const struct delivery *d)
{
	const struct sink_ops *ops = sink_ops_of(d->sink.type);

	return ops ? sink_limit_wait(&d->limit, ops->per_second, ops->per_minute, clock_boot_ms()) : 0;
}

bool delivery_knows_ids(const struct delivery *d)
{
	const struct sink_ops *ops = sink_ops_of(d->sink.type);

	return ops && ops->knows_ids;
}

/* -- sending -- */

static void say(struct delivery *d)
{
	end_message(d);
	(void)event_add(d->answer, CLOCK_TIMEVAL(0));
}

static void start(struct delivery *d, const struct document *doc);

/* The same in the next form: the sink says that it did not take this one. */
static void start_again(struct delivery *d)
{
	struct document doc;

	d->sent_form++;
	if (document_from_json(d->document, strlen(d->document), &doc) < 0)
		abort(); /* it was made of one */
	start(d, &doc);
	document_done(&doc);
}

static void take_answer(struct delivery *d, const struct http_result *r)
{
	sink_interpret(&d->sent_to, r, &d->said);
	if (d->said.other_form && d->sent_form + 1 < sink_forms(sink_ops_of(d->sent_to.type))) {
		start_again(d);
		return;
	}
	/* One that took a later form is spared the refusal the next time. */
	if (d->said.verdict == SINK_ACCEPTED && d->sink.url && strcmp(d->sink.url, d->sent_to.url) == 0)
		d->form = d->sent_form;
	say(d);
}

static void on_done(void *ctx, const struct http_result *r)
{
	struct delivery *d = ctx;

	d->request = NULL;
	take_answer(d, r);
}

static void on_mailed(void *ctx, const struct mail_result *m)
{
	struct delivery *d = ctx;
	_cleanup_free_ char *body = NULL;
	struct http_result r;

	d->mail = NULL;
	if (m->put_off && !d->put_off_since)
		d->put_off_since = clock_boot_ms();
	else if (m->sent && !m->put_off)
		d->put_off_since = 0;
	email_answer(m, &r, &body);
	take_answer(d, &r);
}

static void start_mail(struct delivery *d, const struct sink_request *rq)
{
	const struct sink_settings *s = &d->sent_to;
	_cleanup_free_ char *base_url = NULL, *user = NULL;
	struct http_endpoint e = endpoint_of(s, &base_url);
	const struct mail_call call = {
		.from = s->from ? s->from : "",
		.to = s->to.v,
		.n_to = s->to.n,
		.message = rq->body,
		.len = strlen(rq->body),
		.wait_for_all = waits_for_all(d),
		.on_done = on_mailed,
		.ctx = d,
	};

	e.base_url = s->url; /* with the name in its path */
	email_login(s, &user, &e.password);
	e.username = user;
	d->mail = mail_start(d->base, &e, &call);
}

/* On a connection of its own: one that was kept for a minute may have died, and then nobody knows whether the
 * message arrived. */
static void start_request(struct delivery *d, const struct sink_request *rq)
{
	const char *type = sink_ops_of(d->sent_to.type)->content_type;
	const struct http_call call = {
		.method = "POST",
		.path = rq->path,
		.content_type = type ? type : "application/json; charset=utf-8",
		.headers = rq->headers.v,
		.n_headers = rq->headers.n,
		.body = rq->body,
		.body_len = strlen(rq->body),
		.max_body = ANSWER_MAX,
		.total_timeout_ms = TIMEOUT_MS,
		.alone = true,
		.on_done = on_done,
		.ctx = d,
	};

	if (!d->client)
		set_endpoint(d);
	d->request = http_client_start(d->client, &call);
}

static void start(struct delivery *d, const struct document *doc)
{
	struct sink_request rq;
	uint64_t left_out;

	sink_compose(&d->sent_to, doc, d->sent_form, clock_wall_ms(), &rq, &left_out);
	sink_limit_sent(&d->limit, clock_boot_ms());
	if (sink_ops_of(d->sent_to.type)->is_mail)
		start_mail(d, &rq);
	else
		start_request(d, &rq);
	sink_request_done(&rq);
}

/* None: it can be sent to. */
static struct facts problem_of(const struct sink_settings *s)
{
	struct facts f = { 0 };

	if (s->problem && *s->problem)
		facts_sentence(&f, FACT_SENTENCE, s->problem);
	else if (!s->url || !*s->url)
		facts_finding(&f, TEXT_SINK_NO_URL);
	else if (!sink_ops_of(s->type))
		facts_finding(&f, TEXT_SINK_NO_SENDER);
	return f;
}

void delivery_send(struct delivery *d, const struct document *doc)
{
	const struct facts problem = problem_of(&d->sink);

	if (!facts_empty(&problem)) {
		/* A missing file or name may be there the next time. */
		d->said = (struct sink_answer){
			.verdict = SINK_AGAIN, .cause = SINK_BAD_ADDRESS, .code = -1, .retry_after_ms = -1
		};
		d->said.why = problem;
		say(d);
		return;
	}
	d->sent_to = copy_sink(&d->sink);
	d->sent_form = d->form;
	d->document = document_to_json(doc);
	start(d, doc);
}
