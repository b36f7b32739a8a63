/* generation.c - see generation.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/children/generation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/xalloc.h"
#include "text/texts.h"

struct generation *generation_new(uint64_t number)
{
	struct generation *g = xcalloc(1, sizeof(*g));

	g->number = number;
	memset(g->fd, -1, sizeof(g->fd));
	return g;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		(void)close(fd);
}

void generation_free(struct generation **g)
{
	for (size_t r = 0; *g && r < ROLE__MAX; r++)
		for (size_t c = 0; c <= CLUSTERS_MAX; c++)
			close_fd((*g)->fd[r][c]);
	free(*g);
	*g = NULL;
}

static void load_again_within(struct generation *g, uint64_t ms)
{
	if (ms > 0 && (g->refresh_ms == 0 || ms < g->refresh_ms))
		g->refresh_ms = ms;
}

/* Of several errors the first: the others follow from it, or stand in the log. */
static void add_line(struct generation *g, const struct msg_load_line *line)
{
	if (line->error && line->cluster < CLUSTERS_MAX && facts_empty(&g->problem[line->cluster]))
		facts_set(&g->problem[line->cluster], &line->line);
}

static void add_cluster(struct generation *g, const struct msg_load_cluster *c)
{
	g->at[c->cluster] = *c;
	g->workers[c->cluster] = c->workers;
	g->workers_min[c->cluster] = c->workers_min;
	(void)snprintf(g->names[c->cluster], sizeof(g->names[0]), "%s", c->cluster_name);
	g->wanted[c->cluster] = true;
	if (c->loaded) {
		facts_clear(&g->problem[c->cluster]);
		return;
	}
	/* What its load had sent before it broke off is not whole. */
	close_fd(g->fd[ROLE_WATCHER][c->cluster]);
	close_fd(g->fd[ROLE_WORKER][c->cluster]);
	g->fd[ROLE_WATCHER][c->cluster] = g->fd[ROLE_WORKER][c->cluster] = -1;
	if (facts_empty(&g->problem[c->cluster]))
		facts_finding(&g->problem[c->cluster], TEXT_NOT_LOADED);
}

void generation_add(struct generation *g, const struct msg *m, int fd)
{
	const struct msg_load_blob *b = &m->u.load_blob;

	if (m->type == MSG_LOAD_SUPERVISOR) {
		g->all = m->u.load_supervisor;
		load_again_within(g, g->all.refresh_ms);
	} else if (m->type == MSG_LOAD_FIXED && g->n_fixed < GENERATION_FIXED_MAX) {
		g->fixed[g->n_fixed++] = m->u.load_fixed;
	} else if (m->type == MSG_LOAD_LINE) {
		add_line(g, &m->u.load_line);
	} else if (m->type == MSG_LOAD_CLUSTER) {
		add_cluster(g, &m->u.load_cluster);
	} else if (m->type == MSG_LOAD_BLOB) {
		close_fd(g->fd[b->role][b->cluster]);
		g->fd[b->role][b->cluster] = fd;
		g->plugin[b->role][b->cluster] = b->plugin;
		g->plugin_until[b->role][b->cluster] = b->plugin_until;
		load_again_within(g, b->refresh_ms);
		return;
	} else if (m->type == MSG_LOAD_END) {
		g->complete = m->u.load_end.ok;
	}
	close_fd(fd);
}

bool generation_next(const struct generation *g, uint64_t *c)
{
	while (*c < g->all.clusters && !g->wanted[*c])
		++*c;
	return *c < g->all.clusters;
}

uint64_t generation_find_cluster(const struct generation *g, const char *name)
{
	uint64_t c = 0;

	while (generation_next(g, &c) && strcmp(g->names[c], name) != 0)
		c++;
	return c;
}

bool generation_whole(const struct generation *g)
{
	if (!g->complete || g->all.clusters == 0 || g->fd[ROLE_REPORTER][CLUSTERS_MAX] < 0)
		return false;
	for (uint64_t c = 0; generation_next(g, &c); c++)
		if (g->workers[c] == 0 || (!generation_has_cluster(g, c) && facts_empty(&g->problem[c])))
			return false;
	return true;
}

bool generation_has_cluster(const struct generation *g, uint64_t cluster)
{
	return g->fd[ROLE_WATCHER][cluster] >= 0 && g->fd[ROLE_WORKER][cluster] >= 0;
}

bool generation_has_trouble(const struct generation *g)
{
	for (uint64_t c = 0; generation_next(g, &c); c++)
		if (!facts_empty(&g->problem[c]))
			return true;
	return false;
}

void generation_update(struct generation *g, const struct generation *newer)
{
	g->refresh_ms = newer->refresh_ms;
	memcpy(g->at, newer->at, g->all.clusters * sizeof(g->at[0]));
	memcpy(g->problem, newer->problem, g->all.clusters * sizeof(g->problem[0]));
	memcpy(g->plugin, newer->plugin, sizeof(g->plugin));
	memcpy(g->plugin_until, newer->plugin_until, sizeof(g->plugin_until));
	memcpy(g->refused, newer->refused, sizeof(g->refused));
}

static void keep_place(struct generation *g, const struct generation *older, uint64_t c)
{
	const struct msg_load_cluster now = g->at[c];

	if (now.loaded || !generation_has_cluster(older, c))
		return;
	g->at[c] = older->at[c];
	g->at[c].loaded = false;
	memcpy(g->at[c].namespaces, now.namespaces, sizeof(now.namespaces));
}

bool generation_follow(struct generation *g, const struct generation *older)
{
	const uint64_t known = older ? older->all.clusters : 0;

	if (g->all.clusters < known)
		return false;
	for (uint64_t c = known; c < g->all.clusters; c++)
		if (!g->wanted[c])
			return false;
	for (uint64_t c = 0; c < known; c++) {
		if (g->wanted[c] && strcmp(g->names[c], older->names[c]) != 0)
			return false;
		if (g->wanted[c]) {
			keep_place(g, older, c);
			continue;
		}
		memcpy(g->names[c], older->names[c], sizeof(g->names[c]));
		g->workers[c] = older->workers[c];
		g->workers_min[c] = older->workers_min[c];
	}
	g->n_wanted = 0;
	for (uint64_t c = 0; generation_next(g, &c); c++)
		g->n_wanted++;
	return g->n_wanted > 0;
}

void generation_describe_trouble(const struct generation *g, struct facts *ret)
{
	facts_clear(ret);
	for (uint64_t c = 0; generation_next(g, &c); c++) {
		struct facts one =
			facts_of(generation_has_cluster(g, c) ? TEXT_CLUSTER_STAYS : TEXT_CLUSTER_WAITS);

		if (facts_empty(&g->problem[c]))
			continue;
		facts_name(&one, FACT_CLUSTER, STR_C(g->names[c]));
		facts_facts(&one, FACT_BECAUSE, &g->problem[c]);
		facts_facts(ret, FACT_EACH, &one);
	}
}

const char *generation_fixed_difference(const struct generation *a, const struct generation *b)
{
	for (uint64_t c = 0; c < a->all.clusters; c++)
		if (a->workers[c] != b->workers[c] || a->workers_min[c] != b->workers_min[c])
			return "workers";
	for (size_t i = 0; i < b->n_fixed; i++) /* of one build, so the keys are the same */
		if (a->fixed[i].value != b->fixed[i].value)
			return b->fixed[i].key;
	return NULL;
}

static bool same_bytes(int a, int b)
{
	struct stat sa, sb;
	bool same = false;

	if (a < 0 && b < 0)
		return true;
	if (fstat(a, &sa) < 0 || fstat(b, &sb) < 0 || sa.st_size != sb.st_size)
		return false;
	const size_t n = (size_t)sa.st_size;

	if (n == 0)
		return true;
	void *pa = mmap(NULL, n, PROT_READ, MAP_SHARED, a, 0),
	     *pb = mmap(NULL, n, PROT_READ, MAP_SHARED, b, 0);

	if (pa != MAP_FAILED && pb != MAP_FAILED)
		same = memcmp(pa, pb, n) == 0;
	if (pa != MAP_FAILED)
		(void)munmap(pa, n);
	if (pb != MAP_FAILED)
		(void)munmap(pb, n);
	return same;
}

bool generation_equal(const struct generation *a, const struct generation *b)
{
	if (a->all.observe != b->all.observe)
		return false;
	for (size_t r = 0; r < ROLE__MAX; r++)
		for (size_t c = 0; c <= CLUSTERS_MAX; c++)
			if (!same_bytes(a->fd[r][c], b->fd[r][c]))
				return false;
	return true;
}
