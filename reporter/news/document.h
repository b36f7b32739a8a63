/* document.h - one message for people, before it has the form of any chat: sections of entries, each entry
 * one thing (a workload, a trouble) with what people read and, as facts, what machines read. It is made in
 * the language of its sink, kept in the outbox as JSON, and given its form when it is sent.
 * Layer: process (reporter), news.  Pure.  Everything in a document is owned by it. Every text is made
 * printable when it is added (base/unicode.h: no control characters, no bidirectional ones; valid UTF-8);
 * what a chat would take for markup is escaped by the file of that chat. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NEWS_DOCUMENT_H
#define REPORTER_NEWS_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "model/facts.h"
#include "model/news.h"

/* How bad: the colour of a card, the severity of an alert. */
enum tone { TONE_GOOD, TONE_INFO, TONE_WARNING, TONE_BAD, TONE__MAX };

/* key: lowerCamelCase, and the same for every kind of news: cluster, namespace, workload, kind, duty,
 * outcome, reason, remedy, node, count, replicas, cause, undo, actionId, restarts, restartsPerHour,
 * restartsTotal, container. */
struct entry_fact {
	char *key, *value;
};

struct entry {
	char *key;    /* names the thing across messages: its begin and its end have the same; "" = none */
	bool is_over; /* this message says that it has ended */
	int64_t begin_ms, end_ms;         /* Unix ms; 0 = unknown, or not yet */
	char *title;                      /* one line */
	struct str_list lines;            /* under it, each one line */
	char *command;                    /* a line to copy into a terminal; NULL = none */
	struct str_list mentions;         /* whom it concerns, as the annotation of its owner has it */
	struct entry_fact *facts, *links; /* a link: what it leads to, and its URL */
	size_t n_facts, n_links;
};

struct section {
	char *title; /* "" = none */
	struct entry *entries;
	size_t n;
	uint64_t more; /* entries that were left out: "and N more" */
};

struct document {
	enum news kind;
	enum tone tone;
	enum language language;
	char *id;                /* unique for ever: the same message always has the same */
	int64_t at_ms;           /* when it was made, Unix ms */
	bool is_test, is_repeat; /* is_repeat: it may have arrived before */
	char *title;             /* one line, with the name of the cluster where there are several */
	struct str_list lines;   /* under the title, each one line */
	struct section *sections;
	size_t n_sections;
	char *footer; /* one line, small; NULL = none */
	char *html;   /* the same as a page of its own, for mails; NULL = none */
};

/* Zero-initialised holds nothing. */
void document_init(struct document *d, enum news kind, enum language language, int64_t at_ms);
void document_done(struct document *d);

/* Set a text, or add one to a list of texts, of a document or an entry: a copy that is made printable. NULL
 * counts as "". */
void document_set(char **text, const char *s);
void document_add(struct str_list *lines, const char *s);
void document_addf(struct str_list *lines, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Valid until the next one is added. */
struct section *document_add_section(struct document *d, const char *title);
struct entry *section_add_entry(struct section *s, const char *title);
void entry_set_key(struct entry *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void entry_add_fact(struct entry *e, const char *key, const char *value);
void entry_add_number(struct entry *e, const char *key, int64_t value);
/* Mention whom the facts name (FACT_CONTACT), who is a fact of the entry, too. Nothing where they name
 * nobody.
 */
void entry_add_contact(struct entry *e, const struct facts *about);
/* Left out where url is NULL or holds a character that a sink could take for a mark (base/url_template.h). */
void entry_add_link(struct entry *e, const char *key, const char *url);
/* Its value, NULL when there is none. */
const char *entry_fact(const struct entry *e, const char *key);
struct link_settings;
/* Add to each entry the operator's links, as far as its facts suffice for them; what has ended gets none.
 * links NULL: there are none. */
void document_add_links(struct document *d, const struct link_settings *links);

/* As much of a document as a reader takes. */
struct document_part {
	size_t sections;     /* from the first */
	const size_t *shown; /* entries of each of them, from the first */
	size_t title_max;    /* bytes of a title, of a line of the document and of its footer; as below */
	size_t text_max;     /* bytes of another text; what is longer is cut and ends with "…" */
	size_t lines_max; /* of an entry, and of the document; a last line "…" says that there are more */
};
/* The document as a value of jansson, a new reference: what docs/sinks.md says of the body of a webhook. part
 * NULL = all of it. A command that is too long is left out, and so is html from a part. */
struct json_t *document_value(const struct document *d, const struct document_part *part);

/* All of it as JSON, one line; the caller frees it. */
char *document_to_json(const struct document *d);
/* From what document_to_json() made. 0, or -EINVAL and d is empty. */
int document_from_json(const char *json, size_t n, struct document *d);

/* For a terminal and the text of a mail: lines, each ending with '\n'; the caller frees it. */
char *document_to_text(const struct document *d);

#endif
