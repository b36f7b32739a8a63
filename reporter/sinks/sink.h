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
#include "http/mail.h"
#include "model/sink_types.h"
#include "reporter/news/document.h"
#include "text/escape.h"

struct json_t;

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
	bool not_all;           /* accepted, but not for every reader: why names the first who lacks it */
	struct facts why;       /* what it said, or why there is no answer; without the address */
};

/* -- a type -- */

/* As much of a document as is sent to a sink. */
struct sink_view {
	const struct sink_settings *sink;
	const struct document *doc;
	unsigned form;
	int64_t now_ms; /* when it is sent, Unix ms */
	struct document_part part;
};

/* What is sent, beside what all have in common. All owned. */
struct sink_request {
	char *path;              /* with its query; as in the address, unless the type changes it */
	struct str_list headers; /* "Name: value" */
	char *body;
};

/* What a code means, of an answer or a status; the last row of a table has code 0. */
struct sink_code {
	int64_t code;
	enum sink_verdict verdict;
	enum sink_cause cause;
	int64_t retry_after_ms; /* 0 = it is not said */
	bool other_form;
	const char *word; /* that the text of the answer holds; NULL = whatever it says */
};

/* A form of a card: text/templates/NAME.mustache, and how it escapes texts. */
struct sink_form {
	const char *template;
	enum escape escape;
};
#define SINK_FORMS_MAX 2
#define SINK_KEYS_MAX  2

struct sink_ops {
	size_t size_max;                 /* bytes of a body, less what request() adds */
	unsigned per_second, per_minute; /* messages; 0 = no limit; at most SINK_PER_MINUTE_MAX a minute */
	struct sink_form
		form[SINK_FORMS_MAX]; /* form 0 is the best one; of a type with render() there is one */
	size_t string_max;            /* bytes of any one string of a card; 0 = no limit of its own */
	bool has_code;                /* the template writes a command as code */
	bool has_buttons;             /* it writes the links of the only entry that has any as buttons */
	bool knows_ids;               /* a message that is sent twice is one */
	int64_t again_ms;         /* what stands is sent again so often of itself; 0 = as tell.remind says */
	bool is_mail;             /* it goes by http/mail.h; interpret() gets what email.h makes */
	bool whole;               /* machines read it: long texts are cut only when they must be */
	const char *content_type; /* NULL = JSON */
	/* The kind of name that `who` is, as the template writes a mention of it; NULL = it cannot be
	 * mentioned. trusted: the operator wrote it and not somebody in the cluster, who must not wake
	 * everybody. The function NULL = nobody can be mentioned. */
	const char *(*mention)(const char *who, bool trusted);
	/* Change a body as the template makes it; false = it exceeds a limit of the sink. NULL = nothing to
	 * do. */
	bool (*finish)(struct json_t *body);
	/* The body, which the caller frees; NULL when something in it exceeds a limit. The smallest view of
	 * any document must fit. NULL = as the template says. */
	char *(*render)(const struct sink_view *v);
	/* Signature, path, headers. NULL = none. */
	void (*request)(const struct sink_settings *s, const struct document *doc, int64_t now_ms,
			struct sink_request *rq);
	/* An answer {code: 0, text: "..."}, by the first of these names that it has; what is in no row of
	 * `codes` is refused. codes NULL = the status says it. */
	const struct sink_code *codes;
	struct sink_keys {
		const char *code, *text;
	} keys[SINK_KEYS_MAX];
	/* In their place: verdict, cause, code, and a message in *ret_text (NULL when it has none; the caller
	 * frees it). False when such a sink does not say that. It says SINK_REFUSED of both kinds: which of
	 * them are SINK_BLOCKED says the cause (sink.c, shut_by). */
	bool (*interpret)(const struct http_result *r, struct sink_answer *ret, char **ret_text);
};
/* NULL while a type has none. */
const struct sink_ops *sink_ops_of(uint64_t type);

/* How many forms it has. */
unsigned sink_forms(const struct sink_ops *ops);

extern const struct sink_ops sink_feishu, sink_dingtalk, sink_wecom, sink_slack, sink_teams,
	sink_alertmanager, sink_webhook, sink_email;

/* Attention that stands is sent to an Alertmanager again after this time, whatever tell.remind says: nobody
 * is told twice by that, and it is what keeps the alert (alertmanager.c). */
#define ALERTMANAGER_AGAIN_MS (30 * 60 * INT64_C(1000))
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

/* -- mails (email.c) -- */

/* The login of its server: *ret_user is the caller's, NULL = the one in the URL, or none; *ret_password
 * points into s, and is NULL when there is none. */
void email_login(const struct sink_settings *s, char **ret_user, const char **ret_password);
/* The server's last reply as sink_interpret() takes it: a body that begins with its code, which the caller
 * frees when *ret has been read. */
void email_answer(const struct mail_result *m, struct http_result *ret, char **ret_body);

/* -- cards (card.c) -- */

/* The document of a view as the templates of text/templates/sinks see it: document_value(), and
 *   is        { tone: true }
 *   head      true when there are lines or mentions above the sections
 *   mentions  of the document, those that the operator wants to know, and of each entry: { each: [ WHO, ... ]
 * }, or null; WHO is { KIND: name } as sink_ops.mention says, or { name: text } for somebody that the chat
 *             cannot mention
 *   everyone  every WHO of the document; has: { KIND: true }
 * and of each section rule (there is something above it), of each entry code (its command, where it can be
 * written as code) or no_code (where it cannot). Sections that show nothing are left out. A new reference. */
struct json_t *card_value(const struct sink_view *v);
/* The body of form v->form, which the caller frees; NULL when it has no room, or the template makes no JSON.
 */
char *card_render(const struct sink_view *v);

/* Only letters, digits, and those of `also`; not empty. */
bool card_is_name(const char *s, const char *also);
/* "local@host" and nothing but letters, digits and ".-_+@". */
bool card_is_mail(const char *s);

/* -- for the types -- */

/* Set what the first row of that code and text says; nothing where there is none. */
void sink_apply_code(const struct sink_code *codes, int64_t code, const char *text, struct sink_answer *ret);
/* What an HTTP status says of itself: verdict and cause. */
void sink_judge_status(long status, struct sink_answer *ret);
/* An answer whose status says it all: 2xx is a yes, unless a page for people came with it. */
bool sink_read_status(const struct http_result *r, struct sink_answer *ret, char **ret_text);
/* HMAC-SHA256; ret as base64 or hex text. */
#define SINK_BASE64_MAX 48
#define SINK_HEX_MAX    65
void sink_hmac_base64(const char *key, const char *message, char ret[static SINK_BASE64_MAX]);
void sink_hmac_hex(const char *key, const char *message, char ret[static SINK_HEX_MAX]);
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
