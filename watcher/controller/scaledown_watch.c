/* scaledown_watch.c - see scaledown_watch.h. Few workloads are in this state at a time: a short array is
 * enough, the one not heard of for longest gives way. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/scaledown_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define ENTRIES   256u
#define FORGET_MS UINT64_C(3600000) /* not heard of for so long: another time */

struct entry {
	char subject[64];
	uint64_t since, last;
	bool told;
};

struct scaledown_watch {
	struct entry entry[ENTRIES];
	size_t n;
};

struct scaledown_watch *scaledown_watch_new(void)
{
	return xcalloc(1, sizeof(struct scaledown_watch));
}

void scaledown_watch_free(struct scaledown_watch **s)
{
	free(*s);
	*s = NULL;
}

static struct entry *find(struct scaledown_watch *s, struct str subject)
{
	for (size_t i = 0; i < s->n; i++)
		if (str_is(subject, s->entry[i].subject))
			return &s->entry[i];
	return NULL;
}

static struct entry *make(struct scaledown_watch *s)
{
	struct entry *oldest = s->entry;

	if (s->n < ENTRIES)
		return &s->entry[s->n++];
	for (size_t i = 1; i < s->n; i++)
		if (s->entry[i].last < oldest->last)
			oldest = &s->entry[i];
	return oldest;
}

static void restart(struct entry *e, struct str subject, uint64_t now)
{
	*e = (struct entry){ .since = now, .last = now };
	(void)snprintf(e->subject, sizeof(e->subject), "%.*s", STR_ARG(subject));
}

void scaledown_watch_scaled(struct scaledown_watch *s, struct str subject, uint64_t now)
{
	struct entry *e = find(s, subject);

	restart(e ? e : make(s), subject, now);
}

bool scaledown_watch_noted(struct scaledown_watch *s, struct str subject, uint64_t now)
{
	struct entry *e = find(s, subject);

	if (!e || now - e->last > FORGET_MS) {
		restart(e ? e : make(s), subject, now);
		return false;
	}
	e->last = now;
	if (e->told || now - e->since <= SCALEDOWN_MS)
		return false;
	e->told = true;
	return true;
}
