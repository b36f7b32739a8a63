/* series.c - see series.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/news/series.h"

#include <stdlib.h>

#include "base/xalloc.h"

static char *copy(const char *s)
{
	return xstrdup(s ? s : "");
}

struct series_line *series_add_line(struct series *s, const char *cluster, const char *name)
{
	s->worst = xreallocarray(s->worst, s->n_worst + 1, sizeof(*s->worst));
	struct series_line *l = &s->worst[s->n_worst++];

	*l = (struct series_line){ .cluster = copy(cluster), .name = copy(name) };
	return l;
}

struct series_held *series_add_held(struct series *s, const char *cluster, const char *object,
				    const char *reason, const struct facts *detail)
{
	s->held = xreallocarray(s->held, s->n_held + 1, sizeof(*s->held));
	struct series_held *h = &s->held[s->n_held++];

	*h = (struct series_held){ .cluster = copy(cluster),
				   .object = copy(object),
				   .reason = copy(reason),
				   .detail = facts_dup(detail),
				   .duty = DUTY_ALL };
	return h;
}

struct series_tile *series_add_tile(struct series *s, const char *cluster, const char *ns)
{
	s->tiles = xreallocarray(s->tiles, s->n_tiles + 1, sizeof(*s->tiles));
	struct series_tile *t = &s->tiles[s->n_tiles++];

	*t = (struct series_tile){ .cluster = copy(cluster), .ns = copy(ns) };
	return t;
}

void series_done(struct series *s)
{
	for (size_t i = 0; i < s->n_worst; i++) {
		free(s->worst[i].cluster);
		free(s->worst[i].name);
	}
	for (size_t i = 0; i < s->n_held; i++) {
		free(s->held[i].cluster);
		free(s->held[i].object);
		free(s->held[i].reason);
		free(s->held[i].detail);
	}
	for (size_t i = 0; i < s->n_tiles; i++) {
		free(s->tiles[i].cluster);
		free(s->tiles[i].ns);
	}
	free(s->worst);
	free(s->held);
	free(s->tiles);
	*s = (struct series){ 0 };
}
