/* parts.h - a report as several posts of a Feishu bot: how the digest sends until it goes through the outbox,
 * and then this file goes.  Layer: process (reporter), sinks.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_SINKS_PARTS_H
#define REPORTER_SINKS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/client.h"
#include "reporter/sinks/sink.h"

/* Most messages of one report; what does not fit is counted in the last one. */
#define SINK_PARTS_MAX 20u

/* Paragraphs put together into messages: message k holds paragraphs [start[k], start[k + 1]). */
struct sink_parts {
	size_t start[SINK_PARTS_MAX + 1];
	size_t n;
	size_t left_out; /* paragraphs that did not fit into SINK_PARTS_MAX messages */
};

struct sink_message {
	const char *title, *secret; /* secret: of the chat's signature, "" = none */
	char *const *paragraphs;
	const struct sink_parts *parts;
	size_t part; /* which of them, from 0 */
	int64_t timestamp_s;
};

struct post_ops {
	const char *name;                /* in sentences: "a Feishu bot" */
	const char *content_type;        /* of what it is sent */
	unsigned per_second, per_minute; /* messages; at most SINK_PER_MINUTE_MAX a minute */
	/* Is this the address of such a chat? */
	bool (*accepts)(const char *url);
	/* Bytes: of a message, and of what surrounds title and paragraphs, and one paragraph, in it. Title
	 * and paragraphs are JSON strings. */
	size_t size_max, frame, around;
	/* Body of one message; the caller frees it. */
	char *(*render)(const struct sink_message *m);
	/* What a body that came with an HTTP answer says: code and verdict, and a message in *ret_text (""
	 * when it has none; the caller frees it). False when such a chat does not say that. */
	bool (*interpret)(const char *body, size_t n, struct sink_answer *ret, char **ret_text);
};
extern const struct post_ops post_feishu;

/* The first kind of chat that accepts this address; never NULL. */
const struct post_ops *sink_of(const char *url);

/* Greedy, in order, so that no message exceeds its room. A paragraph too large for a message of its own is
 * cut, between characters, when its message is rendered. */
void sink_split(const struct post_ops *ops, const char *title, char *const *paragraphs, size_t n,
		struct sink_parts *ret);
/* How many bytes of a paragraph go into a message. */
size_t sink_fitting(const struct post_ops *ops, const char *title, const char *paragraph);
/* What became of a message. url is only used to keep it out of the text. */
void post_interpret(const struct post_ops *ops, const struct http_result *r, const char *url,
		    struct sink_answer *ret);

#endif
