/* children.c - see children.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/children/children.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"

struct children {
	const struct child_env *env;
	struct child **v;
	size_t n;
	uint64_t clusters;              /* that children were made for */
	size_t first[CLUSTERS_MAX + 1]; /* of a cluster: its watcher, workers behind it; then the end */
};

struct children *children_new(const struct child_env *env)
{
	struct children *s = xcalloc(1, sizeof(*s));

	s->env = env;
	return s;
}

void children_free(struct children **s)
{
	for (size_t i = 0; *s && i < (*s)->n; i++)
		child_free(&(*s)->v[i]);
	if (*s)
		free((*s)->v);
	free(*s);
	*s = NULL;
}

static void add(struct children *s, const struct child_info *which, const char *name)
{
	struct child_info info = *which;

	info.index = s->n;
	(void)snprintf(info.cluster_name, sizeof(info.cluster_name), "%s", name);
	s->v = xreallocarray(s->v, s->n + 1, sizeof(struct child *));
	s->v[s->n++] = child_new(s->env, &info);
}

static void add_cluster(struct children *s, const struct generation *g, uint64_t c)
{
	add(s, &(struct child_info){ .role = ROLE_WATCHER, .cluster = c }, g->names[c]);
	for (uint64_t w = 0; w < g->workers[c]; w++)
		add(s,
		    &(struct child_info){ .role = ROLE_WORKER,
					  .cluster = c,
					  .number = w,
					  .on_demand = w >= g->workers_min[c] },
		    g->names[c]);
}

void children_make(struct children *s, const struct generation *g)
{
	if (s->n == 0)
		add(s, &(struct child_info){ .role = ROLE_REPORTER, .cluster = CLUSTERS_MAX }, "");
	for (; s->clusters < g->all.clusters; s->clusters++) {
		s->first[s->clusters] = s->n;
		add_cluster(s, g, s->clusters);
	}
	for (uint64_t c = s->clusters; c <= CLUSTERS_MAX; c++)
		s->first[c] = s->n;
}

size_t children_count(const struct children *s)
{
	return s->n;
}

struct child *children_get(const struct children *s, size_t i)
{
	return s->v[i];
}

struct child *children_next_of(const struct children *s, enum role role, uint64_t cluster, size_t *i)
{
	const bool one = role == ROLE_REPORTER || cluster >= CLUSTERS_MAX;
	const size_t from = one ? 0 : s->first[cluster], to = one ? s->n > 0 : s->first[cluster + 1];

	while (from + *i < to) {
		struct child *c = s->v[from + (*i)++];

		if (child_info(c)->role == role)
			return c;
	}
	return NULL;
}

struct child *children_next(const struct children *s, enum role role, uint64_t cluster, size_t *i)
{
	struct child *c;

	do
		c = children_next_of(s, role, cluster, i);
	while (c && !child_is_ready(c));
	return c;
}

struct child *children_find(const struct children *s, enum role role, uint64_t cluster)
{
	size_t i = 0;

	return children_next(s, role, cluster, &i);
}

bool children_send(const struct children *s, enum role role, uint64_t cluster, const struct msg *m)
{
	struct child *c = children_find(s, role, cluster);

	return c && child_send(c, m, -1) == 0;
}
