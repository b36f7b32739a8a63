/* trouble_list.h - everything that is wrong now, and since when. The list is made anew once a second from the
 * state of the loads, watchers, children and actions. A trouble is logged and sent to the reporter as it
 * begins, when its particulars change (once a minute at most), every ten minutes while it lasts, and when it
 * is over. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_OPERATOR_TROUBLE_LIST_H
#define SUPERVISOR_OPERATOR_TROUBLE_LIST_H

#include "supervisor/actions/parts.h"

/* Look for all troubles now. Does nothing before the first settings. */
void trouble_list_check(struct supervisor *s);
/* The steps of trouble_list_check(): between begin and end each trouble is added; those that were not added
 * are over. part tells several of a kind in one cluster apart (a duty, a process); cluster is CLUSTERS_MAX
 * for none. particulars are copied; NULL: there are none. */
void trouble_list_begin(struct supervisor *s);
void trouble_list_add(struct supervisor *s, enum trouble kind, uint64_t cluster, uint64_t part,
		      const struct facts *particulars);
void trouble_list_end(struct supervisor *s, uint64_t boot_ms, int64_t wall_ms);

/* Number of troubles of that kind in that cluster. */
uint64_t trouble_list_count(const struct supervisor *s, enum trouble kind, uint64_t cluster);
/* "running"; "degraded" when there is a trouble; "blind" when because of troubles no cluster is seen. */
const char *trouble_list_headline(const struct supervisor *s);
/* Send a TROUBLE_ROW of each: to the asker of that number. */
void trouble_list_answer(const struct supervisor *s, uint64_t conn);
/* Send a TROUBLE_ROW of each kind and cluster to the reporter. */
void trouble_list_send(struct supervisor *s);

#endif
