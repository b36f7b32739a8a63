/* markup.h - a document in the markup of a chat: what all of them write in the same order, with each one's
 * own marks. Texts of the cluster are never markup: every character that the chat would take for a mark is
 * written in the way that its row says.  Layer: process (reporter), sinks.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_SINKS_MARKUP_H
#define REPORTER_SINKS_MARKUP_H

#include <stdio.h>

#include "reporter/sinks/sink.h"

struct markup {
	const char *special;      /* characters that are marks ... */
	const char *const *plain; /* ... and how each is written to stand for itself */
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

/* s with nothing in it that is a mark, at most max bytes of it. */
void markup_text(FILE *f, const struct markup *m, const char *s, size_t max);
/* The lines under the title, and whom the operator wants to know. True when anything was written. */
bool markup_head(FILE *f, const struct markup *m, const struct sink_view *v);
/* One entry. */
void markup_entry(FILE *f, const struct markup *m, const struct sink_view *v, const struct entry *e);
/* Section i: title, entries that are shown, how many are not. */
void markup_section(FILE *f, const struct markup *m, const struct sink_view *v, size_t i);
/* "... and N more". */
void markup_more(FILE *f, const struct markup *m, const struct sink_view *v, uint64_t n);

/* A memory stream; its text is valid after fclose. */
FILE *markup_open(char **text, size_t *size);
/* Only letters, digits, and what is in `also`; not empty. */
bool markup_is_name(const char *s, const char *also);
/* "local@host" and nothing but letters, digits and ".-_+@". */
bool markup_is_mail(const char *s);

#endif
