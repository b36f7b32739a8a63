/* admit.h - may what is due be done now? The guards beyond the single object: pause, leadership, a fresh
 * cache, clocks, start-up quiet, windows, the breaker, reverts, budgets; a table that is walked in that
 * order. Layer: rules.  Pure and without state of its own: (what is asked, what is known) -> go or hold.
 * Times are milliseconds of the clock that does not step.
 * A hold is never a refusal: the object stays due, and is asked for again at `until` or when something
 * changes. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_ADMIT_H
#define RULES_ADMIT_H

#include "model/guards.h"
#include "rules/breaker.h"
#include "rules/budget.h"
#include "rules/reverted.h"
#include "rules/judge.h"

#define CLOCK_LOOK_MS 10000 /* while clocks are too far apart: nobody says when one was corrected */

/* What is known about one object that is due. NULL or 0 = that guard has nothing against it. */
struct admit_ask {
	const struct duty_policy *policy;
	int64_t now;
	bool retry; /* only a fresh attempt: it ends no workload, so breaker and reverts do not block it */
	struct spend spend;
	bool paused;
	const char *paused_by;          /* "" or NULL: not known */
	const struct facts *paused_why; /* NULL: not known */
	int64_t paused_until;
	const char *leader; /* not this replica: who leads, "" = not known */
	bool stale;         /* the cache cannot be judged, and why */
	enum text stale_why;
	int64_t clock_off;   /* ms between the clocks of server and host, when that is too much */
	int64_t quiet_until; /* start-up quiet */
	bool window_closed;
	int64_t window_opens;          /* 0 = not known */
	const struct breaker *breaker; /* it holds the workload; NULL = it does not, */
	int64_t breaker_until;         /*   at the latest until then */
	const struct facts *common;    /* what the workloads have in common; NULL = not known */
	struct reverted reverted;
	int64_t loop_until; /* the newest of an evict loop is kept until then; 0 = it is none */
	uint32_t loop_count;
	const struct budget *budget;
};

struct block {
	enum guard guard;
	enum reason reason;
	enum block_scope scope;
	int64_t until; /* 0 = when something changes */
	struct facts evidence;
};

/* true = go; false = blocked, *ret says by which guard (the first of the table that concerns the duty). */
bool admit_ask(const struct admit_ask *a, struct block *ret);
/* Every guard in order: holds is true when it has nothing against it, and then h->evidence may be empty. */
void admit_trace(const struct admit_ask *a,
		 void (*fn)(void *ctx, enum guard g, bool holds, const struct block *h), void *ctx);

#endif
