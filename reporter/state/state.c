/* state.c - see state.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/state/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/reasons.h"

/* Do two messages of one cluster say the same thing of different times? */
static bool is_same_trouble(const struct msg *a, const struct msg *b)
{
	return a->u.trouble_row.trouble == b->u.trouble_row.trouble;
}

static bool is_one_of_cluster(const struct msg *a, const struct msg *b)
{
	return a->type == b->type;
}

static bool is_same_due(const struct msg *a, const struct msg *b)
{
	const struct msg_due_row *x = &a->u.due_row, *y = &b->u.due_row;

	/* As the table has it: a watcher that invents reasons takes no more room. */
	return x->duty == y->duty && x->state == y->state && reason_find(x->reason) == reason_find(y->reason);
}

static bool is_same_child(const struct msg *a, const struct msg *b)
{
	const struct msg_child_stats *x = &a->u.child_stats, *y = &b->u.child_stats;

	return x->number == y->number && strcmp(x->role, y->role) == 0;
}

static const struct kind {
	enum msg_type type;
	bool (*is_same)(const struct msg *a, const struct msg *b);
} kinds[] = {
	{ MSG_TROUBLE_ROW, is_same_trouble },    { MSG_WATCH_STATS, is_one_of_cluster },
	{ MSG_WORKER_STATS, is_one_of_cluster }, { MSG_DUE_ROW, is_same_due },
	{ MSG_CHILD_STATS, is_same_child },
};

struct entries {
	struct state_entry *v;
	size_t n;
	uint32_t room;
};

struct state {
	struct entries of[ARRAY_SIZE(kinds)];
};

static size_t kind_of(enum msg_type type)
{
	size_t k = 0;

	while (kinds[k].type != type)
		k++;
	return k;
}

struct state *state_new(void)
{
	return xcalloc(1, sizeof(struct state));
}

static void remove_entry(struct entries *e, size_t i)
{
	free(e->v[i].cluster);
	free(e->v[i].m);
	e->v[i] = e->v[--e->n];
}

void state_free(struct state **s)
{
	if (!*s)
		return;
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		while ((*s)->of[k].n > 0)
			remove_entry(&(*s)->of[k], 0);
		free((*s)->of[k].v);
	}
	free(*s);
	*s = NULL;
}

static struct msg *find_watch(const struct state *s, const char *cluster)
{
	const struct entries *e = &s->of[kind_of(MSG_WATCH_STATS)];

	for (size_t i = 0; i < e->n; i++)
		if (strcmp(e->v[i].cluster, cluster) == 0)
			return e->v[i].m;
	return NULL;
}

/* The next watcher of the cluster begins anew. */
static void forget_watcher(struct state *s, const char *cluster)
{
	struct entries *due = &s->of[kind_of(MSG_DUE_ROW)];
	struct msg *m = find_watch(s, cluster);

	for (size_t i = due->n; i-- > 0;)
		if (strcmp(due->v[i].cluster, cluster) == 0)
			remove_entry(due, i);
	if (m)
		m->u.watch_stats.synced = m->u.watch_stats.leading = false;
}

void state_put(struct state *s, const char *cluster, const struct msg *m)
{
	const struct kind *k = &kinds[kind_of(m->type)];
	struct entries *e = &s->of[k - kinds];
	size_t i = 0;

	while (i < e->n && !(k->is_same(e->v[i].m, m) && strcmp(e->v[i].cluster, cluster) == 0))
		i++;
	if (m->type == MSG_DUE_ROW && m->u.due_row.n == 0) {
		if (i < e->n)
			remove_entry(e, i);
		return;
	}
	if (i < e->n) {
		free(e->v[i].m);
		e->v[i].m = msg_dup(m);
	} else {
		e->v = xgrow(e->v, &e->room, (uint32_t)e->n, sizeof(*e->v));
		e->v[e->n++] = (struct state_entry){ xstrdup(cluster), msg_dup(m) };
	}
	if (m->type == MSG_CHILD_STATS && strcmp(m->u.child_stats.role, role_name(ROLE_WATCHER)) == 0 &&
	    strcmp(m->u.child_stats.state, "ready") != 0)
		forget_watcher(s, cluster);
}

const struct state_entry *state_at(const struct state *s, enum msg_type type, size_t i)
{
	const struct entries *e = &s->of[kind_of(type)];

	return i < e->n ? &e->v[i] : NULL;
}

const struct msg_watch_stats *state_watch(const struct state *s, const char *cluster)
{
	const struct msg *m = find_watch(s, cluster);

	return m ? &m->u.watch_stats : NULL;
}
