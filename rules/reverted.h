/* reverted.h - workloads that come back after they were scaled to zero: somebody else sets their replicas
 * (R22). Layer: rules.  Pure: times are milliseconds of any one clock that does not step. Each time the hold
 * is doubled, from ten minutes to a day, so that there is never a loop. A workload is a number chosen by the
 * caller, of owner and revision: a changed template is no revert. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_REVERTED_H
#define RULES_REVERTED_H

#include <stdbool.h>
#include <stdint.h>

#define REVERTED_BLOCK_MS INT64_C(600000)
#define REVERTED_CAP_MS   INT64_C(86400000)
#define REVERTED_MEMORY_MS                                                                                   \
	INT64_C(86400000) /* a return later than this after the act (or the hold) is none */

struct reverted {
	int64_t acted; /* when we last acted on it; 0 = not, or its return was counted already */
	int64_t until; /* hold; 0 = none */
	uint32_t count;
};

/* We acted on it; `asked` is when the act was asked for: what is created after came back. */
void reverted_acted(struct reverted *f, int64_t asked);
/* A pod of it, created at `created`, is due at `now`. true when that is a return: counted, and held. */
bool reverted_seen(struct reverted *f, int64_t created, int64_t now);
/* Would reverted_seen say so? *ret is how it would stand after. Changes nothing. */
bool reverted_would(const struct reverted *f, int64_t created, int64_t now, struct reverted *ret);
/* How long the count-th return (from 1) is held. */
int64_t reverted_block_ms(uint32_t count);
/* Is it on hold at `now`? */
bool reverted_blocks(const struct reverted *f, int64_t now);
/* Can it be forgotten? */
bool reverted_over(const struct reverted *f, int64_t now);

/* Pods of one owner that are evicted from one node, come back there and are evicted again: they are deleted
 * all the same, but the newest is kept for a person to look at. Many at once are no loop: a pod counts when
 * it was made when the one before was evicted, which is not long before we deleted that one. */
#define LOOP_COUNT     3u
#define LOOP_WITHIN_MS INT64_C(1800000) /* between two that count */
#define LOOP_SLACK_MS  INT64_C(60000)   /* from an eviction to our deletion */
#define LOOP_KEEP_MS   INT64_C(3600000) /* after the last: then the newest may go, too */

struct evict_loop {
	int64_t last;    /* deleted */
	int64_t counted; /* creation of the last that counted */
	int64_t newest;  /* creation of the newest that is due */
	uint32_t count;
};

void evict_loop_deleted(struct evict_loop *l, int64_t created, int64_t now);
/* A pod of it is due. true when it is newer than the newest so far, which may go now. */
bool evict_loop_seen(struct evict_loop *l, int64_t created);
/* Is this the one that is kept at `now`? *ret_until: how long. */
bool evict_loop_keeps(const struct evict_loop *l, int64_t created, int64_t now, int64_t *ret_until);

#endif
