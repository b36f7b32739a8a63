/* stream_body.h - what the bytes of an answer mean: the items of a list, the events of a watch, and a
 * refusal. Layer: kube, internal to the reflector.  Pure but for the calls to the consumer. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_STREAM_BODY_H
#define KUBE_STREAM_BODY_H

#include "http/client.h"
#include "kube/frame.h"
#include "kube/reflect_core.h"
#include "kube/reflector_ops.h"
#include "text/texts.h"

/* What is listed and watched. */
struct stream_kind {
	const char *resource, *kind, *list_kind;
	bool namespaced;
	int (*decode)(const uint8_t *p, size_t n, struct pod_facts *ret);
	const char *no_protobuf, *no_name, *no_kind; /* why an object of a stream was skipped */
};
extern const struct stream_kind stream_kinds[REFLECT__MAX];

/* What all streams of a reflector share. */
struct stream_env {
	const struct stream_kind *kind;
	struct event_base *base;
	struct http_client *client;
	struct reflector_ops ops; /* the consumer */
	void *ctx;
	struct core_config core;
	uint64_t max_objects; /* of a list; 0 = no limit */
	uint64_t stalled_ms;  /* a watch that should speak and does not is dead */
	unsigned in_trouble;  /* streams of which trouble was reported, and not yet that it is over */
	struct reflector_stats stats;
	struct pod_facts facts; /* of the object in hand */
};

struct stream_body {
	struct stream_env *env;
	struct reflect_core *core; /* knows what was asked for; is told each resourceVersion */
	/* The bookmark that ends a WatchList's initial objects. */
	void (*on_initial_end)(void *ctx, struct str rv);
	void *ctx;
	bool bookmarks; /* this server sends them: their absence means something */
	/* Why the stream is to end, decided while its bytes arrive; end_why NULL = nothing decided. */
	enum core_event end;
	struct facts *end_why;     /* owned: FACT_TROUBLE and what it names */
	uint64_t items, items_max; /* of this page; no limit is 0 */
	struct frame_parser parser;
};

/* A new answer to what the core asked for, with this limit (0 = none); the caller has set the members up to
 * ctx before the first. */
void stream_body_begin(struct stream_body *b, uint32_t limit);
void stream_body_done(struct stream_body *b);
/* Hands each whole object in the bytes to the consumer. Not 0: the stream is to end, and end_why says why.
 */
int stream_body_feed(struct stream_body *b, const void *p, size_t n);
/* End the stream, unless that is decided already. why: FACT_TROUBLE and what it names. */
void stream_body_refuse(struct stream_body *b, enum core_event event, const struct facts *why);
/* A trouble, to add to what it names. */
struct facts stream_trouble(enum text trouble);
/* What an answer that is no stream means; its first bytes may hold a Status. *ret_why: a trouble. */
enum core_event stream_body_refusal(const struct http_result *r, const char *body, size_t n,
				    struct facts *ret_why);

#endif
