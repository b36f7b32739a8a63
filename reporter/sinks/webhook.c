/* webhook.c - see webhook.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/sinks/webhook.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"

/* Largest answer read. */
#define ANSWER_MAX ((size_t)4 * 1024)

struct webhook {
	struct event_base *base;
	webhook_answer_fn *fn;
	void *ctx;
	struct http_client *client;
	char *url;      /* of client; NULL = nowhere */
	char *post_url; /* of the post that runs */
	const struct post_ops *post_sink;
	struct http_request *request;
	struct event *deliver; /* hands the answer over outside of the client's own callback */
	struct sink_answer answer;
};

/* -- new, free -- */

static void on_deliver(evutil_socket_t fd, short what, void *arg)
{
	struct webhook *w = arg;

	(void)fd;
	(void)what;
	w->fn(w->ctx, &w->answer);
}

static void deliver(struct webhook *w)
{
	(void)event_add(w->deliver, CLOCK_TIMEVAL(0));
}

struct webhook *webhook_new(struct event_base *base, webhook_answer_fn *fn, void *ctx)
{
	struct webhook *w = xcalloc(1, sizeof(*w));

	*w = (struct webhook){ .base = base, .fn = fn, .ctx = ctx };
	w->deliver = event_new(base, -1, 0, on_deliver, w);
	return w;
}

void webhook_free(struct webhook **w)
{
	if (!*w)
		return;
	if ((*w)->request)
		http_request_cancel(&(*w)->request);
	http_client_free(&(*w)->client);
	event_free((*w)->deliver);
	free((*w)->url);
	free((*w)->post_url);
	free(*w);
	*w = NULL;
}

/* Where the path begins: "https://host:port|/open-apis/..." */
static size_t base_length(const char *url)
{
	const char *scheme = strstr(url, "://");
	const char *host = scheme ? scheme + 3 : url;

	return (size_t)(host - url) + strcspn(host, "/?#");
}

void webhook_set_url(struct webhook *w, const char *url, const char *address)
{
	free(w->url);
	w->url = NULL;
	if (!url || !*url)
		return;
	_cleanup_free_ char *base_url = xstrndup(url, base_length(url));
	const struct http_endpoint e = { .base_url = base_url,
					 .address = address,
					 .user_agent = "ops-pod-cleaner" };

	w->url = xstrdup(url);
	if (w->client)
		http_client_set_endpoint(w->client, &e);
	else
		w->client = http_client_new(w->base, &e);
}

/* -- posting -- */

static void on_done(void *ctx, const struct http_result *r)
{
	struct webhook *w = ctx;

	w->request = NULL;
	post_interpret(w->post_sink, r, w->post_url, &w->answer);
	deliver(w);
}

void webhook_post(struct webhook *w, char *body)
{
	if (!w->url) {
		free(body);
		w->answer = (struct sink_answer){
			.verdict = SINK_REFUSED, .code = -1, .retry_after_ms = -1, .text = "apiurl is not set"
		};
		deliver(w);
		return;
	}
	free(w->post_url);
	w->post_url = xstrdup(w->url);
	w->post_sink = sink_of(w->url);
	const char *path = w->url + base_length(w->url);
	_cleanup_free_ char *target =
		xasprintf("%s%.*s", *path == '/' ? "" : "/", (int)strcspn(path, "#"), path);
	const struct http_call call = {
		.method = "POST",
		.path = target,
		.content_type = w->post_sink->content_type,
		.body = body,
		.body_len = strlen(body),
		.max_body = ANSWER_MAX,
		.total_timeout_ms = WEBHOOK_TIMEOUT_MS,
		.on_done = on_done,
		.ctx = w,
	};

	w->request = http_client_start(w->client, &call);
	free(body);
}
