/* finished_actions.h - the actions that ended and are not told yet, and the title of a message about them. Of
 * each only what it is counted by is read: its kind, which many of them share. The rest is read of the few
 * that a message shows one by one, or as an example. Layer: process (reporter), notify. Within the
 * transaction of the caller. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NOTIFY_FINISHED_ACTIONS_H
#define REPORTER_NOTIFY_FINISHED_ACTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/actions.h"
#include "model/language.h"
#include "reporter/history/db.h"

enum section_kind {
	SECTION_NONE,
	SECTION_WORKLOAD,
	SECTION_FORCED,
	SECTION_PODS,
	SECTION_FAILED,
	SECTION__MAX
};

/* What actions are counted by. Of failures that is the reason of the result, of the others the node of the
 * pod and the reason of the nomination; what a part is not counted by is "" or 0. */
struct action_group {
	enum section_kind part;
	enum action_kind action;
	int64_t duty, outcome;
	bool observe, suspended;                  /* suspended: instead of scaled to 0 */
	const char *cluster, *ns, *node, *reason; /* node "" = unknown */
	/* Below finished_actions.n_kinds: its own, and that of the kind it is counted with. Failures are
	 * counted whatever their namespace is, which only says whom they concern: their count may be that of
	 * no kind.
	 */
	size_t index, count;
	struct action_group *next; /* of the same hash */
};

struct finished_action {
	int64_t id;
	const struct action_group *kind;
};

#define GROUP_BUCKETS 256

/* Zero-initialised holds nothing. */
struct finished_actions {
	struct finished_action *v; /* by id; those that were open when others were told come first */
	size_t n;
	uint32_t room;
	struct action_group **kinds;
	size_t n_kinds;
	uint32_t kinds_room;
	struct action_group *buckets[GROUP_BUCKETS];
	struct str_list texts; /* of the kinds */
};

/* All of one action. */
struct action_details {
	int64_t id;
	const struct action_group *kind;
	struct msg_intent intent;
	struct msg_record result; /* with the target and the replicas that a restore puts back; at: when it
				   * was written down */
};

/* What ended of the actions up_to < id <= newest and of those that were open before. What was done needs no
 * operator any more: with `settles` that is noted as well. 0 or negative errno; *ret is the caller's either
 * way. */
int finished_actions_read(struct db *db, int64_t up_to, int64_t newest, bool settles,
			  struct finished_actions *ret);
void finished_actions_done(struct finished_actions *r);

/* *ret borrows the row's kind. 0 or negative errno. */
int action_details_read(struct db *db, const struct finished_action *row, struct action_details *ret);

/* -- titles: the news itself, as "[prod] Scaled 1 workload to 0, deleted 5 evicted pods" -- */

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
