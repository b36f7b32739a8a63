/* response_stream.c - see response_stream.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/history/response_stream.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"

#define TRIES_MAX 5

struct response {
	struct query *query;
	struct msg *unsent; /* made, but the channel was full */
	int failures;
};

struct response_stream {
	struct event *run;
	const struct response_stream_ops *ops;
	void *ctx;
	struct response responses[RESPONSES_MAX];
	size_t n;
	bool full;
};

static void response_done(struct response *p)
{
	query_free(&p->query);
	free(p->unsent);
	*p = (struct response){ 0 };
}

/* 1: goes on; 0: the response is complete; negative errno of the send. */
static int send_one(struct response_stream *s, struct response *p)
{
	struct msg m;
	int r = p->unsent ? 1 : query_next(p->query, &m);

	if (r < 0) {
		s->ops->trouble(s->ctx, r);
		if (++p->failures < TRIES_MAX || !query_fail(p->query, &m))
			return r;
		r = 1;
	}
	if (r == 0)
		return 0;
	r = s->ops->send(s->ctx, p->unsent ? p->unsent : &m);
	if (r == -EAGAIN) {
		if (!p->unsent)
			p->unsent = xmemdup(&m, sizeof(m));
		s->full = true;
		return r;
	}
	free(p->unsent);
	p->unsent = NULL;
	return r < 0 ? 0 : 1; /* the peer is gone: nobody waits for the rest */
}

static int send_some(struct response_stream *s, struct response *p)
{
	int r = 1;

	for (int i = 0; i < RESPONSE_BATCH && r == 1 && !s->full; i++)
		r = send_one(s, p);
	return r;
}

static void wake(struct response_stream *s, uint64_t ms)
{
	if (s->n > 0 && !s->full)
		(void)event_add(s->run, CLOCK_TIMEVAL(ms));
}

static void on_run(evutil_socket_t fd, short what, void *arg)
{
	struct response_stream *s = arg;
	bool trouble = false;
	size_t kept = 0;

	(void)fd;
	(void)what;
	for (size_t i = 0; i < s->n; i++) {
		const int r = s->full ? 1 : send_some(s, &s->responses[i]);

		trouble = trouble || (r < 0 && r != -EAGAIN);
		if (r == 0)
			response_done(&s->responses[i]);
		else
			s->responses[kept++] = s->responses[i];
	}
	s->n = kept;
	wake(s, trouble ? 1000 : 0);
}

struct response_stream *response_stream_new(struct event_base *base, const struct response_stream_ops *ops,
					    void *ctx)
{
	struct response_stream *s = xcalloc(1, sizeof(*s));

	s->run = event_new(base, -1, 0, on_run, s);
	s->ops = ops;
	s->ctx = ctx;
	return s;
}

void response_stream_free(struct response_stream **s)
{
	if (!*s)
		return;
	for (size_t i = 0; i < (*s)->n; i++)
		response_done(&(*s)->responses[i]);
	event_free((*s)->run);
	free(*s);
	*s = NULL;
}

bool response_stream_add(struct response_stream *s, struct query *c)
{
	if (s->n == RESPONSES_MAX)
		return false;
	s->responses[s->n++] = (struct response){ .query = c };
	wake(s, 0);
	return true;
}

void response_stream_room(struct response_stream *s)
{
	s->full = false;
	wake(s, 0);
}
