/* book.h - what was nominated and is not settled, and what must wait before it may be nominated again.
 * Layer: watcher.  Threads: none.  Pure: times are boot milliseconds.
 * One entry a subject: the pod's uid, or its owner's when the owner is what will be acted on. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_BOOK_H
#define WATCHER_BOOK_H

#include "base/str.h"
#include "ipc/msg.h"

struct book;

struct book *book_new(void);
void book_free(struct book **b);

enum book_answer {
	BOOK_GO,   /* nominate */
	BOOK_OPEN, /* nominated, the end will be told; ask again at *ret_at should that be lost */
	BOOK_HELD, /* not before *ret_at */
};

/* May subject be nominated now? rv is the resourceVersion judged. */
enum book_answer book_ask(const struct book *b, struct str subject, struct str rv, uint64_t now,
			  uint64_t *ret_at);
/* It was: for pod h of group (0 = none). */
void book_nominated(struct book *b, struct str subject, struct str rv, uint32_t h, uint32_t group,
		    uint64_t now);

struct book_settled {
	uint32_t h, group; /* whose nomination ended; 0 when gone */
	uint64_t until;    /* not again before */
	bool dropped;      /* given up after all retries */
};
/* SETTLED came. retries and delay_ms are the queue's for h, used by outcomes that count as failure (see
 * book_is_failure). observe: a dry run that succeeded is not repeated until the state changed. false when
 * nothing was open for that subject. */
bool book_settle(struct book *b, const struct msg_settled *m, uint32_t retries, uint64_t delay_ms,
		 bool observe, uint64_t now, struct book_settled *ret);
/* Does this outcome count as a failure to be retried with a rate limit? */
bool book_is_failure(uint64_t outcome);
/* Pod of the open nomination of subject, 0 when none. */
uint32_t book_pod(const struct book *b, struct str subject);

/* Pod h is not due any more (or is gone): its subject starts afresh, unless a nomination is open. */
void book_not_due(struct book *b, struct str subject, uint32_t h);
/* Pod h does not exist any more. */
void book_gone(struct book *b, struct str subject, uint32_t h);
/* The server is healthy again: what was given up because of it may be tried again. fn names each pod. */
void book_retry_failed(struct book *b, uint64_t now, void (*fn)(void *ctx, uint32_t h), void *ctx);
/* Forget holds that ended long ago. */
void book_expire(struct book *b, uint64_t now);

/* Nominations open; entries in all. */
uint32_t book_open_count(const struct book *b);
uint32_t book_count(const struct book *b);

#endif
