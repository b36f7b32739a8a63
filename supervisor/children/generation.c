/* generation.c - see generation.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/children/generation.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"

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

void generation_add(struct generation *g, const struct msg *m, int fd)
{
	const struct msg_load_supervisor *s = &m->u.load_supervisor;
	const struct msg_load_cluster *c = &m->u.load_cluster;
	const struct msg_load_blob *b = &m->u.load_blob;

	if (m->type == MSG_LOAD_SUPERVISOR) {
		g->clusters = s->clusters;
		g->observe = s->observe;
		g->election = s->election;
		g->refresh_ms = s->refresh_ms;
		g->writes_per_minute = s->writes_per_minute;
		g->writes_per_hour = s->writes_per_hour;
		memcpy(g->state_dir, s->state_dir, sizeof(g->state_dir));
	} else if (m->type == MSG_LOAD_FIXED && g->n_fixed < GENERATION_FIXED_MAX) {
		g->fixed[g->n_fixed++] = m->u.load_fixed;
	} else if (m->type == MSG_LOAD_CLUSTER) {
		g->workers[c->cluster] = c->workers;
		memcpy(g->names[c->cluster], c->cluster_name, sizeof(g->names[0]));
	} else if (m->type == MSG_LOAD_BLOB) {
		close_fd(g->fd[b->role][b->cluster]);
		g->fd[b->role][b->cluster] = fd;
		return;
	} else if (m->type == MSG_LOAD_END) {
		g->complete = m->u.load_end.ok;
	}
	close_fd(fd);
}

uint64_t generation_find_cluster(const struct generation *g, const char *name)
{
	uint64_t c = 0;

	while (c < g->clusters && strcmp(g->names[c], name) != 0)
		c++;
	return c;
}

bool generation_whole(const struct generation *g)
{
	if (!g->complete || g->clusters == 0 || g->fd[ROLE_REPORTER][CLUSTERS_MAX] < 0)
		return false;
	for (uint64_t c = 0; c < g->clusters; c++)
		if (g->fd[ROLE_WATCHER][c] < 0 || g->fd[ROLE_WORKER][c] < 0 || g->workers[c] == 0)
			return false;
	return true;
}

const char *generation_fixed_difference(const struct generation *a, const struct generation *b)
{
	if (a->clusters != b->clusters || memcmp(a->names, b->names, sizeof(a->names)) != 0)
		return "clusters";
	if (memcmp(a->workers, b->workers, sizeof(a->workers)) != 0)
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
	if (a->observe != b->observe)
		return false;
	for (size_t r = 0; r < ROLE__MAX; r++)
		for (size_t c = 0; c <= CLUSTERS_MAX; c++)
			if (!same_bytes(a->fd[r][c], b->fd[r][c]))
				return false;
	return true;
}
