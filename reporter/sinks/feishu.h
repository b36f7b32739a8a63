/* feishu.h - the custom bot of Feishu/Lark: message bodies, signature, limits, and what an answer means.
 * Pure.  Layer: process (reporter).
 * Source: open.feishu.cn, client-docs/bot-v3/add-custom-bot: body up to 20 KB, 5 messages a second and 100 a
 * minute, success is code 0 in the JSON answer and not the HTTP status. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_SINKS_FEISHU_H
#define REPORTER_SINKS_FEISHU_H

#include <stddef.h>
#include <stdint.h>

#include "http/client.h"

/* Largest body made, below the bot's 20 KB. */
#define FEISHU_BODY_MAX ((size_t)18 * 1024)
/* Most messages of one digest; what does not fit is counted in the last one. */
#define FEISHU_PARTS_MAX 20u
/* Largest answer read. */
#define FEISHU_ANSWER_MAX ((size_t)4 * 1024)
#define FEISHU_SIGN_MAX   48

/* base64(HMAC-SHA256(key = "<timestamp>\n<secret>", message = "")); timestamp in seconds. */
void feishu_sign(const char *secret, int64_t timestamp_s, char ret[static FEISHU_SIGN_MAX]);

/* Paragraphs put together into messages: body k holds paragraphs [start[k], start[k + 1]). */
struct feishu_parts {
	size_t start[FEISHU_PARTS_MAX + 1];
	size_t n;
	size_t left_out; /* paragraphs that did not fit into FEISHU_PARTS_MAX messages */
};
/* Greedy, in order, so that no body exceeds FEISHU_BODY_MAX. A paragraph too large for a message of its own
 * is cut, between characters, when its body is made. */
void feishu_split(const char *title, char *const *paragraphs, size_t n, struct feishu_parts *ret);
/* JSON body of message `part`; "title (i/n)" when there are several; signed when secret is not empty. The
 * caller frees it. */
char *feishu_body(const char *title, char *const *paragraphs, const struct feishu_parts *parts, size_t part,
		  const char *secret, int64_t timestamp_s);

enum feishu_verdict {
	FEISHU_ACCEPTED,
	FEISHU_AGAIN,    /* certainly not delivered, worth another try */
	FEISHU_REFUSED,  /* certainly not delivered, no use trying again */
	FEISHU_IN_DOUBT, /* it may have been delivered: never sent again */
};
struct feishu_answer {
	enum feishu_verdict verdict;
	int64_t code;           /* of the JSON answer; -1 when there was none */
	int64_t retry_after_ms; /* what the server asked for; -1 */
	char text[160];         /* for logs: printable, without the address */
};
/* url is only used to keep it out of the text. */
void feishu_judge(const struct http_result *r, const char *url, struct feishu_answer *ret);

/* Limits of the bot: the times of the last messages (boot clock). Zero-initialised is empty. */
#define FEISHU_PER_SECOND 5u
#define FEISHU_PER_MINUTE 100u
struct feishu_limit {
	uint64_t sent_ms[FEISHU_PER_MINUTE]; /* ring */
	size_t n, next;
};
/* ms to wait before a message may be sent. */
uint64_t feishu_limit_wait(const struct feishu_limit *l, uint64_t now_ms);
void feishu_limit_sent(struct feishu_limit *l, uint64_t now_ms);

#endif
