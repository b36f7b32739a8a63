/* webhook.c - see webhook.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/sinks/webhook.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

struct webhook {
	struct event_base *base;
	webhook_answer_fn *fn;
	void *ctx;
	struct http_client *client, *retired;
	char *url;      /* of client */
	char *post_url; /* of the post that runs */
	struct http_request *request;
	struct event *deliver; /* hands the answer over outside of the client's own callback */
	struct feishu_answer answer;
};

/* -- life ------------------------------------------------------------------------------------------------ */

static void on_deliver(evutil_socket_t fd, short what, void *arg)
{
	struct webhook *h = arg;

	(void)fd;
	(void)what;
	h->fn(h->ctx, &h->answer);
}

static void deliver(struct webhook *h)
{
	static const struct timeval now = { 0, 0 };

	(void)event_add(h->deliver, &now);
}

struct webhook *webhook_new(struct event_base *base, webhook_answer_fn *fn, void *ctx)
{
	struct webhook *h = xcalloc(1, sizeof(*h));

	*h = (struct webhook){ .base = base, .fn = fn, .ctx = ctx };
	h->deliver = event_new(base, -1, 0, on_deliver, h);
	return h;
}

void webhook_free(struct webhook **h)
{
	if (!*h)
		return;
	if ((*h)->request)
		http_request_cancel(&(*h)->request);
	http_client_free(&(*h)->client);
	http_client_free(&(*h)->retired);
	event_free((*h)->deliver);
	free((*h)->url);
	free((*h)->post_url);
	free(*h);
	*h = NULL;
}

/* Where the path begins: "https://host:port|/open-apis/..." */
static size_t base_length(const char *url)
{
	const char *scheme = strstr(url, "://");
	const char *host = scheme ? scheme + 3 : url;

	return (size_t)(host - url) + strcspn(host, "/?#");
}

void webhook_set_url(struct webhook *h, const char *url, const char *address)
{
	if (h->request && !h->retired)
		h->retired = TAKE_PTR(h->client);
	http_client_free(&h->client);
	free(h->url);
	h->url = NULL;
	if (!url || !*url)
		return;
	_cleanup_free_ char *base_url = xstrndup(url, base_length(url));
	const struct http_endpoint e = { .base_url = base_url,
					 .address = address,
					 .user_agent = "ops-pod-cleaner" };

	h->url = xstrdup(url);
	h->client = http_client_new(h->base, &e);
}

/* -- posting --------------------------------------------------------------------------------------------- */

static void on_done(void *ctx, const struct http_result *r)
{
	struct webhook *h = ctx;

	h->request = NULL;
	feishu_judge(r, h->post_url, &h->answer);
	deliver(h);
}

void webhook_post(struct webhook *h, char *body)
{
	if (!h->client) {
		free(body);
		h->answer = (struct feishu_answer){ FEISHU_REFUSED, -1, -1, "apiurl is not set" };
		deliver(h);
		return;
	}
	http_client_free(&h->retired);
	free(h->post_url);
	h->post_url = xstrdup(h->url);
	const char *path = h->url + base_length(h->url);
	_cleanup_free_ char *target =
		xasprintf("%s%.*s", *path == '/' ? "" : "/", (int)strcspn(path, "#"), path);
	const struct http_call call = {
		.method = "POST",
		.path = target,
		.content_type = "application/json; charset=utf-8",
		.body = body,
		.body_len = strlen(body),
		.max_body = FEISHU_ANSWER_MAX,
		.total_timeout_ms = HOOK_TIMEOUT_MS,
		.on_done = on_done,
		.ctx = h,
	};

	h->request = http_client_start(h->client, &call);
	free(body);
}
