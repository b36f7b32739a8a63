/* scaledown_watch.c - see scaledown_watch.h. Few workloads are in this state at a time: a short array is
 * enough, the one not heard of for longest gives way. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/scaledown_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define SCALEDOWNS_MAX 256u
#define FORGET_MS      UINT64_C(3600000) /* not heard of for so long: another time */

struct scaledown {
	char action_key[64];
	uint64_t since, last;
	bool reported;
};

struct scaledown_watch {
	struct scaledown v[SCALEDOWNS_MAX];
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

static struct scaledown *find(struct scaledown_watch *s, struct str action_key)
{
	for (size_t i = 0; i < s->n; i++)
		if (str_is(action_key, s->v[i].action_key))
			return &s->v[i];
	return NULL;
}

static struct scaledown *make(struct scaledown_watch *s)
{
	struct scaledown *oldest = s->v;

	if (s->n < SCALEDOWNS_MAX)
		return &s->v[s->n++];
	for (size_t i = 1; i < s->n; i++)
		if (s->v[i].last < oldest->last)
			oldest = &s->v[i];
	return oldest;
}

static void restart(struct scaledown *e, struct str action_key, uint64_t now)
{
	*e = (struct scaledown){ .since = now, .last = now };
	(void)snprintf(e->action_key, sizeof(e->action_key), "%.*s", STR_ARG(action_key));
}

void scaledown_watch_scaled(struct scaledown_watch *s, struct str action_key, uint64_t now)
{
	struct scaledown *e = find(s, action_key);

	restart(e ? e : make(s), action_key, now);
}

bool scaledown_watch_noted(struct scaledown_watch *s, struct str action_key, uint64_t now)
{
	struct scaledown *e = find(s, action_key);

	if (!e || now - e->last > FORGET_MS) {
		restart(e ? e : make(s), action_key, now);
		return false;
	}
	e->last = now;
	if (e->reported || now - e->since <= SCALEDOWN_MS)
		return false;
	e->reported = true;
	return true;
}
