/* handover.h - what the next leader of a cluster must know of the last hour where it has another disk: acts,
 * which count against budgets, and what guards save (reverts, evict loops, shares of pods). It is a text on
 * the cluster's Lease: a line a row, `KIND KEY AT UNTIL COUNT`, with a semicolon behind each. An act is of a
 * duty, a namespace and a minute. Layer: watcher. Pure: times are Unix ms. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_HANDOVER_H
#define WATCHER_GUARDS_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/msg.h"

#define HANDOVER_ROWS                                                                                        \
	200 /* when there are more, the oldest acts of a duty are told without their namespaces */

struct handover;

struct handover *handover_new(void);
void handover_free(struct handover **h);

/* What happens here, and what this replica's own history tells of it: SAVED and SAVED_ROW (at 0 = forget it),
 * ACTION_ROW, and NOMINATION_RESULT at `now`. Another message is not looked at, nor one that tells of a dry
 * run. */
void handover_note(struct handover *h, const struct msg *m, int64_t now);
/* Something has changed since handover_text(). */
bool handover_is_news(const struct handover *h);
/* Of the last hour, at most some 20 KiB of printable ASCII without quotes; owned by the caller. */
char *handover_text(struct handover *h, int64_t now);
/* What the text of another replica tells beyond what is known here already: a SAVED_ROW or an ACTION_ROW of
 * `cluster` each, which are noted, too. A line that cannot be read is left out. */
void handover_take(struct handover *h, struct str text, uint64_t cluster, int64_t now,
		   void (*fn)(void *ctx, const struct msg *m), void *ctx);

#endif
