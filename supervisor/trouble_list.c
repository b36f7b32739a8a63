/* trouble_list.c - see trouble_list.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/trouble_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define AGAIN_MS   600000u /* while it lasts */
#define CHANGED_MS 60000u  /* no oftener for another detail */

struct row {
	struct standing_trouble s;
	uint64_t told_ms; /* boot time */
	bool here;        /* named since trouble_list_begin() */
	bool begins, changed;
};

struct trouble_list {
	void (*tell)(void *ctx, const struct standing_trouble *s, enum trouble_news news);
	void *ctx;
	struct row *v;
	size_t n;
};

struct trouble_list *
trouble_list_new(void (*tell)(void *ctx, const struct standing_trouble *s, enum trouble_news news), void *ctx)
{
	struct trouble_list *t = xcalloc(1, sizeof(*t));

	t->tell = tell;
	t->ctx = ctx;
	return t;
}

void trouble_list_free(struct trouble_list **t)
{
	free((*t)->v);
	free(*t);
	*t = NULL;
}

void trouble_list_begin(struct trouble_list *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->v[i].here = false;
}

static struct row *find(struct trouble_list *t, enum trouble kind, uint64_t cluster, uint64_t part)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct standing_trouble *s = &t->v[i].s;

		if (s->kind == kind && s->cluster == cluster && s->part == part)
			return &t->v[i];
	}
	return NULL;
}

void trouble_list_add(struct trouble_list *t, enum trouble kind, uint64_t cluster, uint64_t part,
		      const char *detail)
{
	struct row *r = find(t, kind, cluster, part);

	if (!r) {
		t->v = xreallocarray(t->v, t->n + 1, sizeof(*t->v));
		r = &t->v[t->n++];
		*r = (struct row){ .s = { .kind = kind, .cluster = cluster, .part = part }, .begins = true };
	}
	r->changed |= strncmp(r->s.detail, detail, sizeof(r->s.detail) - 1) != 0;
	r->here = true;
	(void)snprintf(r->s.detail, sizeof(r->s.detail), "%s", detail);
}

static void tell_row(struct trouble_list *t, struct row *r, uint64_t boot_ms)
{
	const uint64_t pause = r->changed ? CHANGED_MS : AGAIN_MS;

	if (!r->begins && boot_ms < r->told_ms + pause)
		return;
	t->tell(t->ctx, &r->s, r->begins ? TROUBLE_BEGINS : TROUBLE_LASTS);
	r->told_ms = boot_ms;
	r->begins = r->changed = false;
}

/* What is over leaves the list before anybody hears of it. */
static void tell_ends(struct trouble_list *t)
{
	size_t i = 0;

	while (i < t->n) {
		const struct standing_trouble over = t->v[i].s;

		if (t->v[i].here) {
			i++;
			continue;
		}
		memmove(&t->v[i], &t->v[i + 1], (t->n - i - 1) * sizeof(*t->v));
		t->n--;
		t->tell(t->ctx, &over, TROUBLE_ENDS);
	}
}

void trouble_list_end(struct trouble_list *t, uint64_t boot_ms, int64_t wall_ms)
{
	tell_ends(t);
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].begins)
			t->v[i].s.since = wall_ms;
	for (size_t i = 0; i < t->n; i++)
		tell_row(t, &t->v[i], boot_ms);
}

size_t trouble_list_count(const struct trouble_list *t)
{
	return t->n;
}

const struct standing_trouble *trouble_list_get(const struct trouble_list *t, size_t i)
{
	return &t->v[i].s;
}

uint64_t trouble_list_of(const struct trouble_list *t, enum trouble kind, uint64_t cluster)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += t->v[i].s.kind == kind && t->v[i].s.cluster == cluster;
	return n;
}

bool trouble_list_blind(const struct trouble_list *t, uint64_t cluster)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].s.cluster == cluster &&
		    trouble_desc(t->v[i].s.kind)->severity == TROUBLE_IS_BLIND)
			return true;
	return false;
}
