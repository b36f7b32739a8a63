/* clusters.h - which clusters a configuration means, and where the kubeconfig of each is.  Layer: config.
 * Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_CLUSTERS_H
#define CONFIG_CLUSTERS_H

#include "config/config.h"

/* One kubeconfig and its context. */
struct cluster_source {
	char *kubeconfig;    /* malloc()ed; NULL = none is named: it is searched for (kube_target_load()) */
	const char *context; /* of the configuration; NULL = current-context */
};

/* At least 1: without `clusters` there is one, called default. */
size_t clusters_count(const struct config *c);
/* What holds for number i, with the number of its workers. Its texts stay the configuration's. */
struct cluster_config clusters_at(const struct config *c, size_t i);
const char *clusters_name(const struct cluster_config *one);
/* Do its workers have a kubeconfig or a context of their own? */
bool clusters_own_writer(const struct cluster_config *one);

/* Whose credential: the watcher's, or the workers'. path: of the configuration, relative ones start beside
 * it; flag: of --kubeconfig, NULL = not given. */
struct cluster_source clusters_reader(const struct config *c, const struct cluster_config *one,
				      const char *path, const char *flag);
struct cluster_source clusters_writer(const struct config *c, const struct cluster_config *one,
				      const char *path, const char *flag);
void cluster_source_done(struct cluster_source *s);

#endif
