/* pause_list.c - see pause_list.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/pause_list.h"

#include <string.h>

bool pause_covers(const struct msg_pause *scope, const char *cluster_name, int64_t duty)
{
	return (scope->duty < 0 || scope->duty == duty) &&
	       (!scope->cluster_name[0] || strcmp(scope->cluster_name, cluster_name) == 0);
}

bool pause_meets(const struct msg_pause *a, const struct msg_pause *b)
{
	return (a->duty < 0 || b->duty < 0 || a->duty == b->duty) &&
	       (!a->cluster_name[0] || !b->cluster_name[0] || strcmp(a->cluster_name, b->cluster_name) == 0);
}

bool pause_has_ended(const struct pause *e, int64_t now_ms, bool known)
{
	return (known || !e->earlier) && e->p.until != 0 && e->p.until <= now_ms;
}

struct pause *pause_list_find_scope(struct pause_list *l, const struct msg_pause *p)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].p.duty == p->duty && strcmp(l->v[i].p.cluster_name, p->cluster_name) == 0)
			return &l->v[i];
	return NULL;
}

struct pause *pause_list_set(struct pause_list *l, const struct msg_pause *p)
{
	struct pause *e = pause_list_find_scope(l, p);

	if (!e && l->n == PAUSES_MAX)
		return NULL;
	if (!e) {
		e = &l->v[l->n++];
		*e = (struct pause){ 0 };
	}
	e->p = *p;
	e->earlier = false;
	return e;
}

void pause_list_remove(struct pause_list *l, struct pause *p)
{
	l->n--;
	memmove(p, p + 1, (size_t)(&l->v[l->n] - p) * sizeof(*p));
}

bool pause_list_pauses(const struct pause_list *l, const char *cluster_name, uint64_t duty, int64_t now_ms,
		       bool known)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct pause *e = &l->v[i];

		if (e->p.on && !pause_has_ended(e, now_ms, known) &&
		    pause_covers(&e->p, cluster_name, (int64_t)duty))
			return true;
	}
	return false;
}

struct pause *pause_list_get(struct pause_list *l, size_t i)
{
	return i < l->n ? &l->v[i] : NULL;
}
