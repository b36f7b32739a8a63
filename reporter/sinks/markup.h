/* markup.h - a document in the markup of a chat: what all of them write in the same order, with each one's
 * own marks. Texts of the cluster are never markup: every character that the chat would take for a mark is
 * written in the way that its row says.  Layer: process (reporter), sinks.  Pure.
 * What returns a text returns "" when there is nothing to say; the caller frees it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_SINKS_MARKUP_H
#define REPORTER_SINKS_MARKUP_H

#include <stdio.h>

#include "reporter/sinks/sink.h"

/* What a chat takes for marks, and how it stands for itself. */
struct escapes {
	const char *special;      /* characters that are marks ... */
	const char *const *plain; /* ... and how each is written instead */
	bool lookalike;           /* that is another character: what is to be copied is not written so */
	/* The same for the first character of a line. NULL = none. */
	const char *special_first;
	const char *const *plain_first;
};
/* Markdown without escapes: each mark by its full-width twin. */
extern const struct escapes markup_full_width;

struct markup {
	const struct escapes *escapes; /* NULL = nothing is a mark */
	const char *bold, *bold_end;
	const char *code, *code_end; /* NULL = it knows no code */
	const char *entry;           /* before the title of an entry */
	const char *line;            /* between two lines of one entry */
	const char *gap;             /* between two entries */
	/* Mentions who, when that can be somebody's name here; false with nothing written otherwise. trusted:
	 * the operator wrote it and not somebody in the cluster, who must not wake everybody. NULL = nobody
	 * can be mentioned in a text. */
	bool (*mention)(FILE *f, const char *who, bool trusted);
};

/* s with nothing in it that is a mark, cut to v->text_max; m NULL = where nothing is a mark. */
char *markup_text(const struct markup *m, const struct sink_view *v, const char *s);
/* The title, with a word before it when the message may have arrived before. Not escaped. */
char *markup_title(const struct sink_view *v);
/* The lines under the title, and whom the operator wants to know when something is bad. */
char *markup_head(const struct markup *m, const struct sink_view *v);
char *markup_entry(const struct markup *m, const struct sink_view *v, const struct entry *e);
/* "... and N more"; "" when n is 0. */
char *markup_more(const struct markup *m, const struct sink_view *v, uint64_t n);
/* Section i: title, entries that are shown, how many are not. */
char *markup_section(const struct markup *m, const struct sink_view *v, size_t i);
/* Head, sections, how many entries are in sections that are not shown. */
char *markup_document(const struct markup *m, const struct sink_view *v);

/* A stream that makes a text: *text is valid after fclose. Writes s to f and frees it. */
FILE *markup_open(char **text, size_t *size);
void markup_put(FILE *f, char *s);

/* Whom the message mentions, entry for entry as they are shown. */
void markup_each_mention(const struct sink_view *v, void (*fn)(void *ctx, const char *who, bool trusted),
			 void *ctx);

/* Only letters, digits, and what is in `also`; not empty. */
bool markup_is_name(const char *s, const char *also);
/* "local@host" and nothing but letters, digits and ".-_+@". */
bool markup_is_mail(const char *s);

#endif
