/* client.c - libcurl's multi interface driven by libevent.
 * libcurl may not be re-entered from its own callbacks, and owners start and cancel from theirs: what can not
 * be done at once is marked on the request and done when the stack has left libcurl (catch_up). */
// SPDX-License-Identifier: Apache-2.0
#include "http/client.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "http/transfer.h"
#include "http/global.h"

#define KEPT_CONNECTIONS 16L

static void client_destroy(struct http_client *c);
static void note_end(struct http_client *c);

/* -- requests in and out -- */

static void finish(struct http_request *r, CURLcode code)
{
	struct http_client *c = r->client;
	const bool report = r->state != REQUEST_CANCELLED;
	struct http_result result;

	transfer_result(r, code, &result);
	if (r->easy)
		(void)curl_multi_remove_handle(c->multi, r->easy);
	transfer_release(r, report && result.failure == HTTP_OK);
	TAILQ_REMOVE(&c->requests, r, entry);
	note_end(c);
	r->state = REQUEST_DONE;
	if (report)
		transfer_note(r, result.failure == HTTP_OK ? result.status : 0);
	if (report)
		r->call.on_done(r->call.ctx, &result);
	transfer_free(r);
}

static void on_idle(evutil_socket_t fd, short what, void *ctx);

static void arm_idle(struct http_request *r, uint64_t ms)
{
	if (!r->idle_timer)
		r->idle_timer = evtimer_new(r->client->sockets.base, on_idle, r);
	evtimer_add(r->idle_timer, CLOCK_TIMEVAL(ms));
}

static void launch(struct http_request *r)
{
	struct http_client *c = r->client;

	if (r->problem) {
		finish(r, CURLE_OK);
		return;
	}
	r->state = REQUEST_RUNNING;
	if (curl_multi_add_handle(c->multi, r->easy) != CURLM_OK) {
		transfer_fail(r, HTTP_CONNECT, TEXT_NO_MORE_REQUESTS);
		r->state = REQUEST_NEW;
		event_active(c->started, EV_TIMEOUT, 0);
		return;
	}
	/* libcurl asks to be called again in 0 ms: that need not go through the kernel. */
	event_active(c->timer, EV_TIMEOUT, 0);
	if (!r->call.idle_timeout_ms)
		return;
	r->last_byte_ms = clock_boot_ms();
	arm_idle(r, r->call.idle_timeout_ms);
}

static void reap(struct http_client *c)
{
	const CURLMsg *m;
	int left;

	while (!c->doomed && (m = curl_multi_info_read(c->multi, &left))) {
		struct http_request *r = NULL;
		const CURLcode code = m->data.result;

		if (m->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &r);
		finish(r, code);
	}
}

static struct http_request *find_pending(struct http_client *c)
{
	struct http_request *r;

	TAILQ_FOREACH (r, &c->requests, entry)
		if (r->state == REQUEST_CANCELLED || (r->state == REQUEST_NEW && !c->doomed))
			return r;
	return NULL;
}

/* Outside libcurl: report ends, carry out what callbacks asked for. */
static void catch_up(struct http_client *c)
{
	struct http_request *r;

	reap(c);
	while ((r = find_pending(c)))
		if (r->state == REQUEST_NEW)
			launch(r);
		else
			finish(r, CURLE_OK);
}

static void enter(struct http_client *c)
{
	c->depth++;
}

static void leave(struct http_client *c)
{
	if (c->depth == 1)
		catch_up(c);
	if (--c->depth == 0 && c->doomed)
		client_destroy(c);
}

static void on_idle(evutil_socket_t fd, short what, void *ctx)
{
	struct http_request *r = ctx;
	struct http_client *c = r->client;
	const uint64_t stalled_ms = clock_boot_ms() - r->last_byte_ms;

	(void)fd;
	(void)what;
	if (stalled_ms < r->call.idle_timeout_ms) {
		arm_idle(r, r->call.idle_timeout_ms - stalled_ms);
		return;
	}
	enter(c);
	transfer_fail(r, HTTP_TIMEOUT, TEXT_NOTHING_ARRIVED);
	finish(r, CURLE_OK);
	leave(c);
}

/* -- libcurl on libevent -- */

static void nudge(struct http_client *c)
{
	const struct http_request *r;

	c->sockets.lost = false;
	TAILQ_FOREACH (r, &c->requests, entry)
		if (r->state == REQUEST_RUNNING && r->sends == 0)
			sockets_nudge(r->easy);
}

static void drive(void *ctx, curl_socket_t fd, int events)
{
	struct http_client *c = ctx;
	int running;

	enter(c);
	(void)curl_multi_socket_action(c->multi, fd, events, &running);
	if (c->sockets.lost)
		nudge(c);
	leave(c);
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
	(void)fd;
	(void)what;
	drive(ctx, CURL_SOCKET_TIMEOUT, 0);
}

static void on_started(evutil_socket_t fd, short what, void *ctx)
{
	(void)fd;
	(void)what;
	enter(ctx);
	leave(ctx);
}

static int set_timer(CURLM *multi, long ms, void *ctx)
{
	struct http_client *c = ctx;

	(void)multi;
	if (ms < 0)
		evtimer_del(c->timer);
	else
		evtimer_add(c->timer, CLOCK_TIMEVAL((uint64_t)ms));
	return 0;
}

static CURLM *multi_new(struct http_client *c)
{
	CURLM *multi = curl_multi_init();

	if (!multi)
		abort();
	(void)curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, sockets_watch);
	(void)curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, &c->sockets);
	(void)curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
	(void)curl_multi_setopt(multi, CURLMOPT_TIMERDATA, c);
	(void)curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
	(void)curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, KEPT_CONNECTIONS);
	return multi;
}

/* -- quiet: libcurl closes what it keeps only while it works for a request -- */

static void note_end(struct http_client *c)
{
	if (!TAILQ_EMPTY(&c->requests))
		return;
	c->last_end_ms = clock_boot_ms();
	if (!evtimer_pending(c->quiet, NULL))
		evtimer_add(c->quiet, CLOCK_TIMEVAL(IDLE_CONN_MAX_S * 1000));
}

/* No kept connection would be used again: with them goes what they and all handles but one hold of memory.
 */
static void on_quiet(evutil_socket_t fd, short what, void *ctx)
{
	struct http_client *c = ctx;
	const uint64_t quiet = clock_boot_ms() - c->last_end_ms;

	(void)fd;
	(void)what;
	if (!TAILQ_EMPTY(&c->requests))
		return;
	if (quiet < IDLE_CONN_MAX_S * 1000) {
		evtimer_add(c->quiet, CLOCK_TIMEVAL(IDLE_CONN_MAX_S * 1000 - quiet));
		return;
	}
	endpoint_free_idle(c->endpoint, 1);
	(void)curl_multi_cleanup(c->multi);
	c->multi = multi_new(c);
}

/* -- the interface -- */

struct http_client *http_client_new(struct event_base *base, const struct http_endpoint *e)
{
	struct http_client *c = xcalloc(1, sizeof(*c));

	http_global_init();
	c->sockets = (struct sockets){
		.base = base, .drive = drive, .ctx = c, .is_answered = transfer_is_answered
	};
	c->endpoint = endpoint_new(e);
	c->timer = evtimer_new(base, on_timer, c);
	c->started = event_new(base, -1, 0, on_started, c);
	c->quiet = evtimer_new(base, on_quiet, c);
	TAILQ_INIT(&c->requests);
	c->multi = multi_new(c);
	return c;
}

static void client_destroy(struct http_client *c)
{
	struct http_request *r;

	c->doomed = true;
	while ((r = TAILQ_FIRST(&c->requests))) {
		r->state = REQUEST_CANCELLED;
		finish(r, CURLE_OK);
	}
	(void)curl_multi_cleanup(c->multi);
	event_free(c->timer);
	event_free(c->started);
	event_free(c->quiet);
	endpoint_unref(&c->endpoint);
	free(c);
}

void http_client_free(struct http_client **ref)
{
	struct http_client *c = *ref;
	struct http_request *r;

	*ref = NULL;
	if (!c)
		return;
	if (c->depth == 0) {
		client_destroy(c);
		return;
	}
	c->doomed = true; /* a callback of ours is on the stack: leave() destroys */
	TAILQ_FOREACH (r, &c->requests, entry)
		r->state = REQUEST_CANCELLED;
}

void http_client_set_endpoint(struct http_client *c, const struct http_endpoint *e)
{
	struct endpoint *fresh = endpoint_new(e);

	endpoint_unref(&c->endpoint);
	c->endpoint = fresh;
}

void http_client_watch(struct http_client *c, http_seen_fn *fn, void *ctx)
{
	c->seen = fn;
	c->seen_ctx = ctx;
}

struct http_request *http_client_start(struct http_client *c, const struct http_call *call)
{
	struct http_request *r = transfer_new(c, call);

	TAILQ_INSERT_TAIL(&c->requests, r, entry);
	if (!r->problem && c->depth == 0)
		launch(r);
	else if (c->depth == 0)
		event_active(c->started, EV_TIMEOUT, 0); /* on_done must not come before we return */
	return r;
}

void http_request_cancel(struct http_request **ref)
{
	struct http_request *r = *ref;

	*ref = NULL;
	if (!r || r->state == REQUEST_DONE)
		return;
	r->state = REQUEST_CANCELLED;
	if (r->client->depth == 0)
		finish(r, CURLE_OK);
}
