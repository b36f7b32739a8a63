/* sink.h - a type of place that news is sent to. Each is one file with one `struct sink_ops`, and one row in
 * sink.c (by enum sink_type); what they have in common is here: what fits, the request, what an answer means,
 * how often.  Layer: process (reporter), sinks.  Pure.
 * A document never becomes several messages. What has no room is left out from the end of its longest section
 * and counted ("... and N more"); a text that is longer than any reader wants is cut. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_SINKS_SINK_H
#define REPORTER_SINKS_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/settings.h"
#include "http/client.h"
#include "model/sink_types.h"
#include "reporter/news/document.h"

/* -- what became of a message -- */

enum sink_verdict {
	SINK_ACCEPTED,
	SINK_AGAIN,   /* certainly not delivered, worth another try */
	SINK_REFUSED, /* certainly not delivered, because of what is in it: no use trying again */
	SINK_BLOCKED, /* certainly not delivered, nor would another one be until somebody corrects the sink */
	SINK_UNKNOWN, /* it may have been delivered */
};
/* What an operator has to look at. */
enum sink_cause {
	SINK_NO_CAUSE,
	SINK_UNREACHABLE, /* no connection, or it ended early */
	SINK_PROXY,       /* its proxy is not reached, or lets nothing through */
	SINK_BAD_SECRET,  /* the signature or the password is wrong, or the clock */
	SINK_BAD_ADDRESS, /* there is no such bot, or another thing answers */
	SINK_NO_KEYWORD,  /* the bot takes only messages with a word that its owner set */
	SINK_FORBIDDEN,   /* this host may not send: the bot's list of addresses, or it was switched off */
	SINK_TOO_OFTEN,
	SINK_TOO_LARGE,
	SINK_BROKEN, /* it has a trouble of its own */
	SINK_OTHER,
};
struct sink_answer {
	enum sink_verdict verdict;
	enum sink_cause cause;
	int64_t code;           /* of the sink's own answer; -1 when there was none */
	int64_t retry_after_ms; /* what the server asked for; -1 */
	bool other_form;        /* refused for its form: the next one may be taken */
	char text[160];         /* for logs: printable, without the address */
};

/* -- a type -- */

/* A document as much of it as is shown. */
struct sink_view {
	const struct sink_settings *sink;
	const struct document *doc;
	unsigned form;
	int64_t now_ms;      /* when it is sent, Unix ms */
	size_t sections;     /* of its sections, from the first */
	const size_t *shown; /* entries of each of them, from the first */
	size_t text_max;     /* bytes of one text */
	size_t lines_max;    /* of an entry, and of the document */
};

/* What is sent, beside what all have in common. All owned. */
struct sink_request {
	char *path;              /* with its query; as in the address, unless the type changes it */
	struct str_list headers; /* "Name: value" */
	char *body;
};

struct sink_ops {
	size_t size_max;                 /* bytes of a body, less what request() adds */
	unsigned per_second, per_minute; /* messages; 0 = no limit; at most SINK_PER_MINUTE_MAX a minute */
	unsigned forms;                  /* how many there are; form 0 is the best one */
	bool knows_ids;                  /* a message that is sent twice is one */
	int64_t again_ms; /* what stands is sent again so often of itself; 0 = as tell.remind says */
	bool is_mail;     /* it goes by http/mail.h; interpret() gets what email.h makes */
	bool whole;       /* machines read it: long texts are cut only when they must be */
	const char *content_type;
	/* The body, which the caller frees; NULL when something in it has a limit that this exceeds. The
	 * smallest view of any document must fit. */
	char *(*render)(const struct sink_view *v);
	/* Signature, path, headers. NULL = none. */
	void (*request)(const struct sink_settings *s, const struct document *doc, int64_t now_ms,
			struct sink_request *rq);
	/* What an HTTP answer says: verdict, cause, code, and a message in *ret_text (NULL when it has none;
	 * the caller frees it). False when such a sink does not say that. It says SINK_REFUSED of both kinds:
	 * which of them are SINK_BLOCKED says the cause (sink.c, shut_by). */
	bool (*interpret)(const struct http_result *r, struct sink_answer *ret, char **ret_text);
};
/* NULL while a type has none. */
const struct sink_ops *sink_ops_of(uint64_t type);

extern const struct sink_ops sink_feishu, sink_dingtalk, sink_wecom, sink_slack, sink_teams,
	sink_alertmanager, sink_webhook, sink_email;

/* How long attention stands before s is told of it again: remind_ms, 0 = never, or as its type needs it. */
int64_t sink_remind_ms(const struct sink_settings *s, uint64_t remind_ms);

/* -- for whoever sends -- */

/* The request that carries doc to s, and how many entries had no room; sink_request_done() frees it. form is
 * below forms. */
void sink_compose(const struct sink_settings *s, const struct document *doc, unsigned form, int64_t now_ms,
		  struct sink_request *ret, uint64_t *ret_left_out);
void sink_request_done(struct sink_request *rq);
/* What became of it. */
void sink_interpret(const struct sink_settings *s, const struct http_result *r, struct sink_answer *ret);
/* Where the path begins: "https://host:port|/open-apis/..." */
size_t sink_base_length(const char *url);

/* -- for the types -- */

/* What a code of its own means; the last row of a table has code 0. */
struct sink_code {
	int64_t code;
	enum sink_verdict verdict;
	enum sink_cause cause;
	int64_t retry_after_ms; /* 0 = it is not said */
	bool other_form;
};
/* What an HTTP status says of itself: verdict and cause. */
void sink_judge_status(long status, struct sink_answer *ret);
/* An answer {code_key: 0, text_key: "..."}; what is in no row is refused. */
bool sink_read_code(const struct http_result *r, const char *code_key, const char *text_key,
		    const struct sink_code *codes, struct sink_answer *ret, char **ret_text);
/* An answer whose status says it all: 2xx is a yes, unless a page for people came with it. */
bool sink_read_status(const struct http_result *r, struct sink_answer *ret, char **ret_text);
/* HMAC-SHA256; ret as base64 or hex text. */
#define SINK_BASE64_MAX 48
#define SINK_HEX_MAX    65
void sink_hmac_base64(const char *key, const char *message, char ret[static SINK_BASE64_MAX]);
void sink_hmac_hex(const char *key, const char *message, char ret[static SINK_HEX_MAX]);
/* As one line; the caller frees it. Takes the reference. */
struct json_t;
char *sink_dump(struct json_t *j);
/* Entries of section i that are not shown. */
uint64_t sink_more(const struct sink_view *v, size_t i);
/* Entries of the sections that are not shown at all. */
uint64_t sink_more_sections(const struct sink_view *v);

/* -- how often -- */

/* The times of the last messages (boot clock). Zero-initialised is empty. */
#define SINK_PER_MINUTE_MAX 100u
struct sink_limit {
	uint64_t sent_ms[SINK_PER_MINUTE_MAX]; /* ring */
	size_t n, next;
};
/* ms to wait before a message may be sent. */
uint64_t sink_limit_wait(const struct sink_limit *l, unsigned per_second, unsigned per_minute,
			 uint64_t now_ms);
void sink_limit_sent(struct sink_limit *l, uint64_t now_ms);

#endif
