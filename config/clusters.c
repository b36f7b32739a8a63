/* clusters.c - see clusters.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/clusters.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "config/file.h"

size_t clusters_count(const struct config *c)
{
	return c->n_clusters > 0 ? c->n_clusters : 1;
}

struct cluster_config clusters_at(const struct config *c, size_t i)
{
	struct cluster_config one =
		c->n_clusters > 0 ? c->clusters[i]
				  : (struct cluster_config){ .context = c->context,
							     .writer_kubeconfig = c->writer_kubeconfig,
							     .writer_context = c->writer_context };

	one.workers_min = one.workers > 0 ? one.workers : c->workers_min;
	if (one.workers == 0)
		one.workers = c->workers;
	return one;
}

const char *clusters_name(const struct cluster_config *one)
{
	return one->name ? one->name : "default";
}

bool clusters_own_writer(const struct cluster_config *one)
{
	return one->writer_kubeconfig || one->writer_context;
}

static char *find_kubeconfig(const struct config *c, const char *own, const char *path, const char *flag)
{
	if (own)
		return file_beside(path, own);
	if (flag)
		return xstrdup(flag);
	return c->kubeconfig ? file_beside(path, c->kubeconfig) : NULL;
}

struct cluster_source clusters_reader(const struct config *c, const struct cluster_config *one,
				      const char *path, const char *flag)
{
	return (struct cluster_source){ find_kubeconfig(c, one->kubeconfig, path, flag), one->context };
}

struct cluster_source clusters_writer(const struct config *c, const struct cluster_config *one,
				      const char *path, const char *flag)
{
	const char *own = one->writer_kubeconfig ? one->writer_kubeconfig : one->kubeconfig;

	return (struct cluster_source){ find_kubeconfig(c, own, path, flag), one->writer_context };
}

void cluster_source_done(struct cluster_source *s)
{
	free(s->kubeconfig);
	*s = (struct cluster_source){ 0 };
}
