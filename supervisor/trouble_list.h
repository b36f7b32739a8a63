/* trouble_list.h - what is wrong now, since when, and when that is told: as it begins, when its particulars
 * change (once a minute at most), every ten minutes while it lasts, and when it is over. A list that is
 * looked through anew each time: whoever knows of a trouble names it between trouble_list_begin() and
 * trouble_list_end(), and what is not named is over.
 * Process: supervisor.  Pure but for what it remembers: the caller brings the clocks. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_TROUBLE_LIST_H
#define SUPERVISOR_TROUBLE_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "model/troubles.h"

#define TROUBLE_DETAIL_MAX 512

struct standing_trouble {
	enum trouble kind;
	uint64_t cluster; /* CLUSTERS_MAX: of none */
	uint64_t part;    /* which duty or process, where there may be several */
	int64_t since;    /* wall, ms */
	char detail[TROUBLE_DETAIL_MAX];
};

enum trouble_news { TROUBLE_BEGINS, TROUBLE_LASTS, TROUBLE_ENDS };

struct trouble_list;

/* tell gets all news, from within trouble_list_end(), when the list is whole. */
struct trouble_list *trouble_list_new(void (*tell)(void *ctx, const struct standing_trouble *s,
						   enum trouble_news news),
				      void *ctx);
void trouble_list_free(struct trouble_list **t);

void trouble_list_begin(struct trouble_list *t);
/* detail is copied, and cut where it is too long. */
void trouble_list_add(struct trouble_list *t, enum trouble kind, uint64_t cluster, uint64_t part,
		      const char *detail);
void trouble_list_end(struct trouble_list *t, uint64_t boot_ms, int64_t wall_ms);

size_t trouble_list_count(const struct trouble_list *t);
const struct standing_trouble *trouble_list_get(const struct trouble_list *t, size_t i);
/* How many of that kind in that cluster. */
uint64_t trouble_list_of(const struct trouble_list *t, enum trouble kind, uint64_t cluster);
/* Is there one because of which nothing of that cluster is seen? */
bool trouble_list_blind(const struct trouble_list *t, uint64_t cluster);

#endif
