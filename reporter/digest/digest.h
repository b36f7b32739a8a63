/* digest.h - the rows of one digest: collected, freed of doubles, grouped by workload, worst first; and as
 * text for people.  Pure. Layer: process (reporter), digest. Restarts are counted per container (the
 * threshold is per container, never a sum), a workload shows the sum over its listed pods. Worst is what
 * restarted most since the last digest, where that is known (R30). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_DIGEST_DIGEST_H
#define REPORTER_DIGEST_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "ipc/msg.h"
#include "reporter/digest/samples.h"
#include "reporter/history/attention.h"

/* More rows than this in one digest are counted, but not kept. */
#define DIGEST_ROWS_MAX 10000u
/* Pods named for one workload; the rest is counted. */
#define DIGEST_PODS_SHOWN 3u

struct digest_pod {
	struct msg_digest_row row;
	int64_t delta; /* restarts since the last digest, or DELTA_UNKNOWN */
};

struct digest_workload {
	const struct digest_pod *pods; /* worst first */
	size_t n;
	uint64_t restarts; /* sum over pods */
	int64_t delta;     /* sum of what is known; DELTA_UNKNOWN when nothing is */
};

/* Zero-initialised is empty. */
struct digest {
	struct digest_pod *pods;
	size_t n_pods;
	uint32_t room;
	struct digest_workload *workloads; /* after digest_group: worst first */
	size_t n_workloads;
	uint64_t dropped; /* rows above DIGEST_ROWS_MAX */
};

void digest_done(struct digest *d);
void digest_add(struct digest *d, const struct msg_digest_row *row);
/* Sort and drop doubles (the row that came last stays): before pods are looked at. */
void digest_finish(struct digest *d);
/* Build the groups from rows and deltas; orders the pods anew. */
void digest_group(struct digest *d);

/* Groups of what needs an operator that one report shows. */
#define DIGEST_ATTENTION_MAX 20u

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
 * end with '\n'. */
struct digest_text {
	char **v;
	size_t n;
	size_t size; /* of the paragraph that is being written */
};
void digest_render(const struct digest *d, const struct digest_context *ctx, struct digest_text *ret);
void digest_text_done(struct digest_text *t);
/* A copy for eyes only, as every text above: no control, no bidirectional control, no tag that a chat would
 * act on. The caller frees it. */
char *digest_clean(const char *s);

#endif
