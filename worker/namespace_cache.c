/* namespace_cache.c - see namespace_cache.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/namespace_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define ENTRIES 16

struct namespace_cache {
	struct entry {
		char name[64];
		json_t *json; /* owned; NULL: free */
		uint64_t asked_at;
	} v[ENTRIES];
};

/* That of the name, else the oldest. */
static struct entry *place_of(struct namespace_cache *c, const char *name)
{
	struct entry *oldest = &c->v[0];

	for (size_t i = 0; i < ENTRIES; i++) {
		if (c->v[i].json && strcmp(c->v[i].name, name) == 0)
			return &c->v[i];
		if (c->v[i].asked_at < oldest->asked_at)
			oldest = &c->v[i];
	}
	return oldest;
}

void namespace_cache_put(struct namespace_cache *c, const char *name, json_t *json, uint64_t asked_at)
{
	struct entry *e = place_of(c, name);

	if (strlen(name) >= sizeof(e->name))
		return;
	json_incref(json);
	json_decref(e->json);
	(void)snprintf(e->name, sizeof(e->name), "%s", name);
	e->json = json;
	e->asked_at = asked_at;
}

json_t *namespace_cache_find(const struct namespace_cache *c, const char *name, uint64_t now,
			     uint64_t *ret_asked_at)
{
	for (size_t i = 0; i < ENTRIES; i++) {
		const struct entry *e = &c->v[i];

		if (!e->json || strcmp(e->name, name) != 0 || now - e->asked_at > NAMESPACE_CACHE_MS)
			continue;
		*ret_asked_at = e->asked_at;
		return e->json;
	}
	return NULL;
}

struct namespace_cache *namespace_cache_new(void)
{
	return xcalloc(1, sizeof(struct namespace_cache));
}

void namespace_cache_free(struct namespace_cache **c)
{
	for (size_t i = 0; *c && i < ENTRIES; i++)
		json_decref((*c)->v[i].json);
	free(*c);
	*c = NULL;
}
