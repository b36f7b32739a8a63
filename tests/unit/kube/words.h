/* words.h - what a scripted API server says: watch events, lists, Status answers. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_KUBE_WORDS_H
#define TESTS_KUBE_WORDS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/http/server.h"
#include "tests/unit/kube/wire.h"

#define STREAM_HEAD                                                                                          \
	"HTTP/1.1 200 OK\r\nContent-Type: application/vnd.kubernetes.protobuf;stream=watch\r\n"              \
	"Date: Sat, 21 Nov 2026 10:22:48 GMT\r\nTransfer-Encoding: chunked\r\n\r\n"

/* Does the request line hold that? */
static inline bool asks(const char *request, const char *part)
{
	const char *end = strstr(request, " HTTP/1.1"), *at = strstr(request, part);

	return at && at < end;
}

static inline void send_chunk(struct server_conn *c, const void *p, size_t n)
{
	char size[32];

	snprintf(size, sizeof(size), "%zx\r\n", n);
	server_sends(c, size);
	server_send(c, p, n);
	server_sends(c, "\r\n");
}

static inline void end_chunks(struct server_conn *c)
{
	server_sends(c, "0\r\n\r\n");
}

static inline struct wire pod_of(const char *ns, const char *name, const char *rv, const char *phase)
{
	struct wire meta = { 0 }, status = { 0 }, pod = { 0 };

	wire_field_str(&meta, 1, name);
	wire_field_str(&meta, 3, ns);
	wire_field_str(&meta, 5, "6f1e7c1a-0d62-4a35-9f0a-1c2b3d4e5f60");
	wire_field_str(&meta, 6, rv);
	wire_field_message(&pod, 1, &meta);
	wire_field_str(&status, 1, phase);
	wire_field_message(&pod, 3, &status);
	return pod;
}

static inline struct wire event_of(const char *type, const char *name, const char *rv, const char *phase)
{
	struct wire w = { 0 }, pod = pod_of("shop", name, rv, phase);

	wire_event(&w, type, "v1", "Pod", &pod);
	return w;
}

static inline void send_event(struct server_conn *c, const char *type, const char *name, const char *rv)
{
	struct wire w = event_of(type, name, rv, "Running");

	send_chunk(c, w.p, w.n);
	wire_done(&w);
}

static inline void send_bookmark(struct server_conn *c, const char *rv, bool initial_end)
{
	struct wire w = { 0 }, meta = { 0 }, pair = { 0 }, pod = { 0 };

	wire_field_str(&meta, 6, rv);
	wire_field_str(&pair, 1, "k8s.io/initial-events-end");
	wire_field_str(&pair, 2, initial_end ? "true" : "false");
	wire_field_message(&meta, 12, &pair);
	wire_field_message(&pod, 1, &meta);
	wire_event(&w, "BOOKMARK", "v1", "Pod", &pod);
	send_chunk(c, w.p, w.n);
	wire_done(&w);
}

/* Events in words: +name@rv is ADDED, ~ MODIFIED, - DELETED; .rv is a bookmark, |rv one that ends the initial
 * events. */
static inline void send_words(struct server_conn *c, const char *words)
{
	char what, name[64];
	int n;

	for (; sscanf(words, " %c%63s%n", &what, name, &n) == 2; words += n) {
		char *at = strchr(name, '@');

		if (!at) {
			send_bookmark(c, name, what == '|');
			continue;
		}
		*at = '\0';
		send_event(c, what == '+' ? "ADDED" : what == '~' ? "MODIFIED" : "DELETED", name, at + 1);
	}
}

/* A stream that says so much and stays open. */
static inline int stream_words(struct server_conn *c, const char *words)
{
	server_sends(c, STREAM_HEAD);
	send_words(c, words);
	server_drain(c);
	return 0;
}

static inline struct wire status_of(int code, const char *reason, const char *message)
{
	struct wire s = { 0 };

	wire_field_str(&s, 3, message);
	wire_field_str(&s, 4, reason);
	wire_field_varint(&s, 6, (uint64_t)code);
	return s;
}

static inline int answer_status(struct server_conn *c, int code, const char *reason, const char *message)
{
	struct wire s = status_of(code, reason, message), w = { 0 };
	char head[256];

	wire_envelope(&w, "v1", "Status", &s);
	snprintf(head, sizeof(head),
		 "HTTP/1.1 %d X\r\nContent-Type: application/vnd.kubernetes.protobuf\r\nContent-Length: "
		 "%zu\r\n\r\n",
		 code, w.n);
	server_sends(c, head);
	server_send(c, (const char *)w.p, w.n);
	wire_done(&w);
	return 1;
}

static inline void send_error_event(struct server_conn *c, int code, const char *reason)
{
	struct wire s = status_of(code, reason, "scripted"), w = { 0 };

	wire_event(&w, "ERROR", "v1", "Status", &s);
	send_chunk(c, w.p, w.n);
	wire_done(&w);
}

static inline void send_list(struct server_conn *c, const char *ns, const char *const *names, const char *rv,
			     const char *token)
{
	struct wire meta = { 0 }, raw = { 0 }, w = { 0 };

	wire_field_str(&meta, 2, rv);
	wire_field_str(&meta, 3, token);
	wire_field_message(&raw, 1, &meta);
	for (; *names; names++) {
		struct wire pod = pod_of(ns, *names, rv, "Running");

		wire_field_message(&raw, 2, &pod);
	}
	wire_envelope(&w, "v1", "PodList", &raw);
	server_sends(c, STREAM_HEAD);
	for (size_t i = 0; i < w.n; i += 7) /* no piece holds a whole item */
		send_chunk(c, w.p + i, w.n - i < 7 ? w.n - i : 7);
	end_chunks(c);
	wire_done(&w);
}

#endif
