/* generation.c - all that one run of the loader produced, and how two of them differ. See tree.h. */
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "supervisor/supervisor.h"

struct generation *generation_new(uint64_t number)
{
	struct generation *g = xcalloc(1, sizeof(*g));

	g->number = number;
	g->reporter_fd = -1;
	memset(g->watcher_fd, -1, sizeof(g->watcher_fd));
	memset(g->worker_fd, -1, sizeof(g->worker_fd));
	return g;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		(void)close(fd);
}

void generation_free(struct generation **gp)
{
	struct generation *g = *gp;

	if (!g)
		return;
	close_fd(g->reporter_fd);
	for (size_t c = 0; c < CLUSTERS_MAX; c++) {
		close_fd(g->watcher_fd[c]);
		close_fd(g->worker_fd[c]);
	}
	free(g);
	*gp = NULL;
}

static int *place_of(struct generation *g, enum role role, uint64_t cluster)
{
	if (role == ROLE_REPORTER)
		return &g->reporter_fd;
	if (cluster >= CLUSTERS_MAX)
		return NULL;
	return role == ROLE_WATCHER  ? &g->watcher_fd[cluster]
	       : role == ROLE_WORKER ? &g->worker_fd[cluster]
				     : NULL;
}

int generation_blob(const struct generation *g, enum role role, uint64_t cluster)
{
	const int *place = place_of((struct generation *)(uintptr_t)g, role, cluster);

	return place ? *place : -1;
}

bool generation_take_blob(struct generation *g, enum role role, uint64_t cluster, int fd)
{
	int *place = place_of(g, role, cluster);

	if (!place || *place >= 0 || fd < 0)
		return false;
	*place = fd;
	return true;
}

bool generation_whole(const struct generation *g)
{
	if (!g->complete || g->clusters == 0 || g->reporter_fd < 0)
		return false;
	for (uint64_t c = 0; c < g->clusters; c++)
		if (g->watcher_fd[c] < 0 || g->worker_fd[c] < 0 || g->workers[c] == 0)
			return false;
	return true;
}

/* Which processes run, and what is FIXED, cannot be changed while they run. */
const char *generation_fixed_difference(const struct generation *a, const struct generation *b)
{
	if (a->clusters != b->clusters)
		return "clusters";
	for (uint64_t c = 0; c < a->clusters; c++) {
		if (strcmp(a->names[c], b->names[c]) != 0)
			return "clusters";
		if (a->workers[c] != b->workers[c])
			return "workers";
	}
	for (size_t i = 0; i < b->n_fixed; i++) /* of one build, so the keys are the same */
		if (a->fixed[i].value != b->fixed[i].value)
			return b->fixed[i].key;
	return NULL;
}

static bool same_bytes(int a, int b)
{
	struct stat sa, sb;
	bool same = false;

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
	if (a->observe != b->observe || !same_bytes(a->reporter_fd, b->reporter_fd))
		return false;
	for (uint64_t c = 0; c < a->clusters; c++)
		if (!same_bytes(a->watcher_fd[c], b->watcher_fd[c]) ||
		    !same_bytes(a->worker_fd[c], b->worker_fd[c]))
			return false;
	return true;
}
