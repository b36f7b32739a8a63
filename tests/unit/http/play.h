/* play.h - one client, one request at a time, and what came of it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_HTTP_PLAY_H
#define TESTS_HTTP_PLAY_H

#include <check.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/client.h"
#include "tests/unit/http/server.h"

#define OK_HEAD "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"

struct run {
	struct event_base *base;
	struct http_client *client;
	struct http_request *request;
	unsigned done, headers, calls;
	struct http_result r;
	char type[128], body[256];
	size_t bytes;
	long status;
	int64_t date;
	int abort_at;
	bool cancel_in_data, again, free_in_done;
	struct http_call next;
};

static inline void on_done(void *ctx, const struct http_result *r)
{
	struct run *t = ctx;

	t->done++;
	t->r = *r;
	t->request = NULL;
	snprintf(t->type, sizeof(t->type), "%s", r->content_type);
	snprintf(t->body, sizeof(t->body), "%s", r->body);
	if (t->again) {
		t->again = false;
		t->request = http_client_start(t->client, &t->next);
		return;
	}
	if (t->free_in_done)
		http_client_free(&t->client);
	event_base_loopbreak(t->base);
}

static inline void on_headers(void *ctx, long status, const char *type, int64_t date)
{
	struct run *t = ctx;

	t->headers++;
	t->status = status;
	t->date = date;
	snprintf(t->type, sizeof(t->type), "%s", type);
}

static inline int on_data(void *ctx, const void *p, size_t n)
{
	struct run *t = ctx;

	(void)p;
	t->calls++;
	t->bytes += n;
	if (t->cancel_in_data) {
		http_request_cancel(&t->request);
		event_base_loopexit(t->base, &(struct timeval){ 0, 100000 });
	}
	return t->abort_at && t->bytes >= (size_t)t->abort_at;
}

static inline struct http_call call_of(struct run *t, const char *method, const char *path)
{
	return (struct http_call){ .method = method, .path = path, .on_done = on_done, .ctx = t };
}

static inline void open_run(struct run *t, const struct http_endpoint *e)
{
	t->base = event_base_new();
	t->client = http_client_new(t->base, e);
}

static inline void open_plain(struct run *t, const struct server *s)
{
	const struct http_endpoint e = { .base_url = s->url, .user_agent = "ops-pod-cleaner/test" };

	open_run(t, &e);
}

static inline void close_run(struct run *t)
{
	http_client_free(&t->client);
	event_base_free(t->base);
	t->base = NULL;
}

static inline void go(struct run *t, const struct http_call *call)
{
	t->done = 0;
	t->request = http_client_start(t->client, call);
	ck_assert_uint_eq(t->done, 0); /* never before start returned */
	event_base_dispatch(t->base);
}

static inline int serve_ok(struct server_conn *c, const char *request)
{
	(void)request;
	server_sends(c, OK_HEAD
		     "Content-Type: application/json\r\nDate: Sat, 21 Nov 2026 10:22:48 GMT\r\n\r\nhi");
	return 1;
}

#endif
