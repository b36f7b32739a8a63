/* sync_state.c - see sync_state.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/guards/sync_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

struct sync_scope {
	char ns[64];
	bool listing, synced;
	uint32_t list;
	uint64_t synced_at;
};

void sync_state_done(struct sync_state *g)
{
	free(g->v);
	*g = (struct sync_state){ 0 };
}

void sync_state_reset(struct sync_state *g)
{
	g->n = 0;
}

static struct sync_scope *find(const struct sync_state *g, struct str ns)
{
	for (size_t i = 0; i < g->n; i++)
		if (str_is(ns, g->v[i].ns))
			return &g->v[i];
	return NULL;
}

/* A complete list of everything replaces those of single namespaces, and the other way round: the reflector
 * falls back on namespaces when the cluster-wide list is forbidden, and returns when it is allowed. */
static bool remove_other_kind(struct sync_state *g, bool all)
{
	size_t kept = 0, before = g->n;

	for (size_t i = 0; i < g->n; i++)
		if ((g->v[i].ns[0] == '\0') == all)
			g->v[kept++] = g->v[i];
	g->n = kept;
	return kept < before;
}

void sync_state_list(struct sync_state *g, struct str ns, uint32_t list)
{
	struct sync_scope *s = find(g, ns);

	if (!s) {
		g->v = xreallocarray(g->v, g->n + 1, sizeof(*g->v));
		s = &g->v[g->n++];
		*s = (struct sync_scope){ 0 };
		memcpy(s->ns, ns.n ? ns.p : "", ns.n < sizeof(s->ns) ? ns.n : sizeof(s->ns) - 1);
	}
	s->listing = true;
	s->list = list;
}

struct sync_state_synced sync_state_sync(struct sync_state *g, struct str ns, uint64_t boot_ms)
{
	struct sync_scope *s = find(g, ns);
	struct sync_state_synced ret = { 0 };

	if (!s)
		return ret;
	ret.list = s->list;
	ret.first = !s->synced;
	if (ret.first)
		s->synced_at = boot_ms;
	s->listing = false;
	s->synced = true;
	ret.narrowed = remove_other_kind(g, ns.n == 0) && ns.n;
	g->last_byte = boot_ms;
	return ret;
}

void sync_state_list_failed(struct sync_state *g, struct str ns)
{
	struct sync_scope *s = find(g, ns);

	if (s)
		s->listing = false;
}

static bool any(const struct sync_state *g, bool listing, bool synced)
{
	for (size_t i = 0; i < g->n; i++)
		if ((!listing || g->v[i].listing) && g->v[i].synced == synced)
			return true;
	return false;
}

bool sync_state_fresh(const struct sync_state *g, uint64_t boot_ms)
{
	return boot_ms <= g->last_byte + SYNC_STATE_STALE_MS;
}

bool sync_state_synced(const struct sync_state *g)
{
	return any(g, false, true) && !any(g, true, false);
}

enum text sync_state_reason(const struct sync_state *g, uint64_t boot_ms)
{
	if (!any(g, false, true))
		return TEXT_NO_LIST_YET;
	if (!g->remembered)
		return TEXT_NO_SAVED_STATE;
	if (g->waits)
		return TEXT_NO_NAMESPACES_YET;
	if (any(g, true, true) || any(g, true, false))
		return TEXT_LISTING;
	if (!sync_state_fresh(g, boot_ms))
		return TEXT_SILENT;
	return TEXT__MAX;
}

bool sync_state_open(const struct sync_state *g, uint64_t boot_ms)
{
	return sync_state_reason(g, boot_ms) == TEXT__MAX;
}

bool sync_state_watches(const struct sync_state *g, struct str ns)
{
	return find(g, ns) || find(g, STR_LIT(""));
}

bool sync_state_namespace(const struct sync_state *g, struct str ns, uint64_t *ret_nominate_at)
{
	const struct sync_scope *s = find(g, ns);

	if (!s)
		s = find(g, STR_LIT(""));
	if (!s || !s->synced)
		return false;
	*ret_nominate_at = s->synced_at + g->quiet_ms;
	return true;
}
