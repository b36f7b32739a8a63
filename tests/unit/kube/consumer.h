/* consumer.h - a reflector's consumer that writes down what it is told, word by word. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_KUBE_CONSUMER_H
#define TESTS_KUBE_CONSUMER_H

#include <check.h>
#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "kube/reflector.h"
#include "tests/facts_en.h"
#include "tests/unit/http/server.h"

struct seen {
	struct server server;
	struct event_base *base;
	struct http_client *client;
	struct reflector *reflector;
	char text[4096]; /* what happened, word by word */
	char trouble[512], bad[512];
	long trouble_status;
	const char *until; /* stop when text ends so */
	int64_t date;
	unsigned requests; /* that the server had had in the end */
};

static inline void note(struct seen *s, const char *word, struct str name)
{
	const size_t n = strlen(s->text);

	snprintf(s->text + n, sizeof(s->text) - n, "%s%.*s ", word, (int)name.n, name.n ? name.p : "");
	const size_t len = strlen(s->text), want = strlen(s->until);

	if (len >= want && strcmp(s->text + len - want, s->until) == 0)
		event_base_loopbreak(s->base);
}

static inline void on_list(void *ctx, const char *ns)
{
	note(ctx, "list:", STR_C(ns));
}
static inline void on_pod(void *ctx, const struct pod_facts *pod)
{
	note(ctx, "+", pod->name);
}
static inline void on_delete(void *ctx, const struct pod_facts *pod)
{
	note(ctx, "-", pod->name);
}
static inline void on_sync(void *ctx, const char *ns)
{
	note(ctx, "sync:", STR_C(ns));
}
static inline void on_list_failed(void *ctx, const char *ns)
{
	note(ctx, "failed:", STR_C(ns));
}
static inline void on_alive(void *ctx, int64_t date)
{
	struct seen *s = ctx;

	s->date = date ? date : s->date;
}
static inline void on_trouble(void *ctx, long status, const struct facts *why)
{
	struct seen *s = ctx;

	if (why) {
		s->trouble_status = status;
		snprintf(s->trouble, sizeof(s->trouble), "%s", EN(*why));
	}
	note(ctx, why ? "trouble" : "healthy", (struct str){ 0 });
}
/* With the facts of a trouble, under a word of its own. */
static inline void on_narrowed(void *ctx, const struct facts *why)
{
	struct seen *s = ctx;

	s->trouble_status = 0;
	snprintf(s->trouble, sizeof(s->trouble), "%s", EN(*why));
	note(ctx, "narrowed", (struct str){ 0 });
}
static inline void on_bad_object(void *ctx, const char *text)
{
	struct seen *s = ctx;

	snprintf(s->bad, sizeof(s->bad), "%s", text);
	note(ctx, "bad", (struct str){ 0 });
}

static const struct reflector_ops ops = { on_list,  on_pod,     on_delete,     on_sync, on_list_failed,
					  on_alive, on_trouble, on_bad_object, NULL,    on_narrowed };

/* fn NULL: nobody answers. */
static inline void play_begin(struct seen *s, server_fn *fn, const struct reflector_config *config,
			      const char *until)
{
	*s = (struct seen){ .base = event_base_new(), .until = until };
	if (fn)
		server_start(&s->server, fn, false);
	const struct http_endpoint e = { .base_url = fn ? s->server.url : "http://127.0.0.1:1",
					 .user_agent = "ops-pod-cleaner/test" };

	s->client = http_client_new(s->base, &e);
	s->reflector = reflector_new(s->base, s->client, config, &ops, s);
}

/* Until the text ends so, or that time is over. */
static inline void play_for(struct seen *s, int ms)
{
	event_base_loopexit(s->base, &(struct timeval){ ms / 1000, ms % 1000 * 1000 });
	event_base_dispatch(s->base);
	s->requests = s->server.log ? s->server.log->requests : 0;
}

static inline void play_end(struct seen *s)
{
	reflector_free(&s->reflector);
	http_client_free(&s->client);
	event_base_free(s->base);
	if (s->server.log)
		server_stop(&s->server);
}

static inline struct seen run(server_fn *fn, const struct reflector_config *config, const char *until)
{
	struct seen s;

	play_begin(&s, fn, config, until);
	play_for(&s, 12000);
	play_end(&s);
	return s;
}

/* Pieces that came with the last word may still be told after it. */
static inline void begins_with(const char *text, const char *want)
{
	ck_assert_msg(strncmp(text, want, strlen(want)) == 0, "%s", text);
}

#endif
