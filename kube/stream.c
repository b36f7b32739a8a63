/* stream.c - see stream.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/backoff.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "kube/request.h"

#define PROTOBUF     "application/vnd.kubernetes.protobuf"
#define LIST_IDLE_MS 60000u
/* A list comes in pieces of 16 KB; to tell of each is 2 % of the time it takes. */
#define ALIVE_EVERY_MS 100u

static const struct str none;

/* -- towards the consumer -------------------------------------------------------------------------------- */

static void tell_trouble(struct stream *s, long status, const char *text)
{
	char whole[512];

	s->in_trouble = true;
	(void)snprintf(whole, sizeof(whole), "pods of %s: %s", *s->ns ? s->ns : "all namespaces", text);
	s->owner->ops.on_trouble(s->owner->ctx, status, whole);
}

static bool any_trouble(const struct reflector *r)
{
	const struct stream *s;

	TAILQ_FOREACH (s, &r->streams, entry)
		if (s->in_trouble)
			return true;
	return false;
}

static void tell_healthy(struct stream *s)
{
	if (!s->in_trouble)
		return;
	s->in_trouble = false;
	if (!any_trouble(s->owner))
		s->owner->ops.on_trouble(s->owner->ctx, 0, "");
}

static void tell_list(struct stream *s)
{
	if (s->list_told)
		return;
	s->list_told = true;
	s->owner->stats.lists++;
	s->owner->ops.on_list(s->owner->ctx, s->ns);
}

static void tell_lost(struct stream *s)
{
	if (!s->list_told)
		return;
	s->list_told = false;
	s->owner->ops.on_list_failed(s->owner->ctx, s->ns);
}

static void tell_synced(struct stream *s)
{
	s->list_told = false;
	s->synced = true;
	s->owner->ops.on_sync(s->owner->ctx, s->ns);
	tell_healthy(s);
	if (s == s->owner->wide)
		reflector_wide_synced(s->owner);
}

/* -- the answer arrives ---------------------------------------------------------------------------------- */

static bool is_protobuf(const char *type)
{
	const size_t n = sizeof(PROTOBUF) - 1;

	return strncasecmp(type, PROTOBUF, n) == 0 && (type[n] == '\0' || type[n] == ';' || type[n] == ' ');
}

static void on_headers(void *ctx, long status, const char *type, int64_t date_ms)
{
	struct stream *s = ctx;
	char text[256];

	s->status = status;
	s->last_byte_ms = clock_boot_ms();
	if (date_ms > 0)
		s->owner->ops.on_alive(s->owner->ctx, date_ms);
	if (status != 200)
		return;
	s->good = is_protobuf(type);
	if (!s->good) {
		(void)snprintf(text, sizeof(text),
			       "the answer is '%.80s' instead of protobuf: is a proxy in between?", type);
		stream_set_verdict(s, CORE_FAILED, text);
		return;
	}
	if (s->core.request == CORE_WATCH)
		tell_healthy(s);
	else
		tell_list(s);
}

static void keep_error(struct stream *s, const void *p, size_t n)
{
	const size_t room = sizeof(s->error_body) - s->error_len;
	const size_t take = n < room ? n : room;

	memcpy(s->error_body + s->error_len, p, take);
	s->error_len += take;
}

static void tell_alive(struct stream *s)
{
	if (s->last_byte_ms - s->told_alive_ms < ALIVE_EVERY_MS)
		return;
	s->told_alive_ms = s->last_byte_ms;
	s->owner->ops.on_alive(s->owner->ctx, 0);
}

static int on_data(void *ctx, const void *p, size_t n)
{
	struct stream *s = ctx;
	int r = 0;

	s->last_byte_ms = clock_boot_ms();
	s->owner->stats.bytes += n;
	if (s->good) /* the text of a refusal keeps no cache fresh */
		tell_alive(s);
	if (s->verdict_text[0])
		return -1;
	if (!s->good) {
		keep_error(s, p, n);
		return 0;
	}
	if (s->core.request == CORE_LIST)
		r = list_parser_feed(&s->list, p, n);
	else
		r = frame_splitter_feed(&s->frames, p, n);
	if (r < 0 && !s->verdict_text[0])
		stream_set_verdict(s, CORE_FAILED, "the list is not the protobuf it should be");
	return r;
}

static void end_list(struct stream *s, const struct http_result *r)
{
	char text[256];

	if (r->failure == HTTP_OK && list_parser_finish(&s->list) == 0) {
		const char *rv = s->list.resource_version ? s->list.resource_version : "";
		const char *token = s->list.continue_token ? s->list.continue_token : "";

		stream_feed(s, CORE_PAGE, STR_C(rv), STR_C(token), 0);
		return;
	}
	(void)snprintf(text, sizeof(text), "the list broke off%s%.200s", r->error[0] ? ": " : "", r->error);
	tell_trouble(s, 0, text);
	stream_feed(s, CORE_FAILED, none, none, 0);
}

/* Cluster-wide is forbidden: the namespaces do the work, and the next round is far away. */
static void park(struct stream *s, const char *text)
{
	char whole[512];

	s->parked = true;
	(void)snprintf(whole, sizeof(whole), "%.255s; watching the configured namespaces one by one", text);
	if (reflector_wide_forbidden(s->owner))
		tell_trouble(s, 403, whole);
	s->in_trouble = false; /* the namespaces' streams are, until they have synced */
}

static void end_refused(struct stream *s, const struct http_result *r)
{
	char text[256];
	const enum core_event event = stream_judge_answer(s, r, text);

	s->owner->stats.relists_410 += event == CORE_EXPIRED;
	if (r->status == 403 && s->core.request == CORE_WATCHLIST) {
		/* The list that follows decides, and tells: two texts in turn would be news for ever. */
	} else if (r->status == 403 && s == s->owner->wide && s->owner->namespaces.n > 0) {
		if (s->core.request == CORE_LIST)
			park(s, text);
	} else if (event != CORE_EXPIRED && event != CORE_TOO_LARGE) {
		tell_trouble(s, r->status, text);
	}
	stream_feed(s, event, none, none, r->retry_after_ms);
}

static void on_done(void *ctx, const struct http_result *r)
{
	struct stream *s = ctx;

	s->request = NULL;
	evtimer_del(s->watchdog);
	if (s->verdict_text[0]) {
		const enum core_event event = s->verdict;

		s->owner->stats.relists_410 += event == CORE_EXPIRED;
		if (event != CORE_EXPIRED && event != CORE_TOO_LARGE)
			tell_trouble(s, s->good ? 0 : s->status, s->verdict_text);
		stream_feed(s, event, none, none, 0);
	} else if (!s->good) {
		end_refused(s, r);
	} else if (s->core.request == CORE_LIST) {
		end_list(s, r);
	} else {
		/* Cut off or ended, also inside a frame: what was whole has been taken. */
		stream_feed(s, CORE_ENDED, none, none, 0);
	}
}

/* -- half-open connections --------------------------------------------------------------------------------
 */

/* When a watch must be dead: the server should have ended it, or it has been silent although it never is. */
static uint64_t deadline_of(const struct stream *s)
{
	const uint64_t end = s->started_ms + (s->timeout_s + CORE_WATCH_GRACE_S) * UINT64_C(1000);
	const uint64_t silent = s->last_byte_ms + s->owner->silent_ms;
	const bool talks = !s->good || s->bookmarks || s->core.request == CORE_WATCHLIST;

	return talks && silent < end ? silent : end;
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
		tell_trouble(s, 0, "the API server does not answer");
		stream_feed(s, CORE_BUSY, none, none, 0);
		return;
	}
	stream_feed(s, CORE_SILENT, none, none, 0);
}

/* -- steps ------------------------------------------------------------------------------------------------
 */

static void reset_answer(struct stream *s)
{
	const struct frame_ops frame_ops = { stream_take_frame, stream_take_oversize, s };
	const struct frame_ops item_ops = { stream_take_item, stream_take_oversize, s };

	s->status = 0;
	s->good = false;
	s->error_len = 0;
	s->verdict_text[0] = '\0';
	frame_splitter_done(&s->frames);
	frame_splitter_init(&s->frames, &frame_ops);
	list_parser_done(&s->list);
	list_parser_init(&s->list, "PodList", &item_ops);
}

static void launch(struct stream *s, const struct core_step *step)
{
	_cleanup_free_ char *path =
		request_path("", "v1", *s->ns ? s->ns : NULL, "pods", NULL, NULL, step->query);
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

	reset_answer(s);
	s->timeout_s = step->timeout_s;
	s->started_ms = s->last_byte_ms = clock_boot_ms();
	s->request = http_client_start(s->owner->client, &call);
	if (!list)
		evtimer_add(s->watchdog, CLOCK_TIMEVAL(s->owner->silent_ms));
}

void stream_feed(struct stream *s, enum core_event event, struct str rv, struct str token, int64_t retry_ms)
{
	const struct core_input in = { event, clock_boot_ms(), backoff_random(), rv, token, retry_ms };
	struct core_step step;

	reflect_core_step(&s->core, &in, &step);
	if (step.list_lost)
		tell_lost(s);
	if (step.list_synced)
		tell_synced(s);
	if (step.backoff && event == CORE_ENDED)
		tell_trouble(s, 0, "the watch ends as soon as it begins");
	if (step.backoff && step.list_lost && event == CORE_SILENT)
		tell_trouble(s, 0, "the list fell silent before its end");
	if (s->parked && step.wait_ms) {
		s->parked = false;
		evtimer_add(s->timer, CLOCK_TIMEVAL(s->owner->wide_retry_ms));
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
	stream_feed(ctx, CORE_START, none, none, 0);
}

struct stream *stream_new(struct reflector *r, const char *ns)
{
	struct stream *s = xcalloc(1, sizeof(*s));

	s->owner = r;
	s->ns = xstrdup(ns);
	s->timer = evtimer_new(r->base, on_timer, s);
	s->watchdog = evtimer_new(r->base, on_watchdog, s);
	reflect_core_init(&s->core, &r->core_config);
	TAILQ_INSERT_TAIL(&r->streams, s, entry);
	evtimer_add(s->timer, CLOCK_TIMEVAL(0)); /* the consumer's pointer to the reflector comes first */
	return s;
}

void stream_free(struct stream *s)
{
	TAILQ_REMOVE(&s->owner->streams, s, entry);
	http_request_cancel(&s->request);
	event_free(s->timer);
	event_free(s->watchdog);
	frame_splitter_done(&s->frames);
	list_parser_done(&s->list);
	reflect_core_done(&s->core);
	free(s->ns);
	free(s);
}
