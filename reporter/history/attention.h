/* attention.h - what lasts and only an operator can change: a finalizer that stays, a right that is missing,
 * a budget that is spent, a scale-down that is reverted, an open breaker. Which reasons those are, and
 * whether they have to last, stands in model/reasons.def. Noted with what is written down anyway; each goes
 * into one report. Layer: process (reporter), history. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_HISTORY_ATTENTION_H
#define REPORTER_HISTORY_ATTENTION_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/msg.h"
#include "reporter/history/db.h"

/* What has to last is seen over this time. */
#define ATTENTION_LASTING_MS INT64_C(3600000)

/* Note what a REFUSAL, RECORD or SAVED says, within the transaction of the caller. 0 or negative errno. */
int attention_note(struct db *db, const struct msg *m, const char *cluster_name);

/* Of a set of guards (1 << enum guard) those that need an operator when they block for long. */
uint64_t attention_guards(uint64_t guards);
/* These guards block something in the cluster now, and no others; detail says how much. Call it when
 * attention_guards() changes. 0 or negative errno. */
int attention_note_guards(struct db *db, uint64_t guards, const struct facts *detail,
			  const char *cluster_name);

/* What is wrong for one reason in one cluster. Texts are as they were received: not made safe for a chat. */
struct attention_group {
	char *cluster, *reason;
	struct facts *detail;
	char *names;  /* "shop/web-1, shop/web-2 and 5 more"; "" when it is not about single objects */
	int64_t duty; /* or DUTY_ALL */
	int64_t first_at;
};
struct attention {
	struct attention_group *v; /* what concerns most objects first */
	size_t n;
};
/* Take what is due into a report that is under way. DB_ATTENTION_REPORTED says that it is written, in the
 * transaction of the caller: what it held is not reported again. DB_ATTENTION_LOST, that it did not arrive:
 * what stands is due once more. 0, or negative errno with *ret empty. */
int attention_begin(struct db *db, struct attention *ret);
/* What it would be now, without a write. As attention_begin(). */
int attention_preview(struct db *db, struct attention *ret);
/* What holds at present, for a page: a guard that blocks, a scale-down that is reverted. At most max, each by
 * itself, the oldest first. As attention_begin(). */
int attention_present(struct db *db, size_t max, struct attention *ret);
void attention_done(struct attention *a);

#endif
