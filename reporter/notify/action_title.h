/* action_title.h - the title of a message about actions is the news: "[prod] Scaled 1 workload to 0, deleted
 * 5 evicted pods". Layer: process (reporter), notify.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NOTIFY_ACTION_TITLE_H
#define REPORTER_NOTIFY_ACTION_TITLE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/language.h"
#include "reporter/notify/finished_actions.h"

/* What the title counts, in its order. */
enum tally {
	TALLY_SCALED,
	TALLY_SUSPENDED,
	TALLY_RESTORED,
	TALLY_ANNOUNCED,
	TALLY_FORCED,
	TALLY_EVICTED,
	TALLY_FINISHED,
	TALLY_PODS,
	TALLY_FAILED,
	TALLY__MAX,
};

/* Zero-initialised counts nothing. */
struct action_title {
	uint64_t n[2][TALLY__MAX]; /* what was done; what mode observe only tells */
};

void action_title_count(struct action_title *t, const struct action_group *k);
/* Of a message that was gathered while the mode changed, what was done. cluster: the one that all of it is
 * about, also where the settings have no other, as another instance may tell the same chat; "": several. The
 * caller frees it. */
char *action_title_text(const struct action_title *t, const char *cluster, enum language l);
/* Is anything in it but pods that were deleted, which is routine, and what mode observe tells? */
bool action_title_warns(const struct action_title *t);

#endif
