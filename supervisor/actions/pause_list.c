/* pause_list.c - see pause_list.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/pause_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

struct pause_list {
	struct msg_pause v[PAUSES_MAX];
	size_t n;
};

struct pause_list *pause_list_new(void)
{
	return xcalloc(1, sizeof(struct pause_list));
}

void pause_list_free(struct pause_list **p)
{
	free(*p);
	*p = NULL;
}

bool pause_same_scope(const struct msg_pause *a, const struct msg_pause *b)
{
	return a->duty == b->duty && strcmp(a->cluster_name, b->cluster_name) == 0;
}

/* Index of the entry with p's scope, or l->n. */
static size_t find_scope(const struct pause_list *l, const struct msg_pause *p)
{
	size_t i = 0;

	while (i < l->n && !pause_same_scope(&l->v[i], p))
		i++;
	return i;
}

bool pause_list_add(struct pause_list *l, const struct msg_pause *p)
{
	const size_t i = find_scope(l, p);

	if (i == PAUSES_MAX)
		return false;
	l->n += i == l->n;
	l->v[i] = *p;
	l->v[i].on = true;
	return true;
}

/* False behind the last. */
static bool take(struct pause_list *l, size_t i, struct msg_pause *ret)
{
	if (i == l->n)
		return false;
	*ret = l->v[i];
	ret->on = false;
	l->n--;
	memmove(&l->v[i], &l->v[i + 1], (l->n - i) * sizeof(l->v[0]));
	return true;
}

static bool within(const struct msg_pause *p, const struct msg_pause *scope)
{
	return (scope->duty < 0 || scope->duty == p->duty) &&
	       (!scope->cluster_name[0] || strcmp(scope->cluster_name, p->cluster_name) == 0);
}

bool pause_list_take_within(struct pause_list *l, const struct msg_pause *scope, struct msg_pause *ret)
{
	size_t i = 0;

	while (i < l->n && !within(&l->v[i], scope))
		i++;
	return take(l, i, ret);
}

static bool has_ended(const struct msg_pause *p, int64_t now_ms)
{
	return p->until != 0 && p->until <= now_ms;
}

bool pause_list_take_ended(struct pause_list *l, int64_t now_ms, struct msg_pause *ret)
{
	size_t i = 0;

	while (i < l->n && !has_ended(&l->v[i], now_ms))
		i++;
	return take(l, i, ret);
}

const struct msg_pause *pause_list_find(const struct pause_list *l, const char *cluster_name, uint64_t duty,
					int64_t now_ms)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct msg_pause *p = &l->v[i];

		if (!has_ended(p, now_ms) && (p->duty < 0 || (uint64_t)p->duty == duty) &&
		    (!p->cluster_name[0] || strcmp(p->cluster_name, cluster_name) == 0))
			return p;
	}
	return NULL;
}

const struct msg_pause *pause_list_get(const struct pause_list *l, size_t i)
{
	return i < l->n ? &l->v[i] : NULL;
}

bool pause_list_have_scope(const struct pause_list *l, const struct msg_pause *p)
{
	return find_scope(l, p) < l->n;
}
