/* response_stream.c - see response_stream.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/history/response_stream.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

#define TRIES_MAX 5

struct answer {
	struct query *cursor;
	struct msg *held; /* made, but the channel was full */
	int failures;
};

struct response_stream {
	struct event *turn;
	const struct response_stream_ops *ops;
	void *ctx;
	struct answer answers[FEED_ANSWERS_MAX];
	size_t n;
	bool full;
};

static void answer_done(struct answer *a)
{
	query_free(&a->cursor);
	free(a->held);
	*a = (struct answer){ 0 };
}

/* 1: goes on; 0: the answer is complete; negative errno of the send. */
static int send_one(struct response_stream *f, struct answer *a)
{
	struct msg m;
	int r = a->held ? 1 : query_next(a->cursor, &m);

	if (r < 0) {
		f->ops->trouble(f->ctx, r);
		if (++a->failures < TRIES_MAX || !query_fail(a->cursor, &m))
			return r;
		r = 1;
	}
	if (r == 0)
		return 0;
	r = f->ops->send(f->ctx, a->held ? a->held : &m);
	if (r == -EAGAIN) {
		if (!a->held)
			a->held = xmemdup(&m, sizeof(m));
		f->full = true;
		return r;
	}
	free(a->held);
	a->held = NULL;
	return r < 0 ? 0 : 1; /* the peer is gone: nobody waits for the rest */
}

static int send_some(struct response_stream *f, struct answer *a)
{
	int r = 1;

	for (int i = 0; i < FEED_TURN && r == 1 && !f->full; i++)
		r = send_one(f, a);
	return r;
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
	const struct timeval soon = { 0, 0 }, later = { 1, 0 };
	struct response_stream *f = arg;
	bool trouble = false;
	size_t kept = 0;

	(void)fd;
	(void)what;
	for (size_t i = 0; i < f->n; i++) {
		const int r = f->full ? 1 : send_some(f, &f->answers[i]);

		trouble = trouble || (r < 0 && r != -EAGAIN);
		if (r == 0)
			answer_done(&f->answers[i]);
		else
			f->answers[kept++] = f->answers[i];
	}
	f->n = kept;
	if (f->n > 0 && !f->full)
		(void)event_add(f->turn, trouble ? &later : &soon);
}

struct response_stream *response_stream_new(struct event_base *base, const struct response_stream_ops *ops,
					    void *ctx)
{
	struct response_stream *f = xcalloc(1, sizeof(*f));

	f->turn = event_new(base, -1, 0, on_turn, f);
	f->ops = ops;
	f->ctx = ctx;
	return f;
}

void response_stream_free(struct response_stream **f)
{
	if (!*f)
		return;
	for (size_t i = 0; i < (*f)->n; i++)
		answer_done(&(*f)->answers[i]);
	event_free((*f)->turn);
	free(*f);
	*f = NULL;
}

static void wake(struct response_stream *f)
{
	const struct timeval soon = { 0, 0 };

	if (f->n > 0 && !f->full)
		(void)event_add(f->turn, &soon);
}

bool response_stream_add(struct response_stream *f, struct query *c)
{
	if (f->n == FEED_ANSWERS_MAX)
		return false;
	f->answers[f->n++] = (struct answer){ .cursor = c };
	wake(f);
	return true;
}

void response_stream_room(struct response_stream *f)
{
	f->full = false;
	wake(f);
}
