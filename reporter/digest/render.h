/* render.h - a digest as text for people.  Layer: process (reporter), digest.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_DIGEST_RENDER_H
#define REPORTER_DIGEST_RENDER_H

#include "reporter/digest/digest.h"
#include "reporter/history/attention.h"

/* Groups of what needs an operator that one report shows. */
#define RENDER_ATTENTION_MAX 20u

/* What the text says beside the rows. */
struct digest_context {
	const struct str_list *cluster_names;
	const char *incomplete; /* names of clusters that did not answer or were not synced, or "" */
	const char *due;        /* when it was due, as text */
	const char *previous;   /* when the last delivered digest was, or "" */
	int64_t lost;           /* reports since the last delivered one that people did not (surely) get */
	bool late;
	struct attention attention; /* what needs an operator */
};

/* Paragraphs: [0] the head, then one a workload, then a head and one a group of what needs an operator. Every
 * text is free of control characters, of bidirectional controls and of '<' (no mention can be made), lines
 * end with
 * '\n'. */
struct digest_text {
	char **v;
	size_t n;
};
void digest_render(const struct digest *d, const struct digest_context *ctx, struct digest_text *ret);
void digest_text_done(struct digest_text *t);
/* A copy for eyes only, as every text above: no control, no bidirectional control, no tag that a chat would
 * act on. The caller frees it. */
char *digest_clean(const char *s);

#endif
