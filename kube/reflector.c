/* reflector.c - see reflector.h. A stream is one list and watch: of all namespaces, or of one; it carries out
 * what reflect_core decides. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/reflector.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/backoff.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "kube/path.h"
#include "kube/stream_body.h"

#define STALLED_MS   90000 /* servers send a bookmark every minute or so, and answer sooner */
#define ALL_RETRY_MS 300000

#define PROTOBUF       "application/vnd.kubernetes.protobuf"
#define LIST_IDLE_MS   60000u
#define ERROR_BODY_MAX 4096
/* A list comes in pieces of 16 KB; to report each is 2 % of the time it takes. */
#define ALIVE_EVERY_MS 100u
/* The list of all namespaces is asked for again after all_retry_ms; the first time, after this part of it. */
#define FIRST_RETRY_PART 64

static const struct str none;

struct reflector {
	struct stream_env env;
	struct str_list namespaces;
	struct stream *all;   /* of all namespaces; NULL when only_namespaces */
	struct stream **each; /* one a namespace, or NULL while the first is enough */
	struct event *retire; /* the streams of the namespaces are no longer needed */
	uint64_t all_retry_ms;
	unsigned refusals; /* of the list of all, in a row */
};

struct stream {
	struct stream_env *env;
	struct reflector
		*fallback; /* watches the namespaces while the list of all is forbidden; NULL = nobody */
	char *ns;          /* "" = all */
	struct reflect_core core;
	struct http_request *request;
	struct event *timer;    /* the wait of a step */
	struct event *watchdog; /* no sign of life */
	/* the answer in hand */
	long status;
	bool good; /* 200 and protobuf: the body is what was asked for */
	struct stream_body body;
	char error_body[ERROR_BODY_MAX];
	size_t error_len;
	uint64_t started_ms, last_byte_ms, alive_reported_ms;
	uint32_t timeout_s;
	/* towards the consumer */
	bool list_reported, in_trouble;
	bool forbidden; /* the fallback does the work */
};

/* -- towards the consumer -- */

static void set_trouble(struct stream *s, bool in_trouble)
{
	s->env->in_trouble += (unsigned)in_trouble - (unsigned)s->in_trouble;
	s->in_trouble = in_trouble;
}

/* With what the stream reads. */
static struct facts whole_trouble(const struct stream *s, const struct facts *why)
{
	const struct stream_kind *kind = s->env->kind;
	struct facts whole = { 0 };

	facts_finding(&whole, *s->ns ? TEXT_OF_NAMESPACE : kind->namespaced ? TEXT_OF_ALL : TEXT_OF_RESOURCE);
	facts_name(&whole, FACT_RESOURCE, STR_C(kind->resource));
	facts_name(&whole, FACT_NAMESPACE, STR_C(s->ns));
	facts_add(&whole, why);
	return whole;
}

static void report_trouble(struct stream *s, long status, const struct facts *why)
{
	const struct facts whole = whole_trouble(s, why);

	set_trouble(s, true);
	s->env->ops.on_trouble(s->env->ctx, status, &whole);
}

static void report_text(struct stream *s, enum text trouble)
{
	const struct facts why = stream_trouble(trouble);

	report_trouble(s, 0, &why);
}

static void report_healthy(struct stream *s)
{
	if (!s->in_trouble)
		return;
	set_trouble(s, false);
	if (s->env->in_trouble == 0)
		s->env->ops.on_trouble(s->env->ctx, 0, NULL);
}

static void report_list(struct stream *s)
{
	if (s->list_reported)
		return;
	s->list_reported = true;
	s->env->stats.lists++;
	s->env->ops.on_list(s->env->ctx, s->ns);
}

static void report_lost(struct stream *s)
{
	if (!s->list_reported)
		return;
	s->list_reported = false;
	if (s->env->ops.on_list_failed)
		s->env->ops.on_list_failed(s->env->ctx, s->ns);
}

static void report_synced(struct stream *s)
{
	s->list_reported = false;
	s->env->ops.on_sync(s->env->ctx, s->ns);
	report_healthy(s);
	if (s->fallback)
		s->fallback->refusals = 0;
	if (s->fallback && s->fallback->each) /* not while one of them may be on the stack */
		event_active(s->fallback->retire, EV_TIMEOUT, 0);
}

static void add_namespaces(struct reflector *r, bool in_trouble);
static void feed(struct stream *s, enum core_event event, struct str rv, struct str token, int64_t retry_ms);

/* -- the answer arrives -- */

static bool is_protobuf(const char *type)
{
	const size_t n = sizeof(PROTOBUF) - 1;

	return strncasecmp(type, PROTOBUF, n) == 0 && (type[n] == '\0' || type[n] == ';' || type[n] == ' ');
}

static void on_headers(void *ctx, long status, const char *type, int64_t date_ms)
{
	struct stream *s = ctx;

	s->status = status;
	s->last_byte_ms = clock_boot_ms();
	if (date_ms > 0)
		s->env->ops.on_alive(s->env->ctx, date_ms);
	if (status != 200)
		return;
	s->good = is_protobuf(type);
	if (!s->good) {
		struct facts why = stream_trouble(TEXT_NOT_PROTOBUF);

		facts_quoted(&why, FACT_CONTENT_TYPE, STR_C(type));
		stream_body_refuse(&s->body, CORE_FAILED, &why);
		return;
	}
	if (s->core.request == CORE_WATCH)
		report_healthy(s);
	else
		report_list(s);
}

static void keep_error(struct stream *s, const void *p, size_t n)
{
	const size_t room = sizeof(s->error_body) - s->error_len;
	const size_t take = n < room ? n : room;

	memcpy(s->error_body + s->error_len, p, take);
	s->error_len += take;
}

static void report_alive(struct stream *s)
{
	if (s->last_byte_ms - s->alive_reported_ms < ALIVE_EVERY_MS)
		return;
	s->alive_reported_ms = s->last_byte_ms;
	s->env->ops.on_alive(s->env->ctx, 0);
}

static int on_data(void *ctx, const void *p, size_t n)
{
	struct stream *s = ctx;

	s->last_byte_ms = clock_boot_ms();
	if (s->good) /* the text of a refusal keeps no cache fresh */
		report_alive(s);
	if (s->body.end_why)
		return -1;
	if (!s->good) {
		keep_error(s, p, n);
		return 0;
	}
	return stream_body_feed(&s->body, p, n);
}

static void end_list(struct stream *s, const struct http_result *r)
{
	struct facts why = stream_trouble(TEXT_LIST_BROKE);

	if (r->failure == HTTP_OK && frame_parser_finish(&s->body.parser) == 0) {
		const char *rv = s->body.parser.resource_version, *token = s->body.parser.continue_token;

		feed(s, CORE_PAGE, STR_C(rv ? rv : ""), STR_C(token ? token : ""), 0);
		return;
	}
	facts_add(&why, &r->why);
	report_trouble(s, 0, &why);
	feed(s, CORE_FAILED, none, none, 0);
}

/* A server that has just begun may refuse for a moment what RBAC allows: soon at first, then rarely. */
static uint64_t all_retry_ms(struct reflector *r)
{
	const struct backoff_policy policy = { .base_ms = r->all_retry_ms / FIRST_RETRY_PART + 1,
					       .cap_ms = r->all_retry_ms,
					       .jitter = 0.2 };

	return backoff_delay_ms(&policy, ++r->refusals, backoff_random());
}

/* The fallback does the work, and the next round is far away. */
static void fall_back(struct stream *s, struct facts *why)
{
	s->forbidden = true;
	if (!s->fallback->each) {
		add_namespaces(s->fallback, true);
		facts_finding(why, TEXT_NAMED_ONLY);
		const struct facts whole = whole_trouble(s, why);

		if (s->env->ops.on_narrowed)
			s->env->ops.on_narrowed(s->env->ctx, &whole);
	}
	set_trouble(s, false); /* the namespaces' streams are, until they have synced */
}

static void end_refused(struct stream *s, const struct http_result *r)
{
	struct facts why;
	const enum core_event event = stream_body_refusal(r, s->error_body, s->error_len, &why);

	if (s->core.request == CORE_WATCHLIST && event == CORE_FAILED && r->status / 100 == 4) {
		/* The list that follows at once decides, and reports: a server before 1.32 knows no
		 * WatchList, and two texts in turn would be news for ever. */
	} else if (r->status == 403 && s->fallback) {
		if (s->core.request == CORE_LIST)
			fall_back(s, &why);
	} else if (event != CORE_EXPIRED && event != CORE_TOO_LARGE) {
		report_trouble(s, r->status, &why);
	}
	feed(s, event, none, none, r->retry_after_ms);
}

static void on_done(void *ctx, const struct http_result *r)
{
	struct stream *s = ctx;

	s->request = NULL;
	evtimer_del(s->watchdog);
	if (s->body.end_why) {
		const enum core_event event = s->body.end;

		if (event != CORE_EXPIRED && event != CORE_TOO_LARGE)
			report_trouble(s, s->good ? 0 : s->status, s->body.end_why);
		feed(s, event, none, none, 0);
	} else if (!s->good) {
		end_refused(s, r);
	} else if (s->core.request == CORE_LIST) {
		end_list(s, r);
	} else {
		/* Cut off or ended, also inside a frame: what was whole has been taken. */
		feed(s, CORE_ENDED, none, none, 0);
	}
}

/* -- half-open connections -- */

/* When a watch must be dead: the server should have ended it, or it has stalled although it never does. */
static uint64_t deadline_of(const struct stream *s)
{
	const uint64_t end = s->started_ms + (s->timeout_s + CORE_WATCH_GRACE_S) * UINT64_C(1000);
	const uint64_t stalled = s->last_byte_ms + s->env->stalled_ms;
	const bool talks = !s->good || s->body.bookmarks || s->core.request == CORE_WATCHLIST;

	return talks && stalled < end ? stalled : end;
}

static void on_watchdog(evutil_socket_t fd, short what, void *ctx)
{
	struct stream *s = ctx;
	const uint64_t now = clock_boot_ms(), deadline = deadline_of(s);

	(void)fd;
	(void)what;
	if (now < deadline) {
		evtimer_add(s->watchdog, CLOCK_TIMEVAL(deadline - now));
		return;
	}
	http_request_cancel(&s->request);
	if (!s->good) {
		report_text(s, TEXT_SERVER_SILENT);
		feed(s, CORE_BUSY, none, none, 0);
		return;
	}
	feed(s, CORE_STALLED, none, none, 0);
}

/* -- steps -- */

static void launch(struct stream *s, const struct core_step *step)
{
	_cleanup_free_ char *path =
		path_format("", "v1", *s->ns ? s->ns : NULL, s->env->kind->resource, NULL, NULL, step->query);
	const bool list = step->request == CORE_LIST;
	const struct http_call call = {
		.method = "GET",
		.path = path ? path : "",
		.accept = PROTOBUF,
		.idle_timeout_ms = list ? LIST_IDLE_MS : 0,
		.on_headers = on_headers,
		.on_data = on_data,
		.on_done = on_done,
		.ctx = s,
	};

	s->status = 0;
	s->good = false;
	s->error_len = 0;
	stream_body_begin(&s->body, step->limit);
	s->timeout_s = step->timeout_s;
	s->started_ms = s->last_byte_ms = clock_boot_ms();
	s->request = http_client_start(s->env->client, &call);
	if (!list)
		evtimer_add(s->watchdog, CLOCK_TIMEVAL(s->env->stalled_ms));
}

static void feed(struct stream *s, enum core_event event, struct str rv, struct str token, int64_t retry_ms)
{
	const struct core_input in = { event, clock_boot_ms(), backoff_random(), rv, token, retry_ms };
	struct core_step step;

	reflect_core_step(&s->core, &in, &step);
	if (step.list_lost)
		report_lost(s);
	if (step.list_synced)
		report_synced(s);
	if (step.backoff && event == CORE_ENDED)
		report_text(s, TEXT_WATCH_ENDS);
	if (step.backoff && step.list_lost && event == CORE_STALLED)
		report_text(s, TEXT_LIST_STALLED);
	if (s->forbidden && step.wait_ms) {
		s->forbidden = false;
		evtimer_add(s->timer, CLOCK_TIMEVAL(all_retry_ms(s->fallback)));
	} else if (step.wait_ms) {
		evtimer_add(s->timer, CLOCK_TIMEVAL(step.wait_ms));
	} else if (step.request != CORE_NONE) {
		launch(s, &step);
	}
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
	(void)fd;
	(void)what;
	feed(ctx, CORE_START, none, none, 0);
}

static void on_initial_end(void *ctx, struct str rv)
{
	feed(ctx, CORE_SYNCED, rv, none, 0);
}

/* Begins as soon as the loop runs. in_trouble: what it is to do is already reported as trouble. */
static struct stream *stream_new(struct stream_env *env, const char *ns, struct reflector *fallback,
				 bool in_trouble)
{
	struct stream *s = xcalloc(1, sizeof(*s));

	s->env = env;
	s->fallback = fallback;
	s->ns = xstrdup(ns);
	s->timer = evtimer_new(env->base, on_timer, s);
	s->watchdog = evtimer_new(env->base, on_watchdog, s);
	reflect_core_init(&s->core, &env->core);
	s->body = (struct stream_body){ env, &s->core, on_initial_end, s };
	set_trouble(s, in_trouble);
	evtimer_add(s->timer, CLOCK_TIMEVAL(0)); /* the consumer's pointer to the reflector comes first */
	return s;
}

/* Not from within the calls to the consumer. */
static void stream_free(struct stream **ref)
{
	struct stream *s = *ref;

	*ref = NULL;
	if (!s)
		return;
	set_trouble(s, false);
	http_request_cancel(&s->request);
	event_free(s->timer);
	event_free(s->watchdog);
	stream_body_done(&s->body);
	reflect_core_done(&s->core);
	free(s->ns);
	free(s);
}

/* -- which streams there are -- */

static void add_namespaces(struct reflector *r, bool in_trouble)
{
	r->each = xcalloc(r->namespaces.n, sizeof(*r->each));
	for (size_t i = 0; i < r->namespaces.n; i++)
		r->each[i] = stream_new(&r->env, r->namespaces.v[i], NULL, in_trouble);
}

static void remove_namespaces(struct reflector *r)
{
	for (size_t i = 0; r->each && i < r->namespaces.n; i++)
		stream_free(&r->each[i]);
	free(r->each);
	r->each = NULL;
}

/* Trouble of the namespaces ends with their streams. */
static void on_retire(evutil_socket_t fd, short what, void *ctx)
{
	struct reflector *r = ctx;
	const bool in_trouble = r->env.in_trouble > 0;

	(void)fd;
	(void)what;
	remove_namespaces(r);
	if (in_trouble && r->env.in_trouble == 0)
		r->env.ops.on_trouble(r->env.ctx, 0, NULL);
}

struct reflector *reflector_new(struct event_base *base, struct http_client *client,
				const struct reflector_config *config, const struct reflector_ops *ops,
				void *ctx)
{
	struct reflector *r = xcalloc(1, sizeof(*r));

	r->env.kind = &stream_kinds[config->what];
	r->env.base = base;
	r->env.client = client;
	r->env.ops = *ops;
	r->env.ctx = ctx;
	r->env.core =
		(struct core_config){ config->no_watchlist, config->page_size, config->backoff_base_ms };
	r->env.max_objects = config->max_objects;
	r->env.stalled_ms = config->stalled_ms ? config->stalled_ms : STALLED_MS;
	r->all_retry_ms = config->all_retry_ms ? config->all_retry_ms : ALL_RETRY_MS;
	r->retire = event_new(base, -1, 0, on_retire, r);
	for (size_t i = 0; i < config->n_namespaces; i++)
		str_list_add(&r->namespaces, config->namespaces[i], strlen(config->namespaces[i]));
	if (config->only_namespaces)
		add_namespaces(r, false);
	else
		r->all = stream_new(&r->env, "", r->namespaces.n ? r : NULL, false);
	return r;
}

void reflector_free(struct reflector **ref)
{
	struct reflector *r = *ref;

	*ref = NULL;
	if (!r)
		return;
	stream_free(&r->all);
	remove_namespaces(r);
	event_free(r->retire);
	str_list_done(&r->namespaces);
	free(r);
}

void reflector_stats(const struct reflector *r, struct reflector_stats *ret)
{
	*ret = r->env.stats;
}
