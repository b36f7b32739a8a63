/* sink.h - a kind of chat that reports are posted to. Each is one file with one `struct sink_ops`, and one
 * row in sink.c; what they have in common is here.  Layer: process (reporter), sinks.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_SINKS_SINK_H
#define REPORTER_SINKS_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/client.h"

/* Most messages of one report; what does not fit is counted in the last one. */
#define SINK_PARTS_MAX 20u

/* Paragraphs put together into messages: message k holds paragraphs [start[k], start[k + 1]). */
struct sink_parts {
	size_t start[SINK_PARTS_MAX + 1];
	size_t n;
	size_t left_out; /* paragraphs that did not fit into SINK_PARTS_MAX messages */
};

enum sink_verdict {
	SINK_ACCEPTED,
	SINK_AGAIN,    /* certainly not delivered, worth another try */
	SINK_REFUSED,  /* certainly not delivered, no use trying again */
	SINK_IN_DOUBT, /* it may have been delivered: never sent again */
};
struct sink_answer {
	enum sink_verdict verdict;
	int64_t code;           /* of the chat's own answer; -1 when there was none */
	int64_t retry_after_ms; /* what the server asked for; -1 */
	char text[160];         /* for logs: printable, without the address */
};

struct sink_message {
	const char *title, *secret; /* secret: of the chat's signature, "" = none */
	char *const *paragraphs;
	const struct sink_parts *parts;
	size_t part; /* which of them, from 0 */
	int64_t timestamp_s;
};

struct sink_ops {
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
extern const struct sink_ops sink_feishu;

/* The first kind of chat that accepts this address; never NULL. */
const struct sink_ops *sink_of(const char *url);

/* Greedy, in order, so that no message exceeds its room. A paragraph too large for a message of its own is
 * cut, between characters, when its message is rendered. */
void sink_split(const struct sink_ops *ops, const char *title, char *const *paragraphs, size_t n,
		struct sink_parts *ret);
/* How many bytes of a paragraph go into a message. */
size_t sink_fitting(const struct sink_ops *ops, const char *title, const char *paragraph);
/* What became of a message. url is only used to keep it out of the text. */
void sink_interpret(const struct sink_ops *ops, const struct http_result *r, const char *url,
		    struct sink_answer *ret);

/* The times of the last messages (boot clock). Zero-initialised is empty. */
#define SINK_PER_MINUTE_MAX 100u
struct sink_limit {
	uint64_t sent_ms[SINK_PER_MINUTE_MAX]; /* ring */
	size_t n, next;
};
/* ms to wait before a message may be sent. */
uint64_t sink_limit_wait(const struct sink_limit *l, const struct sink_ops *ops, uint64_t now_ms);
void sink_limit_sent(struct sink_limit *l, uint64_t now_ms);

#endif
