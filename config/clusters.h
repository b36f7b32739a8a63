/* clusters.h - which clusters a configuration means, and where the kubeconfig of each is. Some stand in no
 * list: `clustersFrom` is a pattern, and each file that it matches is the kubeconfig of one.  Layer: config.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_CLUSTERS_H
#define CONFIG_CLUSTERS_H

#include "config/positions.h"

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

/* The folder and the pattern of names in it that `clustersFrom` means; `path` is the configuration file's.
 * Both are malloc()ed. False: it is not set, and both are NULL. */
bool cluster_files_place(const char *path, const struct config *c, char **ret_folder, char **ret_pattern);
/* Append a cluster for each file, in the order of their names; it is called as the file, without what stands
 * behind the last dot. The folder is read, the files are not. Every cluster stands at `at`, and what is wrong
 * is told there. A file that no cluster can be called as, or whose cluster is there already, is warned of,
 * and its cluster is one that waits (`wrong`), called as the whole file. */
void cluster_files_add(const char *path, struct config *c, struct positions *positions, struct place at,
		       struct diags *d);

#endif
